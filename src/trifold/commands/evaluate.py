"""`trifold evaluate`: one model on a folder of problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trifold.commands.options import (
    Device,
    DomainFile,
    Json,
    MaxSteps,
    Memory,
    ModelFile,
    Quiet,
    Strict,
    Timeout,
    Workers,
)
from trifold.commands.progress import progress_bar

if TYPE_CHECKING:
    from trifold.evaluation import Record


def evaluate(
    model: ModelFile,
    place: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of PDDL problems, or one problem file.")],
    domain: DomainFile = None,
    records: Annotated[
        Path, typer.Option("--records", "-r", help="The file of JSON lines to append to, and to continue.")
    ] = Path("records.jsonl"),
    plans: Annotated[Path | None, typer.Option("--plans", help="A folder to write the plans to.")] = None,
    strict: Strict = False,
    max_steps: MaxSteps = 1000,
    timeout: Timeout = None,
    memory: Memory = None,
    workers: Workers = None,
    device: Device = "auto",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Attempt every problem of a folder, record each, and print the table.

    The domain is --domain, or else domain.pddl in the folder, or in its parent, or the one that the model carries.
    It can be interrupted at any time: the same command goes on where it stopped. Two that write to the same records
    take turns. Exit code 2 if no problem was fit to be attempted.
    """
    from trifold.evaluation import (
        RENDERERS,
        summarise,
    )
    from trifold.evaluation import evaluate as evaluate_all
    from trifold.pddl.folder import find_domain, find_problems
    from trifold.planning import Outcome
    from trifold.processes import available_cores

    problems = find_problems(place)
    try:
        with show_records(len(problems), quiet) as on_record:
            found = evaluate_all(
                model,
                problems,
                records=records,
                domain=domain or find_domain(place),
                plans=plans,
                strict=strict,
                max_steps=max_steps,
                timeout=timeout,
                memory_gib=memory,
                workers=workers or available_cores(),
                device=device,
                on_record=on_record,
                on_wait=lambda: tell_waiting(records),
            )
    except KeyboardInterrupt:
        typer.echo(f"interrupted; {records} keeps what is done, the same command goes on from there", err=True)
        raise typer.Exit(130) from None
    typer.echo(RENDERERS["json" if json else "text"](summarise(found)), nl=False)
    if all(record["outcome"] == Outcome.BAD_INPUT for record in found):
        raise typer.Exit(Outcome.BAD_INPUT.exit_code)


@contextmanager
def show_records(total: int, quiet: bool) -> Iterator[Callable[[Record, bool], None]]:
    """A listener that shows each record on standard error: with a bar on a terminal, as plain lines elsewhere."""
    if quiet:
        yield lambda record, is_new: None
        return
    with progress_bar("evaluating", total) as (bar, task):
        console, done, warned = bar.console, 0, set[str | None]()

        def listen(record: Record, is_new: bool) -> None:
            nonlocal done
            done += 1
            if is_new:
                bar.advance(task)
            else:
                bar.reset(task, completed=done)  # what was recorded before tells nothing about the time left
            line = f"[{done}/{total}] {record['problem']}: {_describe(record)}{'' if is_new else ' (recorded)'}"
            notes = record["warnings"]
            for text in [line] if notes is None or notes in warned else [line, f"warning: {notes}"]:
                if console.is_terminal:
                    console.print(text)
                else:
                    typer.echo(text, err=True)
            warned.add(notes)

        yield listen


def tell_waiting(records: Path) -> None:
    """Say that another process writes to the same records, and that this one waits until it has ended."""
    typer.echo(f"waiting: another process writes to {records}", err=True)


def _describe(record: Record) -> str:
    if record["plan_length"] is not None:
        return f"solved in {record['plan_length']} steps, {record['seconds']:.1f} s"
    reason = f": {record['message']}" if record["message"] else ""
    return f"{record['outcome']} after {record['steps']} steps, {record['seconds']:.1f} s{reason}"

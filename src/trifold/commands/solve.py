"""`trifold solve`: one problem, one plan, and V along the way."""

from __future__ import annotations

import json as json_format
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trifold.commands.options import Device, DomainFile, Json, MaxSteps, Memory, ModelFile, Quiet, Strict, Timeout
from trifold.errors import TrifoldError

if TYPE_CHECKING:
    from trifold.evaluation import Attempt


def solve(
    model: ModelFile,
    problem: Annotated[Path, typer.Argument(help="A PDDL problem file.")],
    domain: DomainFile = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the plan; standard output if not given.")
    ] = None,
    strict: Strict = False,
    max_steps: MaxSteps = 1000,
    timeout: Timeout = None,
    memory: Memory = None,
    device: Device = "auto",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Solve a problem by stepping to the unvisited successor with the least V.

    The model carries its domain, so --domain is needed only to use another text of it. The plan is replayed by an
    engine of its own before it is called solved.

    Exit codes: 0 solved, 2 bad input, 3 step limit, 4 stuck, 5 cycle (--strict), 6 timeout, 7 memory limit, 8 crash,
    9 invalid plan, 10 disagreement of two engines about the plan, 130 interrupted.
    """
    from trifold.evaluation import Job, attempt_each
    from trifold.files import MOST_DATA_BYTES, open_file
    from trifold.planning import Outcome, plan_text, write_plan
    from trifold.shipped import find_model

    model_file = find_model(model)
    for file in (model_file, problem, domain):
        if file is not None:
            with open_file(file, MOST_DATA_BYTES):
                pass  # what cannot be opened is said at once, before a process starts
    if output is not None and not output.parent.is_dir():
        raise TrifoldError("there is no such folder", place=str(output.parent), remedy="make it, or give another -o")
    job = Job(str(model_file), str(problem), str(domain) if domain else None, strict, max_steps, device)
    try:
        with _show_steps(quiet) as on_event:
            (attempt,) = attempt_each([job], timeout=timeout, memory_gib=memory, on_event=on_event)
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        raise typer.Exit(130) from None
    if attempt.outcome is Outcome.BAD_INPUT and attempt.error:
        raise attempt.error
    is_solved = attempt.outcome is Outcome.SOLVED
    if is_solved and output is not None:
        write_plan(output, attempt.actions)
    if not quiet or not is_solved:
        typer.echo(_summary(attempt), err=True)
    if json:
        typer.echo(json_format.dumps(_machine_form(attempt, output), indent=2))
    elif is_solved and output is None:
        typer.echo(plan_text(attempt.actions), nl=False)
    raise typer.Exit(attempt.outcome.exit_code)


@contextmanager
def _show_steps(quiet: bool) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A listener that shows each step on standard error: one live line on a terminal, plain lines elsewhere."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)

    def write(line: str) -> None:
        typer.echo(line, err=True)

    if quiet:
        yield _listener(show=lambda line: None, tell=lambda line: None, warn=write)
    elif not console.is_terminal:
        yield _listener(show=write, tell=write, warn=write)
    else:

        def write_above(line: str) -> None:
            console.print(line, markup=False, highlight=False)

        with console.status("loading") as status:
            yield _listener(show=lambda line: status.update(Text(line)), tell=write_above, warn=write_above)


def _listener(
    show: Callable[[str], None], tell: Callable[[str], None], warn: Callable[[str], None]
) -> Callable[[dict[str, Any]], None]:
    """Put the events of an attempt in words: steps to show, what was loaded to tell, and warnings."""
    numbers = count()

    def listen(event: dict[str, Any]) -> None:
        match event["event"]:
            case "ready":
                tell(f"{event['model']} on {event['device']}: {event['domain']}, {event['objects']} objects")
            case "warning":
                warn(f"warning: {event['message']}")
            case "step":
                show(f"step {next(numbers)}  V {event['value']:.2f}  {event['action'] or 'start'}")

    return listen


def _summary(attempt: Attempt) -> str:
    steps = len(attempt.actions)
    parts = [f"{attempt.outcome.value} after {steps} step{'' if steps == 1 else 's'}"]
    if attempt.values:
        parts.append(f"V from {attempt.values[0]:.2f} to {attempt.values[-1]:.2f}")
    if attempt.evaluated is not None:
        parts.append(f"{attempt.evaluated} states evaluated")
    parts.append(f"{attempt.seconds:.1f} s")
    if attempt.seconds_per_step is not None:
        parts.append(f"{attempt.seconds_per_step:.3f} s per step")
    reason = f"\n{attempt.error}" if attempt.error else ""
    return ", ".join(parts) + reason


def _machine_form(attempt: Attempt, output: Path | None) -> dict[str, Any]:
    return {
        **{key: value for key, value in (attempt.about or {}).items() if key != "event"},
        "outcome": attempt.outcome.value,
        "exit_code": attempt.outcome.exit_code,
        "warnings": attempt.warnings,
        "message": str(attempt.error) if attempt.error else None,
        "actions": attempt.actions,
        "values": [value if math.isfinite(value) else None for value in attempt.values],
        "plan_file": str(output) if output and not attempt.outcome.exit_code else None,
        "states_evaluated": attempt.evaluated,
        "seconds": attempt.seconds,
        "seconds_per_step": attempt.seconds_per_step,
    }

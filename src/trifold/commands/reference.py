"""`trifold reference`: the best plan lengths known, to measure plans against."""

from __future__ import annotations

import json as json_format
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trifold.commands.evaluate import tell_waiting
from trifold.commands.options import DomainFile, Json, Memory, Quiet, Workers

if TYPE_CHECKING:
    from trifold.evaluation import Record
    from trifold.evaluation.references import Reference


def reference(
    place: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of PDDL problems, or one problem file.")],
    domain: DomainFile = None,
    records: Annotated[
        Path | None,
        typer.Option(
            "--records",
            "-r",
            help="The file of JSON lines to append to, and to continue; references.jsonl, or records.jsonl with "
            "--first, if not given.",
        ),
    ] = None,
    first: Annotated[
        bool, typer.Option("--first", help="LAMA's first plans instead, as records beside those of `evaluate`.")
    ] = False,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.0, help="Seconds for each problem, reading it included.")
    ] = 300.0,
    optimal_timeout: Annotated[
        float | None,
        typer.Option("--optimal-timeout", min=0.0, help="Those of them for optimal searches; half if not given."),
    ] = None,
    memory: Memory = 4.0,
    workers: Workers = None,
    planner: Annotated[
        Path | None,
        typer.Option("--planner", help="A fast-downward.py; that of the package up-fast-downward if not given."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the best plan length known of every problem of a folder, for `trifold table --references`.

    The planner is Fast Downward (pip install 'trifold[planners]'). Optimal searches run first, and LAMA improves its
    plans for the rest of the time where none of them finishes. With --first, LAMA alone runs until its first plan: a
    baseline, which `trifold table` shows as a row like that of a model. The domain is --domain, or else domain.pddl in
    the folder or in its parent. It can be interrupted at any time: the same command goes on where it stopped. Exit code
    2 if no problem was fit to be planned for.
    """
    from trifold.errors import TrifoldError
    from trifold.evaluation.first_plan import find_first_plans
    from trifold.evaluation.references import find_references
    from trifold.pddl.folder import find_domain, find_problems
    from trifold.processes import available_cores

    problems = find_problems(place)
    domain = domain or find_domain(place)
    if domain is None:
        raise TrifoldError(
            "there is no domain.pddl here or in the folder above", place=str(place), remedy="use --domain"
        )
    if first and optimal_timeout is not None:
        raise TrifoldError("a first plan needs no optimal search", remedy="leave out --optimal-timeout or --first")
    records = records or Path("records.jsonl" if first else "references.jsonl")
    limits: dict[str, Any] = {"planner": planner, "timeout": timeout, "memory_gib": memory}
    limits["on_wait"] = lambda: tell_waiting(records)
    limits["workers"] = workers or available_cores()
    done = 0

    def show(record: Any, is_new: bool) -> None:
        nonlocal done
        done += 1
        if not quiet:
            text = _describe_attempt(record) if first else _describe(record)
            suffix = "" if is_new else " (recorded)"
            typer.echo(f"[{done}/{len(problems)}] {record['problem']}: {text}{suffix}", err=True)

    try:
        if first:
            attempts = find_first_plans(problems, domain, records=records, on_record=show, **limits)
        else:
            limits["optimal_timeout"] = optimal_timeout
            references = find_references(problems, domain, records=records, on_record=show, **limits)
    except KeyboardInterrupt:
        typer.echo(f"interrupted; {records} keeps what is done, the same command goes on from there", err=True)
        raise typer.Exit(130) from None
    done_any = _print_attempts(attempts, json) if first else _print_references(references, json)
    if not done_any:
        raise typer.Exit(2)


def _print_references(found: list[Reference], json: bool) -> bool:
    """Print what was found, and say whether anything was fit to be planned for."""
    from trifold.evaluation.planner import FAILED

    if json:
        typer.echo(json_format.dumps(found, indent=2))
    else:
        kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(record["kind"] for record in found).items())
        typer.echo(f"{len(found)} problems: {kinds}; total length {sum(record['length'] or 0 for record in found)}")
    return any(record["kind"] != FAILED for record in found)


def _print_attempts(found: list[Record], json: bool) -> bool:
    from trifold.evaluation import RENDERERS, summarise
    from trifold.planning import Outcome

    typer.echo(RENDERERS["json" if json else "text"](summarise(found)), nl=False)
    return any(record["outcome"] not in (Outcome.BAD_INPUT, Outcome.CRASH) for record in found)


def _describe_attempt(record: Record) -> str:
    length = "" if record["plan_length"] is None else f" in {record['plan_length']} steps"
    reason = f": {record['message']}" if record["message"] else ""
    return f"{record['outcome']}{length}, {record['seconds']:.1f} s{reason}"


def _describe(record: Reference) -> str:
    if record["length"] is not None:
        return f"{record['length']} steps, {record['kind']}, by {record['search']} in {record['seconds']:.1f} s"
    return f"{record['kind']} in {record['seconds']:.1f} s: {record['message']}"

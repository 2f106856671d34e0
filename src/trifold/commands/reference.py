"""`trifold reference`: the best plan lengths known, to measure plans against."""

from __future__ import annotations

import json as json_format
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trifold.commands.hands import hired
from trifold.commands.options import Cluster, DomainFile, Json, Memory, Quiet, Shared, Workers
from trifold.commands.progress import show_records, tell_waiting, when_interrupted
from trifold.errors import TrifoldError
from trifold.words import counted

if TYPE_CHECKING:
    from trifold.evaluation import Record, Reference


RecordsFile = Annotated[
    Path | None,
    typer.Option(
        "--records",
        "-r",
        help="The file of JSON lines to append to, and to continue; references.jsonl, or records.jsonl with --first, "
        "if not given.",
    ),
]
First = Annotated[
    bool, typer.Option("--first", help="LAMA's first plans instead, as records beside those of `evaluate`.")
]
Plans = Annotated[Path | None, typer.Option("--plans", help="A folder to write the plans to, as `evaluate` does.")]
Seconds = Annotated[float, typer.Option("--timeout", min=0.0, help="Seconds for each problem, reading it included.")]
OptimalSeconds = Annotated[
    float | None,
    typer.Option("--optimal-timeout", min=0.0, help="How many of them optimal searches get; half if not given."),
]
PlannerFile = Annotated[
    Path | None,
    typer.Option("--planner", help="A fast-downward.py; that of the package up-fast-downward if not given."),
]


def reference(
    place: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of PDDL problems, or one problem file.")],
    domain: DomainFile = None,
    records: RecordsFile = None,
    first: First = False,
    plans: Plans = None,
    timeout: Seconds = 300.0,
    optimal_timeout: OptimalSeconds = None,
    memory: Memory = 4.0,
    workers: Workers = None,
    cluster: Cluster = None,
    shared: Shared = None,
    planner: PlannerFile = None,
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
    from trifold.evaluation import find_first_plans, find_references
    from trifold.outcomes import Outcome
    from trifold.pddl import find_domain, find_problems

    problems = find_problems(place)
    domain = domain or find_domain(place)
    if domain is None:
        raise TrifoldError(
            "there is no domain.pddl here or in the folder above", place=str(place), remedy="use --domain"
        )
    if first and optimal_timeout is not None:
        raise TrifoldError("a first plan needs no optimal search", remedy="leave out --optimal-timeout or --first")
    path = records or Path("records.jsonl" if first else "references.jsonl")
    limits: dict[str, Any] = {"timeout": timeout, "memory_gib": memory}
    if not first:
        limits["optimal_timeout"] = optimal_timeout
    find = find_first_plans if first else find_references
    describe = _describe_attempt if first else _describe
    go_on = f"interrupted; {path} keeps what is done, the same command goes on from there"
    shown = show_records("planning", len(problems), describe, quiet)
    with when_interrupted(go_on), hired(cluster, workers, shared, quiet) as crew, shown as on_record:
        found: list[Any] = find(
            problems,
            domain,
            records=path,
            plans=plans,
            planner=planner,
            workers=crew,
            on_record=on_record,
            on_wait=lambda: tell_waiting(path),
            **limits,
        )
    typer.echo(_table(found, json) if first else _summary(found, json), nl=False)
    if all(record["outcome" if first else "kind"] in (Outcome.BAD_INPUT, Outcome.CRASH) for record in found):
        raise typer.Exit(Outcome.BAD_INPUT.exit_code)


def _table(found: list[Record], json: bool) -> str:
    from trifold.evaluation import RENDERERS, summarise

    return RENDERERS["json" if json else "text"](summarise(found))


def _summary(found: list[Reference], json: bool) -> str:
    if json:
        return json_format.dumps(found, indent=2) + "\n"
    kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(record["kind"] for record in found).items())
    return f"{counted(len(found), 'problem')}: {kinds}; total length {sum(record['length'] or 0 for record in found)}\n"


def _describe_attempt(record: Record) -> str:
    length = "" if record["plan_length"] is None else f" in {counted(record['plan_length'], 'step')}"
    reason = f": {record['message']}" if record["message"] else ""
    return f"{record['outcome']}{length}, {record['seconds']:.1f} s{reason}"


def _describe(record: Reference) -> str:
    if record["length"] is not None:
        return (
            f"{counted(record['length'], 'step')}, {record['kind']}, by {record['search']} in {record['seconds']:.1f} s"
        )
    return f"{record['kind']} in {record['seconds']:.1f} s: {record['message']}"

"""`trifold reference`: the best plan lengths known, to measure plans against."""

from __future__ import annotations

import json as json_format
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trifold.commands.options import DomainFile, Json, Memory, Quiet, Workers

if TYPE_CHECKING:
    from trifold.evaluation.references import Reference


def reference(
    place: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of PDDL problems, or one problem file.")],
    domain: DomainFile = None,
    records: Annotated[
        Path, typer.Option("--records", "-r", help="The file of JSON lines to append to, and to continue.")
    ] = Path("references.jsonl"),
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
    plans for the rest of the time where none of them finishes. The domain is --domain, or else domain.pddl in the
    folder or in its parent. It can be interrupted at any time: the same command goes on where it stopped. Exit code 2
    if no problem was fit to be planned for.
    """
    from trifold.errors import TrifoldError
    from trifold.evaluation.planner import FAILED
    from trifold.evaluation.references import find_references
    from trifold.pddl.folder import find_domain, find_problems
    from trifold.pddl.isolation import available_cores

    problems = find_problems(place)
    domain = domain or find_domain(place)
    if domain is None:
        raise TrifoldError(
            "there is no domain.pddl here or in the folder above", place=str(place), remedy="use --domain"
        )
    done = 0

    def show(record: Reference, is_new: bool) -> None:
        nonlocal done
        done += 1
        if not quiet:
            suffix = "" if is_new else " (recorded)"
            typer.echo(f"[{done}/{len(problems)}] {record['problem']}: {_describe(record)}{suffix}", err=True)

    try:
        found = find_references(
            problems,
            domain,
            records=records,
            planner=planner,
            timeout=timeout,
            optimal_timeout=optimal_timeout,
            memory_gib=memory,
            workers=workers or available_cores(),
            on_record=show,
        )
    except KeyboardInterrupt:
        typer.echo(f"interrupted; {records} keeps what is done, the same command goes on from there", err=True)
        raise typer.Exit(130) from None
    if json:
        typer.echo(json_format.dumps(found, indent=2))
    else:
        kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(record["kind"] for record in found).items())
        typer.echo(f"{len(found)} problems: {kinds}; total length {sum(record['length'] or 0 for record in found)}")
    if all(record["kind"] == FAILED for record in found):
        raise typer.Exit(2)


def _describe(record: Reference) -> str:
    if record["length"] is not None:
        return f"{record['length']} steps, {record['kind']}, by {record['search']} in {record['seconds']:.1f} s"
    return f"{record['kind']} in {record['seconds']:.1f} s: {record['message']}"

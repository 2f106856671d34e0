"""`trifold label`: optimal distances for all states of many problems."""

from __future__ import annotations

import json as json_format
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trifold.commands.hands import hired
from trifold.commands.options import Cluster, Detour, Json, Keep, MaxStates, Memory, Quiet, Shared, Timeout, Workers
from trifold.commands.progress import progress_bar, when_interrupted
from trifold.errors import TrifoldError
from trifold.limits import LabelLimits

if TYPE_CHECKING:
    from trifold.data import Extent, Labelled, Summary

For = Annotated[
    list[Path] | None,
    typer.Option(
        "--for",
        metavar="PROBLEM",
        help="A problem to solve later, or a folder of them: say what it has that the training problems lack. It is "
        "read, and not labelled; may be given several times.",
    ),
]


def label(
    place: Annotated[Path, typer.Argument(metavar="DIR", help="A folder as for `train`, or a suite of such folders.")],
    wanted: For = None,
    max_states: MaxStates = LabelLimits.max_states,
    keep: Keep = LabelLimits.keep,
    detour: Detour = LabelLimits.detour,
    timeout: Timeout = LabelLimits.seconds,
    memory: Memory = LabelLimits.memory_gib,
    workers: Workers = None,
    cluster: Cluster = None,
    shared: Shared = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Label all states of the problems in train/ and validation/ with the length of a shortest plan.

    The labels go to the cache ($TRIFOLD_CACHE or ~/.cache/trifold), where `train` with the same limits finds them. It
    can be interrupted at any time: what is labelled stays. Test problems are not touched. Exit code 2 if no problem
    could be labelled.

    A problem with more states than --max-states is labelled around a plan, if there is one beside it, p1.plan beside
    p1.pddl: the states near the plan, with the shortest ways to a goal that are found around it. `trifold evaluate
    MODEL DIR/train --plans DIR/train --improve 3` writes such plans, and so does any other planner.

    After the counts it says what the training problems have among them, objects by kind, V* and goals, and what to draw
    more of, by rules of thumb.
    """
    from trifold.data import default_cache, find_splits, remedy_of, summarise_labels
    from trifold.data import label as label_problems
    from trifold.pddl import load_domain

    limits = LabelLimits(max_states, keep or None, timeout, memory, detour)
    splits = find_splits(place)
    for note in dict.fromkeys(note for _, domain, _ in splits for note in load_domain(domain).description.notes):
        typer.echo(f"warning: {note}", err=True)
    asked = _read_wanted(place, {domain for _, domain, _ in splits}, wanted) if wanted else None
    summaries: list[Summary] = []
    failed: list[Labelled] = []
    go_on = "interrupted; what was labelled is cached: the same command goes on from there"
    total = sum(len(files) for _, _, files in splits)
    with when_interrupted(go_on), hired(cluster, workers, shared, quiet) as crew, _show(total, quiet) as on_progress:
        for name, domain, problems in splits:
            labelled = label_problems(
                domain, problems, limits=limits, workers=crew, cache=default_cache(), on_progress=on_progress
            )
            summaries.append(summarise_labels(name, labelled))
            failed += [item for item in labelled if item.space is None]
    if json:
        typer.echo(json_format.dumps([_machine_form(summary, asked) for summary in summaries], indent=2))
    else:
        typer.echo(_table(summaries) + "".join(_paragraph(summary, asked) for summary in summaries), nl=False)
    if not any(summary.labelled for summary in summaries):
        typer.echo(f"no problem could be labelled\n  try: {remedy_of(failed)}", err=True)
        raise typer.Exit(TrifoldError.exit_code)


def _read_wanted(place: Path, domains: set[Path], wanted: Sequence[Path]) -> Extent:
    """What the problems have that are to be solved later."""
    from trifold.data import Extent, Reach
    from trifold.pddl import find_problems, load_domain, read_problem

    if len(domains) > 1:
        raise TrifoldError("--for is of one domain", place=str(place), remedy="give the folder of that domain")
    domain = load_domain(domains.pop())
    files = [file for path in wanted for file in find_problems(path)]
    return Extent.of(Reach.of_problem(domain.description, read_problem(domain, file)) for file in files)


def _machine_form(summary: Summary, wanted: Extent | None) -> dict[str, Any]:
    from trifold.data import advise, compare_extents

    lacking = {} if wanted is None else {"lacking": compare_extents(summary.extent, wanted)}
    return asdict(summary) | {"advice": advise(summary.extent)} | lacking


def _paragraph(summary: Summary, wanted: Extent | None) -> str:
    """What the training problems have, what to draw more of, and what others have that they lack."""
    from trifold.data import advise, compare_extents, describe_extent
    from trifold.words import counted

    if summary.folder.endswith("/validation") or not summary.labelled:
        return ""
    lines = [f"\n{summary.folder}", *describe_extent(summary.extent)]
    lines += [f"advice: {line}" for line in advise(summary.extent)]
    if wanted is not None:
        lines.append(f"\nfor {counted(wanted.problems, 'problem')} to solve")
        lines += compare_extents(summary.extent, wanted) or ["nothing that the training problems lack"]
    return "".join(f"{line}\n" for line in lines)


def _table(summaries: Sequence[Summary]) -> str:
    from trifold.evaluation import aligned_text

    header = ["Folder", "Problems", "Labelled", "States", "Kept", "Dead ends", "Largest V*", "Seconds", "Left out"]
    rows = [
        [
            summary.folder,
            f"{summary.problems}",
            f"{summary.labelled}" + (f" ({summary.around} around a plan)" if summary.around else ""),
            f"{summary.states:,}",
            f"{summary.kept:,}",
            f"{summary.dead_ends:,}",
            f"{summary.largest_value}",
            f"{summary.seconds:.1f}",
            ", ".join(f"{count} {outcome}" for outcome, count in summary.left_out.items()) or "none",
        ]
        for summary in summaries
    ]
    return aligned_text([header, *rows], names=1)


@contextmanager
def _show(total: int, quiet: bool) -> Iterator[Callable[[Labelled], None] | None]:
    """A listener that shows what is labelled on standard error: a bar on a terminal, failures as lines everywhere."""
    if quiet:
        yield None
        return
    with progress_bar("labelling", total) as (bar, task):
        console, done = bar.console, 0

        def listen(item: Labelled) -> None:
            nonlocal done
            done += 1
            bar.advance(task)
            known = ", known from before" if item.cached else ""
            if console.is_terminal and item.space:
                return
            counts = item.message
            if item.space:
                kind, value = ("states around a plan", "V") if item.space.is_bound else ("states", "V*")
                counts = f"{item.states:,} {kind}, {value} up to {item.max_distance}"
            text = f"[{done}/{total}] {item.path.parent.name}/{item.path.name}: {item.outcome}, {counts}{known}"
            if console.is_terminal:
                console.print(text)
            else:
                typer.echo(text, err=True)

        yield listen

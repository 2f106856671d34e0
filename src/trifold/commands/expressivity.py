"""`trifold expressivity`: which architectures cannot represent V* on the states of small problems."""

from __future__ import annotations

import json as json_format
import shlex
from collections.abc import Iterator
from dataclasses import asdict
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trifold.commands.options import Json, Keep, MaxStates, Memory, Plot, Quiet, Seed, Timeout, Workers, check_plot
from trifold.commands.progress import when_interrupted
from trifold.limits import LabelLimits
from trifold.words import counted

if TYPE_CHECKING:
    from trifold.analysis import Depth, Expressivity, Finding, Witness
    from trifold.data import Labelled


class Witnesses(StrEnum):
    """Of which conflicts two states are shown."""

    CONFLICTS = "conflicts"
    ALL = "all"


Shown = Annotated[
    Witnesses,
    typer.Option("--witnesses", help="conflicts: states that no depth tells apart; all: also those of too few layers."),
]

MEANING = """\
A conflict is a state that no network of that architecture and depth can tell from one with another V*. It rules the
architecture out at that depth, whatever it is trained with. No conflict does not prove that the architecture can learn
V* for problems of all sizes: in small problems much is told apart by accident, as every cell of a small grid is by its
place in a chain of successors.
"""


def expressivity(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of domain and problems, as for `train`.")],
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="The most layers L to ask about.")] = 30,
    states: Annotated[
        int, typer.Option("--states", min=1, help="Colour so many states in all: of more a sample, even over V*.")
    ] = 2_000,
    witnesses: Shown = Witnesses.CONFLICTS,
    plot: Plot = None,
    max_states: MaxStates = LabelLimits.max_states,
    keep: Keep = LabelLimits.keep,
    timeout: Timeout = LabelLimits.seconds,
    memory: Memory = LabelLimits.memory_gib,
    workers: Workers = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say which architectures of the paper are ruled out for a domain, by the states of its small problems.

    The verdict comes first: the cheapest architecture that is not ruled out, and the command that trains it.

    The states are labelled with V* and coloured under R-GNN, R-GNN[0], [1], [2], R-GNN₂, 2-GNN and 2-FWL (the bound of
    the Edge Transformer): no network with L layers tells apart what L rounds of colouring do not. Test problems are
    not touched. --plot draws the share of states in conflict, and the least error, over layers.
    """
    from trifold.analysis import compare_architectures, plot_expressivity
    from trifold.data import default_cache, label, read_folder
    from trifold.files import write_whole
    from trifold.memory import memory_errors

    def say(text: str) -> None:
        if not quiet:
            typer.echo(text, err=True)

    def tell_labelled(item: Labelled) -> None:
        if item.space is None:
            say(f"left out {item.path.name}: {item.outcome}, {item.message}")
        elif not item.cached:
            say(f"labelled {item.path.name}: {item.states:,} states")

    kind, files = check_plot(plot), read_folder(directory)
    go_on = "interrupted; what was labelled is cached: the same command goes on from there"
    less = "colour fewer states with --states, or give smaller problems"
    with when_interrupted(go_on), memory_errors(lambda: less):
        labelled = label(
            files.domain,
            [*files.training, *files.validation],
            limits=LabelLimits(max_states, keep or None, timeout, memory),
            workers=workers,
            cache=default_cache(),
            on_progress=tell_labelled,
        )
        result = compare_architectures(
            labelled, rounds=rounds, states=states, seed=seed, on_progress=lambda name: say(f"colouring: {name}")
        )
    report = _report(result, directory, witnesses)
    typer.echo(json_format.dumps(_plain(result, directory), indent=2) if json else "\n".join(report))
    if plot is not None:
        write_whole(plot, plot_expressivity(result, kind))
        say(f"drawn: {plot}")


def _plain(result: Expressivity, directory: Path) -> dict[str, Any]:
    """The result for JSON, with what follows from it."""
    content = asdict(result)
    for finding, entry in zip(result.findings, content["findings"], strict=True):
        entry |= {"ruled_out": finding.ruled_out, "enough_rounds": finding.enough_rounds}
    best = next(iter(result.advice), None)
    told = {
        "verdict": verdict(result, directory).strip(),
        "settings": best and _settings(best.architecture, best.enough_rounds or 1),
    }
    return told | content | {"advice": [finding.architecture for finding in result.advice], "meaning": MEANING}


def _report(result: Expressivity, directory: Path, witnesses: Witnesses) -> Iterator[str]:
    """The paragraphs of the text."""
    yield verdict(result, directory)
    head = f"{result.domain}: {counted(result.states, 'state')} of {counted(result.problems, 'problem')}"
    head += f", {counted(result.dead_ends, 'dead end')}"
    if result.states < result.available:
        head += f", sampled evenly over V* from {result.available:,}: conflicts are a lower bound"
    yield f"{head}\n"
    yield _table(result)
    for name, reason in result.left_out.items():
        yield f"{name} was left out: {reason}\n"
    yield MEANING
    yield _advice(result)
    hidden = 0
    for finding in result.findings:
        if finding.witness is not None and (finding.ruled_out or witnesses is Witnesses.ALL):
            yield _show_witness(finding, finding.witness)
        elif finding.witness is not None:
            hidden += 1
    if hidden:
        more = counted(hidden, "architecture")
        yield f"{more} with conflicts that more layers resolve: --witnesses all shows them.\n"


def verdict(result: Expressivity, directory: Path) -> str:
    """The cheapest architecture that is not ruled out, and how to train it."""
    if not result.advice:
        best = min(result.findings, key=lambda one: (one.depths[-1].conflicts, one.messages))
        seen = f"{best.architecture} is nearest, with {best.depths[-1].conflicts:,} states in conflict"
        return f"Every architecture that was coloured is ruled out with {_layers(result.rounds)} or fewer; {seen}.\n"
    best = result.advice[0]
    assert best.enough_rounds is not None
    what = f"{best.architecture} tells all states with different V* apart with {_layers(best.enough_rounds)}"
    command = shlex.join(["trifold", "train", str(directory), *_settings(best.architecture, best.enough_rounds)])
    return f"{what}:\n  {command}\n"


def _settings(architecture: str, layers: int) -> list[str]:
    """What to set for a training of an architecture, by its name, with more layers than default recipes have."""
    from trifold.analysis import ARCHITECTURES
    from trifold.training import default_recipe, read_recipe

    least = min(read_recipe(default_recipe(device)).model.layers for device in ("cpu", "cuda"))
    settings = dict(next(one.settings for one in ARCHITECTURES if one.label == architecture))
    if layers > least:
        settings["layers"] = layers
    return [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]


def _layers(number: int) -> str:
    return counted(number, "layer")


def _table(result: Expressivity) -> str:
    """A row for each architecture and rounds; rounds that differ in nothing share one."""
    from trifold.evaluation import aligned_text

    def seen(depth: Depth) -> tuple[int, int, float]:
        return depth.classes, depth.conflicts, depth.least_error

    rows = [["Architecture", "Messages", "Rounds", "Classes", "Conflicts", "Least mean |V* − V|"]]
    for finding in result.findings:
        groups = [(same, list(depths)) for same, depths in groupby(finding.depths, seen)]
        for number, ((classes, conflicts, error), depths) in enumerate(groups):
            first, last = depths[0].rounds, depths[-1].rounds
            if number == len(groups) - 1 and finding.fixed_point <= result.rounds:
                last = result.rounds  # nothing changes beyond the fixed point
            span = f"{first}" if first == last else f"{first}-{last}"
            names = ["", ""] if number else [finding.architecture, f"{finding.messages:,.0f}"]
            rows.append([*names, span, f"{classes:,}", f"{conflicts:,}", f"{error:.3f}"])
    return aligned_text(rows, names=1)


def _advice(result: Expressivity) -> str:
    if not result.advice:
        return ""
    lines = [
        f"  {one.architecture}: {one.messages:,.0f} messages a state and layer, from {_layers(rounds)} on"
        for one in result.advice
        if (rounds := one.enough_rounds) is not None
    ]
    return "\n".join(["Not ruled out, cheapest first:", *lines, ""])


def _show_witness(finding: Finding, witness: Witness) -> str:
    if not finding.ruled_out:
        end = " or fewer (but with more it can):"
    else:
        end = " or any number:" if witness.rounds == finding.fixed_point else ":"
    what = f"{finding.architecture} cannot tell apart, with {_layers(witness.rounds)}{end}"
    told = ", ".join(f"{name} from {_layers(rounds)} on" for name, rounds in witness.separated_by.items())
    return "\n".join([what, witness.first.to_pddl(), witness.second.to_pddl(), f"Told apart by: {told or 'none'}", ""])

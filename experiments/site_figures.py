"""The figures of the site, as SVG in light and in dark: `make docs` draws them from what ``site_states`` finds.

python experiments/site_figures.py NAME > figure.svg
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from site_states import Comparison, Live, Seen, code_block, distance, falling_values, two_cities
from trifold.encoders import Pairs, Plain

METHOD = Path(__file__).resolve().parents[1] / "docs" / "method.md"


INK, SOFT, LINE, EMPTY, FAINT, BLUE, PALE, GREEN, RED = (
    "#1b2330", "#566173", "#c3cad5", "#fefefe", "#dbe6f3", "#1f5fa8", "#bfd8f2", "#1c7a41", "#c8322b",
)  # fmt: skip
CLASSES = ("#bcd6f1", "#f6d9a8", "#cfe8c6", "#e6cdea", "#f3c6c2", "#d9d9d9")
"""Of colour classes, which nothing else is drawn in."""

IN_THE_DARK = {
    INK: "#e8ecf2", SOFT: "#a4afbf", LINE: "#4a5566", EMPTY: "#1e2129", FAINT: "#2c4460", BLUE: "#7db4f0",
    PALE: "#2f5880", GREEN: "#7bd79b", RED: "#ff8a80",
    **dict(zip(CLASSES, ("#2e567d", "#7a5a22", "#33663b", "#67437a", "#7d3a38", "#555a63"), strict=True)),
}  # fmt: skip
"""What each colour is on a dark page."""


def draw(name: str) -> str:
    """A figure as SVG, the same text each time."""
    import matplotlib
    from matplotlib.figure import Figure  # slow to import, and a figure without pyplot needs no display

    colours: dict[Any, Any] = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), INK)
    with matplotlib.rc_context(colours | {"axes.edgecolor": LINE, "svg.hashsalt": name}):
        size, draw_it = FIGURES[name]
        figure = Figure(figsize=size, layout="constrained")
        draw_it(figure)
        picture = io.StringIO()
        figure.savefig(picture, format="svg", transparent=True, metadata={"Date": None})
    return picture.getvalue()


def darken(picture: str) -> str:
    """The same figure for a dark page."""
    return re.sub("|".join(IN_THE_DARK), lambda found: IN_THE_DARK[found[0]], picture)


def draw_overview(figure: Any) -> None:
    """A state, its pairs, and V along the way."""
    state, values = falling_values()
    towers, pairs, way = figure.subplots(1, 3, width_ratios=[1.15, 1, 1.35])
    _draw_towers(towers, state)
    towers.set_title("a state, and its goal")
    _draw_live(pairs, state, Live.of(state, 1))
    pairs.set_title("pairs of its objects in $A_1$")
    way.plot(range(len(values) - 1, -1, -1), color=PALE, linewidth=7, label="steps that are left")
    way.plot(values, color=BLUE, linewidth=2, label="V, as learned")
    way.plot(len(values) - 1, values[-1], "o", color=GREEN)
    way.set(xlabel="steps of the policy", ylim=(0, None), title="V along the way of its policy")
    way.legend(frameon=False)
    way.spines[["top", "right"]].set_visible(False)


def draw_objects(figure: Any) -> None:
    """The example state as towers, and as a graph of the objects that share an atom."""
    state = _example()
    towers, graph = figure.subplots(1, 2, width_ratios=[1, 1.5])
    _draw_towers(towers, state)
    towers.set_title("the state, and its goal")
    places = {one: (number, 0.0) for number, one in enumerate(state.objects)}
    for atoms, colour, line in ((state.atoms, INK, "-"), (state.goal, GREEN, "--")):
        for predicate, *objects in atoms:
            if len(objects) == 2:
                _arrow(graph, places[objects[0]], places[objects[1]], color=colour, linestyle=line)
                middle = sum(places[one][0] for one in objects) / 2
                label = predicate + ("@goal" if atoms is state.goal else "")
                graph.text(middle, 0.16, label, ha="center", color=colour)
    for one, place in places.items():
        _disc(graph, place, FAINT)
        graph.text(*place, one, ha="center", va="center")
    graph.set(
        xlim=(-0.5, len(places) - 0.5), ylim=(-0.6, 0.6), aspect="equal", title="the atoms that two objects share"
    )
    graph.set_axis_off()


def draw_pairs(figure: Any) -> None:
    """The live pairs of A_0, A_1 and A_2, and how many compositions end in each; one composition of A_1."""
    state = _example()
    for t, axes in enumerate(figure.subplots(1, 3)):
        live = Live.of(state, t)
        _draw_live(axes, state, live, is_counted=t > 0)
        axes.set_title(f"$A_{t}$: {len(live.compositions)} live pairs, {live.triangles} △")
        if t == 1:
            _draw_composition(axes, state, ("a", "b", "c"))


def draw_cities(figure: Any) -> None:
    """Two states, with the colours in which a plain R-GNN sees their objects after any number of layers."""
    states, distances = _cities()
    seen = Comparison.of(states, Plain(), None)
    assert seen.is_alike
    figure.get_layout_engine().set(wspace=0.12)
    columns = figure.subplots(1, 2)
    for axes, state, value, classes in zip(columns, states, distances, (seen.first, seen.second), strict=True):
        _draw_map(axes, state, classes)
        axes.set_title(f"V* = {value}")


def draw_told_apart(figure: Any) -> None:
    """The live pairs of the two states: those of a class that only one of the states has."""
    states, distances = _cities()
    seen = Comparison.of(states, Pairs(1), 1)
    for axes, state, value, own, other in zip(
        figure.subplots(1, 2), states, distances, (seen.first, seen.second), (seen.second, seen.first), strict=True
    ):
        only = {pair for pair, colour in own.items() if colour not in other.values()}
        _draw_cells(axes, state, {pair: RED if pair in only else FAINT for pair in own})
        axes.set_title(f"V* = {value}: {len(only)} of {len(own)} live pairs only here")
        axes.tick_params(axis="x", rotation=90)


def _draw_composition(axes: Any, state: Seen, objects: tuple[str, str, str]) -> None:
    """Mark the pairs of one △."""
    a, b, c = (state.objects.index(one) for one in objects)
    for row, column in ((a, b), (b, c), (a, c)):
        axes.add_patch(_rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=RED, linewidth=2.4))
    for row, column in ((a, b), (b, c)):
        _arrow(axes, (column, row), (c, a), color=RED, shrink=9)


def _draw_live(axes: Any, state: Seen, live: Live, *, is_counted: bool = False) -> None:
    """A cell for each pair: in an atom of the state, live by composition alone, or not live."""
    in_atoms = set(state.related) | {(b, a) for a, b in state.related} | {(one, one) for one in state.objects}
    fills = {pair: BLUE if pair in in_atoms else PALE for pair in live.compositions}
    _draw_cells(axes, state, fills)
    if is_counted:
        for pair, number in live.compositions.items():
            column, row = state.objects.index(pair[1]), state.objects.index(pair[0])
            colour = EMPTY if pair in in_atoms else INK
            axes.text(column, row, str(number), ha="center", va="center", color=colour)


def _draw_cells(axes: Any, state: Seen, fills: Mapping[Any, str]) -> None:
    """The pairs of objects as a grid, first by row and second by column; what is not live stays empty."""
    for row, first in enumerate(state.objects):
        for column, second in enumerate(state.objects):
            fill = fills.get((first, second), EMPTY)
            axes.add_patch(_rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=fill, edgecolor=LINE, linewidth=0.7))
    size = len(state.objects)
    axes.set(xlim=(-0.55, size - 0.45), ylim=(size - 0.45, -0.55), aspect="equal")
    axes.set(xticks=range(size), yticks=range(size), xticklabels=state.objects, yticklabels=state.objects)
    axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    axes.spines[:].set_visible(False)


def _draw_towers(axes: Any, state: Seen) -> None:
    """Towers of blocks now, and beside them what the goal has upon what."""
    left = _draw_upon(axes, [atom[1:] for atom in state.atoms if atom[0] == "on"], state.objects, 0, INK)
    goal = [atom[1:] for atom in state.goal]
    right = _draw_upon(axes, goal, sorted({one for pair in goal for one in pair}), left + 1.1, GREEN)
    axes.text((left - 0.2) / 2 - 0.4, -0.75, "now", ha="center", va="top")
    axes.text((left + 1.1 + right - 0.2) / 2 - 0.4, -0.75, "goal", ha="center", va="top", color=GREEN)
    tallest = max(len(_tower(goal, one)) for one in state.objects) if goal else 1
    tallest = max(tallest, *(len(_tower([a[1:] for a in state.atoms if a[0] == "on"], one)) for one in state.objects))
    axes.set(xlim=(-0.7, right), ylim=(-1.6, tallest), aspect="equal")
    axes.set_axis_off()


def _draw_upon(axes: Any, upon: Iterable[tuple[str, ...]], blocks: Iterable[str], left: float, edge: str) -> float:
    """Draw the towers that some pairs make, from a place to the right; where the next ones may stand is returned."""
    upon = list(upon)
    above = {one for one, _ in upon}
    for block in blocks:
        if block in above:
            continue
        for height, one in enumerate(_tower(upon, block)):
            axes.add_patch(_rectangle((left - 0.45, height - 0.45), 0.9, 0.9, facecolor=FAINT, edgecolor=edge))
            axes.text(left, height, one, ha="center", va="center")
        axes.plot([left - 0.55, left + 0.55], [-0.52, -0.52], color=SOFT, linewidth=1.5)
        left += 1.2
    return left


def _tower(upon: Iterable[tuple[str, ...]], lowest: str) -> list[str]:
    """The blocks of a tower, from the lowest."""
    above = {under: one for one, under in upon}
    tower = [lowest]
    while tower[-1] in above:
        tower.append(above[tower[-1]])
    return tower


def _draw_map(axes: Any, state: Seen, classes: Mapping[Any, int]) -> None:
    """Cities with their places, and packages where they are with arrows to where they should be."""
    cities = [one for predicate, one, *_ in state.atoms if predicate == "city"]
    inside = {city: [a for p, a, *b in state.atoms if p == "in-city" and b == [city]] for city in cities}
    places = {
        place: (3.1 * number, -1.9 * row)
        for number, city in enumerate(cities)
        for row, place in enumerate(sorted(inside[city], reverse=True))
    }
    fill = {one: CLASSES[number % len(CLASSES)] for one, number in classes.items()}
    for number, city in enumerate(cities):
        axes.add_patch(_rectangle((3.1 * number - 1.35, -2.95), 2.7, 4.1, facecolor=fill[city], edgecolor=LINE))
        axes.text(3.1 * number, 0.85, city, ha="center", va="center")
    for place, (x, y) in places.items():
        axes.add_patch(_rectangle((x - 1.2, y - 0.85), 2.4, 1.4, facecolor=fill[place], edgecolor=SOFT))
        axes.text(x - 1.1, y - 0.68, place, fontsize=8, color=SOFT)
    standing = {place: [a for p, a, *b in state.atoms if p == "at" and b == [place]] for place in places}
    spots = {
        one: (x - 0.6 + 1.2 * number / max(1, len(ones) - 1) if len(ones) > 1 else x, y + 0.06)
        for place, ones in standing.items()
        for (x, y) in [places[place]]
        for number, one in enumerate(sorted(ones))
    }
    for one, (x, y) in spots.items():
        axes.text(x, y, one, ha="center", va="center", fontsize=8.5,
                  bbox={"boxstyle": "round,pad=0.35", "facecolor": fill[one], "edgecolor": INK})  # fmt: skip
    for _, one, place in state.goal:
        x, y = places[place]
        start = spots[one]
        _arrow(axes, (start[0], start[1] - 0.3), (x + 0.25 * (1 if start[0] < x else -1), y + 0.5), color=RED, shrink=1)
    axes.set(xlim=(-1.45, 4.55), ylim=(-3.05, 1.25), aspect="equal")
    axes.set_axis_off()


def _rectangle(corner: tuple[float, float], width: float, height: float, **style: Any) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(corner, width, height, **style)


def _disc(axes: Any, place: tuple[float, float], fill: str) -> None:
    axes.plot(*place, "o", markersize=24, markerfacecolor=fill, markeredgecolor=INK)


def _arrow(
    axes: Any, start: tuple[float, float], end: tuple[float, float], *, shrink: float = 14, **style: Any
) -> None:
    kind = {"arrowstyle": "-|>", "shrinkA": shrink, "shrinkB": shrink, "linewidth": 1.5}
    axes.annotate("", end, start, arrowprops=kind | style)


@cache
def _example() -> Seen:
    return Seen.of("blocks-s", code_block(METHOD.read_text(encoding="utf-8"), "five.pddl"))


@cache
def _cities() -> tuple[tuple[Seen, Seen], tuple[int, int]]:
    home, away = two_cities(METHOD.read_text(encoding="utf-8"))
    return (Seen.of("logistics", home), Seen.of("logistics", away)), (
        distance("logistics", home),
        distance("logistics", away),
    )


FIGURES: dict[str, tuple[tuple[float, float], Callable[[Any], None]]] = {
    "overview": ((10, 3.3), draw_overview),
    "objects": ((8, 2.6), draw_objects),
    "pairs": ((9, 3.4), draw_pairs),
    "cities": ((9, 3.6), draw_cities),
    "told-apart": ((9, 4.9), draw_told_apart),
}
"""Each figure by its name: its size in inches, and what draws it."""


if __name__ == "__main__":
    sys.stdout.write(draw(sys.argv[1]))

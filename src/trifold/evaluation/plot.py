"""Coverage as a picture: of each model by each policy, over the size of problems, over training, or over time."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trifold.errors import TrifoldError
from trifold.evaluation.records import Record
from trifold.evaluation.tables import rows_apart
from trifold.outcomes import Outcome
from trifold.pictures import COLUMN, PAGE, add_legend, look, picture, plain, spell_logarithm

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PARTS = 8
"""How many sizes of problems are told apart at most: a share of fewer problems says little."""

WIDE = 20
"""Numbers whose largest is so many times the smallest are drawn on a logarithmic axis."""

STAIRS: dict[str, Any] = {"marker": None, "drawstyle": "steps-post", "linewidth": 1.3}
"""How lines are drawn that rise with each problem."""

Attempts = Sequence[Record]
Points = list[tuple[float, float]]


def plot_coverage(records: Iterable[Record], kind: str = "svg", over: str = "objects") -> bytes:
    """Draw the share of problems solved: a panel for each domain, a line for each model and what it acts by.

    over  objects: by the size of problems, in up to eight parts of about as many problems each
          steps: by the training steps of the model, where records are of several models of an architecture
          seconds: within so much time for each problem
    """
    if over not in AXES:
        raise TrifoldError(f"coverage is not drawn over {over!r}", remedy=f"draw it over {', '.join(AXES)}")
    points, x_label = AXES[over]
    lines = _lines(list(records), by_training=over == "steps")
    drawn = {domain: {name: points(parts) for name, parts in own.items()} for domain, own in lines.items()}
    names = list(dict.fromkeys(name for own in drawn.values() for name, found in own.items() if found))
    drawn = {domain: own for domain, own in drawn.items() if any(own.values())}
    if not names:
        raise TrifoldError(
            f"no record says what coverage over {over} needs", remedy="draw it over another: --over seconds"
        )
    across = min(len(drawn), 4)
    down = -(-len(drawn) // across)

    def draw(figure: Figure) -> None:
        panels = list(figure.subplots(down, across, squeeze=False, sharey=True).flat)
        for number, (domain, own) in enumerate(drawn.items()):
            _draw_panel(panels[number], domain, {names.index(name): found for name, found in own.items()}, over)
            is_lowest, is_first = number + across >= len(drawn), number % across == 0
            panels[number].set(xlabel=x_label if is_lowest else "", ylabel="problems solved, %" if is_first else "")
        for axes in panels[len(drawn) :]:
            axes.set_axis_off()
        add_legend(figure, [_sample(number, over) for number in range(len(names))], names)

    legend = 0.17 * (len(names) if across == 1 else -(-len(names) // 2))
    return picture(draw, kind, COLUMN if across == 1 else PAGE, (2.0 if across < 3 else 1.45) * down + 0.3 + legend)


def _lines(records: list[Record], *, by_training: bool) -> dict[str, dict[str, list[list[Record]]]]:
    """Of each domain the lines by their names, and of each line the attempts of each of its models.

    Over training, the models of an architecture are one line.
    """
    found: dict[str, dict[str, list[list[Record]]]] = defaultdict(lambda: defaultdict(list))
    for row, attempts in rows_apart(records):
        model = attempts[0]["model"] if by_training else row.model
        found[row.domain][f"{model}, {row.acts}"].append(attempts)
    return found


def _by_size(models: Sequence[Attempts]) -> Points:
    """The share solved of problems of about the same number of objects, at their mean."""
    sized = sorted((one["objects"], _is_solved(one)) for own in models for one in own if one["objects"] is not None)
    least, parts = math.ceil(len(sized) / PARTS), list[list[tuple[int, bool]]]()
    for number, (objects, is_solved) in enumerate(sized):
        is_new = number == 0 or (objects != sized[number - 1][0] and len(parts[-1]) >= least)
        if is_new:
            parts.append([])
        parts[-1].append((objects, is_solved))
    return [(sum(size for size, _ in part) / len(part), _percent([done for _, done in part])) for part in parts]


def _by_training(models: Sequence[Attempts]) -> Points:
    """The share solved after trainings of so many steps: the mean of several models with as many."""
    shares: dict[int, list[float]] = defaultdict(list)
    for own in models:
        steps = own[0].get("training_steps")
        if steps is not None:
            shares[steps].append(_percent([_is_solved(one) for one in own]))
    return [(steps, sum(own) / len(own)) for steps, own in sorted(shares.items())]


def _by_time(models: Sequence[Attempts]) -> Points:
    """The share solved within so many seconds each, from none to all that were solved."""
    attempts = [one for own in models for one in own]
    seconds = sorted(max(one["seconds"], 1e-3) for one in attempts if _is_solved(one))
    end = max((one["seconds"] for one in attempts), default=0.0)
    found = [(second, 100 * (number + 1) / len(attempts)) for number, second in enumerate(seconds)]
    return [(seconds[0], 0.0), *found, (max(end, seconds[-1]), found[-1][1])] if found else [(1e-3, 0.0), (end, 0.0)]


def _is_solved(record: Record) -> bool:
    return record["outcome"] == Outcome.SOLVED


def _percent(solved: Sequence[bool]) -> float:
    return 100 * sum(solved) / len(solved)


AXES: Mapping[str, tuple[Callable[[Sequence[Attempts]], Points], str]] = {
    "objects": (_by_size, "objects"),
    "steps": (_by_training, "training steps"),
    "seconds": (_by_time, "seconds a problem"),
}


def _draw_panel(axes: Axes, domain: str, lines: Mapping[int, Points], over: str) -> None:
    """The lines of a domain, by their numbers in the legend."""
    from matplotlib.ticker import MaxNLocator

    numbers = [x for found in lines.values() for x, _ in found]
    if over != "objects" and numbers and max(numbers) > WIDE * min(numbers) > 0:
        axes.set_xscale("log")
    elif over != "seconds":
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    for number, found in lines.items():
        style = look(number) | (STAIRS if over == "seconds" else {})
        axes.plot([x for x, _ in found], [share for _, share in found], clip_on=False, **style)
    if axes.get_xscale() == "log":
        spell_logarithm(axes.xaxis)
    axes.set_title(plain(domain))
    axes.set_ylim(0, 105)
    axes.set_yticks([0, 50, 100])


def _sample(number: int, over: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], **look(number) | (STAIRS if over == "seconds" else {}))

"""The picture of an explanation: V and V* along the way, and where it leaves the optimal one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from trifold.explanation.explanation import ExplainedStep, Explanation
from trifold.pictures import PAGE, picture, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, GREY, GREEN, RED = "#1f5fa8", "#444444", "#2a8f4f", "#c8322b"


def plot_explanation(explanation: Explanation, kind: str = "png") -> bytes:
    """Draw V and V* over the steps; actions are marked as optimal or not, and the first departure named."""
    return picture(lambda figure: _draw(figure, explanation), kind, PAGE, 3.6)


def _draw(figure: Figure, explanation: Explanation) -> None:
    from matplotlib.ticker import MaxNLocator

    axes = figure.subplots()
    _draw_lines(axes, explanation)
    _draw_actions(axes, explanation)
    last = explanation.steps[-1].number
    if explanation.dead_end is not None:
        axes.axvspan(explanation.dead_end.number + 1, last + 0.5, color=RED, alpha=0.08, label="dead end")
    if explanation.departures:
        _name_departure(axes, explanation.departures[0], last)
    name = f"{explanation.domain}, {explanation.problem}: {explanation.model} by {explanation.policy}"
    axes.set_title(plain(f"{name}, {explanation.outcome.value}"))
    axes.set(xlabel="steps taken", ylabel="distance to the goal")
    low, high = axes.get_ylim()
    axes.set_ylim(min(0.0, low), high + 0.08 * (high - low))  # room for a name
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    figure.legend(loc="outside lower center", ncols=5)


def _draw_lines(axes: Any, explanation: Explanation) -> None:
    """V, V* where it is finite, and the largest V* of the training where the way goes beyond it."""
    lines = {
        "V*": ([step.distance for step in explanation.steps], {"color": GREY, "linewidth": 1.2, "linestyle": "--"}),
        "V": ([step.value for step in explanation.steps], {"color": BLUE, "linewidth": 1.6}),
    }
    largest = explanation.training.value
    for label, (numbers, style) in lines.items():
        drawn = [math.nan if number is None else number for number in numbers]
        if any(map(math.isfinite, drawn)):
            axes.plot([number if math.isfinite(number) else math.nan for number in drawn], label=label, **style)
        if largest is not None and any(largest < number < math.inf for number in drawn):
            axes.axhline(largest, color=GREY, linewidth=0.8, linestyle=":")
            place = {"ha": "right", "va": "bottom", "transform": axes.get_yaxis_transform()}
            axes.text(1, largest, "largest V* in training", fontsize=8, color=GREY, **place)
            largest = None


def _draw_actions(axes: Any, explanation: Explanation) -> None:
    """A mark for each action that is known to be optimal, or not to be; without V*, for each after which V rises."""
    if not explanation.is_labelled and explanation.rises:
        places = [(step.number, step.value) for step in explanation.rises]
        axes.scatter(*zip(*places, strict=True), label="V rises", marker="^", color=RED, s=32, linewidths=0, zorder=4)
    for label, is_optimal, style in (
        ("optimal action", True, {"marker": "o", "color": GREEN, "s": 22}),
        ("action that is not optimal", False, {"marker": "X", "color": RED, "s": 44}),
    ):
        found = [step for step in explanation.steps if step.loss is not None and (step.loss == 0) is is_optimal]
        places = [(step.number, step.distance) for step in found if step.distance != math.inf]
        if places:
            axes.scatter(*zip(*places, strict=True), label=label, linewidths=0, zorder=4, **style)


def _name_departure(axes: Any, step: ExplainedStep, last: int) -> None:
    assert step.chosen is not None
    is_late = step.number > last / 2
    axes.axvline(step.number, color=RED, linewidth=0.8, linestyle=":", zorder=1)
    axes.annotate(
        plain(f"step {step.number + 1}: {step.chosen.action}"),
        (step.number, 1),
        (-4 if is_late else 4, -2),
        xycoords=axes.get_xaxis_transform(),
        textcoords="offset points",
        ha="right" if is_late else "left",
        va="top",
        color=RED,
        fontsize=8,
    )

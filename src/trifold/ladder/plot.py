"""The picture of a ladder: what the policy of each rung solves, and what a step of it costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trifold.ladder.result import KEPT, RungReport
from trifold.pictures import COLOURS, PAGE, picture
from trifold.training import Coverage

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OWN, OTHER, QUIET = COLOURS[0], "#9aa7b5", "#444444"


def plot_ladder(rungs: Sequence[RungReport], kind: str = "svg") -> bytes:
    """Draw rungs from the cheapest on: problems solved of those that all are judged on, and milliseconds a step.

    The one that is kept has a colour of its own; what was not tried says so.
    """

    def draw(figure: Figure) -> None:
        solved, costs = figure.subplots(1, 2, sharey=True, width_ratios=[3, 2])
        for number, report in enumerate(rungs):
            _draw_rung(solved, costs, number, report)
        names = [f"{one.rung.label}, k {one.rung.dim}, L {one.rung.layers}" for one in rungs]
        solved.set_yticks(range(len(rungs)), names)
        solved.set(xlabel="problems solved, %", xlim=(0, 100), ylim=(len(rungs) - 0.4, -0.6))
        measured = [one.milliseconds for one in rungs if one.milliseconds]
        costs.set(xlabel="ms a step", xlim=(0, 1.35 * max(measured, default=1.0)))
        for axes in (solved, costs):
            axes.grid(axis="y", visible=False)
            axes.tick_params(axis="y", length=0)

    return picture(draw, kind, PAGE, 0.6 + 0.26 * len(rungs))


def _draw_rung(solved: Axes, costs: Axes, number: int, report: RungReport) -> None:
    colour = OWN if report.verdict == KEPT else OTHER
    if report.judged is None:
        solved.text(1.5, number, report.verdict, va="center", color=QUIET, style="italic")
        return
    share = 100 * report.judged.solved / max(1, report.judged.problems)
    solved.barh(number, share, height=0.72, color=colour)
    inside = share > 55
    solved.text(
        share - 1.5 if inside else share + 1.5,
        number,
        f"{_told(report.judged)}, {report.verdict}",
        va="center",
        ha="right" if inside else "left",
        color="white" if inside and report.verdict == KEPT else "black",
    )
    if report.milliseconds is not None:
        costs.barh(number, report.milliseconds, height=0.72, color=colour)
        costs.text(report.milliseconds, number, f" {report.milliseconds:.3g}", va="center")


def _told(judged: Coverage) -> str:
    length = "" if judged.length is None else f", plans {judged.length:.2f} ×"
    return f"{judged.solved} of {judged.problems}{length}"

"""The picture of a comparison of architectures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trifold.analysis.expressivity import Expressivity
from trifold.pictures import PAGE, add_legend, look, picture, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_expressivity(result: Expressivity, kind: str = "png") -> bytes:
    """Draw over rounds the share of states in conflict and the least mean |V* − V| of each architecture."""
    from matplotlib.ticker import MaxNLocator

    end = max(depth.rounds for finding in result.findings for depth in finding.depths)

    def draw(figure: Figure) -> None:
        shares, errors = figure.subplots(1, 2)
        for number, finding in enumerate(result.findings):
            rounds = [depth.rounds for depth in finding.depths]
            conflicts = [100 * depth.conflicts / result.states for depth in finding.depths]
            least = [depth.least_error for depth in finding.depths]
            for axes, numbers in ((shares, conflicts), (errors, least)):  # beyond its fixed point nothing changes
                axes.plot([*rounds, max(end, 2)], [*numbers, numbers[-1]], clip_on=False, **look(number))
        shares.set(xlabel="layers", ylabel="states in conflict, %")
        errors.set(xlabel="layers", ylabel="least mean |V* − V|")
        for axes in (shares, errors):
            axes.set_ylim(0, max(1.0 if axes is shares else 0.1, axes.get_ylim()[1]))
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        figure.suptitle(f"{plain(result.domain)}: {result.states:,} states", fontsize=8.5)
        add_legend(figure, shares.lines, [finding.architecture for finding in result.findings])

    return picture(draw, kind, PAGE, 2.7)

"""The picture of a comparison of architectures."""

from __future__ import annotations

import io
from typing import Any

from trifold.analysis.expressivity import Expressivity


def plot_expressivity(result: Expressivity) -> bytes:
    """Draw over rounds the share of states in conflict and the least mean |V* − V|, as a PNG."""
    from matplotlib.figure import Figure  # slow to import, and a figure without pyplot needs no display
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(10, 4.5), layout="constrained")
    shares, errors = figure.subplots(1, 2)
    end = max(depth.rounds for finding in result.findings for depth in finding.depths)
    for number, finding in enumerate(result.findings):
        width = 1 + 0.7 * (len(result.findings) - number)  # thinner and thinner, for lines often lie on each other
        style: dict[str, Any] = {"color": f"C{number}", "label": finding.architecture, "linewidth": width}
        rounds = [depth.rounds for depth in finding.depths]
        conflicts = [100 * depth.conflicts / result.states for depth in finding.depths]
        least = [depth.least_error for depth in finding.depths]
        for axes, numbers in ((shares, conflicts), (errors, least)):
            axes.plot([*rounds, end], [*numbers, numbers[-1]], **style)  # beyond its fixed point nothing changes
    shares.set(xlabel="rounds", ylabel="states in conflict, %", ylim=(-1, None))
    errors.set(xlabel="rounds", ylabel="least mean |V* − V|")
    for axes in (shares, errors):
        axes.grid(alpha=0.3)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    errors.legend()
    figure.suptitle(f"{result.domain}: {result.states:,} states")
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=120)
    return picture.getvalue()

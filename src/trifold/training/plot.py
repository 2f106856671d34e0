"""The curves of a run."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trifold.files import write_whole
from trifold.training.run import SeedFolder

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_curves(folders: Sequence[SeedFolder], title: str, path: Path) -> None:
    """Draw the losses of each seed over steps, mark each least validation loss, and beside it draw the coverage."""
    from matplotlib.figure import Figure  # slow to import, and a figure without pyplot needs no display

    seeds = [(number, folder, folder.metrics()) for number, folder in enumerate(folders)]
    has_coverage = any("solved" in line or "larger_solved" in line for _, _, lines in seeds for line in lines)
    figure = Figure(figsize=(13 if has_coverage else 8, 4.5), layout="constrained")
    axes, *beside = figure.subplots(1, 1 + has_coverage, squeeze=False)[0]
    for number, folder, lines in seeds:
        if not lines:
            continue
        steps = [line["step"] for line in lines]
        validation = [line["validation"] for line in lines]
        colour, name = f"C{number}", folder.path.name.replace("-", " ")
        axes.plot(
            steps, [line["loss"] for line in lines], color=colour, alpha=0.45, linewidth=1, label=f"{name}, training"
        )
        axes.plot(steps, validation, color=colour, linewidth=1.6, label=f"{name}, validation")
        least = min(range(len(lines)), key=validation.__getitem__)
        axes.plot(steps[least], validation[least], "o", color=colour)
        axes.annotate(f"{validation[least]:.3f}", (steps[least], validation[least]), (4, 6), textcoords="offset points")
    axes.set(xlabel="step", ylabel="loss", yscale="log", title=title)
    axes.grid(alpha=0.3, which="both")
    if axes.lines:
        axes.legend()
    for place in beside:
        _plot_coverage(place, [lines for _, _, lines in seeds])
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=120)
    write_whole(path, picture.getvalue())


def _plot_coverage(axes: Axes, seeds: Sequence[list[dict[str, Any]]]) -> None:
    """Draw the share of held-out problems that the policy of each seed solves over steps, and that of larger ones."""
    for prefix, name, style in (("", "held-out", "o-"), ("larger_", "larger", "s--")):
        told: str | None = f"{name} problems"  # once, whatever the number of seeds
        for number, lines in enumerate(seeds):
            tried = [line for line in lines if line.get(f"{prefix}problems")]
            steps = [line["step"] for line in tried]
            shares = [100 * line[f"{prefix}solved"] / line[f"{prefix}problems"] for line in tried]
            if tried:
                axes.plot(steps, shares, style, color=f"C{number}", alpha=0.8, markersize=4, label=told)
                told = None
    axes.set(xlabel="step", ylabel="problems solved (%)", ylim=(-2, 105), title="coverage of the policy")
    if axes.lines:
        axes.legend()
    axes.grid(alpha=0.3)

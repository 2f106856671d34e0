"""The curves of a run."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from trifold.files import write_whole
from trifold.training.run import SeedFolder


def plot_curves(folders: Sequence[SeedFolder], title: str, path: Path) -> None:
    """Draw the training and validation loss of each seed over steps, and mark each least validation loss."""
    from matplotlib.figure import Figure  # slow to import, and a figure without pyplot needs no display

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for number, folder in enumerate(folders):
        lines = folder.metrics()
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
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=120)
    write_whole(path, picture.getvalue())

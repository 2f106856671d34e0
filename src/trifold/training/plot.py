"""The curves of trainings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trifold.errors import TrifoldError
from trifold.files import write_whole
from trifold.pictures import PAGE, look, picture, plain, spell_logarithm
from trifold.training.run import RunFolder, SeedFolder

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Lines = list[dict[str, Any]]
"""Of metrics.jsonl."""


def plot_curves(folders: Sequence[SeedFolder], title: str, path: Path) -> None:
    """Write the picture of a run that is its curves.png."""
    curves = [(folder.path.name.replace("-", " "), folder.metrics()) for folder in folders]
    write_whole(path, _draw_curves(curves, title, "png"))


def plot_trainings(runs: Sequence[Path | str], kind: str = "svg") -> bytes:
    """Draw what trainings did, beside each other: the losses of each seed over steps, and the coverage of its policy.

    >>> from trifold.training import train
    >>> run = train("gripper", "runs/drawn", "small", steps=2).run  # gripper/domain.pddl, …
    >>> plot_trainings([run], "pdf")[:5]
    b'%PDF-'
    """
    curves: list[tuple[str, Lines]] = []
    for run in map(Path, runs):
        with RunFolder(run).opened("config.json"):  # or it says that it is none
            seeds = sorted(run.glob("seed-*"), key=lambda file: (len(file.name), file.name))
        found = [(seed, lines) for seed in seeds if (lines := SeedFolder(seed).metrics())]
        own = run.resolve().name if len(runs) > 1 else ""
        for seed, lines in found:
            number = seed.name.replace("-", " ") if len(found) > 1 or not own else ""
            curves.append((", ".join(filter(None, (own, number))), lines))
    if not curves:
        where = ", ".join(map(str, runs))
        raise TrifoldError("no line of metrics was written: nothing was validated yet", place=where)
    return _draw_curves(curves, "", kind)


def _draw_curves(curves: Sequence[tuple[str, Lines]], title: str, kind: str) -> bytes:
    """The losses of each training over steps, a dot at each least validation loss, and beside them the coverage."""
    has_coverage = any("solved" in line or "larger_solved" in line for _, lines in curves for line in lines)

    def draw(figure: Figure) -> None:
        axes, *beside = figure.subplots(1, 1 + has_coverage, squeeze=False)[0]
        _plot_losses(axes, curves)
        for place in beside:
            _plot_coverage(place, [lines for _, lines in curves])
        if title:
            figure.suptitle(plain(title), fontsize=8.5)

    return picture(draw, kind, PAGE if has_coverage else PAGE / 2, 2.5 + 0.16 * len(curves))


def _plot_losses(axes: Axes, curves: Sequence[tuple[str, Lines]]) -> None:
    """Draw the validation loss of each training, and paler the loss of its training states."""
    for number, (name, lines) in enumerate(curves):
        if not lines:
            continue
        steps, style = [line["step"] for line in lines], look(number) | {"linewidth": 1.3}
        validation = [line["validation"] for line in lines]
        least = min(range(len(lines)), key=validation.__getitem__)
        pale = style | {"marker": None, "alpha": 0.5, "linewidth": 0.9}
        axes.plot(steps, [line["loss"] for line in lines], **pale, label="training" if len(curves) == 1 else None)
        told = f"{name}, validation: least {validation[least]:.3g}"
        axes.plot(steps, validation, **style, markevery=[least], label=plain(told))
    axes.set(xlabel="training steps", ylabel="loss", yscale="log")
    spell_logarithm(axes.yaxis)
    _legend(axes)


def _plot_coverage(axes: Axes, seeds: Sequence[Lines]) -> None:
    """Draw the share of held-out problems that the policy of each seed solves over steps, and that of larger ones."""
    for prefix, name, stroke in (("", "held-out", "-"), ("larger_", "larger", ":")):
        told: str | None = f"{name} problems"  # once, whatever the number of seeds
        for number, lines in enumerate(seeds):
            tried = [line for line in lines if line.get(f"{prefix}problems")]
            steps = [line["step"] for line in tried]
            shares = [100 * line[f"{prefix}solved"] / line[f"{prefix}problems"] for line in tried]
            if tried:
                axes.plot(steps, shares, **look(number) | {"linestyle": stroke}, label=told, clip_on=False)
                told = None
    axes.set(xlabel="training steps", ylabel="problems solved, %", ylim=(0, 105))
    _legend(axes)


def _legend(axes: Axes) -> None:
    """Below the axes, where no line is."""
    if axes.lines:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=1)

"""The picture of trainings: their losses and their coverage, whatever a folder has of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from trifold.errors import TrifoldError
from trifold.training import plot_trainings


def run(folder: Path, seeds: int, **facts: Any) -> Path:
    """A run folder with metrics and nothing else."""
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    for seed in range(seeds):
        (folder / f"seed-{seed}").mkdir()
        lines = [{"step": step, "loss": 2 / step, "validation": 3 / step} | facts for step in (10, 20, 40)]
        (folder / f"seed-{seed}" / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_each_seed_has_a_line_and_each_run_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, file, **_: figures.append(figure))
    policy = {"solved": 3, "problems": 4}
    plot_trainings([run(tmp_path / "one", 1, **policy), run(tmp_path / "two", 2, **policy)])
    losses, coverage = figures[0].axes
    told = [text.get_text() for text in losses.get_legend().get_texts()]
    assert [name.partition(", validation")[0] for name in told] == ["one", "two, seed 0", "two, seed 1"]
    assert [list(line.get_ydata()) for line in coverage.lines] == [[75, 75, 75]] * 3
    plot_trainings([run(tmp_path / "three", 1)])
    assert len(figures[1].axes) == 1


def test_what_is_no_run_or_has_not_begun_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TrifoldError, match="not the folder of a training run"):
        plot_trainings([tmp_path])
    with pytest.raises(TrifoldError, match="nothing was validated yet"):
        plot_trainings([run(tmp_path / "run", 0)])

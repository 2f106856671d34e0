"""Selection for programs; what it keeps and writes is in tests/commands/test_select_command.py."""

from __future__ import annotations

from pathlib import Path

import pytest

import trifold
from trifold.model import Model


def test_what_was_selected_is_told_and_is_the_runs_model(example_folder: Path, tmp_path: Path) -> None:
    run = trifold.train(example_folder / "gripper", tmp_path / "run", "small", steps=2, seeds=2).run
    with pytest.raises(trifold.TrifoldError, match="its recipe names no problems to select on"):
        trifold.select(run)
    selected = trifold.select(run, example_folder / "problem.pddl", max_steps=2, workers=1)
    assert selected.scores.keys() == selected.losses.keys() == {"seed-0", "seed-1"}
    kept = Model.load(selected.model_path)
    assert kept.provenance["selection"] == selected.to_json()
    assert kept.provenance["settings"]["seed"] == int(selected.chosen.removeprefix("seed-"))

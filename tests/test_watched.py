"""Trainings that a program watches: by a function that is told, or by the display of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

import trifold
from trifold.training import Progress


def test_a_function_is_told_of_each_step_of_a_training_and_of_its_resumption(
    example_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[Progress] = []
    run = trifold.train(example_folder / "gripper", tmp_path / "run", "small", steps=2, progress=told.append).run
    assert told[-1].step == 2 and told[-1].steps == 2
    assert trifold.resume(run, steps=3, progress=told.append).steps == told[-1].step == 3
    assert capsys.readouterr().err == ""


def test_the_display_is_that_of_the_command(
    example_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trifold.train(example_folder / "gripper", tmp_path / "run", "small", steps=2, progress=True)
    said = capsys.readouterr().err
    assert "states of" in said and "seed 0  step 2/2" in said

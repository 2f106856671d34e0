"""A benchmark in one call: what it leaves out it names, and what is wrong it says before it measures."""

from __future__ import annotations

from pathlib import Path

import pytest

from trifold.bench import run_bench
from trifold.domains import write_problems
from trifold.errors import TrifoldError
from trifold.model import ModelConfig

MARKS = ModelConfig("marks", dim=8, layers=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_problems(tmp_path, "gripper", [1, 3], 0)
    return tmp_path


def test_what_is_left_out_is_named(folder: Path) -> None:
    said: list[str] = []
    small = folder / "train" / "gripper-01-00.pddl"
    report = run_bench(
        str(folder), MARKS, batches=[2], problem=small, device="cpu", max_states=50, seconds=0.0, say=said.append
    )
    assert said[:2] == ["labelling", "left out gripper-03-00.pddl: state limit, the problem has more than 50 states"]
    assert list(report.sizes["labelled problems"]) == [small.name]
    lines = report.to_text().splitlines()
    assert any(line.startswith("training step  batch 2, reference ") for line in lines)
    assert not any("scatter" in row.what for row in report.rows)  # an Edge Transformer has none
    assert any(line.startswith("policy step    V of all successors") for line in lines)
    assert any(line.startswith("policy step    q of 3 actions") for line in lines)


def test_bad_input_is_an_error(folder: Path, tmp_path: Path) -> None:
    absent = tmp_path / "absent"
    for options, message in (
        ({"problem": absent}, "no such file"),
        ({"planner": absent}, "no such file"),
        ({"max_states": 1}, "can be labelled"),
        ({"timeout": 0.0}, "cannot be read: timeout"),
        ({"device": "abacus"}, "cannot use the device"),
    ):
        with pytest.raises(TrifoldError, match=message):
            run_bench(str(folder), MARKS, **{"device": "cpu"} | options)

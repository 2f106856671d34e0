"""A benchmark in one call: what it leaves out it names, and what is wrong it says before it measures."""

from __future__ import annotations

from pathlib import Path

import pytest

from trifold.bench import run_bench
from trifold.bench.compiled_look import check_scores
from trifold.domains import write_problems
from trifold.errors import TrifoldError
from trifold.model import ModelConfig
from trifold.native import obstacle

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


@pytest.mark.skipif(obstacle() is not None, reason="there is no compiled library")
def test_a_look_by_the_compiled_library_is_timed_beside_its_floor(folder: Path) -> None:
    config = ModelConfig("pairs", t=0, dim=8, layers=3)
    report = run_bench(str(folder), config, batches=[2], device="cpu", threads=1, max_states=50, seconds=0.0)
    rows = {row.what: row for row in report.rows}
    compiled = rows[next(what for what in rows if what.endswith("actions, compiled"))]
    look = rows[compiled.what.removesuffix(", compiled")]
    assert compiled.timing and compiled.floor and compiled.least and look.floor == compiled.floor
    assert compiled.least.flops <= compiled.floor.flops
    assert rows["  the same with one layer"].timing
    assert rows["V of all successors"].done is None  # nothing counts what the library does, so nothing is said of it


def test_scores_that_differ_are_no_benchmark() -> None:
    check_scores([1.0, 2.0], [1.0, 2.0 + 1e-6])
    check_scores([], [])
    with pytest.raises(TrifoldError, match="score actions differently"):
        check_scores([1.0, 2.0], [1.0, 2.1])


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

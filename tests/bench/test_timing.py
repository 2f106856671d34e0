"""Timings repeat what is short, do not repeat what is long, and a report says why a number is missing."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import torch

from trifold.bench.files import find_files
from trifold.bench.floors import Floor
from trifold.bench.policy_step import check_equal
from trifold.bench.report import Measurement, Report
from trifold.bench.timing import Timing, conditions, repeat, timed
from trifold.domains import write_problems
from trifold.errors import TrifoldError


def test_a_short_call_is_timed_in_groups_and_the_first_is_not_counted() -> None:
    calls = []
    timing = repeat(lambda: calls.append(0), 0.0)
    assert len(timing.seconds) == 1 and len(calls) > 100


@pytest.mark.parametrize("warm_up", [False, True])
def test_a_long_call_is_made_once(warm_up: bool) -> None:
    calls = []

    def call() -> None:
        calls.append(0)
        time.sleep(0.03)

    assert len(repeat(call, 0.0, warm_up=warm_up).seconds) == 1
    assert len(calls) == 1 + warm_up


def test_timed_returns_the_value_and_conditions_are_json() -> None:
    assert timed(lambda: 7)[1] == 7
    assert json.loads(json.dumps(conditions()))["threads"] == 1


def test_a_report_shows_numbers_and_the_reasons_for_their_absence() -> None:
    floor = Floor(products=0.5, mish=0.5, memory=0.1, flops=1e9)
    done = Floor(products=0.25, mish=0.25, memory=0.0, flops=2e8)
    rows = [
        Measurement("stage", "fast", Timing((2.0, 1.0, 3.0)), 10, floor, floor, done, ("slow", Timing((8.0,)))),
        Measurement("stage", "peer", note="not installed"),
    ]
    report = Report({"domain": "d"}, {"load": [0.1]}, {"policy step": {"objects": 3}}, {"copy": 1e9}, rows)
    text = report.to_text().splitlines()
    fast = next(line for line in text if "fast" in line)
    numbers = ["2.00", "s", "1.00", "s", "3.00", "s", "5", "1.00", "s", "arithmetic", "2.00", "2.00", "4.00", "0.1"]
    assert fast.split() == ["stage", "fast", *numbers, "4.00", "×", "slow"]
    assert "stage, peer: not installed" in text
    first, second = json.loads(json.dumps(report.to_json()))["rows"]
    assert (first["times_floor"], first["speed"], first["states_per_second"]) == (2.0, 4.0, 5.0)
    assert (first["times_done_floor"], first["flops_per_second"]) == (4.0, 1e8)
    assert second["seconds"] is None and second["note"] == "not installed"


def test_the_large_problem_is_the_largest_test_or_the_given_one(tmp_path: Path) -> None:
    training = write_problems(tmp_path, "gripper", [1, 2, 3, 4, 5, 6], 0)
    files = find_files(str(tmp_path), tmp_path / "none")
    assert files.training == [training[i] for i in (0, 2, 3, 5)] and files.large == training[-1]
    tests = write_problems(tmp_path, "gripper", [7, 8], 0, split="test")
    assert find_files(str(tmp_path), tmp_path / "none").large == tests[-1]
    assert find_files(str(tmp_path), tmp_path / "none", training[1]).large == training[1]
    generated = find_files("gripper", tmp_path / "generated")
    assert "balls-50" in generated.large.name and len(generated.training) == 4
    with pytest.raises(TrifoldError, match="neither a domain nor a folder"):
        find_files("grippr", tmp_path)
    with pytest.raises(TrifoldError, match="no such file"):
        find_files(str(tmp_path), tmp_path, Path("absent.pddl"))


def test_networks_that_differ_are_not_compared() -> None:
    check_equal(torch.tensor([1.0, 2.00001]), torch.tensor([1.0, 2.0]))
    for other in (2.1, float("nan")):
        with pytest.raises(TrifoldError, match="differ"):
            check_equal(torch.tensor([1.0, other]), torch.tensor([1.0, 2.0]))

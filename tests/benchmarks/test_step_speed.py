"""benchmarks/steps.py: a step is the look and more, and merging can only take arithmetic away."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import steps
from steps import Paced, read_case, table
from trifold.bench.machine import Machine
from trifold.domains import domain_text
from trifold.errors import TrifoldError
from trifold.native import obstacle

needs_library = pytest.mark.skipif(obstacle() is not None, reason=f"no compiled library: {obstacle()}")


@needs_library
def test_a_run_times_steps_of_a_generated_problem_and_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "domain.pddl").write_text(domain_text("gripper"))
    file = tmp_path / "problem.pddl"
    file.write_text(read_case("gripper:gripper")[3].text)
    words = ["--case", "gripper:gripper", "--case", f"gripper:{file}", "--seconds", "0.01", "--json"]
    monkeypatch.setattr(sys, "argv", ["steps.py", *words])
    monkeypatch.setattr(steps, "MACHINE", Machine("cpu", 0.001))
    steps.main()
    drawn, read = json.loads(capsys.readouterr().out)["cases"]
    assert (drawn["problem"], read["problem"]) == ("gripper, generated", "problem.pddl")
    assert drawn["steps"] == read["steps"] > 0
    for one in (drawn, read):
        assert 0 < one["least"] <= one["written"] and min(one["look"], one["step"]) > 0


def test_what_is_no_case_is_refused() -> None:
    with pytest.raises(TrifoldError, match="this is no case"):
        read_case("gripper")
    with pytest.raises(TrifoldError, match=r"no domain\.pddl"):
        read_case("gripper:/nowhere/problem.pddl")


def test_the_table_has_milliseconds_and_times_the_floors() -> None:
    text = table([Paced("gripper", "p.pddl", 8, 11, 0.004, 0.002, 0.002, 0.001)])
    assert text.splitlines()[-1].split()[2:] == ["8", "11", "4.00", "2.00", "2.00", "1.00", "2.00", "4.00"]

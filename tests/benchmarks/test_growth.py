"""benchmarks/growth.py: exponents and pictures of records, and that a run grows until a size is not solved."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import cast

import pytest

import growth
from blank_record import BLANK
from growth import LAMA, OURS, Grown, costs, exponent, picture, table
from trifold.evaluation import Record, read_records

# Stands for fast-downward.py: it finds no plan.
PLANNER = """import sys
if "--version" in sys.argv:
    print("Fake Downward 1.0")
sys.exit(0 if "--version" in sys.argv else 12)
"""


def grown(size: int, seconds: float, by: str = OURS, outcome: str = "solved") -> Grown:
    facts = {"outcome": outcome, "seconds": seconds, "plan_length": 2 * size, "seconds_per_step": seconds / size}
    return Grown("gripper", size, by, cast(Record, BLANK | facts | {"peak_gib": 0.25}))


def test_an_exponent_is_the_power_that_costs_were_made_by() -> None:
    for power in (0.5, 1.0, 2.7):
        assert exponent([(size, 3 * size**power) for size in (10, 70, 400)]) == pytest.approx(power)


def test_what_was_not_solved_costs_nothing_that_counts() -> None:
    found = [grown(10, 1.0), grown(100, 10.0), grown(1000, 300.0, outcome="timeout"), grown(10, 0.5, LAMA)]
    assert costs(found, "gripper", OURS, "seconds") == [(10, 1.0), (100, 10.0)]
    assert costs(found, "gripper", LAMA, "milliseconds a step") == []  # it takes no steps of a policy
    lines = table(found).splitlines()
    (powers,) = [line for line in lines if "exponent" in line]  # of one size there is none
    assert "^ 1.00" in powers and "^ 0.00" in powers
    assert any("timeout" in line for line in lines)


def test_a_picture_is_the_same_whenever_it_is_drawn() -> None:
    found = [grown(10, 1.0), grown(100, 10.0), grown(10, 0.5, LAMA)]
    drawn = picture(found)
    assert drawn == picture(found) and drawn.startswith(b"<?xml")


def test_a_run_grows_until_a_size_is_not_solved_and_goes_on_from_its_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    planner = tmp_path / "fast-downward.py"
    planner.write_text(PLANNER)
    monkeypatch.setitem(growth.SIZES, "gripper", ("balls", [{"balls": 1}, {"balls": 2}]))
    options = ["--domain", "gripper", "--timeout", "60", "--planner", str(planner)]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["growth.py", *options, "--picture", "growth.svg"])
    growth.main()
    first = capsys.readouterr().out
    records = read_records(Path("growth.jsonl"))
    assert [(record["policy"], record["outcome"] == "solved") for record in records] == [
        ("actions", True),
        ("first plan", False),  # so it is not given the larger one
        ("actions", True),
    ]
    assert Path("growth.svg").read_bytes().startswith(b"<?xml")
    growth.main()
    assert len(read_records(Path("growth.jsonl"))) == 3
    assert capsys.readouterr().out.splitlines()[-5:] == first.splitlines()[-5:]

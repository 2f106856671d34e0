"""Curves of coverage over steps: trained and judged once, measured from records, and drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import coverage_curves
from coverage_curves import Point, draw, measure


def test_a_point_is_what_the_records_say() -> None:
    records: Any = [{"plan_length": 3}, {"plan_length": None}, {"plan_length": 4}]
    assert measure(500, records) == Point(500, 2, 3, 7)
    assert measure(500, []) == Point(500, 0, 0, 0)


def test_both_heads_are_trained_for_each_number_of_steps_and_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(coverage_curves, "trifold", lambda *words: said.append(" ".join(map(str, words))))
    monkeypatch.setattr(coverage_curves, "read_records", lambda path: [{"plan_length": 5}])
    words = ["grid", "--suite", "suite", "--problems", "p", "--steps", "20", "10", "--runs", str(tmp_path)]
    monkeypatch.setattr("sys.argv", ["coverage_curves.py", *words, "--out", str(tmp_path / "out" / "grid.png")])
    coverage_curves.main()
    trained = [line.split(" --recipe ")[1] for line in said if line.startswith("train suite/grid")]
    assert trained == [
        f"grid --set heads={heads} --steps {steps} --seeds 1 --device auto --quiet"
        for steps in (10, 20)
        for heads in ("values", "both")
    ]
    assert [line.split()[4] for line in said if line.startswith("evaluate")] == ["values", "actions"] * 2
    assert (tmp_path / "out" / "grid.png").stat().st_size > 5_000
    (tmp_path / "grid-values-10").mkdir()
    (tmp_path / "grid-values-10" / "config.json").touch()
    said.clear()
    coverage_curves.main()
    assert said[0] == f"train --resume {tmp_path}/grid-values-10 --device auto --quiet"


def test_a_picture_may_have_one_curve_so_far(tmp_path: Path) -> None:
    draw("grid", {"values": [Point(10, 1, 2, 5)], "actions": []}, tmp_path / "grid.png")
    assert (tmp_path / "grid.png").exists()

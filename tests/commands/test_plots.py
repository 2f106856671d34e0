"""`--plot`: each verb that has it writes a picture, and says before all else why it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blank_record import BLANK
from command_line import trifold


@pytest.fixture
def records(tmp_path: Path) -> Path:
    told = {**BLANK, "schema": 1, "outcome": "stuck", "objects": 4, "training_steps": 10, "seconds": 0.5}
    file = tmp_path / "records.jsonl"
    file.write_text(json.dumps({"schema": 1} | told) + "\n")
    return file


@pytest.mark.parametrize("over", ["objects", "steps", "seconds"])
def test_a_table_is_drawn_over_what_is_asked_for(records: Path, tmp_path: Path, over: str) -> None:
    done = trifold("table", records, "--plot", tmp_path / "coverage.pdf", "--over", over)
    assert "0 / 1 (0 %)" in done.stdout and (tmp_path / "coverage.pdf").read_bytes().startswith(b"%PDF-")


def test_what_cannot_be_drawn_is_said_before_all_else(records: Path, tmp_path: Path) -> None:
    assert "PNG, SVG or PDF" in trifold("table", records, "--plot", tmp_path / "coverage.doc", code=2).stderr
    assert "no such folder" in trifold("table", records, "--plot", tmp_path / "no" / "a.pdf", code=2).stderr
    refused = trifold("report", records, "--plot", tmp_path / "curves.svg", "-o", tmp_path / "r.html", code=2)
    assert "trifold table --plot" in refused.stderr and not (tmp_path / "r.html").exists()


def test_a_training_and_a_report_of_it_draw_the_same_curves(example_folder: Path, tmp_path: Path) -> None:
    first, second, run = tmp_path / "first.svg", tmp_path / "second.svg", tmp_path / "run"
    trifold("train", example_folder / "gripper", "--recipe", "small", "--steps", 2, "--run", run, "--plot", first, "-q")
    trifold("report", run, "--plot", second, "-o", tmp_path / "report.html")
    assert first.read_bytes() == second.read_bytes() and first.read_bytes().startswith(b"<?xml")

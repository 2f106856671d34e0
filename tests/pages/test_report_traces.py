"""Traces within a report: of failures whose model and problem are still what they were, and a word on the others."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pages.test_trace_page import data_of
from trifold.evaluation import evaluate
from trifold.reports import report_page


def lost(page: str) -> list[dict[str, Any]]:
    return [
        one
        for domain in data_of(page)["evaluated"]
        for row in domain["contenders"]
        for one in row["attempts"]
        if one["outcome"]
    ]


def test_failures_are_followed_again_where_model_and_problem_are_what_they_were(
    example_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("model.safetensors", "problem.pddl"):
        shutil.copy(example_folder / name, name)
    (done,) = evaluate("model.safetensors", "problem.pddl", records="records.jsonl", max_steps=1)
    assert done["outcome"] == "step limit"
    asked: dict[str, Any] = {"problems": ["problem.pddl"], "timeout": 60.0}
    told: list[None] = []
    page = report_page("records.jsonl", traces=3, on_trace=lambda: told.append(None), **asked)
    (attempt,), (text,) = lost(page), data_of(page)["traces"]
    assert (attempt["trace"], attempt["note"], len(told)) == (0, None, 1)
    (trace,) = json.loads(text)["traces"]
    assert (trace["outcome"], len(trace["steps"])) == ("step limit", 2)
    assert page.count("<script") == 2

    shutil.copy(example_folder / "gripper" / "domain.pddl", "problem.pddl")
    (attempt,) = lost(report_page("records.jsonl", traces=1, **asked))
    assert attempt["trace"] is None and "its problem was not found" in attempt["note"]
    shutil.copy(example_folder / "problem.pddl", "problem.pddl")
    Path("model.safetensors").write_bytes(b"another")
    (attempt,) = lost(report_page("records.jsonl", traces=1, **asked))
    assert "is another one now" in attempt["note"] and attempt["command"].startswith("trifold explain model.safe")
    Path("model.safetensors").unlink()
    assert "is not there any more" in lost(report_page("records.jsonl", traces=1, **asked))[0]["note"]
    assert lost(report_page("records.jsonl"))[0]["note"] is None

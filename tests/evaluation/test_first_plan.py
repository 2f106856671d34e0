"""LAMA's first plans are records like those of a policy: they count if they replay, and can be continued."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from trifold.commands import app
from trifold.errors import TrifoldError
from trifold.evaluation import read_records, summarise
from trifold.evaluation.first_plan import find_first_plans
from trifold.planning import read_plan

DOMAIN = """
(define (domain corridor)
  (:predicates (at ?x) (next ?x ?y))
  (:action go :parameters (?x ?y) :precondition (and (at ?x) (next ?x ?y)) :effect (and (at ?y) (not (at ?x)))))
"""
PROBLEM = """
(define (problem corridor) (:domain corridor) (:objects a b c)
  (:init (at a) (next a b) (next b c) (next b a)) (:goal (at c)))
"""
PLANNER = """
import sys, time
words = sys.argv[1:]
if words == ["--version"]:
    print("Fake Downward 1.0")
    sys.exit()
assert words == ["--plan-file", "plan", "--alias", "lama-first", "domain.pddl", "problem.pddl"]
def write(*actions):
    open("plan", "w").write("\\n".join(actions) + "\\n; cost = 1\\n")
"""
PLAN = "write('(go a b)', '(go b a)', '(go a b)', '(go b c)')"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    (tmp_path / "p.pddl").write_text(PROBLEM)
    return tmp_path


def first_plan(folder: Path, code: str, **settings: Any) -> Any:
    (folder / "planner.py").write_text(PLANNER + code)
    (found,) = find_first_plans(
        [folder / "p.pddl"],
        folder / "domain.pddl",
        records=folder / "new" / "records.jsonl",
        planner=folder / "planner.py",
        **settings,
    )
    return found


def test_the_first_plan_is_a_record_and_a_row(folder: Path) -> None:
    found = first_plan(folder, PLAN)
    assert (found["model"], found["policy"], found["outcome"], found["plan_length"]) == (
        *("LAMA", "first plan", "solved"),
        4,
    )
    assert (found["domain"], found["objects"], found["model_path"]) == ("corridor", 3, "Fake Downward 1.0")
    assert found["seconds"] > 0 and found["hardware"] and found["training_seconds"] is None
    assert read_records(folder / "new" / "records.jsonl") == [found]
    (row,) = summarise([found])
    assert (row.model, row.solved, row.total) == ("LAMA", 1, 4)
    (folder / "planner.py").write_text(PLANNER)


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("write('(go a c)')", "invalid plan"),
        ("time.sleep(60)", "timeout"),
        ("sys.exit(22)", "memory limit"),
        ("sys.exit(11)", "unsolvable"),
        ("sys.exit(12)", "no plan"),
        ("pass", "crash"),
        ("sys.exit(35)", "crash"),
    ],
)
def test_every_end_is_an_outcome(folder: Path, code: str, outcome: str) -> None:
    found = first_plan(folder, code, timeout=3.0)
    assert (found["outcome"], found["plan_length"]) == (outcome, None) and found["message"]


def test_a_bad_problem_is_bad_input(folder: Path) -> None:
    name = first_plan(folder, PLAN)["domain"]
    (folder / "p.pddl").write_text("(define (problem")
    found = first_plan(folder, PLAN)
    assert (found["outcome"], found["domain"]) == ("bad input", name)  # or it would be in a row of its own


def test_what_is_recorded_is_not_done_again_unless_it_crashed(folder: Path) -> None:
    seen = []
    settings = {"on_record": lambda record, is_new: seen.append((record["outcome"], is_new))}
    log = folder / "log"
    counting = f"open({os.fspath(log)!r}, 'a').write('x')\n"
    first_plan(folder, counting + "sys.exit(35)", **settings)
    first_plan(folder, counting + "sys.exit(35)", **settings)
    first_plan(folder, counting + PLAN, **settings)
    first_plan(folder, counting + PLAN, **settings)
    assert seen == [("crash", True), ("crash", True), ("solved", True), ("solved", False)]
    assert log.read_text() == "xxx"


def test_plans_are_written_and_a_record_without_its_plan_is_done_again(folder: Path) -> None:
    log = folder / "log"
    counting = f"open({os.fspath(log)!r}, 'a').write('x')\n" + PLAN
    first_plan(folder, counting)
    for _ in range(2):
        found = first_plan(folder, counting, plans=folder / "plans")
    assert log.read_text() == "xx" and "plan" not in found
    assert len(read_plan(folder / "plans" / "p.plan")) == found["plan_length"] == 4


def test_the_command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "planner.py").write_text(PLANNER + PLAN)
    monkeypatch.chdir(folder)
    words = ["reference", "p.pddl", "--first", "--planner", "planner.py"]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0 and "1 / 1 (100 %)" in done.stdout
    assert done.stderr.startswith("[1/1] p.pddl: solved in 4 steps, ")
    assert [one["model"] for one in read_records(folder / "records.jsonl")] == ["LAMA"]
    (row,) = json.loads(CliRunner().invoke(app, [*words, "--json", "--quiet"]).stdout)
    assert row["total"] == 4
    with pytest.raises(TrifoldError, match="needs no optimal search"):
        CliRunner().invoke(app, [*words, "--optimal-timeout", "1"], catch_exceptions=False)

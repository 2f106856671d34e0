"""`trifold solve none`: a search without a model, under all limits, and `--validate`, the second opinion."""

from __future__ import annotations

import json
import random
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from command_line import trifold
from trifold.commands.solve import _say_when_long
from trifold.domains import DOMAINS, domain_text
from trifold.planning import parse_plan
from trifold.up import Verdict, validation

LAMPS = """(define (domain lamps) (:predicates (on ?l) (off ?l))
  (:action light :parameters (?l) :precondition (off ?l) :effect (and (on ?l) (not (off ?l)))))"""
DARK = """(define (problem dark) (:domain lamps) (:objects a b) (:init (off a) INIT) (:goal (and (on a) (on b))))"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two lamps that can be lit, and where one cannot; so many beside it that no search sees all states; Logistics."""
    others = " ".join(f"(off l{i})" for i in range(60))
    for name, text in {
        "domain": LAMPS,
        "lamps": DARK.replace("INIT", "(off b)"),
        "broken": DARK.replace("INIT", ""),
        "endless": DARK.replace("INIT", others).replace("a b)", f"a b {others.replace('(off ', '').replace(')', '')})"),
        "logistics/domain": domain_text("logistics"),
        "logistics/large": DOMAINS["logistics"].problem(random.Random(1), 12),
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.pddl").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_search_alone_finds_a_plan_with_the_domain_beside_the_problem_or_given(folder: Path) -> None:
    done = trifold("solve", "none", "lamps.pddl", cwd=folder, real=True)
    assert parse_plan(done.stdout) == ["(light a)", "(light b)"]
    assert done.stderr.startswith("no model: lamps, 2 objects\n") and "solved by turns after" in done.stderr
    (folder / "domain.pddl").rename(folder / "other.pddl")
    for words in (("other.pddl", "lamps.pddl"), ("-d", "other.pddl", "lamps.pddl")):
        assert trifold("solve", "none", *words, "-q", cwd=folder).stdout == done.stdout
    error = trifold("solve", "none", "lamps.pddl", cwd=folder, code=2).stderr
    assert "there is no domain.pddl beside the problem" in error and "trifold solve none DOMAIN PROBLEM" in error


def test_the_machine_form_has_no_model_and_a_policy_may_come_first(folder: Path) -> None:
    answer = json.loads(trifold("solve", "none", "lamps.pddl", "--json", "--improve", "1", cwd=folder).stdout)
    facts = {"model": None, "device": None, "outcome": "solved", "found_by": "turns", "validated": None}
    assert answer.items() >= facts.items() and len(answer["actions"]) == 2
    answer = json.loads(trifold("solve", "none", "lamps.pddl", "--json", "--policy", "values", cwd=folder).stdout)
    assert answer["found_by"] == "values" and answer["values"][-1] == 0.0


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["broken.pddl"], 11, "unsolvable by turns"),
        (["lamps.pddl", "--search", "beam"], 0, "solved by beam"),
        (["lamps.pddl", "--search", "none"], 2, "without a model there is a search alone"),
        (["lamps.pddl", "--search", "no-such"], 2, "there is no policy 'no-such'"),
        (["lamps.pddl", "--policy", "actions"], 2, "nothing scores the actions"),
        (["logistics/large.pddl"], 0, "solved by turns"),
        (["logistics/large.pddl", "--search", "greedy", "--max-states", "1000"], 12, "state limit by greedy"),
        (["logistics/large.pddl", "--search", "greedy", "--max-states", "1000"], 12, "try: a larger --max-states"),
        (["endless.pddl", "--search", "greedy", "--timeout", "2"], 6, "timeout"),
    ],
)
def test_every_end_of_a_search_alone_has_its_exit_code(folder: Path, words: list[str], code: int, told: str) -> None:
    assert told in trifold("solve", "none", *words, cwd=folder, code=code).stderr


@pytest.mark.real_children
def test_a_search_alone_ends_within_its_memory_and_loads_no_torch(folder: Path) -> None:
    """Each of a thousand lamps can be lit in each state, and torch alone would take more address space than this."""
    names = [f"l{i}" for i in range(1000)]
    dark, goal = (" ".join(f"({word} {name})" for name in names) for word in ("off", "on"))
    many = f"(define (problem many) (:domain lamps) (:objects {' '.join(names)}) (:init {dark}) (:goal (and {goal})))"
    (folder / "many.pddl").write_text(many, encoding="utf-8")
    words = ("solve", "none", "many.pddl", "--search", "greedy", "--memory", "0.2", "--timeout", "100")
    done = trifold(*words, cwd=folder, code=7, real=True)
    assert "no model: lamps, 1000 objects" in done.stderr and "memory limit" in done.stderr


def test_a_search_without_an_end_in_sight_says_once_how_to_end_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody has bounded it and somebody is told; a plan that is being improved is there already."""
    monkeypatch.setattr(import_module("trifold.commands.solve"), "LONG_SECONDS", 0.0)
    command = ("solve", "none", "lamps.pddl")
    said = trifold(*command, cwd=folder).stderr
    assert said.count("--timeout SECONDS bounds it, and Ctrl-C ends it") == 1
    for bound in (("--timeout", 60), ("--quiet",)):
        assert "Ctrl-C" not in trifold(*command, *bound, cwd=folder).stderr
    show, wait = _say_when_long(lambda event: told.append(event["event"]))
    told: list[str] = []
    show({"event": "plan"})
    wait()
    assert told == ["plan"]


def test_a_plan_is_validated_by_unified_planning(folder: Path) -> None:
    done = trifold("solve", "none", "lamps.pddl", "--validate", cwd=folder)
    assert "valid for Unified Planning, too" in done.stderr and "warning" not in done.stderr
    answer = json.loads(trifold("solve", "none", "lamps.pddl", "--validate", "--json", cwd=folder).stdout)
    assert answer["validated"] is True and answer["doubt"] is None


@pytest.mark.parametrize(
    ("verdict", "code", "outcome", "told"),
    [
        (Verdict(False, "it is dark"), 10, "disagreement", "Unified Planning's validator does not: it is dark"),
        (Verdict(None, "too dark to read"), 0, "solved", "warning: the plan was not validated: too dark to read"),
    ],
)
def test_a_verdict_is_believed_and_no_verdict_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch, verdict: Verdict, code: int, outcome: str, told: str
) -> None:
    monkeypatch.setattr("trifold.up.validate", lambda domain, problem, plan: verdict)
    words = ("solve", "none", "lamps.pddl", "--validate", "--json", "-o", "plan.txt")
    done = trifold(*words, cwd=folder, code=code)
    answer = json.loads(done.stdout)
    assert (answer["outcome"], answer["validated"], answer["doubt"]) == (outcome, verdict.is_valid, verdict.reason)
    assert told in done.stderr and (folder / "plan.txt").exists() == (code == 0)


def test_a_validator_that_takes_too_long_leaves_the_plan_and_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait(*texts: Any) -> None:
        time.sleep(60)

    monkeypatch.setattr("trifold.up.validate", wait)
    done = trifold("solve", "none", "lamps.pddl", "--validate", "--timeout", "2", cwd=folder)
    assert "the plan was not validated: stopped after 2 s" in done.stderr and "solved" in done.stderr


def test_without_unified_planning_the_command_says_how_to_install_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["trifold.commands.solve"], "find_spec", lambda name: None)
    error = trifold("solve", "none", "lamps.pddl", "--validate", cwd=folder, code=2).stderr
    assert 'pip install "trifold[up]"' in error


def test_the_validator_tells_good_plans_from_bad_ones_and_what_it_cannot_read() -> None:
    problem = DARK.replace("INIT", "(off b)")
    assert validation.validate(LAMPS, problem, ["(light b)", "(light a)"]) == Verdict(True)
    short = validation.validate(LAMPS, problem, ["(light a)"])
    assert short.is_valid is False and short.reason
    twice = validation.validate(LAMPS, problem, ["(light a)", "(light a)"])
    assert twice.is_valid is False and "2-th action" in twice.reason
    derived = LAMPS.replace("(:action", "(:derived (on ?l) (off ?l)) (:action")
    unread = validation.validate(derived, problem, ["(light a)"])
    assert unread.is_valid is None and unread.reason.startswith("Unified Planning cannot read this")
    both = LAMPS.replace("(not (off ?l))", "(not (on ?l))")  # what is deleted and added is added, for both of us
    assert validation.validate(both, problem, ["(light a)", "(light b)"]) == Verdict(True)

"""Relaxed plans: no shorter than the farthest literal of the goal is, by naive levels, and of applicable actions."""

from __future__ import annotations

import math
import os
import random

import pytest

from pddl.test_problem import ROOMS, TIDY
from planning.test_goal_counts import random_walk
from trifold.domains import DOMAINS, domain_text
from trifold.pddl import GroundingError, Problem, Relaxation, load_domain, load_problem
from trifold.pddl.grounding import Grounding, ground

ONE_WAY = """(define (domain way) (:predicates (at ?x) (road ?x ?y))
  (:action go :parameters (?x ?y) :precondition (and (at ?x) (road ?x ?y)) :effect (and (at ?y) (not (at ?x)))))"""
FORK = """(define (problem fork) (:domain way) (:objects a b c) (:init (at a) (road a b) (road a c)) (:goal (at c)))"""


def farthest(problem: Problem, grounding: Grounding, atoms: set[str]) -> float:
    """After how many rounds of all actions, without deletes, all of the goal is true; infinite if never."""
    true = {fact for fact in grounding.atoms if f"({' '.join([fact[0], *fact[1]])})" in atoms}
    level = {index for index, fact in enumerate(grounding.atoms) if fact in true}
    rounds = 0
    while not set(grounding.goal[0]) <= level:
        after = level.union(*(action.added for action in grounding.actions if set(action.positive) <= level))
        if after == level:
            return math.inf
        level, rounds = after, rounds + 1
    return rounds


@pytest.mark.parametrize("name", ["gripper", "blocks-s", "logistics", "rovers", "visitall", "grid"])
def test_a_relaxed_plan_is_no_shorter_than_the_farthest_literal(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    rng = random.Random(name)
    problem = load_problem(load_domain(domain_text(name)), DOMAINS[name].problem(rng, 3))
    relaxation, grounding = Relaxation(problem), ground(problem)
    for state in random_walk(problem, rng, 40):
        length, helpful = relaxation.plan(state)
        assert farthest(problem, grounding, set(problem.atoms(state))) <= length < math.inf
        assert (length == 0) == problem.is_goal(state)
        assert helpful <= {action for action, _ in problem.successors(state)}
        assert helpful or problem.is_goal(state)
    assert capfd.readouterr().out == ""  # pymimir prints all atoms


def test_a_dead_end_has_no_relaxed_plan() -> None:
    problem = load_problem(load_domain(ONE_WAY), FORK)
    relaxation = Relaxation(problem)
    after = dict(problem.successors(problem.initial_state))
    assert relaxation.plan(problem.initial_state) == (1.0, {"(go a c)"})
    assert relaxation.plan(after["(go a b)"])[0] == math.inf
    assert relaxation.plan(after["(go a c)"])[0] == 0.0


def test_what_is_not_strips_or_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(GroundingError):
        Relaxation(load_problem(load_domain(ROOMS), TIDY))
    monkeypatch.setattr("trifold.pddl.relaxation.MAX_ACTIONS", 1)
    with pytest.raises(GroundingError, match="more than 1 ground actions"):
        Relaxation(load_problem(load_domain(ONE_WAY), FORK))


def test_there_need_be_no_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int) -> int:
        raise OSError("there is none")

    monkeypatch.setattr(os, "dup", fail)
    monkeypatch.setattr("sys.stdout", None)
    problem = load_problem(load_domain(ONE_WAY), FORK)
    assert Relaxation(problem).plan(problem.initial_state)[0] == 1.0

"""Relaxed plans as scores: they lead a search where counting goals does not, and a search in turns asks them."""

from __future__ import annotations

import math
import random

import pytest

from pddl.test_relaxation import FORK, ONE_WAY
from trifold.domains import DOMAINS, domain_text
from trifold.pddl import State, load_domain, load_problem
from trifold.planning import Outcome, Scores, goal_counts, relaxed_plans, replay, solve


@pytest.mark.parametrize("name", ["gripper", "blocks-s", "logistics", "visitall", "grid"])
def test_a_search_by_relaxed_plans_solves_what_it_is_given(name: str) -> None:
    problem = load_problem(load_domain(domain_text(name)), DOMAINS[name].problem(random.Random(name), 4))
    found = solve(problem, relaxed_plans(problem), policy="greedy", max_steps=10_000)
    assert found.plan is not None and replay(problem, found.plan)
    assert found.evaluated == found.steps  # one look at each state that is expanded


def test_a_key_that_must_be_brought_somewhere_is_brought_in_turns() -> None:
    """The model is blind, and one literal that is missing tells a count of goals nothing."""
    text = DOMAINS["grid"].generate(
        random.Random(1), rows=2, columns=3, side=3, locks=5, keys=4, shapes=4, unlocks=4, goal="key"
    )
    problem = load_problem(load_domain(domain_text("grid")), text)

    def never(states: list[State]) -> list[float]:
        raise AssertionError("the model is blind")

    found = solve(problem, Scores(never, is_blind=True), search="turns", max_states=20_000)
    assert found.plan is not None and replay(problem, found.plan) and (found.known or 0) < 20_000
    counted = solve(problem, goal_counts(problem), policy="greedy", max_steps=10**9, max_states=20_000)
    assert counted.outcome is Outcome.STATE_LIMIT


def test_where_no_relaxed_plan_is_left_a_search_still_ends_with_the_proof() -> None:
    problem = load_problem(load_domain(ONE_WAY), FORK.replace("(at c)", "(and (at c) (at b))"))
    found = solve(problem, relaxed_plans(problem), policy="greedy")
    assert (found.outcome, found.values, found.steps) == (Outcome.UNSOLVABLE, (2.0,), 3)
    scores = relaxed_plans(problem)
    (start,) = scores.values([problem.initial_state])
    lost = dict(problem.successors(problem.initial_state))["(go a b)"]
    assert start == 2.0 and scores.look(lost, []) == (math.inf, [])

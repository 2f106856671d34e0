"""A plan that is given is followed to its end, or to where it does not apply."""

from __future__ import annotations

import math
import random

import pytest

from trifold.domains import DOMAINS, domain_text
from trifold.errors import TrifoldError
from trifold.outcomes import Outcome
from trifold.pddl import Problem, load_domain, load_problem
from trifold.planning import follow_plan, goal_counts, solve


@pytest.fixture(scope="module")
def problem() -> Problem:
    return load_problem(
        load_domain(domain_text("gripper")), DOMAINS["gripper"].problem(random.Random(0), 2, start="classic")
    )


def test_a_plan_leads_where_it_leads(problem: Problem) -> None:
    scores = goal_counts(problem)
    plan = solve(problem, scores, policy="turns").plan
    assert plan
    found = solve(problem, scores, policy=follow_plan([action.upper() for action in plan]))
    assert (found.outcome, found.actions) == (Outcome.SOLVED, plan)
    assert len(found.states) == len(plan) + 1 and all(map(math.isnan, found.values))
    part = solve(problem, scores, policy=follow_plan(plan[:-1]))
    assert (part.outcome, part.actions) == (Outcome.INVALID_PLAN, plan[:-1])
    limited = solve(problem, scores, policy=follow_plan(plan), max_steps=1)
    assert (limited.outcome, limited.actions) == (Outcome.STEP_LIMIT, plan[:1])
    assert solve(problem, scores, policy=follow_plan([])).outcome is Outcome.INVALID_PLAN


def test_what_is_not_applicable_is_named(problem: Problem) -> None:
    with pytest.raises(TrifoldError, match=r"step 1 of the plan, \(fly a b\), is not applicable"):
        solve(problem, goal_counts(problem), policy=follow_plan(["(fly a b)"]))

"""Relaxed plans: what scores states and actions where there is no model, or where it is lost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trifold.planning.policy import Scores

if TYPE_CHECKING:
    from trifold.pddl import Problem, State


def relaxed_plans(problem: Problem) -> Scores[State]:
    """V of a state is the length of a plan without deletes (h_FF of Hoffmann and Nebel, JAIR 2001).

    Of its actions those are best that begin this plan, FF's helpful ones. One look at a state tells both, so a search
    by them evaluates the states that it expands alone, as LAMA does. Raises a `GroundingError` for problems that are
    not STRIPS, or too large.

    >>> from trifold.pddl import load_domain, load_problem
    >>> from trifold.planning import solve
    >>> problem = load_problem(load_domain("gripper/domain.pddl"), "problem.pddl")
    >>> found = solve(problem, relaxed_plans(problem), policy="greedy")
    >>> found.outcome.value, found.values[0], len(found.actions)
    ('solved', 5.0, 5)
    """
    from trifold.pddl import Relaxation

    relaxation = Relaxation(problem)

    def look(state: State, actions: Sequence[str]) -> tuple[float, list[float]]:
        length, helpful = relaxation.plan(state)
        return length, [math.inf if action in helpful else -math.inf for action in actions]

    return Scores(lambda states: [relaxation.plan(state)[0] for state in states], look)

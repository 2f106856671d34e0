"""Goal counting: what scores the states of a problem where there is no model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trifold.planning.policy import Scores

if TYPE_CHECKING:
    from trifold.pddl import Problem, State

BATCH = 32
"""How many states a search by goal counts expands at once: counting is quick, so few calls are saved by more."""


def goal_counts(problem: Problem) -> Scores[State]:
    """V of a state is how many literals of the goal do not hold in it, for any problem and without a model.

    It is a weak guide, but a search is complete by any. It knows only states of this problem.

    >>> from trifold.pddl import load_domain, load_problem
    >>> from trifold.planning import solve
    >>> problem = load_problem(load_domain("gripper/domain.pddl"), "problem.pddl")
    >>> found = solve(problem, goal_counts(problem), policy="greedy")
    >>> found.outcome.value, found.values[1:3], found.values[-1]
    ('solved', (2.0, 2.0), 0.0)
    """
    return Scores(problem.count_unmet, batch=BATCH)

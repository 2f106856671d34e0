"""Packed search by goal counts: state for state what the greedy search by `goal_counts` does."""

from __future__ import annotations

import random

import pytest

from pddl.test_problem import ROOMS, TIDY
from pddl.test_relaxation import FORK, ONE_WAY
from trifold.domains import DOMAINS, domain_text
from trifold.pddl import GroundingError, PackedCounts, PackedTask, Problem, load_domain, load_problem
from trifold.planning import Outcome, goal_counts
from trifold.planning.counted import Counted
from trifold.planning.known import AnyKnown
from trifold.planning.search import Greedy, Turn


def follow(search: Turn, batches: int = 200) -> list[object]:
    """All that a search tells, batch by batch, but for V of the initial state: the greedy one does not ask for it."""
    told: list[object] = []
    while search.outcome is None and len(told) < batches:
        search.expand_batch()
        told.append((search.last if told else None, search.size))
    found = search.trajectory(search.outcome or Outcome.STATE_LIMIT, search.steps)
    return [*told, found.outcome, found.actions, found.values[1:], found.steps, found.known]


def compare(problem: Problem) -> list[object]:
    packed = follow(Counted(PackedCounts(PackedTask(problem))))
    scores = goal_counts(problem)
    assert packed == follow(Greedy(AnyKnown(problem, scores), scores.batch))
    return packed


@pytest.mark.parametrize("name", ["gripper", "blocks-s", "logistics", "miconic", "rovers", "visitall", "grid"])
def test_it_expands_what_the_greedy_search_expands(name: str) -> None:
    for seed in range(2):
        text = DOMAINS[name].problem(random.Random(seed), 3 + seed)
        compare(load_problem(load_domain(domain_text(name)), text))


def test_it_proves_that_there_is_no_plan_and_knows_static_and_negative_goals() -> None:
    for goal, outcome in (
        ("(and (at c) (at b))", "unsolvable"),
        ("(and (at c) (road b a))", "unsolvable"),
        ("(and (not (at a)) (road a b))", "solved"),
        ("(at a)", "solved"),
    ):
        told = compare(load_problem(load_domain(ONE_WAY), FORK.replace("(at c)", goal)))
        assert outcome in told


def test_what_is_not_strips_is_refused() -> None:
    with pytest.raises(GroundingError):
        PackedTask(load_problem(load_domain(ROOMS), TIDY))

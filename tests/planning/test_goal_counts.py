"""Goal counting: as many literals as a naive count by text finds, and a search that needs no model."""

from __future__ import annotations

import random

import pytest

from pddl.test_problem import ROOMS, TIDY
from trifold.domains import DOMAINS, domain_text
from trifold.pddl import Problem, State, load_domain, load_problem
from trifold.planning import Outcome, goal_counts, replay, solve

SIZES = {"vacuum": 8}
# Goals that are static, and true or false; derived, of several kinds; negated; and never met on some way.
MIXED_GOAL = """(define (problem mixed) (:domain rooms)
  (:objects kitchen - room x - ball y - box)
  (:init (at x kitchen) (at y hall) (here hall) (door hall kitchen))
  (:goal (and (door hall kitchen) (not (door kitchen hall)) (tidy hall) (not (tidy kitchen)) (clean) (not (clean))
    (here kitchen) (at x hall) (not (at x hall)) (not (busy)) {more})))
"""


def naive_count(problem: Problem, state: State) -> int:
    """How many literals of the goal do not hold, one text after the other."""
    true = set(problem.atoms(state))
    unmet = 0
    for literal in problem.goal:
        if literal.startswith("(not "):
            unmet += literal.removeprefix("(not ").removesuffix(")") in true
        else:
            unmet += literal not in true
    return unmet


def random_walk(problem: Problem, rng: random.Random, length: int) -> list[State]:
    """States one after the other, from the initial one; a walk without a way out begins again."""
    states = [problem.initial_state]
    while len(states) < length:
        ways = problem.successors(states[-1])
        states.append(rng.choice(ways)[1] if ways else problem.initial_state)
    return states


def check(problem: Problem, states: list[State]) -> list[int]:
    """Compare the counts of states that are met one by one, and then of all at once, with the naive ones."""
    expected = [naive_count(problem, state) for state in states]
    assert [int(problem.count_unmet([state])[0]) for state in states] == expected
    assert problem.count_unmet(states).tolist() == expected
    assert [count == 0 for count in expected] == [problem.is_goal(state) for state in states]
    return expected


@pytest.mark.parametrize("name", ["gripper", "blocks-s", "logistics", "rovers", "vacuum", "visitall", "grid"])
def test_counts_are_those_of_texts(name: str) -> None:
    domain = load_domain(domain_text(name))
    for seed in range(3):
        rng = random.Random(seed)
        problem = load_problem(domain, DOMAINS[name].problem(rng, SIZES.get(name, 3)))
        counts = check(problem, random_walk(problem, rng, 60))
        assert max(counts) > 0


@pytest.mark.parametrize("more", ["", "(door kitchen kitchen)", "(not (door hall kitchen))"])
def test_negated_static_and_derived_literals_count(more: str) -> None:
    problem = load_problem(load_domain(ROOMS), MIXED_GOAL.format(more=more))
    rng = random.Random(0)
    counts = check(problem, random_walk(problem, rng, 80))
    # (clean), (at x hall) and their negations: one of each never holds.
    assert len(set(counts)) > 1 and min(counts) >= 2 + bool(more)


def test_no_states_have_no_counts() -> None:
    problem = load_problem(load_domain(ROOMS), TIDY)
    assert problem.count_unmet([]).tolist() == []


@pytest.mark.parametrize("name", ["gripper", "blocks-s", "vacuum", "visitall"])
@pytest.mark.parametrize("policy", ["greedy", "beam"])
def test_a_search_by_goal_counts_finds_a_plan(name: str, policy: str) -> None:
    problem = load_problem(load_domain(domain_text(name)), DOMAINS[name].problem(random.Random(1), SIZES.get(name, 3)))
    found = solve(problem, goal_counts(problem), policy=policy)
    assert found.outcome is Outcome.SOLVED and found.plan
    assert replay(problem, found.plan)


def test_a_search_by_goal_counts_proves_that_there_is_no_plan() -> None:
    problem = load_problem(load_domain(ROOMS), MIXED_GOAL.format(more=""))
    assert solve(problem, goal_counts(problem), policy="greedy").outcome is Outcome.UNSOLVABLE

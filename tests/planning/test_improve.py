"""Plans made shorter: never longer, always plans, and the shortest if all states can be known."""

from __future__ import annotations

import random
from dataclasses import replace
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planning.test_policy import Counter, Graph, distances, graphs
from trifold.domains import DOMAINS, domain_text
from trifold.pddl import expand, load_domain, load_problem
from trifold.planning import Budget, Trajectory, goal_counts, improve, replay, solve


def wander(graph: Graph, rng: Random, most: int = 40) -> list[str] | None:
    """A random way to a goal, loops and all; None if it did not get there."""
    state, actions = graph.initial_state, list[str]()
    while not graph.is_goal(state):
        ways = graph.successors(state)
        if not ways or len(actions) >= most:
            return None
        action, state = rng.choice(ways)
        actions.append(action)
    return actions


@given(graphs(), st.randoms(use_true_random=False), st.none() | st.integers(0, 8))
def test_a_plan_becomes_no_longer_and_the_shortest_where_all_is_known(
    graph: Graph, rng: Random, states: int | None
) -> None:
    plan = wander(graph, rng)
    if plan is None:
        return
    found = improve(graph, plan, Budget(states=states))
    assert replay(graph, found) and len(found) <= len(plan)
    if states is None:
        assert len(found) == distances(graph)[graph.initial_state]


def test_loops_and_detours_are_cut_while_there_is_budget() -> None:
    task = Counter(target=6)
    plan = ["(add-one)", "(take-one)"] * 3 + ["(add-one)"] * 6
    assert improve(task, plan, Budget(states=100)) == ("(add-two)",) * 3
    assert improve(task, plan, Budget(states=7)) == ("(add-two)",) * 3  # of the seven states of the plan itself
    assert improve(task, plan, Budget(seconds=0.0)) == tuple(plan)


@pytest.mark.parametrize("is_packed", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_plans_of_gripper_become_optimal(seed: int, is_packed: bool) -> None:
    """By packed states, or one by one, as of a task that is not of PDDL."""
    text = DOMAINS["gripper"].problem(random.Random(seed), 3)
    problem = load_problem(load_domain(domain_text("gripper")), text)
    rng, state, plan = Random(seed), problem.initial_state, list[str]()
    while not problem.is_goal(state):
        action, state = rng.choice(problem.successors(state))
        plan.append(action)
    bare: Any = SimpleNamespace(**{name: getattr(problem, name) for name in ("initial_state", "is_goal", "successors")})
    found = improve(problem if is_packed else bare, plan, Budget())
    assert replay(problem, found)
    assert len(found) == int(expand(domain_text("gripper"), text, 10_000).distances[0])


def test_solve_improves_what_it_finds_and_says_how_long_it_was() -> None:
    """The first V leads the policy to the goal by ones, the second by twos: there is nothing to improve."""
    task = Counter(target=6)
    found = solve(task, lambda states: [s if s >= 0 else 99 for s in states], improve=9.0, max_states=500)
    assert (found.plan, found.found_length, found.steps) == (("(add-two)",) * 3, 6, 6)
    assert found.values[0] == 0 and len(found.values) == 4
    best = solve(task, lambda states: [abs(6 - s) for s in states], improve=9.0, max_states=500)
    assert (best.plan, best.found_length, best.values) == (("(add-two)",) * 3, None, (6, 4, 2, 0))


def test_a_plan_in_capitals_is_spelled_as_the_problem_spells_it() -> None:
    """As a policy of one's own may return it."""
    text = DOMAINS["gripper"].problem(Random(0), 2, start="classic")
    problem = load_problem(load_domain(domain_text("gripper")), text)
    known = solve(problem, goal_counts(problem), policy="greedy")

    def shout(task: Any, scores: Any, budget: Any, on_step: Any) -> Trajectory:
        return replace(known, actions=tuple(action.upper() for action in known.actions))

    found = solve(problem, goal_counts(problem), policy=shout, improve=5.0)
    assert found.plan is not None and len(found.plan) == 5 and all(map(str.islower, found.plan))
    assert len(found.states) == 6 and found.found_by == "shout"

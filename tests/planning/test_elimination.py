"""What a plan can do without: what is left is a plan, and none of its steps can go, with those that need it."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifold.domains import DOMAINS, domain_text
from trifold.pddl import load_domain, load_problem, steps_of
from trifold.planning import Trajectory, eliminate, follow_plan, solve


def test_a_detour_goes_whole_wherever_its_steps_are() -> None:
    """Sums: a step adds, or takes away where there are 9 at least, and 7 is the goal."""

    def step(number: int) -> Any:
        return lambda total: total + number if number > 0 or total >= 9 else None

    def left(plan: list[int], most: int | None = None) -> list[int]:
        return [plan[i] for i in eliminate(0, [step(number) for number in plan], lambda total: total == 7, most)]

    assert left([3, 2, 4, -2]) == [3, 4]
    assert left([3, 4]) == [3, 4]
    assert left([7]) == [7]
    assert left([9, -2]) == [9, -2]
    assert left([3, 2, 4, -2], most=2) == [3, 2, 4, -2]  # too few to try more than the first
    assert eliminate(7, [], lambda total: total == 7) == []


GRIPPER = """(define (problem one) (:domain gripper-strips) (:objects rooma roomb b left right)
  (:init (room rooma) (room roomb) (ball b) (gripper left) (gripper right) (at-robby rooma) (free left) (free right)
         (at b rooma)) (:goal (at b roomb)))"""


@given(st.randoms(use_true_random=False), st.sampled_from(["gripper", "blocks-s", "logistics", "visitall"]))
def test_what_is_left_of_a_plan_is_one_and_needs_each_of_its_steps(rng: Random, name: str) -> None:
    problem = load_problem(load_domain(domain_text(name)), DOMAINS[name].generate(rng))
    state, plan = problem.initial_state, list[str]()
    while not problem.is_goal(state) and len(plan) < 60:
        action, state = rng.choice(problem.successors(state))
        plan.append(action)
    steps = steps_of(problem.executor, plan)
    reached = steps.initial
    for step in steps.actions:
        after = step(reached)
        assert after is not None
        reached = after
    wanted = reached  # where the walk ended, if it met no goal: a goal of many atoms
    is_goal = steps.is_goal if problem.is_goal(state) else lambda found: wanted <= found
    kept = eliminate(steps.initial, steps.actions, is_goal)
    ways = [steps.actions[i] for i in kept]
    assert kept == sorted(set(kept)) and is_goal(follow(steps.initial, ways))
    for i in range(len(ways)):
        assert not is_goal(follow(steps.initial, ways[:i] + ways[i + 1 :]))
    assert eliminate(steps.initial, ways, is_goal) == list(range(len(ways)))


def follow(state: Any, steps: list[Any]) -> Any:
    """Take the steps that are applicable, and pass over the others."""
    for step in steps:
        after = step(state)
        state = state if after is None else after
    return state


@pytest.mark.parametrize("search", [None, "turns"])
def test_a_planner_leaves_out_what_its_policy_did_for_nothing_and_a_policy_alone_does_not(search: str | None) -> None:
    problem = load_problem(load_domain(domain_text("gripper")), GRIPPER)
    needed = ["(pick b rooma left)", "(move rooma roomb)", "(drop b roomb left)"]
    idle = ["(move rooma roomb)", "(move roomb rooma)"]
    told: list[int] = []

    def tell(found: Trajectory) -> None:
        told.append(len(found.actions))

    policy = follow_plan([*idle, *needed])
    found = solve(problem, lambda states: [0.0 for _ in states], policy=policy, search=search, on_plan=tell)
    if search is None:
        assert (found.plan, found.found_length, told) == ((*idle, *needed), None, [5])
    else:
        assert (found.plan, found.found_length, told) == (tuple(needed), 5, [5, 3])
        assert len(found.states) == len(found.values) == 4 and math.isnan(found.values[-1])

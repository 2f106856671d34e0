"""What a plan can do without: what is left is a plan, and none of its steps can go, with those that need it."""

from __future__ import annotations

import math
import time
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifold.domains import DOMAINS, domain_text
from trifold.pddl import Executor, load_domain, load_problem, steps_of
from trifold.planning import Budget, Trajectory, eliminate, follow_plan, solve
from trifold.planning.solve import ELIMINATION_SECONDS


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
    is_goal = steps.is_goal if problem.is_goal(state) else lambda found: wanted & found == wanted
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


TOWERS = """(define (domain towers) (:predicates (on ?x ?y) (table ?x) (held ?x) (above ?x ?y) (clear ?x) (empty))
  (:derived (above ?x ?y) (or (on ?x ?y) (exists (?z) (and (on ?x ?z) (above ?z ?y)))))
  (:derived (clear ?x) (and (not (held ?x)) (not (exists (?y) (on ?y ?x)))))
  (:derived (empty) (not (exists (?y) (held ?y))))
  (:action unstack :parameters (?x ?y) :precondition (and (clear ?x) (on ?x ?y) (empty))
   :effect (and (held ?x) (not (on ?x ?y))))
  (:action drop :parameters (?x) :precondition (held ?x) :effect (and (table ?x) (not (held ?x)))))"""


def tower(blocks: int) -> str:
    """A tower whose blocks are to be on the table."""
    names = [f"b{i}" for i in range(blocks)]
    init = " ".join(f"(on b{i} b{i - 1})" for i in range(1, blocks))
    goal = " ".join(f"(table {name})" for name in names)
    return f"""(define (problem tower) (:domain towers) (:objects {" ".join(names)}) (:init (table b0) {init})
      (:goal (and {goal})))"""


def way_of(name: str) -> tuple[Executor, list[str]]:
    """A large problem, and a plan that can do without nothing, or but for its last step."""
    if name == "towers":
        executor = Executor.load(TOWERS, tower(40))
        return executor, [step for i in range(39, 0, -1) for step in (f"(unstack b{i} b{i - 1})", f"(drop b{i})")]
    balls = Executor.load(domain_text(name), DOMAINS[name].generate(Random(0), balls=3000, start="classic"))
    here, there = "rooma", "roomb"
    trip = "(pick {0} {1} left)", f"(move {here} {there})", "(drop {0} {2} left)", f"(move {there} {here})"
    return balls, [step.format(f"ball{i}", here, there) for i in range(1, 3001) for step in trip]


@pytest.mark.parametrize("name", ["gripper", "towers"])
def test_actions_are_looked_for_about_as_long_as_is_said_however_large_a_problem_is(name: str) -> None:
    """By the clock of the processor: three thousand balls, and states whose closure takes long."""
    steps = steps_of(*way_of(name))
    most = round(ELIMINATION_SECONDS / steps.seconds)
    began = time.process_time()
    kept = eliminate(steps.initial, steps.actions, steps.is_goal, most)
    assert time.process_time() - began < 3 * ELIMINATION_SECONDS
    assert len(kept) >= len(steps.actions) - 1


def test_no_action_is_looked_for_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found in time would be lost with an attempt that is ended from outside."""
    problem = load_problem(load_domain(domain_text("gripper")), GRIPPER)
    plan = [
        "(move rooma roomb)",
        "(move roomb rooma)",
        "(pick b rooma left)",
        "(move rooma roomb)",
        "(drop b roomb left)",
    ]
    follow, found = follow_plan(plan), []
    for timeout in (60.0, 1.0):
        monkeypatch.setattr(Budget, "elapsed", lambda budget: 1.0 if budget.seconds == 1.0 else 0.0)
        monkeypatch.setattr(Budget, "end", lambda budget, steps: None)
        found.append(
            solve(problem, lambda states: [0.0 for _ in states], policy=follow, search="turns", timeout=timeout)
        )
    assert [len(one.actions) for one in found] == [3, 5]


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

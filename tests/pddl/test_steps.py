"""The steps of a plan lead where the executor does, quick or not, and are quick where conditions are of literals."""

from __future__ import annotations

import random

import pytest

from pddl.test_executor import task
from trifold.domains import DOMAINS, domain_text
from trifold.pddl import Executor, steps_of
from trifold.pddl.steps import QUICK, SLOW


def wander(executor: Executor, rng: random.Random, length: int) -> list[str]:
    """A random way, goals or not."""
    state, plan = executor.initial, list[str]()
    while len(plan) < length and (actions := executor.applicable(state)):
        plan.append(rng.choice(actions))
        state = executor.apply(state, plan[-1])
    return plan


@pytest.mark.parametrize("name", DOMAINS)
def test_steps_lead_where_the_executor_does_and_fail_where_it_does(name: str) -> None:
    rng = random.Random(0)
    executor = Executor.load(domain_text(name), DOMAINS[name].generate(rng))
    plan = wander(executor, rng, 12)
    steps = steps_of(executor, plan)
    assert steps.seconds == QUICK
    fixed, state, after = executor.initial - steps.initial, executor.initial, steps.initial
    for action in plan:
        for other, step in zip(plan, steps.actions, strict=True):
            expected, found = executor.successor(state, other), step(after)
            assert found == (None if expected is None else expected - fixed)
        assert steps.is_goal(after) == executor.is_goal(state)
        state, after = executor.apply(state, action), executor.apply(after | fixed, action) - fixed


@pytest.mark.parametrize(
    ("rules", "seconds"),
    [
        ("(:action go :parameters () :precondition (not (r)) :effect (and (r) (g)))", QUICK),
        ("(:action go :parameters () :precondition (= k k) :effect (and (not (g)) (g)))", QUICK),  # it is added
        ("(:action go :parameters () :precondition (or (r) (e k)) :effect (g))", SLOW),
        ("(:action go :parameters () :effect (and (g) (when (r) (not (r)))))", SLOW),
        ("(:action go :parameters () :effect (and (g) (forall (?x - a) (p ?x))))", SLOW),
        ("(:derived (r) (e k)) (:action go :parameters () :precondition (r) :effect (g))", SLOW),
    ],
)
def test_what_is_more_than_literals_is_left_to_the_executor(rules: str, seconds: float) -> None:
    executor = task(rules, init="(e k) (q a1 a2)")
    steps = steps_of(executor, ["(go)"])
    assert steps.seconds == seconds
    (step,) = steps.actions
    after = step(steps.initial)
    assert after is not None and steps.is_goal(after) and not steps.is_goal(steps.initial)
    assert after | executor.initial - steps.initial == executor.apply(executor.initial, "(go)")


def test_a_goal_that_is_no_conjunction_of_literals_is_left_to_the_executor() -> None:
    rules = "(:action go :parameters () :effect (g))"
    assert steps_of(task(rules, goal="(exists (?x - a) (and (g) (= ?x ?x)))"), ["(go)"]).seconds == SLOW
    assert steps_of(task(rules, goal="(and (g) (not (r)))"), ["(go)"]).seconds == QUICK

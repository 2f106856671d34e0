"""The steps of a plan lead where the executor does, quick or not, and are quick where conditions are of literals."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pddl.test_executor import task
from trifold.domains import DOMAINS, domain_text
from trifold.pddl import Executor, steps_of
from trifold.pddl.executor import Facts
from trifold.pddl.steps import QUICK, SLOW, Steps


def wander(executor: Executor, rng: random.Random, length: int) -> list[str]:
    """A random way, goals or not."""
    state, plan = executor.initial, list[str]()
    while len(plan) < length and (actions := executor.applicable(state)):
        plan.append(rng.choice(actions))
        state = executor.apply(state, plan[-1])
    return plan


def decoded(steps: Steps, state: Any) -> Facts | None:
    """The atoms of a state that can change."""
    if state is None or isinstance(state, frozenset):
        return state
    return frozenset(atom for atom, number in steps.numbers.items() if state >> number & 1)


@pytest.mark.parametrize("name", DOMAINS)
def test_steps_lead_where_the_executor_does_and_fail_where_it_does(name: str) -> None:
    rng = random.Random(0)
    executor = Executor.load(domain_text(name), DOMAINS[name].generate(rng))
    plan = wander(executor, rng, 12)
    steps = steps_of(executor, plan)
    assert QUICK < steps.seconds < SLOW
    fixed = executor.initial - (decoded(steps, steps.initial) or frozenset())
    state, after = executor.initial, steps.initial
    for number, action in enumerate(plan):
        for other, step in zip(plan, steps.actions, strict=True):
            expected, found = executor.successor(state, other), decoded(steps, step(after))
            assert found == (None if expected is None else expected - fixed)
        assert steps.is_goal(after) == executor.is_goal(state)
        state, after = executor.apply(state, action), steps.actions[number](after)


@pytest.mark.parametrize(
    ("rules", "kind"),
    [
        ("(:action go :parameters () :precondition (not (r)) :effect (and (r) (g)))", QUICK),
        ("(:action go :parameters () :precondition (= k k) :effect (and (not (g)) (g)))", QUICK),  # it is added
        ("(:action go :parameters () :precondition (or (r) (e k)) :effect (g))", SLOW),
        ("(:action go :parameters () :effect (and (g) (when (r) (not (r)))))", SLOW),
        ("(:action go :parameters () :effect (and (g) (forall (?x - a) (p ?x))))", SLOW),
        ("(:derived (r) (e k)) (:action go :parameters () :precondition (r) :effect (g))", SLOW),
    ],
)
def test_what_is_more_than_literals_is_left_to_the_executor(rules: str, kind: float) -> None:
    executor = task(rules, init="(e k) (q a1 a2)")
    steps = steps_of(executor, ["(go)"])
    assert (QUICK <= steps.seconds < SLOW) == (kind == QUICK) == isinstance(steps.initial, int)
    (step,) = steps.actions
    after = step(steps.initial)
    assert after is not None and steps.is_goal(after) and not steps.is_goal(steps.initial)
    before, found = decoded(steps, steps.initial), decoded(steps, after)
    assert before is not None and found is not None
    assert found | executor.initial - before == executor.apply(executor.initial, "(go)")


def test_a_goal_that_is_no_conjunction_of_literals_is_left_to_the_executor() -> None:
    rules = "(:action go :parameters () :effect (g))"
    assert steps_of(task(rules, goal="(exists (?x - a) (and (g) (= ?x ?x)))"), ["(go)"]).seconds >= SLOW
    assert steps_of(task(rules, goal="(and (g) (not (r)))"), ["(go)"]).seconds < SLOW

"""A short run of the random domains, and proof that the judges can tell right from wrong."""

from __future__ import annotations

import dataclasses
import random

import pytest
from hypothesis import given, settings

from fuzz.figures import BAD
from fuzz.naive import NaiveTask
from fuzz.oracle import difference, explore
from fuzz.random_domains import draw, judge
from fuzz.second_judge import difference_from_unified_planning
from fuzz.shrinking import shrink
from fuzz.strategies import FAMILIES, domains
from trifold.pddl import expand, problem
from trifold.pddl.engine import create_context
from trifold.pddl.executor import Executor

DISJUNCTIONS = """(define (domain d) (:requirements :adl) (:predicates (p) (q) (r) (s) (g))
(:action sp :parameters () :precondition (and) :effect (p))
(:action sr :parameters () :precondition (and) :effect (r))
(:action go :parameters () :precondition (and (or (p) (q)) (or (r) (s))) :effect (g)))"""
EITHER = """(define (domain d) (:requirements :adl :typing) (:types a b) (:predicates (g) (q ?x - object))
(:action go :parameters (?x - (either a b)) :precondition (and) :effect (g)))"""
PROBLEM = "(define (problem q) (:domain d) (:objects o1{}) (:init) (:goal (and (g))))"


@pytest.mark.parametrize("family", FAMILIES)
def test_random_domains_are_read_rightly(family: str) -> None:
    verdicts = [judge(*draw(family, 0, number)) for number in range(6)]
    assert [verdict for verdict in verdicts if verdict.outcome in BAD] == []
    assert sum(verdict.outcome == "equal" for verdict in verdicts) >= 3


@settings(max_examples=10)
@given(pair=domains("mixed"))
def test_what_hypothesis_draws_is_read_rightly(pair: tuple[str, str]) -> None:
    assert judge(*pair).outcome not in BAD


def test_most_domains_are_worth_a_look() -> None:
    """A third and more need two steps or more: of dull ones thousands prove nothing."""
    values = []
    for number in range(30):
        truth = explore(NaiveTask(*draw("or", 0, number)))
        values.append(truth.values.get(truth.initial, -1) if truth else -1)
    assert sum(value > 1 for value in values) >= 10 and sum(value < 0 for value in values) >= 3


@pytest.mark.parametrize(
    ("domain", "objects", "wrong"),
    [(DISJUNCTIONS, "", "1 of 5 states unreachable"), (EITHER, " - a", "1 of 2 states missing")],
)
def test_what_pymimir_mistranslates_is_found(
    domain: str, objects: str, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = domain, PROBLEM.format(objects)
    assert judge(*texts).outcome == "equal"
    monkeypatch.setattr(problem, "create_context", lambda *rewritten: create_context(*texts))
    verdict = judge(*texts)
    assert verdict.outcome == "wrong" and wrong in verdict.message


def test_a_wrong_label_is_found() -> None:
    domain, text = DISJUNCTIONS, PROBLEM.format("")
    truth, space = explore(NaiveTask(domain, text)), expand(domain, text, 100)
    assert truth is not None and difference(truth, space) is None and truth.values[truth.initial] == 3
    for number in range(len(space)):
        distances = space.distances.copy()
        distances[number] += 1
        assert "V*" in (difference(truth, dataclasses.replace(space, distances=distances)) or "")
    targets = space.targets.copy()
    targets[0] = targets[-1]
    assert "successors" in (difference(truth, dataclasses.replace(space, targets=targets)) or "")


def test_shrinking_keeps_what_fails_and_little_else() -> None:
    small = shrink(draw("or", 0, 1), lambda domain, text: "(or" in domain and "(:goal" in text)
    assert len("".join(small)) < 40 and "(or" in small[0]


@pytest.mark.parametrize("family", ["quantifiers", "or"])
def test_the_executor_and_unified_planning_walk_alike(family: str) -> None:
    judged = 0
    for number in range(6):
        domain, text = draw(family, 3, number)
        if "(:types" not in domain:  # it drops quantifiers over types without objects
            task = Executor.load(domain, text)
            assert difference_from_unified_planning(domain, text, task, random.Random(number)) is None
            judged += 1
    assert judged

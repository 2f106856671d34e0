"""The actions of labelled states: those that an executor of our own finds applicable, and where they lead."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from fuzz.strategies import domains
from trifold.domains import DOMAINS, domain_text, split_sizes
from trifold.errors import TrifoldError
from trifold.pddl import Executor, StateSpace, expand, expand_with_pymimir
from trifold.pddl.expansion import expand_to_file
from trifold.pddl.sampling import sample_states

# Nullary actions, a constant as an argument, six arguments, two names for one change, a disjunctive and an existential
# condition, actions into dead ends, goals that are left again.
DOMAIN = """(define (domain many)
  (:requirements :adl :typing) (:types place thing) (:constants home - place)
  (:predicates (at ?x - thing ?p - place) (way ?p ?q - place) (lost) (lit) (same ?a ?b - thing))
  (:action go :parameters (?x - thing ?p ?q - place) :precondition (and (at ?x ?p) (or (way ?p ?q) (way ?q ?p)))
    :effect (and (not (at ?x ?p)) (at ?x ?q)))
  (:action walk-home :parameters (?x - thing ?p - place) :precondition (and (at ?x ?p) (way ?p home))
    :effect (and (not (at ?x ?p)) (at ?x home)))
  (:action swap :parameters (?a ?b - thing ?p ?q ?r ?s - place)
    :precondition (and (at ?a ?p) (at ?b ?q) (way ?p ?r) (way ?r ?s) (not (= ?a ?b)) (not (lost)))
    :effect (and (not (at ?a ?p)) (not (at ?b ?q)) (at ?a ?q) (at ?b ?p)))
  (:action light :parameters () :precondition (exists (?x - thing) (at ?x home)) :effect (lit))
  (:action lose :parameters (?x - thing) :precondition (and (at ?x home)) :effect (and (not (at ?x home)) (lost))))
"""
PROBLEM = """(define (problem few) (:domain many) (:objects t u - thing a b - place)
  (:init (at t a) (at u b) (way a b) (way b home)) (:goal (and (lit) (at u home))))
"""
CONDITIONAL = DOMAIN.replace(
    ":effect (lit))", ":effect (and (when (not (lost)) (lit)) (forall (?x - thing) (same ?x ?x))))"
)


def texts(space: StateSpace) -> list[str]:
    """What a plan calls each action of the table."""
    table = space.actions
    found = []
    for schema, arguments in zip(table.schema.tolist(), table.arguments.tolist(), strict=True):
        name, arity = table.schemas[schema]
        found.append(f"({' '.join([name, *(space.objects[item] for item in arguments[:arity])])})")
    return found


def assert_actions(space: StateSpace, domain: str, problem: str) -> None:
    """Walk through the space and through the executor's at once: the same actions lead to the same states."""
    executor, names = Executor.load(domain, problem), texts(space)
    facts = {space.initial: executor.initial}
    queue = [space.initial]
    for state in queue:
        first, last = space.action_offsets[state : state + 2]
        numbers = space.applicable[first:last].tolist()
        assert numbers == sorted(set(numbers))
        assert [names[number] for number in numbers] == sorted(
            executor.applicable(facts[state]), key=lambda text: names.index(text)
        )
        after = space.successors[first:last].tolist()
        assert sorted(set(after)) == space.targets[slice(*space.transition_offsets[state : state + 2])].tolist()
        for number, target in zip(numbers, after, strict=True):
            reached = executor.successor(facts[state], names[number])
            assert reached is not None
            if target not in facts:
                facts[target] = reached
                queue.append(target)
            assert facts[target] == reached
    assert len(facts) == len(space) == len(set(facts.values()))


@pytest.mark.parametrize("text", [DOMAIN, CONDITIONAL])
def test_actions_are_those_of_the_executor_by_both_engines(text: str) -> None:
    space = expand(text, PROBLEM, 1000)
    assert space.engine == ("packed" if text is DOMAIN else "pymimir")
    for found in (space, expand_with_pymimir(text, PROBLEM, 1000)):
        assert_actions(found, text, PROBLEM)
        assert len(found) > 30 and {arity for _, arity in found.actions.schemas} == {0, 1, 2, 3, 6}
        assert np.bincount(found.actions.schema, minlength=5).all()


@pytest.mark.parametrize("name", DOMAINS)
def test_actions_of_every_domain(name: str) -> None:
    for seed, options in enumerate(split_sizes(name, "train")):
        problem = DOMAINS[name].generate(random.Random(seed), **options)
        try:
            space = expand(domain_text(name), problem, 4_000)
        except TrifoldError:
            continue
        assert_actions(space, domain_text(name), problem)
        return
    pytest.fail("no training problem is small")


@settings(max_examples=15)
@given(pair=domains("mixed"))
def test_actions_of_random_domains(pair: tuple[str, str]) -> None:
    try:
        space = expand(*pair, 200)
    except TrifoldError:
        return
    assert_actions(space, *pair)
    assert_actions(expand_with_pymimir(*pair, 200), *pair)


def test_optimal_are_the_actions_that_lead_one_step_nearer_to_a_goal() -> None:
    space = expand(DOMAIN, PROBLEM, 1000)
    optimal = space.optimal_actions()
    before = np.repeat(space.distances, np.diff(space.action_offsets))
    after = space.distances[space.successors]
    assert (before < 0).any() and ((before == 0) & (after < 0)).any()  # from a goal into a dead end: −1 = 0 − 1
    assert ((before > 0) & (after < 0)).any() and ((before == 1) & (after < 0)).any()
    for was, is_now, chosen in zip(before.tolist(), after.tolist(), optimal.tolist(), strict=True):
        assert chosen == (was > 0 and is_now >= 0 and is_now == was - 1)
    some = np.add.reduceat(optimal, space.action_offsets[:-1][np.diff(space.action_offsets) > 0])
    assert (some > 0).sum() == (space.distances > 0).sum()  # every state with a plan has one, and no other


def test_queries_are_the_actions_as_atoms_that_send_nothing() -> None:
    space = expand(DOMAIN, PROBLEM, 1000)
    structures, optimal, names = space.queries(), space.optimal_actions(), texts(space)
    asked: list[list[tuple[str, int]]] = [[] for _ in range(len(space))]
    for r, relation in enumerate(structures.signature):
        if relation.is_query:
            assert not relation.sends
            owners = np.repeat(np.arange(len(space)), structures.atom_counts[r].numpy())
            schema, _, ending = relation.name.partition("@")
            for owner, row in zip(owners, structures.atoms(relation.name).tolist(), strict=True):
                items = [space.objects[item] for item in row[: relation.reads]]
                asked[owner].append((f"({' '.join([schema.removesuffix('()'), *items])})", int(ending == "optimal")))
    for state, found in enumerate(asked):
        rows = slice(*space.action_offsets[state : state + 2])
        wanted = zip((names[number] for number in space.applicable[rows]), optimal[rows].tolist(), strict=True)
        assert sorted(found) == sorted(wanted)
    plain = space.structures()
    assert structures.arguments[: len(plain.arguments)].equal(plain.arguments)


def test_a_sample_keeps_the_actions_of_what_it_lists(tmp_path: Path) -> None:
    whole = expand(DOMAIN, PROBLEM, 1000)
    sample = sample_states(whole, 10)
    assert sample.listed == 10 and sample.action_offsets[10] == sample.action_offsets[-1] == len(sample.applicable)
    assert len(sample.queries()) == 10
    sample.save(tmp_path / "space")
    again = StateSpace.load(tmp_path / "space")
    assert again.queries().arguments.equal(sample.queries().arguments)
    assert (texts(again), again.successors.tolist()) == (texts(sample), sample.successors.tolist())


@pytest.mark.parametrize(("text", "detour"), [(DOMAIN, None), (DOMAIN, 1), (CONDITIONAL, None)])
def test_a_child_lists_the_actions_of_what_it_keeps(text: str, detour: int | None, tmp_path: Path) -> None:
    """As if all were listed and some of them kept."""
    job = {"domain": (text, "domain"), "problem": (PROBLEM, "problem"), "max_states": 1000, "path": tmp_path / "space"}
    expand_to_file(job | {"keep": 8, "detour": detour}, lambda event: None)
    found, wanted = StateSpace.load(tmp_path / "space"), sample_states(expand(text, PROBLEM, 1000), 8, detour)
    assert found.listed == wanted.listed < len(found)
    for name in ("offsets", "indices", "distances", "targets", "action_offsets", "successors"):
        assert np.array_equal(getattr(found, name), getattr(wanted, name)), name
    assert [texts(found)[i] for i in found.applicable] == [texts(wanted)[i] for i in wanted.applicable]


@pytest.mark.parametrize(
    "wrong",
    [
        {"applicable": np.array([200])},
        {"successors": np.array([-1])},
        {"action_offsets": np.array([0])},
        {"listed": 3},
    ],
)
def test_actions_that_cannot_be_are_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    space = expand(DOMAIN, PROBLEM, 1000)
    replace(space, **wrong).save(tmp_path / "space")
    with pytest.raises(TrifoldError, match="no labelled state space"):
        StateSpace.load(tmp_path / "space")

"""Packed search: it finds what pymimir finds, whatever the domain, and says when it is pymimir's turn."""

from __future__ import annotations

import random
from collections import deque
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifold.domains import DOMAINS, domain_text, split_sizes
from trifold.pddl import ARRAYS, StateLimitError, StateSpace, expand, grounding, load_domain, load_problem, packed
from trifold.pddl.expansion import expand_with_pymimir
from trifold.pddl.grounding import GroundingError, ground

# Types and constants; negative static, fluent and never true conditions; a disjunction, an existential condition,
# inequality, a repeated parameter; nullary atoms; an atom deleted and added, an action without conditions or change;
# vehicles that break down for ever.
DOMAIN = """(define (domain roads)
  (:requirements :strips :typing :negative-preconditions :equality :disjunctive-preconditions
    :existential-preconditions)
  (:types truck car - vehicle place)
  (:constants home - place)
  (:predicates (at ?v - vehicle ?p - place) (road ?a ?b - place) (broken ?v - vehicle) (done) (night) (rested)
    (closed ?p - place) (flooded ?p - place) (twin ?a ?b - place))
  (:action go :parameters (?v - vehicle ?a ?b - place)
    :precondition (and (at ?v ?a) (or (road ?a ?b) (road ?b ?a)) (not (= ?a ?b)) (not (broken ?v)) (not (closed ?b))
      (not (flooded ?b)))
    :effect (and (not (at ?v ?a)) (at ?v ?b)))
  (:action stay :parameters (?v - vehicle ?a ?b - place) :precondition (and (at ?v ?a) (= ?a ?b))
    :effect (and (not (at ?v ?a)) (at ?v ?b) (not (rested))))
  (:action break :parameters (?v - truck) :precondition (and (at ?v home) (night)) :effect (broken ?v))
  (:action finish :parameters () :precondition (and (exists (?v - car) (at ?v home)) (not (night))) :effect (done))
  (:action circle :parameters (?v - vehicle ?a - place) :precondition (and (at ?v ?a) (twin ?a ?a)) :effect (rested))
  (:action flood :parameters (?a ?b - place) :precondition (and (flooded ?a) (road ?a ?b)) :effect (flooded ?b))
  (:action wait :parameters () :precondition (and) :effect (night))
  (:action dawn :parameters () :precondition (and (night) (not (done))) :effect (not (night))))
"""
PROBLEM = """(define (problem drive) (:domain roads)
  (:objects t1 t2 - truck c1 - car a b c - place)
  (:init (at t1 a) (at t2 home) (at c1 b) (road a b) (road b b) (road b home) (road b c) (closed c)
    (twin a a) (twin a b))
  (:goal (and (done) (at t1 home) (not (at t2 home)))))
"""


def atoms_of(space: StateSpace) -> np.ndarray:
    """(states, atoms): which atoms each state has."""
    matrix = np.zeros((len(space), len(space.table.relation)), np.uint8)
    matrix[np.repeat(np.arange(len(space)), np.diff(space.offsets)), space.indices] = 1
    return matrix


def assert_equal(one: StateSpace, two: StateSpace) -> None:
    """Equal in all but the order of the states, data types included."""
    assert (one.domain, one.problem, one.table.relations, one.objects) == (
        two.domain, two.problem, two.table.relations, two.objects,
    )  # fmt: skip
    for name in ("relation", "arguments", "static_relation", "static_arguments"):
        assert np.array_equal(getattr(one.table, name), getattr(two.table, name)), name
        assert getattr(one.table, name).dtype == getattr(two.table, name).dtype
    assert one.actions.schemas == two.actions.schemas
    for name in ("schema", "arguments"):
        assert np.array_equal(getattr(one.actions, name), getattr(two.actions, name)), name
    for name in ARRAYS:
        assert getattr(one, name).shape == getattr(two, name).shape, name
        assert getattr(one, name).dtype == getattr(two, name).dtype, name
    canonical = []
    for space in (one, two):
        matrix = atoms_of(space)
        order = np.lexsort(matrix.T) if matrix.size else np.arange(len(space))
        rank = np.argsort(order)
        sources = np.repeat(np.arange(len(space)), np.diff(space.transition_offsets))
        edges = np.sort(rank[sources] * len(space) + rank[space.targets])
        sources = np.repeat(np.arange(len(space)), np.diff(space.action_offsets))
        actions = np.stack([rank[sources], space.applicable.astype(np.int64), rank[space.successors]])
        actions = actions[:, np.lexsort(actions)]
        canonical.append((matrix[order], space.distances[order], edges, rank[space.initial], actions))
    matrix = canonical[0][0]
    assert len(np.unique(matrix, axis=0)) == len(matrix)
    for first, second in zip(*canonical, strict=True):
        assert np.array_equal(first, second)


def expand_both(domain: str, problem: str, max_states: int = 20_000) -> StateSpace:
    """The packed space, compared with pymimir's."""
    space, oracle = expand(domain, problem, max_states), expand_with_pymimir(domain, problem, max_states)
    assert (space.engine, oracle.engine) == ("packed", "pymimir")
    assert_equal(space, oracle)
    for i in range(len(space)):
        targets = space.targets[space.transition_offsets[i] : space.transition_offsets[i + 1]]
        assert (np.diff(targets) > 0).all()
        assert (np.diff(space.indices[space.offsets[i] : space.offsets[i + 1]].astype(int)) > 0).all()
    return space


@pytest.mark.parametrize("name", DOMAINS)
def test_packed_search_equals_pymimir_on_every_domain(name: str) -> None:
    compared = 0
    for seed, options in enumerate(split_sizes(name, "train")[:6]):
        try:
            expand_both(domain_text(name), DOMAINS[name].generate(random.Random(seed), **options), 3_000)
            compared += 1
        except StateLimitError:
            pass
    assert compared >= 2


def test_packed_search_equals_pymimir_on_what_pddl_offers(capfd: pytest.CaptureFixture[str]) -> None:
    space = expand_both(DOMAIN, PROBLEM)
    assert 0 < int((space.distances < 0).sum()) < len(space) and space.distances.max() > 4
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "goal",
    ["(and (done) (at c1 c))", "(flooded a)", "(and (done) (not (done)))", "(not (flooded a))", "(broken t1)"],
)
def test_goals_that_are_never_or_always_true(goal: str) -> None:
    space = expand_both(DOMAIN, PROBLEM.replace("(and (done) (at t1 home) (not (at t2 home)))", goal))
    if goal == "(broken t1)":
        assert space.distances.max() > 0
    else:
        assert set(space.distances.tolist()) == ({0} if goal.startswith("(not") else {-1})


def test_a_problem_without_applicable_actions_has_one_state() -> None:
    domain = """(define (domain still) (:predicates (p ?x) (q)) (:action act :parameters (?x)
        :precondition (q) :effect (and (p ?x) (not (q)))))"""
    space = expand_both(domain, "(define (problem one) (:domain still) (:objects a) (:init) (:goal (p a)))")
    assert (len(space), len(space.targets), len(space.indices), space.distances.tolist()) == (1, 0, 0, [-1])
    space = expand_both(domain, "(define (problem two) (:domain still) (:objects a b) (:init (q)) (:goal (p a)))")
    assert len(space) == 3


def test_states_of_many_words() -> None:
    cells = [f"c{i}" for i in range(150)]
    domain = """(define (domain walk) (:predicates (at ?x) (next ?x ?y) (seen ?x)) (:action go :parameters (?x ?y)
        :precondition (and (at ?x) (next ?x ?y)) :effect (and (not (at ?x)) (at ?y) (seen ?y))))"""
    edges = " ".join(f"(next {x} {y})" for x, y in pairwise(cells))
    space = expand_both(domain, f"""(define (problem long) (:domain walk) (:objects {" ".join(cells)})
        (:init (at c0) {edges} (next c9 c0)) (:goal (at c149)))""")  # fmt: skip
    assert space.distances[space.initial] == 149 and space.indices.dtype == np.uint16


def test_the_limit_is_the_number_of_states_that_may_be() -> None:
    states = len(expand(DOMAIN, PROBLEM, 20_000))
    expand_both(DOMAIN, PROBLEM, states)
    with pytest.raises(StateLimitError, match=f"more than {states - 1:,} states"):
        expand(DOMAIN, PROBLEM, states - 1)


def test_neither_equal_hashes_nor_small_blocks_change_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    space = expand(DOMAIN, PROBLEM, 20_000)
    monkeypatch.setattr(packed, "BLOCK_BYTES", 1)
    assert_equal(expand(DOMAIN, PROBLEM, 20_000), space)
    monkeypatch.setattr(packed, "_hash", lambda rows: np.zeros(rows.shape[1], np.uint64))
    assert_equal(expand(DOMAIN, PROBLEM, 20_000), space)


def test_the_order_of_states_is_always_the_same() -> None:
    one, two = expand(DOMAIN, PROBLEM, 20_000), expand(DOMAIN, PROBLEM, 20_000)
    assert np.array_equal(atoms_of(one), atoms_of(two)) and np.array_equal(one.targets, two.targets)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (":effect (broken ?v)", ":effect (and (broken ?v) (when (done) (not (done))))", "conditional effect"),
        (":effect (broken ?v)", ":effect (forall (?x - truck) (broken ?x))", "conditional effect"),
        ("(exists (?v - car) (at ?v home))", "(forall (?v - car) (at ?v home))", "forall"),
        (
            "(:action wait",
            "(:derived (safe) (not (night))) (:action rest :parameters () :precondition (safe) :effect (done))"
            "(:action wait",
            "derived",
        ),
    ],
)
def test_what_is_not_strips_is_left_to_pymimir(old: str, new: str, why: str) -> None:
    domain = DOMAIN.replace(old, new).replace("(twin ?a ?b - place))", "(twin ?a ?b - place) (safe))")
    domain = domain.replace(":strips", ":strips :conditional-effects :universal-preconditions :derived-predicates")
    problem = load_problem(load_domain(domain), PROBLEM)
    with pytest.raises(GroundingError, match=why):
        ground(problem)
    space = expand(domain, PROBLEM, 20_000)
    assert space.engine == "pymimir"
    assert_equal(space, expand_with_pymimir(domain, PROBLEM, 20_000))


def test_many_ground_actions_or_atoms_are_left_to_pymimir(monkeypatch: pytest.MonkeyPatch) -> None:
    actions = len(ground(load_problem(load_domain(DOMAIN), PROBLEM)).actions)
    monkeypatch.setattr(grounding, "MAX_ACTIONS", actions - 1)
    with pytest.raises(GroundingError, match=f"more than {actions - 1} ground actions"):
        ground(load_problem(load_domain(DOMAIN), PROBLEM))
    assert expand(DOMAIN, PROBLEM, 20_000).engine == "pymimir"
    monkeypatch.setattr(grounding, "MAX_ACTIONS", 5_000)
    monkeypatch.setattr(grounding, "MAX_ATOMS", 5)
    with pytest.raises(GroundingError, match="more than 5 atoms"):
        ground(load_problem(load_domain(DOMAIN), PROBLEM))


@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=40), max_size=6), st.booleans())
def test_equal_rows_and_only_those_have_equal_numbers(batches: list[list[tuple[int, int]]], is_large: bool) -> None:
    states = packed.PackedStates(2)
    numbers: dict[Any, int] = {}
    for batch in batches:
        rows = np.array(batch, np.uint64).reshape(-1, 2).T
        rows = rows * np.uint64(2**62 if is_large else 1)
        for row, number in zip(rows.T.tolist(), states.insert(rows).tolist(), strict=True):
            assert numbers.setdefault(tuple(row), number) == number
    assert sorted(numbers.values()) == list(range(states.count))
    for row, number in numbers.items():
        assert tuple(states.words[:, number].tolist()) == row


def test_a_table_that_grows_forgets_nothing() -> None:
    states = packed.PackedStates(1)
    rows = np.arange(50_000, dtype=np.uint64)[None] * np.uint64(7)
    parts = [states.insert(part) for part in np.array_split(rows, 7, axis=1)]
    assert states.count == rows.shape[1] and np.array_equal(np.concatenate(parts), states.insert(rows))


@given(st.lists(st.lists(st.integers(0, 11), max_size=4), min_size=12, max_size=12), st.sets(st.integers(0, 11)))
def test_distances_equal_those_of_a_naive_search(graph: list[list[int]], goals: set[int]) -> None:
    expected, queue = dict.fromkeys(goals, 0), deque(sorted(goals))
    while queue:
        state = queue.popleft()
        for before, after in enumerate(graph):
            if state in after and before not in expected:
                expected[before] = expected[state] + 1
                queue.append(before)
    counts = np.array([len(set(after)) for after in graph])
    targets = np.array([target for after in graph for target in sorted(set(after))], np.int32)
    found = packed.distances(counts, targets, np.array(sorted(goals), np.int64))
    assert found.tolist() == [expected.get(state, -1) for state in range(len(graph))]

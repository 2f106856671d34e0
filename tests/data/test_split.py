"""Hold-outs are honest: no state of a validation problem is a state of a training problem, up to names of objects."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trifold.data import GIVEN, HELD_OUT, SHARED, Labelled, recorded_split, remedy_of, split
from trifold.data.families import find_alike, find_families
from trifold.data.split import draw_families
from trifold.domains import DOMAINS, domain_text
from trifold.errors import TrifoldError
from trifold.outcomes import Outcome
from trifold.pddl import StateSpace, expand
from trifold.pddl.atoms import AtomTable, Integers
from trifold.structures import Structures

WALK = """(define (domain walk) (:requirements :strips) (:predicates (at ?x) (mark ?x) (edge ?x ?y) (pen))
  (:action move :parameters (?x ?y) :precondition (and (at ?x) (edge ?x ?y))
    :effect (and (at ?y) (not (at ?x)) (not (mark ?y))))
  (:action mark :parameters (?x) :precondition (and (at ?x) (pen)) :effect (and (mark ?x))))"""
"""Marks vanish where one walks; without a pen none is made. So problems may meet though neither meets a start."""

ROOMS = """(define (domain rooms) (:requirements :strips) (:constants left right)
  (:predicates (at ?x) (lit ?x) (done) (extra))
  (:action switch :parameters (?x) :precondition (at ?x) :effect (lit ?x))
  (:action swap :parameters () :precondition (at left) :effect (and (not (at left)) (at right)))
  (:action stop :parameters () :precondition (at left) :effect (and (done) (not (at left)) (not (lit left))))
  (:action end :parameters () :precondition (at right) :effect (and (done) (extra))))"""
"""What one does on the left one cannot do on the right: like states may lead to others."""

SIDES = ("left", "right")

NAMES = ("a", "b", "c", "d")


def walk(edges: Sequence[tuple[int, int]], start: int, goal: int, marks: Sequence[int], order: Sequence[int]) -> str:
    name = [NAMES[place] for place in order]
    init = [f"(edge {name[x]} {name[y]})" for x, y in edges] + [f"(mark {name[x]})" for x in marks]
    return (
        f"(define (problem p) (:domain walk) (:objects {' '.join(NAMES)})"
        f" (:init (at {name[start]}) {' '.join(init)}) (:goal (and (at {name[goal]}))))"
    )


PLACES = st.integers(0, 3)
EDGES = st.sampled_from([((0, 1), (1, 2)), ((0, 1), (1, 2), (2, 3)), ((0, 1), (1, 2), (2, 0)), ((0, 2), (1, 2))])
WALKS = st.builds(walk, EDGES, PLACES, st.just(2), st.sets(PLACES).map(sorted), st.permutations(range(4)))


def labelled(spaces: Sequence[StateSpace], texts: Sequence[str] | None = None) -> list[Labelled]:
    return [
        Labelled(
            Path("train") / f"p{number}.pddl",
            Outcome.LABELLED,
            digest=texts[number] if texts else str(number),
            states=space.states,
            max_distance=int(space.distances.max()),
            space=space,
        )
        for number, space in enumerate(spaces)
    ]


def states(space: StateSpace) -> set[frozenset[tuple[str, tuple[int, ...]]]]:
    """Every state as a set of atoms, static and goal atoms included, under the least of all renamings: an oracle."""
    found = set()
    structures, objects = space.structures(), len(space.objects)
    for state in range(len(space)):
        one = structures.take(structures.element_counts.new_tensor([state]))
        atoms = [(name, tuple(row)) for name in one.signature.names for row in one.atoms(name).tolist()]
        renamed = [
            sorted((name, tuple(order[x] for x in row)) for name, row in atoms)
            for order in permutations(range(objects))
        ]
        found.add(frozenset(min(renamed)))
    return found


@given(st.lists(WALKS, min_size=2, max_size=5), st.integers(0, 9))
def test_nothing_that_is_held_out_shares_a_state_with_training(texts: list[str], seed: int) -> None:
    spaces = [expand(WALK, text, 1000) for text in texts]
    items, everything = labelled(spaces), [states(space) for space in spaces]
    families = find_families(spaces)
    for i in range(len(spaces)):
        for j in range(i):
            assert everything[i].isdisjoint(everything[j]) or families[i] == families[j]
    assert all(len({families[member] for member in alike}) == 1 for alike in find_alike(spaces))
    parts = split(items, len(items), seed)
    assert parts == split(items, len(items), seed)
    assert parts.training and parts.validation and parts.families == len(set(families))
    if parts.families == 1:
        assert parts.rule == SHARED and parts.training == parts.validation == items
    else:
        assert parts.rule == HELD_OUT and len(parts.training) + len(parts.validation) == len(items)
        held_out, trained = (
            set().union(*(everything[items.index(item)] for item in part))
            for part in (parts.validation, parts.training)
        )
        assert held_out.isdisjoint(trained)


def test_problems_of_one_base_are_told_apart_by_what_they_reach() -> None:
    path = ((0, 1), (1, 2), (2, 3))
    starts = [(0, (1,)), (0, (2,)), (0, (0,)), (1, (0,)), (0, (0, 1)), (2, (0, 1))]
    spaces = [expand(WALK, walk(path, start, 3, marks, range(4)), 1000) for start, marks in starts]
    # Without marks before the goal the first two meet, though neither reaches the other's start; a mark on the first
    # place stays, whatever one does; two stay if one starts behind them.
    assert find_families(spaces).tolist() == [0, 0, 2, 2, 2, 5]
    spaces[5] = replace(spaces[5], states=9)  # a sample, of which more is not known
    assert find_families(spaces).tolist() == [0] * 6


def room(at: str, lit: Sequence[str]) -> str:
    init = " ".join(f"(lit {place})" for place in lit)
    return f"(define (problem p) (:domain rooms) (:objects o) (:init (at {at}) {init}) (:goal (and (done))))"


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from(SIDES), st.sets(st.sampled_from([*SIDES, "o"])).map(sorted)), max_size=3))
def test_constants_do_not_hide_what_is_shared(starts: list[tuple[str, list[str]]]) -> None:
    texts = [room(*start) for start in (("left", []), *starts, ("right", []))]
    spaces = [expand(ROOMS, text, 1000) for text in texts]
    families, everything = find_families(spaces), [states(space) for space in spaces]
    for i in range(len(spaces)):
        for j in range(i):
            assert everything[i].isdisjoint(everything[j]) or families[i] == families[j]
    items = labelled(spaces)
    parts = split(items, len(items), 0)
    for alike in find_alike(spaces):
        assert len({families[member] for member in alike}) == 1
        assert len({items[member] in parts.training for member in alike}) == 1


def test_two_problems_that_differ_in_a_constant_that_actions_name_are_not_alike() -> None:
    domain = """(define (domain d) (:constants c1 c2) (:predicates (at ?x) (done) (extra))
      (:action a :parameters () :precondition (at c1) :effect (done))
      (:action b :parameters () :precondition (at c2) :effect (and (done) (extra))))"""
    problem = "(define (problem p) (:domain d) (:init (at c1)) (:goal (and (done))))"
    spaces = [expand(domain, text, 1000) for text in (problem, problem.replace("(at c1)", "(at c2)"))]
    assert find_alike(spaces) == [] and split(labelled(spaces), 2, 0).rule == HELD_OUT


def test_problems_that_colours_cannot_tell_apart_are_not_split() -> None:
    """A ring of six looks like two of three, until something is at one of its places."""
    domain = """(define (domain d) (:predicates (edge ?x ?y) (at ?x) (ready) (done))
      (:action a :parameters (?x) :precondition (ready) :effect (and (not (ready)) (at ?x) (done))))"""
    spaces = []
    for ring in ("abcdef", "abc def"):
        edges = " ".join(f"(edge {x} {y})" for part in ring.split() for x, y in pairwise(part + part[0]))
        problem = (
            f"(define (problem p) (:domain d) (:objects a b c d e f) (:init (ready) {edges}) (:goal (and (done))))"
        )
        spaces.append(expand(domain, problem, 1000))
    assert find_alike(spaces) == [[0, 1]]
    assert find_families(spaces).tolist() == [0, 0]


def test_of_a_large_space_only_the_states_that_tell_are_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    space = expand(domain_text("gripper"), DOMAINS["gripper"].problem(random.Random(0), 4), 1000)
    encoded, make = [], AtomTable.structures

    def watch(table: AtomTable, offsets: Integers, indices: Integers) -> Structures:
        encoded.append(len(offsets) - 1)
        return make(table, offsets, indices)

    monkeypatch.setattr(AtomTable, "structures", watch)
    find_families([space, space])
    telling = int((space.distances <= 0).sum()) + 1  # and the initial state
    assert encoded == [1, 1, telling, telling] and telling < len(space) / 5


@settings(max_examples=15)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=12), st.integers(0, 9), st.randoms(use_true_random=False))
def test_renamed_copies_and_other_starts_are_never_split(sizes: list[int], seed: int, rng: random.Random) -> None:
    """In Gripper every action can be undone, so a size is a state space, whatever the start."""
    texts = [_renamed(DOMAINS["gripper"].problem(random.Random(rng.random()), size), size, rng) for size in sizes]
    spaces = [expand(domain_text("gripper"), text, 1000) for text in texts]
    items = labelled(spaces, texts)
    parts = split(items, len(items), seed)
    trained, validated = ({sizes[items.index(item)] for item in part} for part in (parts.training, parts.validation))
    assert trained | validated == set(sizes)
    assert trained.isdisjoint(validated) == (len(set(sizes)) > 1)


def _renamed(text: str, balls: int, rng: random.Random) -> str:
    names = [f"ball{number}" for number in range(1, balls + 1)]
    for old, new in zip(names, rng.sample(names, balls), strict=True):
        text = text.replace(f"{old} ", f"{new}! ").replace(f"{old})", f"{new}!)").replace(f"{old}\n", f"{new}!\n")
    return text.replace("!", "")


def test_six_equal_files_are_named_and_not_split() -> None:
    space = expand(domain_text("gripper"), DOMAINS["gripper"].problem(random.Random(0), 2), 1000)
    items = labelled([space] * 6, ["text"] * 6)
    parts = split(items, 6, 0)
    assert parts.rule == SHARED and parts.training == parts.validation == items
    assert parts.alike == [{"files": [f"train/p{number}.pddl" for number in range(6)], "equal": True}]
    assert parts.roles(items) == ["both"] * 6


def test_isomorphic_problems_are_named() -> None:
    cases: list[tuple[tuple[int, ...], Sequence[str]]] = [((), NAMES), ((1,), NAMES), ((), "cadb")]
    texts = [walk(((0, 1), (1, 2)), 0, 2, marks, [NAMES.index(name) for name in order]) for marks, order in cases]
    spaces = [expand(WALK, text, 1000) for text in texts]
    assert find_alike(spaces) == [[0, 2]]
    assert split(labelled(spaces, texts), 3, 0).alike == [{"files": ["train/p0.pddl", "train/p2.pddl"], "equal": False}]


def test_a_hold_out_has_all_sizes_and_values() -> None:
    rng = random.Random(1)
    space = expand(domain_text("gripper"), DOMAINS["gripper"].problem(rng, 1), 1000)
    whole = [
        replace(item, states=rng.randrange(10**6), max_distance=rng.randrange(100)) for item in labelled([space] * 100)
    ]
    for seed in range(20):
        drawn = [item for (item,) in draw_families([[item] for item in whole], seed)]
        assert len(drawn) == 20 and drawn == [item for (item,) in draw_families([[item] for item in whole], seed)]
        for fact in ("states", "max_distance"):
            ranks = sorted(getattr(item, fact) for item in whole)
            thirds = [sum(ranks.index(getattr(item, fact)) // 34 == third for item in drawn) for third in range(3)]
            assert min(thirds) >= 3
    assert len({draw_families([[item] for item in whole], seed)[0][0].states for seed in range(20)}) > 2


def test_most_problems_are_left_to_learn_from() -> None:
    space = expand(domain_text("gripper"), DOMAINS["gripper"].problem(random.Random(0), 1), 1000)
    items = labelled([space] * 30)
    for seed in range(5):
        assert draw_families([items[:20], items[20:25], items[25:]], seed)[0] != items[:20]
        assert draw_families([items[:28], items[28:]], seed) == [items[28:]]


def test_given_validation_problems_that_share_states_are_named() -> None:
    sizes = [1, 2, 3, 3, 4]
    spaces = [
        expand(domain_text("gripper"), DOMAINS["gripper"].problem(random.Random(number), size), 1000)
        for number, size in enumerate(sizes)
    ]
    items = labelled(spaces)
    parts = split(items, 3, 0)
    assert parts.rule == GIVEN and (parts.training, parts.validation) == (items[:3], items[3:])
    assert parts.sharing == ["train/p3.pddl"] and parts.families == 4


@pytest.mark.parametrize("training", [1, 3, 5])
def test_what_is_recorded_gives_the_split_again(training: int) -> None:
    spaces = [
        expand(domain_text("gripper"), DOMAINS["gripper"].problem(random.Random(0), size), 1000)
        for size in (1, 2, 2, 3, 1)
    ]
    items = labelled(spaces)
    items[1] = replace(items[1], space=None, outcome=Outcome.TIMEOUT)
    items = items[: max(training, 4) if training != 1 else 1]
    parts = split(items, training, 3)
    assert recorded_split(items, parts.roles(items), parts.to_json()) == parts


@pytest.mark.parametrize(
    ("outcome", "remedy"),
    [
        (Outcome.STATE_LIMIT, "raise max_states (--max-states)"),
        (Outcome.TIMEOUT, "raise seconds (--timeout)"),
        (Outcome.MEMORY_LIMIT, "raise memory_gib (--memory)"),
        (Outcome.UNSOLVABLE, "give problems that have a plan"),
        (Outcome.BAD_INPUT, "mend the PDDL (problems/p.pddl: a parenthesis is never closed)"),
        (Outcome.CRASH, "report the crash of problems/p.pddl"),
    ],
)
def test_the_remedy_fits_the_reason(outcome: Outcome, remedy: str) -> None:
    failed = Labelled(Path("problems/p.pddl"), outcome, message="a parenthesis is never closed\n  in: it")
    assert remedy in remedy_of([failed])
    with pytest.raises(TrifoldError) as error:
        split([failed], 1, 0)
    own = replace(failed, message=f"{failed.message}\n  try: close it")
    assert (remedy_of([own]) == f"close it (problems/p.pddl: {own.message.splitlines()[0]})") == ("mend" in remedy)
    assert remedy in str(error.value) and len(str(error.value.remedy).split(";")) == 1

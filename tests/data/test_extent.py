"""What problems reach: read from a text, it is part of what their states have, and sums do not depend on order."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from trifold.data.extent import Extent, Reach
from trifold.domains import DOMAINS
from trifold.pddl import expand, load_domain, read_problem
from trifold.sealed import Damaged

SIZES = {
    "gripper": {"balls": 2},
    "blocks-m": {"blocks": 3},
    "logistics": {"cities": 2, "packages": 1},
    "vacuum": {},
    "visitall": {},
    "navig-xy": {},
}


@pytest.mark.parametrize("name", SIZES)
def test_a_text_says_a_part_of_what_its_states_have_and_the_same_objects(name: str) -> None:
    options: dict[str, Any] = SIZES[name]
    text = DOMAINS[name].generate(random.Random(1), **options)
    domain = load_domain(DOMAINS[name].pddl)
    read = Reach.of_problem(domain.description, read_problem(domain, text))
    space = expand(DOMAINS[name].pddl, text, 100_000)
    labelled = Reach.of_space(space)
    assert (read.objects, read.kinds) == (labelled.objects, labelled.kinds)
    assert read.relations <= labelled.relations
    assert labelled.relations == {
        relation
        for (relation, _), count in zip(
            space.table.relations, space.structures().atom_counts.sum(1).tolist(), strict=True
        )
        if count
    }
    assert {name for name in read.relations if "@goal" in name} == {
        name for name in labelled.relations if "@goal" in name
    }
    assert labelled.largest_value == space.distances.max() and labelled.states == len(space)


def test_types_count_with_those_above_them_and_nullary_atoms_are_no_kind() -> None:
    domain = load_domain(
        """(define (domain d) (:types car truck - vehicle vehicle) (:predicates (lit) (red ?v - vehicle) (on ?v))
        (:action go :parameters (?v - vehicle) :precondition (and (lit) (red ?v)) :effect (on ?v)))"""
    )
    text = "(define (problem p) (:domain d) (:objects a b - car c - truck) (:init (lit) (red a)) (:goal (and (on a))))"
    found = Reach.of_problem(domain.description, read_problem(domain, text))
    assert found.kinds == {"car": 2, "red": 1, "truck": 1, "vehicle": 3}
    assert found.kinds == Reach.of_space(expand(domain.text, text, 10)).kinds


def test_an_extent_is_the_same_in_any_order_and_comes_back_from_json() -> None:
    reaches = [
        Reach(3, {"ball": 1}, frozenset({"at", "at@goal"}), 8, 0, 3),
        Reach(5, {"ball": 2, "room": 1}, frozenset({"at"}), 20, 2, 7),
        Reach(5, {}, frozenset(), 1, 1, 0),
    ]
    extent = Extent.of(reaches)
    assert Extent.of(reversed(reaches)) == extent
    assert (extent.problems, extent.states, extent.dead_ends, extent.largest_value) == (3, 29, 3, 7)
    assert extent.sizes == ((3, 1), (5, 2)) and extent.kinds == {"ball": (0, 2), "room": (0, 1)}
    assert extent.relations == {"at": 2, "at@goal": 1} and extent.goals == {"at@goal": 1}
    assert Extent.from_json(json.loads(json.dumps(extent.to_json()))) == extent
    assert Extent.of([]).objects == (0, 0)


@pytest.mark.parametrize("field", ["problems", "sizes", "kinds", "relations"])
def test_what_is_no_extent_is_damaged(field: str) -> None:
    content = Extent.of([Reach(3, {"ball": 1}, frozenset({"at"}))]).to_json()
    for wrong in (None, [[1]], {"a": "b"}):
        with pytest.raises(Damaged):
            Extent.from_json(content | {field: wrong})
    del content[field]
    with pytest.raises(Damaged):
        Extent.from_json(content)

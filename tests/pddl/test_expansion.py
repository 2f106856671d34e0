"""State spaces: the laws of V*, a naive breadth-first twin as the oracle, and files that come back as they went."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import numpy as np
import pytest

from trifold.errors import TrifoldError
from trifold.pddl import (
    ARRAYS,
    Problem,
    State,
    StateLimitError,
    StateSpace,
    UnsolvableError,
    expand,
    load_domain,
    load_problem,
)

# A walk on a line with a door that may be shut for ever: dead ends, costs, a negated and a positive goal.
DOMAIN = """(define (domain line)
  (:predicates (at ?x) (next ?x ?y) (shut) (seen ?x))
  (:functions (total-cost) - number)
  (:action forth :parameters (?x ?y) :precondition (and (at ?x) (next ?x ?y) (not (shut)))
    :effect (and (not (at ?x)) (at ?y) (seen ?y) (increase (total-cost) 7)))
  (:action back :parameters (?x ?y) :precondition (and (at ?y) (next ?x ?y))
    :effect (and (not (at ?y)) (at ?x) (increase (total-cost) 1)))
  (:action shut :parameters () :precondition (and) :effect (shut)))
"""
PROBLEM = """(define (problem walk) (:domain line) (:objects a b c d)
  (:init (at a) (next a b) (next b c) (next c d) (= (total-cost) 0))
  (:goal (and (seen c) (not (at c)) (at b))) (:metric minimize (total-cost)))
"""


def naive_distances(problem: Problem) -> tuple[dict[State, list[State]], dict[State, int]]:
    """All reachable states with their successors, and V* of those that have a plan."""
    successors: dict[State, list[State]] = {}
    queue = deque([problem.initial_state])
    while queue:
        state = queue.popleft()
        if state not in successors:
            successors[state] = [successor for _, successor in problem.successors(state)]
            queue.extend(successors[state])
    distances = {state: 0 for state in successors if problem.is_goal(state)}
    for distance in range(len(successors)):
        for state, others in successors.items():
            if state not in distances and any(distances.get(other) == distance for other in others):
                distances[state] = distance + 1
    return successors, distances


def test_a_state_space_equals_the_naive_one() -> None:
    space = expand(DOMAIN, PROBLEM, 1000)
    problem = load_problem(load_domain(DOMAIN), PROBLEM)
    successors, distances = naive_distances(problem)
    assert len(space) == len(successors) and (space.domain, space.problem) == ("line", "walk")
    assert 0 < int((space.distances < 0).sum()) < len(space)

    # Match states by their structures: equal atoms, equal state.
    states = list(successors)
    naive = problem.structures(states)
    table = {tuple(map(tuple, _atoms(naive, i))): state for i, state in enumerate(states)}
    structures = space.structures()
    assert structures.signature == problem.domain.signature
    found = [table[tuple(map(tuple, _atoms(structures, i)))] for i in range(len(space))]
    assert len(set(found)) == len(states) and found[space.initial] is problem.initial_state
    assert space.distances.tolist() == [distances.get(state, -1) for state in found]
    for i, state in enumerate(found):
        targets = space.targets[space.transition_offsets[i] : space.transition_offsets[i + 1]].tolist()
        assert targets == sorted(set(targets))
        assert {found[target] for target in targets} == set(successors[state])


def _atoms(structures: object, index: int) -> list[list[int]]:
    """The atoms of one structure, each as its relation and arguments."""
    import torch

    one = structures.take(torch.tensor([index]))  # type: ignore[attr-defined]
    return [[r, *row] for r, name in enumerate(one.signature.names) for row in one.atoms(name).tolist()]


def test_distances_obey_the_laws_of_shortest_plans() -> None:
    space = expand(DOMAIN, PROBLEM, 1000)
    for i, distance in enumerate(space.distances.tolist()):
        targets = space.targets[space.transition_offsets[i] : space.transition_offsets[i + 1]]
        below = [value for value in space.distances[targets].tolist() if value >= 0]
        if distance < 0:
            assert not below
        elif distance > 0:
            assert distance == 1 + min(below)
    assert space.distances.min() == -1 and (space.distances == 0).any()


def test_a_state_space_comes_back_from_its_file(tmp_path: Path) -> None:
    space = expand(DOMAIN, PROBLEM, 1000)
    space.save(tmp_path / "space")
    again = StateSpace.load(tmp_path / "space")
    assert [path.name for path in tmp_path.iterdir()] == ["space"]
    for name in ARRAYS:
        assert np.array_equal(getattr(again, name), getattr(space, name))
        assert getattr(again, name).dtype == getattr(space, name).dtype
    assert (again.objects, again.initial, again.domain, again.problem) == (("a", "b", "c", "d"), 0, "line", "walk")
    assert again.structures().arguments.equal(space.structures().arguments)


@pytest.mark.parametrize("damage", ["missing", "text", "cut", "other"])
def test_a_damaged_file_is_refused(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "space"
    if damage == "text":
        path.write_text("hello")
    elif damage == "cut":
        expand(DOMAIN, PROBLEM, 1000).save(path)
        path.write_bytes(path.read_bytes()[:-10])
    elif damage == "other":
        from safetensors.numpy import save_file

        save_file({"x": np.zeros(1)}, path)
    with pytest.raises(TrifoldError, match="no labelled state space"):
        StateSpace.load(path)


def test_saving_where_nothing_can_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TrifoldError, match="cannot write"):
        (tmp_path / "file").touch()
        expand(DOMAIN, PROBLEM, 1000).save(tmp_path / "file" / "space")


def test_the_state_limit_is_the_number_of_states_that_may_be() -> None:
    states = len(expand(DOMAIN, PROBLEM, 1000))
    assert len(expand(DOMAIN, PROBLEM, states)) == states
    with pytest.raises(StateLimitError, match="more than"):
        expand(DOMAIN, PROBLEM, states - 1)


def test_unsolvable_problems() -> None:
    with pytest.raises(UnsolvableError):  # no action makes a static atom true
        expand(DOMAIN, PROBLEM.replace("(at b))", "(at b) (next b a))"), 1000)
    space = expand(DOMAIN, PROBLEM.replace("(next b c)", ""), 1000)
    assert (space.distances == -1).all() and len(space) > 1

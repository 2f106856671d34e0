"""Sampled spaces: even over V*, with every successor of what was sampled, and nothing changed about a state."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from trifold.domains import DOMAINS, domain_text
from trifold.pddl import StateSpace, expand
from trifold.pddl.sampling import sample_states

ONE_WAY = """(define (domain one-way) (:requirements :strips) (:predicates (at ?x) (edge ?x ?y))
  (:action move :parameters (?x ?y) :precondition (and (at ?x) (edge ?x ?y)) :effect (and (at ?y) (not (at ?x)))))"""
TRAPS = f"""(define (problem traps) (:domain one-way) (:objects a b c {" ".join(f"d{i}" for i in range(9))})
  (:init (at a) (edge a b) (edge b c) {" ".join(f"(edge b d{i})" for i in range(9))}) (:goal (and (at c))))"""


@pytest.fixture(scope="module")
def whole() -> StateSpace:
    return expand(domain_text("gripper"), DOMAINS["gripper"].problem(random.Random(0), 6), 10_000)


def atoms(space: StateSpace, state: int) -> tuple[int, ...]:
    return tuple(space.indices[space.offsets[state] : space.offsets[state + 1]].tolist())


def successors(space: StateSpace, state: int) -> list[int]:
    return space.targets[space.transition_offsets[state] : space.transition_offsets[state + 1]].tolist()


@pytest.mark.parametrize("keep", [1, 40, 300, 1000])
def test_a_sample_is_part_of_the_whole(whole: StateSpace, keep: int) -> None:
    sample = sample_states(whole, keep)
    number = {atoms(whole, state): state for state in range(len(whole))}
    old = [number[atoms(sample, state)] for state in range(len(sample))]
    assert len(set(old)) == len(old)
    assert sample.distances.tolist() == whole.distances[old].tolist()
    assert old[sample.initial] == whole.initial and sample.initial < sample.listed
    for state in range(sample.listed):
        assert sorted(old[s] for s in successors(sample, state)) == sorted(successors(whole, old[state]))
    only_successors = {s for state in range(sample.listed) for s in successors(sample, state)} - set(
        range(sample.listed)
    )
    assert only_successors == set(range(sample.listed, len(sample)))
    assert all(not successors(sample, state) for state in only_successors)
    assert sample.states == whole.states == len(whole)


def test_every_value_gets_its_share(whole: StateSpace) -> None:
    sample = sample_states(whole, 300)
    values, there = np.unique(whole.distances, return_counts=True)
    kept = np.array([(sample.distances[: sample.listed] == value).sum() for value in values])
    assert 290 <= sample.listed <= 300
    short = kept < there
    assert kept[short].max() - kept[short].min() <= 1 and (kept[~short] <= kept[short].min()).all()


def test_the_initial_state_is_no_extra(whole: StateSpace) -> None:
    """It takes the place of another state of its value, so small values are not favoured."""
    for seed in range(5):
        sample = sample_states(whole, 300, seed=seed)
        assert sample.listed == sample_states(whole, 300).listed


def test_dead_ends_are_one_value() -> None:
    sample = sample_states(expand(ONE_WAY, TRAPS, 100), 6)
    assert sorted(sample.distances[: sample.listed].tolist()) == [-1, -1, -1, 0, 1, 2]


def test_what_is_small_stays_whole_and_samples_come_back_from_files(whole: StateSpace, tmp_path: Path) -> None:
    assert sample_states(whole, len(whole)) is whole
    sample = sample_states(whole, 50)
    sample.save(tmp_path / "space")
    loaded = StateSpace.load(tmp_path / "space")
    assert loaded.listed == sample.listed and loaded.states == len(whole)
    assert loaded.targets.tolist() == sample.targets.tolist()
    assert len(loaded.structures()) == len(sample)


def test_samples_depend_on_the_seed_alone(whole: StateSpace) -> None:
    first, again, other = (sample_states(whole, 50, seed=seed) for seed in (3, 3, 4))
    assert first.indices.tolist() == again.indices.tolist() != other.indices.tolist()


def ways(space: StateSpace) -> dict[int, int]:
    """The length of a shortest way from the initial state to a goal through each state that is on one."""
    steps, queue = {space.initial: 0}, [space.initial]
    for state in queue:
        for after in successors(space, state):
            if after not in steps:
                steps[after] = steps[state] + 1
                queue.append(after)
    return {state: g + int(space.distances[state]) for state, g in steps.items() if space.distances[state] >= 0}


@pytest.mark.parametrize("detour", [0, 1, 2, 5])
@pytest.mark.parametrize("keep", [30, None])
def test_a_detour_bounds_the_ways_through_what_is_sampled(whole: StateSpace, keep: int | None, detour: int) -> None:
    number = {atoms(whole, state): state for state in range(len(whole))}
    length = ways(whole)
    near = {state for state in length if length[state] <= whole.distances[whole.initial] + detour}
    sample = sample_states(whole, keep, detour)
    sampled = {number[atoms(sample, state)] for state in range(sample.listed)}
    assert sampled <= near < set(range(len(whole))) and whole.initial in sampled
    assert len(sampled) == len(near) if keep is None else len(sampled) <= keep
    assert set(sample.distances[: sample.listed]) == {whole.distances[state] for state in near}


@pytest.mark.parametrize("detour", [1000, 2**31 - 3, 10**30])
def test_a_detour_to_everywhere_changes_nothing(whole: StateSpace, detour: int) -> None:
    assert sample_states(whole, None, detour) is whole
    plain, sample = sample_states(whole, 50), sample_states(whole, 50, detour)
    assert [atoms(sample, state) for state in range(len(sample))] == [
        atoms(plain, state) for state in range(len(plain))
    ]


def test_the_initial_state_is_kept_wherever_it_is_and_even_without_a_plan(whole: StateSpace) -> None:
    for initial in (17, len(whole) - 1):
        sample = sample_states(replace(whole, initial=initial), 30, 1)
        assert sample.initial < sample.listed and atoms(sample, sample.initial) == atoms(whole, initial)
    space = expand(ONE_WAY, TRAPS, 100)
    trap = int(np.flatnonzero(space.distances < 0)[0])
    sample = sample_states(replace(space, initial=trap), None, 3)
    assert sample.distances.tolist() == [-1]


def test_dead_ends_beside_a_plan_are_kept_as_successors() -> None:
    sample = sample_states(expand(ONE_WAY, TRAPS, 100), None, 0)
    assert sample.distances[: sample.listed].tolist() == [2, 1, 0]
    assert sample.distances[sample.listed :].tolist() == [-1] * 9

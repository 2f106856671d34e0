"""Sampled spaces: even over V*, with every successor of what was sampled, and nothing changed about a state."""

from __future__ import annotations

import random

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
        sample = sample_states(whole, 300, seed)
        assert sample.listed == sample_states(whole, 300).listed


def test_dead_ends_are_one_value() -> None:
    sample = sample_states(expand(ONE_WAY, TRAPS, 100), 6)
    assert sorted(sample.distances[: sample.listed].tolist()) == [-1, -1, -1, 0, 1, 2]


def test_what_is_small_stays_whole_and_samples_come_back_from_files(whole: StateSpace, tmp_path) -> None:
    assert sample_states(whole, len(whole)) is whole
    sample = sample_states(whole, 50)
    sample.save(tmp_path / "space")
    loaded = StateSpace.load(tmp_path / "space")
    assert loaded.listed == sample.listed and loaded.states == len(whole)
    assert loaded.targets.tolist() == sample.targets.tolist()
    assert len(loaded.structures()) == len(sample)


def test_samples_depend_on_the_seed_alone(whole: StateSpace) -> None:
    first, again, other = (sample_states(whole, 50, seed) for seed in (3, 3, 4))
    assert first.indices.tolist() == again.indices.tolist() != other.indices.tolist()

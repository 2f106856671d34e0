"""Data sets: which problems are read, how they are split, and what a batch holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from oracles import to_naive
from trifold.data import Dataset, Labelled, count_outcomes, dataset, dead_end_target, label, read_folder, split
from trifold.domains import write_problems
from trifold.encoders import Pairs
from trifold.errors import TrifoldError
from trifold.structures import Structures

ONE_WAY = """(define (domain one-way) (:requirements :strips) (:predicates (at ?x) (edge ?x ?y))
  (:action move :parameters (?x ?y) :precondition (and (at ?x) (edge ?x ?y)) :effect (and (at ?y) (not (at ?x)))))"""
TRAP = """(define (problem trap) (:domain one-way) (:objects a b c d)
  (:init (at a) (edge a b) (edge b c) (edge a d)) (:goal (and (at c))))"""


@pytest.fixture
def gripper(tmp_path: Path) -> Path:
    write_problems(tmp_path, "gripper", [1, 2, 3, 4, 5, 10], 0)
    return tmp_path


@pytest.fixture
def trap(tmp_path: Path) -> Labelled:
    (tmp_path / "domain.pddl").write_text(ONE_WAY)
    (tmp_path / "trap.pddl").write_text(TRAP)
    return label(tmp_path / "domain.pddl", [tmp_path / "trap.pddl"])[0]


def test_folders_of_every_shape(gripper: Path) -> None:
    names = [f"gripper-{size:02d}-00.pddl" for size in (1, 2, 3, 4, 5, 10)]
    (gripper / "test").mkdir()
    (gripper / "test" / "broken.pddl").write_text("never read")
    found = read_folder(gripper)
    assert [path.name for path in found.training] == names and found.validation == []
    (gripper / "validation").mkdir()
    (gripper / "train" / names[1]).rename(gripper / "validation" / names[1])
    found = read_folder(gripper)
    assert [path.name for path in found.validation] == names[1:2] and len(found.training) == 5
    for path in (gripper / "train").iterdir():
        path.rename(gripper / path.name)
    (gripper / "train").rmdir()
    assert len(read_folder(gripper).training) == 5


def test_validation_problems_are_never_overlooked(gripper: Path) -> None:
    (gripper / "validation").mkdir()
    with pytest.raises(TrifoldError, match="no problems to validate on"):
        read_folder(gripper)
    for path in (gripper / "train").iterdir():
        path.rename((gripper if "-01-" in path.name else gripper / "validation") / path.name)
    (gripper / "train").rmdir()
    found = read_folder(gripper)
    assert len(found.training) == 1 and len(found.validation) == 5


def test_natural_order(tmp_path: Path) -> None:
    for name in ("p10.pddl", "p9.pddl", "Domain.pddl", "domain.pddl", "a.pddl", "notes.txt"):
        (tmp_path / name).touch()
    assert [path.name for path in read_folder(tmp_path).training] == ["a.pddl", "p9.pddl", "p10.pddl"]


def test_folders_that_cannot_be_learned_from(tmp_path: Path) -> None:
    with pytest.raises(TrifoldError, match="no such folder"):
        read_folder(tmp_path / "nowhere")
    with pytest.raises(TrifoldError, match=r"no domain.pddl"):
        read_folder(tmp_path)
    (tmp_path / "domain.pddl").write_text(ONE_WAY)
    with pytest.raises(TrifoldError, match="no problems to learn from"):
        read_folder(tmp_path)


def test_problems_that_cannot_be_labelled_are_counted(tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").write_text(ONE_WAY)
    (tmp_path / "p.pddl").write_text(TRAP.replace("(edge b c)", ""))
    labelled = label(tmp_path / "domain.pddl", [tmp_path / "p.pddl"])
    assert count_outcomes(labelled) == "1 unsolvable"
    with pytest.raises(TrifoldError, match="no training problem could be labelled: 1 unsolvable"):
        split(labelled, 1, 0)


def test_dead_ends_have_a_target_above_all_others_or_are_dropped(trap: Labelled) -> None:
    space = trap.space
    assert space is not None and sorted(space.distances.tolist()) == [-1, 0, 1, 2]
    target = dead_end_target([space], "keep")
    assert target == 3
    kept = Dataset.build([space], Pairs(1), dead_end_target=target)
    assert sorted(kept.targets.tolist()) == [0, 1, 2, 3]
    dropped = Dataset.build([space], Pairs(1), dead_end_target=dead_end_target([space], "drop"))
    assert sorted(dropped.targets.tolist()) == [0, 1, 2]
    alive = np.flatnonzero(space.distances >= 0)
    whole = to_naive(kept.structures)
    assert to_naive(dropped.structures) == [whole[i] for i in alive]
    with pytest.raises(TrifoldError, match="keep or drop"):
        dead_end_target([space], "hide")


def test_what_does_not_fit_is_encoded_batch_by_batch(gripper: Path) -> None:
    labelled = label(gripper / "domain.pddl", read_folder(gripper).training[:3])
    spaces = [item.space for item in labelled if item.space is not None]
    assert len(spaces) == 3
    resident = Dataset.build(spaces, Pairs(1), dead_end_target=None)
    streamed = Dataset.build(spaces, Pairs(1), dead_end_target=None, max_gib=1e-6)
    assert resident.encoder is None and streamed.encoder is not None
    assert resident.atom_counts == streamed.atom_counts and resident.atom_counts["@triangle"] > 0
    indices = torch.tensor([5, 0, 5, len(resident) - 1])
    (left, targets), (right, same) = resident.take(indices), streamed.take(indices)
    assert to_naive(left) == to_naive(right) and torch.equal(targets, same)


def test_some_states_say_that_not_all_fit(gripper: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No others are encoded then, and as little as a tenth of the states tells what all would take."""
    encoded: list[int] = []

    class Counted(Pairs):
        def __call__(self, structures: Structures) -> Structures:
            encoded.append(len(structures))
            return super().__call__(structures)

    labelled = label(gripper / "domain.pddl", read_folder(gripper).training[:3])
    spaces = [item.space for item in labelled if item.space is not None]
    whole = Dataset.build(spaces, Pairs(1), dead_end_target=None)
    monkeypatch.setattr(dataset, "SAMPLE", len(whole) // 10)
    gib = replace(whole.structures, pairs=None).nbytes / 2**30
    data = Dataset.build(spaces, Counted(1), dead_end_target=None, max_gib=gib * 0.8)
    assert data.encoder is not None and sum(encoded) <= len(whole) // 10 + 10
    assert {name for name, count in data.atom_counts.items() if count} == {
        name for name, count in whole.atom_counts.items() if count
    }
    assert Dataset.build(spaces, Counted(1), dead_end_target=None, max_gib=gib * 1.2).encoder is None


@pytest.mark.parametrize("max_gib", [None, 1e-6], ids=["resident", "streamed"])
def test_states_that_are_encoded_keep_their_targets_and_weights(gripper: Path, max_gib: float | None) -> None:
    labelled = label(gripper / "domain.pddl", read_folder(gripper).training[:3])
    spaces = [item.space for item in labelled if item.space is not None]
    assert len(spaces) == 3
    data = Dataset.build(spaces, Pairs(1), dead_end_target=None, max_gib=max_gib)
    kept = data.keep(torch.arange(len(data)), torch.arange(100, 100 + len(data)))
    indices = torch.tensor([5, 0, 5, len(data) - 1])
    found = kept.encoded(indices)
    assert found.encoder is None and torch.equal(found.targets, data.targets[indices])
    assert found.weights.tolist() == [105, 100, 105, 99 + len(data)]
    assert to_naive(found.structures) == to_naive(data.take(indices)[0])


def test_no_states_are_an_error() -> None:
    with pytest.raises(TrifoldError, match="no states to learn from"):
        Dataset.build([], Pairs(1), dead_end_target=None)


def test_states_that_are_added_lie_behind_the_others(gripper: Path) -> None:
    """A batch of both is what it is where all were there from the beginning."""
    files = read_folder(gripper)
    spaces = [item.space for item in label(files.domain, files.training[:2]) if item.space is not None]
    options: dict[str, Any] = {"dead_end_target": None, "with_actions": True}
    whole, known = Dataset.build(spaces, Pairs(t=1), **options), Dataset.build(spaces[:1], Pairs(t=1), **options)
    first = Dataset.build(spaces[:1], Pairs(t=1), **options, keep_plain=True)
    assert known.encoder is None and first.encoder is not None and first.atom_counts == known.atom_counts
    distances = torch.from_numpy(spaces[1].distances)
    both = first.add(spaces[1].queries(), distances)
    assert len(both) == len(whole) and torch.equal(both.targets, whole.targets)
    assert torch.equal(both.weights, whole.weights)
    for piece in torch.arange(len(whole)).split(50):
        found, expected = both.take(piece), whole.take(piece)
        assert to_naive(found[0]) == to_naive(expected[0]) and torch.equal(found[1], expected[1])

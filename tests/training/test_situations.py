"""Situations: a relation is named where comparable states are clearly less off, and few training states have it."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from trifold.data import Dataset
from trifold.domains import DOMAINS, domain_text
from trifold.model import Model, ModelConfig
from trifold.pddl import expand
from trifold.structures import Signature, Structures
from trifold.training import situations
from trifold.training.loss import validate
from trifold.training.situations import Situation, find_situation, state_errors

SIGNATURE = Signature.of([("at", 1), ("locked", 1)])


def states(locked: list[bool], values: list[float]) -> Dataset:
    """States of two objects, of which the first is locked or nothing is."""
    atoms = {"at": [[[0]]] * len(locked), "locked": [[[0]] if is_locked else [] for is_locked in locked]}
    structures = Structures.build(SIGNATURE, [2] * len(locked), atoms)
    counts = dict(zip(SIGNATURE.names, structures.atom_counts.sum(1).tolist(), strict=True))
    return Dataset(structures, None, torch.tensor(values), torch.ones(len(locked), dtype=torch.int64), counts)


def find(
    monkeypatch: pytest.MonkeyPatch, errors: Any, training: Dataset, held_out: Dataset, scores: bool = False
) -> Any:
    """The situation that these errors of held-out states speak of."""
    monkeypatch.setattr(situations, "state_errors", lambda model, states: torch.tensor(errors, dtype=torch.float64))
    model: Any = type("FakeModel", (), {"scores_actions": scores})()
    return find_situation(model, training, held_out)


SELDOM = states([True] + [False] * 19, [1.0] * 20)
OFTEN = states([True, False] * 10, [1.0] * 20)
HALF = states([True, False] * 40, [float(1 + i // 4) for i in range(80)])


@pytest.mark.parametrize("scores", [False, True])
def test_what_is_rare_in_training_and_more_off_is_named(monkeypatch: pytest.MonkeyPatch, scores: bool) -> None:
    errors = [1.0, 0.0, 1.0, 0.5] * 20
    expected = Situation("locked", True, 0.05, 1.0, 0.25, scores)
    assert find(monkeypatch, errors, SELDOM, HALF, scores) == expected
    turned = states([not is_locked for is_locked in [True] + [False] * 19], [1.0] * 20)
    without = find(monkeypatch, errors[1:] + errors[:1], turned, HALF, scores)
    assert not without.is_present and without.share == pytest.approx(0.05) and without.error == 1.0


def test_what_is_not_rare_or_not_more_off_is_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find(monkeypatch, [1.0, 0.0] * 40, OFTEN, HALF) is None
    assert find(monkeypatch, [1.0, 0.9] * 40, SELDOM, HALF) is None
    assert find(monkeypatch, [0.1, 0.0] * 40, SELDOM, HALF) is None
    assert find(monkeypatch, [1.0, 0.0] * 5, SELDOM, states([True, False] * 5, [1.0] * 10)) is None


def test_errors_that_grow_with_v_or_with_the_size_are_no_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is locked is only far from the goal here, or only in larger problems, where everything is more off."""
    far = states([i >= 40 for i in range(80)], [1.0] * 40 + [9.0] * 40)
    assert find(monkeypatch, [0.0] * 40 + [3.0] * 40, SELDOM, far) is None
    atoms = {"at": [[[0]]] * 80, "locked": [[[0]] if i >= 40 else [] for i in range(80)]}
    larger = replace(far, structures=Structures.build(SIGNATURE, [2] * 40 + [5] * 40, atoms), targets=torch.ones(80))
    assert find(monkeypatch, [0.0] * 40 + [3.0] * 40, SELDOM, larger) is None


@pytest.mark.parametrize("heads", ["values", "actions", "both"])
def test_errors_of_states_add_up_to_what_validation_finds(heads: str, tmp_path: Path) -> None:
    config = ModelConfig(dim=4, layers=2, heads=heads)
    space = expand(domain_text("gripper"), DOMAINS["gripper"].problem(random.Random(0), 2), 1000)
    data = Dataset.build([space], config.build_encoder(), dead_end_target=None, with_actions=config.has_actions)
    schemas = space.actions.schemas if config.has_actions else ()
    model = Model.fresh(config, space.table.signature, domain_text("gripper"), data.atom_counts, 0, schemas)
    errors: Tensor = state_errors(model, data)
    seen = validate(model, data)
    found = float(errors.nanmean())
    assert len(errors) == len(space)
    assert found == pytest.approx(seen.error if seen.optimal is None else 1 - seen.optimal)

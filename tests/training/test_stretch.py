"""Stretches: what is trained on piece by piece is what would be trained on at once."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from trifold.data import Dataset
from trifold.domains import DOMAINS, domain_text
from trifold.model import Model, ModelConfig
from trifold.nn import REFERENCE
from trifold.pddl import StateSpace, expand
from trifold.training import step as steps
from trifold.training import stretch
from trifold.training.captured import likely_sizes
from trifold.training.loss import batch_loss
from trifold.training.sampler import BalancedSampler, TaughtSampler
from trifold.training.step import TrainingStep
from trifold.training.stretch import Stretch

CONFIG = ModelConfig(encoder="oblivious", dim=4, layers=2)


@pytest.fixture(scope="module")
def space() -> StateSpace:
    return expand(domain_text("gripper"), DOMAINS["gripper"].problem(random.Random(0), 2), 1000)


@pytest.fixture(scope="module")
def data(space: StateSpace) -> Dataset:
    """Plain states, encoded where they are used."""
    return Dataset.build([space], CONFIG.build_encoder(), dead_end_target=None, max_gib=0)


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stretches of three steps: there is no room for more."""
    monkeypatch.setattr(stretch, "LEAST_STEPS", 3)
    monkeypatch.setattr(stretch, "room", lambda device: 0.0)


@pytest.mark.parametrize("taught", [0, 5])
def test_the_batches_of_a_stretch_are_those_of_the_whole(data: Dataset, taught: int) -> None:
    sampler: Any = BalancedSampler(data.targets[: len(data) - taught], 16, 7)
    sampler = TaughtSampler(sampler, taught, 2) if taught else sampler
    found = Stretch(data, sampler, 10)
    assert [number in found for number in range(8, 15)] == [False, False, True, True, True, False, False]
    for number in range(10, 14):  # the one after the last is laid out with it
        (own, values), (whole, expected) = found.data.take(found.draw(number)), data.take(sampler.draw(number))
        assert torch.equal(values, expected) and torch.equal(own.arguments, whole.arguments)
        assert torch.equal(own.atom_counts, whole.atom_counts)
    drawn = torch.cat([found.draw(number) for number in range(10, 14)])
    assert found.batch == sampler.batch and found.data.encoder is None
    assert len(found.data) == len(set(drawn.tolist())) < len(drawn)
    assert torch.equal((found.shares * len(drawn)).round(), torch.bincount(drawn).double())
    sizes = found.data.structures.atom_counts.double()
    most = torch.tensor(likely_sizes(sizes, found.shares, found.batch))
    assert all((sizes[:, found.draw(number)].sum(1) <= most).all() for number in range(10, 14))


def test_a_stretch_is_as_long_as_there_is_room(data: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    sampler = BalancedSampler(data.targets, 4, 7)
    size = data.encoded(torch.unique(sampler.draw(0))).structures.nbytes
    for gib, length in ((50 * size / 2**30, 50), (1.0, stretch.MOST_STEPS)):
        monkeypatch.setattr(stretch, "room", lambda device, gib=gib: gib)
        assert len(Stretch(data, sampler, 0).steps) == length


def test_steps_are_captured_anew_for_each_stretch_and_are_those_on_all_states(
    space: StateSpace, data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches beyond the captured step, too, find their states. Steps may be asked for from any number on."""
    built: list[Any] = []

    class Captured:
        """Takes every second of its steps by itself, as the reference does."""

        def __init__(self, network: Any, backend: Any, optimizer: Any, *given: Any, **options: Any) -> None:
            self.structures, self.targets, shares, batch = given
            assert float(shares.sum()) == pytest.approx(1) and len(shares) == len(self.structures) and batch == 4
            self.network, self.optimizer, self.calls = network, optimizer, 0
            built.append(self)

        def __call__(self, indices: Tensor, following: Tensor, shares: None) -> Tensor | None:
            self.calls += 1
            if self.calls % 2:
                return None
            held = Dataset(self.structures, None, self.targets, torch.ones_like(self.targets), {})
            loss = batch_loss(self.network, *held.take(indices), REFERENCE)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            return loss.detach()

    monkeypatch.setattr(steps, "CapturedStep", Captured)
    captured: Any = replace(REFERENCE, name="captured", fixed=lambda *given: None)
    losses = {}
    for backend in (captured, REFERENCE):
        model = Model.fresh(CONFIG, space.table.signature, domain_text("gripper"), data.atom_counts, 0)
        model.backend = backend
        optimizer = torch.optim.SGD(model.network.parameters(), lr=0.1)
        take_step = TrainingStep(model, optimizer, data, BalancedSampler(data.targets, 4, 7))
        losses[backend.name] = [float(take_step(number)) for number in range(5, 12)]
        assert take_step.beyond == (5 if backend is captured else 0)
    assert losses["captured"] == pytest.approx(losses["reference"], rel=1e-5)
    assert [one.calls for one in built] == [3, 3, 1]

"""The training loop."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from trifold.data import Dataset
from trifold.model import Model
from trifold.training.run import SeedFolder, TrainingState
from trifold.training.sampler import BalancedSampler
from trifold.training.settings import Settings

SAVE_SECONDS = 60.0
"""A run is saved at every validation, and at least this often: the most that a crash can cost."""

SHOW_SECONDS = 0.5


@dataclass(frozen=True)
class Progress:
    """What a display shows of a running training: losses are means, validation and best None before the first."""

    seed: int
    step: int
    steps: int
    loss: float
    validation: float | None
    best: float | None
    steps_per_second: float
    seconds_left: float


def train_model(
    model: Model,
    data: Dataset,
    validation: Dataset,
    settings: Settings,
    seed: int,
    folder: SeedFolder,
    show: Callable[[Progress], None],
) -> TrainingState:
    """Train one model from where its folder stands to the end.

    Minimises the mean of |V* − V| over balanced batches with Adam, as the paper does. The folder always holds the last
    save whole, and a step depends on the seed and its number alone, so a resumed run ends where an unbroken one ends.
    """
    network = model.network.train()
    optimizer = torch.optim.Adam(network.parameters(), lr=settings.learning_rate)
    state = folder.load(model, optimizer)
    sampler = BalancedSampler(data.targets, settings.batch, seed)
    sample = validation_sample(validation, settings, seed)
    limit = settings.minutes * 60 if settings.minutes else float("inf")

    step, best, validated = state.step, state.best, state.validation
    total = torch.tensor(state.loss_sum, dtype=torch.float64, device=data.targets.device)  # since the last validation
    began = time.monotonic()
    saved = shown = began
    while step < settings.steps and state.seconds + time.monotonic() - began < limit:
        structures, targets = data.take(sampler.draw(step))
        loss = (network(structures) - targets).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        total += loss.detach()

        now = time.monotonic()
        seconds = state.seconds + now - began
        done = step == settings.steps or seconds >= limit
        if step % settings.validate_every == 0 or done:
            since = (step - 1) % settings.validate_every + 1
            validated = validation_loss(model, validation, sample, settings.batch)
            folder.log({"step": step, "loss": float(total) / since, "validation": validated, "seconds": seconds})
            total.zero_()
            if best is None or validated < best:
                best = validated
                folder.save_best(model, {"step": step, "validation_loss": best, "seconds": seconds})
        if step % settings.validate_every == 0 or done or now - saved > SAVE_SECONDS:
            saved = now
            folder.save(model, optimizer, TrainingState(step, seconds, best, validated, float(total)))
        if done or now - shown > SHOW_SECONDS:
            shown = now
            rate = (step - state.step) / (now - began)
            left = min((settings.steps - step) / rate, limit - seconds)
            show(Progress(seed, step, settings.steps, float(loss.detach()), validated, best, rate, max(left, 0.0)))
    return TrainingState(step, state.seconds + time.monotonic() - began, best, validated, float(total))


def validation_sample(validation: Dataset, settings: Settings, seed: int) -> Tensor:
    """(states,) the states on which the loss is validated: all, or a fixed random sample of them."""
    chosen = np.random.default_rng(seed).permutation(len(validation))[: settings.validation_states]
    return torch.from_numpy(np.sort(chosen))


@torch.no_grad()
def validation_loss(model: Model, validation: Dataset, sample: Tensor, batch: int) -> float:
    """The mean of |V* − V| over these states."""
    total = torch.zeros((), dtype=torch.float64, device=validation.targets.device)
    for indices in sample.split(4 * batch):
        structures, targets = validation.take(indices)
        total += (model.network(structures) - targets).abs().sum()
    return float(total) / len(sample)

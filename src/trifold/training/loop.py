"""The training loop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from trifold.data import Dataset
from trifold.model import Model
from trifold.training.run import Diverged, SeedFolder, TrainingState
from trifold.training.sampler import BalancedSampler
from trifold.training.schedule import learning_rate
from trifold.training.settings import Settings
from trifold.training.step import build_optimizer, build_step, is_fused

SAVE_SECONDS = 60.0
"""A run is saved at every validation, and at least this often while its loss is finite: what a crash can cost."""

SHOW_SECONDS = 0.5

LOST = 30.0
"""A validation loss so many times the least one says that the weights are lost: one of 13 times came down by itself."""

VALIDATION_ROWS = 2**18
"""Messages that one layer may send at once when the validation loss is measured."""


@dataclass(frozen=True)
class Progress:
    """What a display shows of a running training: the loss is a mean; validation and best are None before the first.

    ``lapses`` is how often it has gone back to its best weights. Speed and the time that is left are those of a watch
    on the wall, whatever else runs at the same time.
    """

    seed: int
    step: int
    steps: int
    loss: float
    validation: float | None
    best: float | None
    lapses: int
    steps_per_second: float
    seconds_left: float


def train_in_turns(
    model: Model,
    data: Dataset,
    validation: Dataset,
    settings: Settings,
    seed: int,
    folder: SeedFolder,
    show: Callable[[Progress], None],
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[TrainingState]:
    """Train one model from where its folder stands to the end, a step in each turn.

    Minimises the mean of |V* − V| over balanced batches with Adam, as the paper does. The folder always holds the last
    save whole, and a step depends on the seed and its number alone, so a resumed run ends where an unbroken one ends,
    whatever else takes turns with it. The first turn builds the step. ``clock`` counts the seconds of this training.
    """
    network = model.network.train()
    fused = is_fused(model, data, settings.kernels)
    optimizer = build_optimizer(network, settings.learning_rate, fused=fused)
    state = folder.load(model, optimizer)
    limit = settings.minutes * 60 if settings.minutes else float("inf")
    done = state.best is not None and (state.step >= settings.steps or state.seconds >= limit)
    if done:
        yield state
        return
    sampler = BalancedSampler(data.targets, settings.batch, seed, data.weights, settings.balance)
    take_step = build_step(model, optimizer, data, sampler, fused=fused, clip=settings.clip)
    held_out = validation.encoded(validation_sample(validation, settings))
    total = torch.tensor(state.loss_sum, dtype=torch.float64, device=data.targets.device)  # since the last validation
    following = sampler.draw(state.step)
    yield state

    start, started, began = state, clock(), time.monotonic()
    saved = shown = began
    while not done:
        if state.step < settings.steps:  # a run that ended before its first validation has only that to do
            part = max((state.step + 1) / (settings.steps + 1), state.seconds / limit)  # a time limit ends it, too
            peak = settings.learning_rate * 0.5**state.lapses
            _set_rate(optimizer, learning_rate(settings.schedule, peak, part))
            batch, following = following, sampler.draw(state.step + 1)
            total += take_step(batch, following)
            state = replace(state, step=state.step + 1, since=state.since + 1)

        now = time.monotonic()
        state = replace(state, seconds=start.seconds + clock() - started)
        done = state.step >= settings.steps or state.seconds >= limit
        validates = done or state.step % settings.validate_every == 0
        if validates:
            found = validation_loss(model, held_out, kernels=fused)
            state = _validate(model, optimizer, found, settings, folder, replace(state, loss_sum=float(total)))
            total.zero_()
        if validates or now - saved > SAVE_SECONDS:
            saved, state = now, replace(state, loss_sum=float(total))
            if math.isfinite(state.loss_sum) or not _recovers(settings, state):
                _check(state.loss_sum, state, settings, folder)
                folder.save(model, optimizer, state)
        if done or now - shown > SHOW_SECONDS:
            shown, passed = now, max(now - began, 1e-9)
            speed = max(state.step - start.step, 1) / passed
            share = max(state.seconds - start.seconds, 1e-9) / passed  # of the time: others may take turns
            left = min((settings.steps - state.step) / speed, (limit - state.seconds) / share)
            mean = float(total) / state.since if state.since else state.loss
            losses = mean, state.validation, state.best
            show(Progress(seed, state.step, settings.steps, *losses, state.lapses, speed, max(left, 0.0)))
        yield state


def _set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


def _validate(
    model: Model,
    optimizer: torch.optim.Optimizer,
    found: float,
    settings: Settings,
    folder: SeedFolder,
    state: TrainingState,
) -> TrainingState:
    """Log the validation loss that was found; keep the weights if it is the least so far, go back if they are lost."""
    loss = state.loss_sum / max(state.since, 1)
    is_lost = _recovers(settings, state) and not (loss < math.inf and found <= LOST * (state.best or 0.0))
    if not is_lost:
        _check(loss + found, state, settings, folder)
    if math.isfinite(loss + found):
        line = {"step": state.step, "loss": loss, "validation": found, "seconds": state.seconds}
        folder.log(line | {"lapses": state.lapses})
    if is_lost:
        _go_back(model, optimizer, folder)
        return replace(state, lapses=state.lapses + 1, since=0, loss_sum=0.0)
    if state.best is None or found < state.best:
        chosen = {"step": state.step, "validation_loss": found, "seconds": state.seconds, "lapses": state.lapses}
        folder.save_best(model, chosen)
        state = replace(state, best=found)
    return replace(state, validation=found, loss=loss, since=0, loss_sum=0.0)


def _recovers(settings: Settings, state: TrainingState) -> bool:
    """Whether there are weights to go back to."""
    return settings.recover and state.best is not None


@torch.no_grad()
def _go_back(model: Model, optimizer: torch.optim.Optimizer, folder: SeedFolder) -> None:
    """Take the best weights, and forget the moments that led astray: in place, as a captured step reads them there."""
    model.network.load_state_dict(Model.load(folder.best).network.state_dict())
    for entries in optimizer.state.values():
        for value in entries.values():
            value.zero_()


def _check(number: float, state: TrainingState, settings: Settings, folder: SeedFolder) -> None:
    """Raise if a loss is not finite: the weights are lost, and the last save is the last that is worth keeping."""
    if not math.isfinite(number):
        raise Diverged(
            f"training diverged: the loss is {number:g} at step {state.step}",
            place=str(folder.path),
            remedy=f"use a learning rate below {settings.learning_rate:g}, or --clip"
            + (f" below {settings.clip:g}" if settings.clip else ""),
        )


def validation_sample(validation: Dataset, settings: Settings) -> Tensor:
    """(states,) the states on which every seed's loss is validated: all, or a fixed random sample of them."""
    chosen = np.random.default_rng(settings.seed).permutation(len(validation))[: settings.validation_states]
    return torch.from_numpy(np.sort(chosen))


@torch.no_grad()
def validation_loss(model: Model, validation: Dataset, *, kernels: bool) -> float:
    """The mean of |V* − V| over the states."""
    values = model.encoded_values if kernels else model.network
    total = torch.zeros((), dtype=torch.float64, device=validation.targets.device)
    rows = int(validation.structures.layer_rows().max())
    for indices in torch.arange(len(validation)).split(max(1, VALIDATION_ROWS // max(rows, 1))):
        structures, targets = validation.take(indices)
        total += (values(structures) - targets).abs().sum()
    return float(total) / len(validation)

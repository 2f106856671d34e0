"""The training loop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from trifold.data import Dataset
from trifold.model import Model
from trifold.training.coverage import Track, follow
from trifold.training.larger import GLANCE_SHARE, GLANCES, LargerProblems
from trifold.training.lessons import Lessons, Teacher
from trifold.training.loss import validate
from trifold.training.orders import GoBack, Start, check_weights
from trifold.training.parallel import ALONE, Ranks, Step
from trifold.training.run import Diverged, SeedFolder, TrainingState
from trifold.training.sampler import BalancedSampler, TaughtSampler
from trifold.training.schedule import learning_rate
from trifold.training.settings import Settings
from trifold.training.step import TrainingStep, build_optimizer, forget, set_rate

SAVE_SECONDS = 60.0
"""A run is saved at every validation, and at least this often while its loss is finite: what a crash can cost."""

SHOW_SECONDS = 0.5

LEAST_LOST = 0.1
"""A validation loss below this is none of lost weights, however small the least one is: scores have losses near 0."""

LOST = 30.0
"""A validation loss this many times the least one says that the weights are lost: one of 13 times came down by itself.
"""

MOMENTS = 12
"""How often in a training the policy is followed on held-out problems at most: at validations, evenly over it."""

SHARE, WORTH = 0.1, 6
"""The part of a training that this may take, larger problems included, and how many states a policy looks at while one
is trained on."""


@dataclass(frozen=True)
class Progress:
    """What a display shows of a running training: the loss is a mean; validation and best are None before the first.

    ``optimal`` is the share of validation states whose best-scored action is optimal, None if no actions are scored.
    ``solved`` of so many ``problems`` is what the policy did when it was followed last, with plans of ``length``
    times the optimum, and ``best_solved`` what that of the kept weights did; None if it was not followed.
    ``larger_solved`` of ``larger_problems`` is what it did on larger problems when it was last tried on these.
    ``lapses`` is how often it has gone back to its best weights, ``beyond`` how many batches were beyond its backend.
    Speed and the time that is left are those of a watch on the wall, whatever else runs at the same time.
    ``taught`` is how many states a teacher has taught it, ``practises`` the round of practice that begins now, or 0.
    """

    seed: int
    step: int
    steps: int
    loss: float
    validation: float | None
    best: float | None
    optimal: float | None
    solved: int | None
    problems: int
    length: float | None
    best_solved: int | None
    larger_solved: int | None
    larger_problems: int
    lapses: int
    beyond: int
    steps_per_second: float
    seconds_left: float
    taught: int = 0
    practises: int = 0


@dataclass
class SeedTraining:
    """The training of one seed, ready to go on from where its folder stands."""

    model: Model
    data: Dataset
    validation: Dataset
    settings: Settings
    seed: int
    folder: SeedFolder
    tracks: Sequence[Track] = ()
    larger: LargerProblems | None = None
    ranks: Ranks = ALONE
    teacher: Teacher | None = None
    optimizer: torch.optim.Optimizer = field(init=False)
    state: TrainingState = field(init=False)

    def __post_init__(self) -> None:
        settings = self.settings
        self.limit = settings.minutes * 60 if settings.minutes else math.inf
        self.optimizer = build_optimizer(self.model.network.train(), settings.learning_rate, self.model.backend)
        self.state = self.folder.load(self.model, self.optimizer)
        if self.is_done:
            return  # with nothing to build a step for
        self.lessons: Lessons | None = None
        if self.teacher is not None:
            self.lessons = Lessons(self.teacher, self.model, self.seed, self.folder.path, self.state.rounds)
        if not self.ranks.is_alone:
            self.ranks.tell(Start.of(self.seed, self.model, self.optimizer))
        self.beyond_before = self.state.beyond  # of steps that were built before
        self._build_step()
        self.ranks.meet()  # before the clock is looked at
        self.held_out = self.validation.encoded(validation_sample(self.validation, settings))

    def _build_step(self) -> None:
        """The step, on what is labelled and what was taught so far."""
        settings, data, batch = self.settings, self.data, self.settings.batch
        taught = None if self.lessons is None else self.lessons.structures
        part = settings.part if taught is not None else 0
        labelled = BalancedSampler(data.targets, batch - part, self.seed, data.weights, settings.balance)
        sampler: BalancedSampler | TaughtSampler = labelled
        if self.lessons is not None and taught is not None:
            data = data.add(taught, self.lessons.targets)
            sampler = TaughtSampler(labelled, len(taught), part)
        self.take_step = TrainingStep(self.model, self.optimizer, data, sampler, settings.clip, self.ranks)

    @property
    def beyond(self) -> int:
        """How many batches were beyond the backend so far."""
        return self.beyond_before + self.take_step.beyond

    @property
    def term(self) -> int:
        """How many rounds of practice have come: the first after the share alone, and all evenly over the rest."""
        alone, rounds = self.settings.alone, self.settings.rounds
        if self.lessons is None or self.is_at_end or self.done < alone:
            return 0
        return min(1 + int(rounds * (self.done - alone) / (1 - alone)), rounds)

    def practise(self, spent: Callable[[], float]) -> None:
        """Let the pupil practise, and go on with what it was taught, too, unless the time is over before the round is.

        ``spent`` says how many seconds this training has taken, and is asked all the while.
        """
        assert self.lessons is not None
        term = self.term
        if not self.lessons.practise(term, self.settings.ways, lambda: spent() >= self.limit):
            return
        self.state = replace(self.state, rounds=term)
        self.beyond_before = self.beyond
        del self.take_step  # its memory first
        self._build_step()

    @property
    def is_at_end(self) -> bool:
        """Whether all steps are taken, or the time is over."""
        return self.state.step >= self.settings.steps or self.state.seconds >= self.limit

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do: a run that ended before its first validation has that to do."""
        return self.is_at_end and self.state.best is not None

    @property
    def moments(self) -> int:
        """How often the policy is followed: the fewer steps there are, and the more states it looks at, the less."""
        cost = sum(track.cost(self.model.config.has_actions) for track in self.tracks)
        worth = SHARE * WORTH * self.settings.batch * self.settings.steps
        return max(1, min(MOMENTS, int(worth / max(cost, 1.0))))

    @property
    def done(self) -> float:
        """How much of the training is done, from 0 to 1: of its steps, or of its time if that is more."""
        return max(self.state.step / self.settings.steps, self.state.seconds / self.limit)

    def passed(self, moments: int) -> int:
        """How many of so many moments, evenly over the training, have come."""
        return int(moments * self.done)

    @property
    def rate(self) -> float:
        """The learning rate of the next step: its schedule ends with the steps, or with the time if that is earlier."""
        part = max((self.state.step + 1) / (self.settings.steps + 1), self.state.seconds / self.limit)
        return learning_rate(self.settings.schedule, self.settings.learning_rate * 0.5**self.state.lapses, part)


def train_seed(
    training: SeedTraining, show: Callable[[Progress], None], clock: Callable[[], float] = time.monotonic
) -> TrainingState:
    """Train one model from where its folder stands to the end.

    Minimises ``joint_loss`` over balanced batches with Adam: the mean of |V* − V|, as the paper does, the loss of the
    scores of actions, or both. The folder always holds the last save whole, and a step depends on the seed and its
    number alone, so a resumed run ends where an unbroken one ends.
    ``clock`` counts the seconds of this training, and is read after every step.
    """
    if training.is_done:
        return training.state
    settings, start = training.settings, training.state
    total = torch.tensor(start.loss_sum, dtype=torch.float64, device=training.data.targets.device)
    done = False
    started, began = clock(), time.monotonic()
    saved = shown = began
    while not done:
        if training.term > training.state.rounds and math.isfinite(float(total)):  # a lost pupil learns nothing
            told = _progress(training, start, float(total), time.monotonic() - began)
            show(replace(told, practises=training.term))
            training.practise(lambda: start.seconds + clock() - started)
        state = training.state
        if state.step < settings.steps:
            rate = training.rate
            set_rate(training.optimizer, rate)
            training.ranks.tell(Step(state.step, rate))
            total += training.take_step(state.step)
            state = replace(state, step=state.step + 1, since=state.since + 1)

        now, seconds = time.monotonic(), start.seconds + clock() - started
        training.state = replace(state, seconds=seconds, beyond=training.beyond)
        done = training.is_at_end
        validates = done or state.step % settings.validate_every == 0
        if validates:
            _validate(training, float(total), clock)
            total.zero_()
        if validates or now - saved > SAVE_SECONDS:
            saved = now
            _save(training, float(total))
        if done or now - shown > SHOW_SECONDS:
            shown = now
            show(_progress(training, start, float(total), now - began))
    return training.state


def _validate(training: SeedTraining, loss_sum: float, clock: Callable[[], float]) -> None:
    """Log the validation loss; keep the weights if they are the best so far, go back to the best if they are lost."""
    folder = training.folder
    seen = validate(training.model, training.held_out)
    state = training.state
    found, loss = seen.loss, loss_sum / max(state.since, 1)
    is_lost = _recovers(training) and not (loss < math.inf and found <= max(LOST * (state.best or 0.0), LEAST_LOST))
    policy: dict[str, Any] = {}
    larger: dict[str, Any] = {}
    if not is_lost:
        _check(training, loss + found)
        policy, larger = _follow_policy(training), _try_larger(training, clock)
        state = training.state
    if math.isfinite(loss + found):
        line = {"step": state.step, "loss": loss, "validation": found, "seconds": state.seconds}
        heads = {"error": seen.error, "optimal": seen.optimal} if seen.optimal is not None else {}
        taught = {} if training.lessons is None else {"taught": training.lessons.states}
        folder.log(line | heads | policy | larger | taught | {"lapses": state.lapses, "beyond": state.beyond})
    if is_lost:
        _go_back(training)
        training.state = replace(state, lapses=state.lapses + 1, since=0, loss_sum=0.0)
        return
    new = replace(
        state,
        best=found,
        best_solved=policy.get("solved"),
        best_length=policy.get("length"),
        best_rounds=state.rounds,
    )
    keep_by = training.settings.keep_by
    if state.best is None or new.rank(keep_by) < state.rank(keep_by):
        chosen = {"step": state.step, "validation_loss": found, "seconds": state.seconds, "lapses": state.lapses}
        if training.lessons is not None:
            training.model.provenance |= {"teacher": training.lessons.to_json()}
        folder.save_best(training.model, chosen | policy)
        state = new
    training.state = replace(state, validation=found, optimal=seen.optimal, loss=loss, since=0, loss_sum=0.0)


def _follow_policy(training: SeedTraining) -> dict[str, Any]:
    """What the policy does on held-out problems, where the moment has come to follow it; else nothing.

    When that is depends on the step alone, so that a resumed run keeps the same weights. Where minutes end a training,
    all depends on the clock, and there it also bounds the part of the time that this takes.
    """
    state, moment = training.state, training.passed(training.moments)
    is_dear = training.limit < math.inf and state.policy_seconds > SHARE * state.seconds
    if not training.tracks or not (training.is_at_end or (moment != state.moment and not is_dear)):
        return {}
    began = time.monotonic()
    found = follow(training.model, training.tracks)
    spent = state.policy_seconds + time.monotonic() - began
    training.state = replace(state, solved=found.solved, length=found.length, moment=moment, policy_seconds=spent)
    return {"solved": found.solved, "problems": found.problems, "length": found.length}


def _try_larger(training: SeedTraining, clock: Callable[[], float]) -> dict[str, Any]:
    """What the policy does on larger problems, where a moment has come to try it on them; else nothing.

    It is told and decides nothing, for it depends on the time. With what is followed inside of spaces it takes no more
    than ``SHARE``. The clock is looked at all the while: it is how a training hears that it is to end.
    """
    state, moment = training.state, training.passed(GLANCES)
    if training.larger is None or moment == state.larger_moment:
        return {}
    began = time.monotonic()
    budget = min(GLANCE_SHARE * state.seconds, SHARE * state.seconds - state.policy_seconds) - state.larger_seconds
    found = training.larger.glance(training.model, budget, clock)
    spent = state.larger_seconds + time.monotonic() - began
    training.state = replace(state, larger_moment=moment, larger_seconds=spent)
    if found is None:
        return {}
    training.state = replace(training.state, larger_solved=found.solved, larger_problems=found.problems)
    return {"larger_solved": found.solved, "larger_problems": found.problems, "larger_length": found.length}


def _save(training: SeedTraining, loss_sum: float) -> None:
    """Save all that a resumed run needs, unless the weights are lost and the next validation will go back."""
    training.state = replace(training.state, loss_sum=loss_sum)
    if math.isfinite(loss_sum) or not _recovers(training):
        _check(training, loss_sum)
        check_weights(training.ranks, training.model.network, training.optimizer)
        training.folder.save(training.model, training.optimizer, training.state)


def _recovers(training: SeedTraining) -> bool:
    """Whether there are weights to go back to."""
    return training.settings.recover and training.state.best is not None


def _go_back(training: SeedTraining) -> None:
    """Take the best weights, and forget the moments that led astray: in place, as a captured step reads them there."""
    best = Model.load(training.folder.best).network.state_dict()
    training.model.network.load_state_dict(best)
    forget(training.optimizer)
    training.ranks.tell(GoBack(best))
    training.ranks.meet()


def _check(training: SeedTraining, number: float) -> None:
    """Raise if a loss is not finite: the weights are lost, and the last save is the last that is worth keeping."""
    settings = training.settings
    if not math.isfinite(number):
        raise Diverged(
            f"training diverged: the loss is {number:g} at step {training.state.step}",
            place=str(training.folder.path),
            remedy=f"use a learning rate below {settings.learning_rate:g}, or clip"
            + (f" below {settings.clip:g}" if settings.clip else ""),
        )


def _progress(training: SeedTraining, start: TrainingState, loss_sum: float, passed: float) -> Progress:
    """What there is to show when so many seconds have passed since the start."""
    settings, state = training.settings, training.state
    passed = max(passed, 1e-9)
    speed = max(state.step - start.step, 1) / passed
    share = max(state.seconds - start.seconds, 1e-9) / passed  # of the time: others may train at once
    left = min((settings.steps - state.step) / speed, (training.limit - state.seconds) / share)
    mean = loss_sum / state.since if state.since else state.loss
    losses = mean, state.validation, state.best, state.optimal
    policy = state.solved, len(training.tracks), state.length, state.best_solved
    larger = state.larger_solved, state.larger_problems
    counts = state.lapses, state.beyond
    taught = 0 if training.lessons is None else training.lessons.states
    return Progress(
        training.seed, state.step, settings.steps, *losses, *policy, *larger, *counts, speed, max(left, 0.0), taught
    )


def validation_sample(validation: Dataset, settings: Settings) -> Tensor:
    """(states,) the states on which every seed's loss is validated: all, or a fixed random sample of them."""
    chosen = np.random.default_rng(settings.seed).permutation(len(validation))[: settings.validation_states]
    return torch.from_numpy(np.sort(chosen))

"""Trainings that take turns: each is what it is alone, and their seconds add up to the time that passed."""

from __future__ import annotations

import itertools
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
import torch

from trifold.errors import TrifoldError
from trifold.model import Model, checkpoint
from trifold.training import TrainingResult, Watcher, loop, resume, together, train
from trifold.training.loop import Progress, SeedTraining
from trifold.training.run import Diverged, RunFolder, TrainingState
from trifold.training.together import train_seeds

SEEDS = (3, 4, 5)
SETTINGS = {"steps": 12, "validate_every": 5, "batch": 8, "seed": SEEDS[0], "seeds": len(SEEDS)}
CPU = torch.device("cpu")


@pytest.fixture
def _in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the reference, too, be trained in turns, and report every step."""
    monkeypatch.setattr(sys.modules["trifold.training.train"], "at_once", lambda backend: 4)
    monkeypatch.setattr(loop, "SHOW_SECONDS", -1.0)


class Recorder(Watcher):
    """Notes the seed and step of every report, and breaks the training off at one of them."""

    def __init__(self, breaks_at: Any = None) -> None:
        self.met: list[Any] = []
        self.breaks_at = breaks_at

    def progress(self, progress: Progress) -> None:
        self.met.append((progress.seed, progress.step))
        if self.met[-1] == self.breaks_at:
            raise KeyboardInterrupt


def run_tiny(folder: Path, run: Path, watcher: Watcher | None = None, **changes: Any) -> TrainingResult:
    return train(folder, run, "small", dim=4, layers=2, **SETTINGS | changes, device="cpu", watcher=watcher)


def namespace(**values: Any) -> Any:
    """What stands for a training."""
    return SimpleNamespace(**values)


def itself(training: Any) -> Any:
    """What starts a training that is there."""
    return training


def outcome(run: Path) -> tuple[Any, ...]:
    """All that a run leaves behind, times aside."""
    found = {}
    for seed in SEEDS:
        tensors, header = checkpoint.read(run / f"seed-{seed}" / "last.safetensors", "training")
        best = Model.load(run / f"seed-{seed}" / "best.safetensors")
        found[seed] = (
            {name: tensor.tolist() for name, tensor in tensors.items()},
            header["state"] | {"seconds": 0, "policy_seconds": 0},
            {name: tensor.tolist() for name, tensor in best.network.state_dict().items()},
            best.provenance["settings"]["seed"],
            [line | {"seconds": 0} for line in RunFolder(run).seed(seed).metrics()],
        )
    kept = Model.load(run / "model.safetensors")
    weights = {name: tensor.tolist() for name, tensor in kept.network.state_dict().items()}
    return found, weights, kept.provenance["training"] | {"seconds": 0}


@pytest.fixture(scope="module")
def one_by_one(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, ...]:
    """What seeds leave behind that were trained one after the other."""
    run = tmp_path_factory.mktemp("runs") / "one-by-one"
    run_tiny(folder, run)
    return outcome(run)


def test_one_after_the_other_where_there_are_no_kernels(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "SHOW_SECONDS", -1.0)
    watcher = Recorder()
    run_tiny(folder, tmp_path / "run", watcher)
    assert watcher.met == [(seed, step) for seed in SEEDS for step in range(1, 13)]


@pytest.mark.usefixtures("_in_turns")
def test_turns_change_nothing(
    folder: Path,
    tmp_path: Path,
    one_by_one: tuple[Any, ...],
) -> None:
    """Bit for bit, and the seconds of all are no more than passed."""
    watcher, began = Recorder(), time.monotonic()
    result = run_tiny(folder, tmp_path / "run", watcher)
    assert 0 < result.seconds < time.monotonic() - began
    assert watcher.met == [(seed, step) for step in range(1, 13) for seed in SEEDS]
    assert outcome(tmp_path / "run") == one_by_one


@pytest.mark.usefixtures("_in_turns")
@pytest.mark.parametrize("breaks_at", [(3, 1), (4, 5), (5, 11), (3, 12), (5, 12)], ids=str)
def test_a_resumed_run_goes_on_with_every_seed(
    folder: Path,
    tmp_path: Path,
    one_by_one: tuple[Any, ...],
    breaks_at: tuple[int, int],
) -> None:
    """To the same end, wherever it was broken off; seeds that had ended take no step."""
    with pytest.raises(KeyboardInterrupt):
        run_tiny(folder, tmp_path / "run", Recorder(breaks_at))
    assert (tmp_path / "run" / "model.safetensors").exists() == (breaks_at[1] >= 5)  # after the first validation
    watcher = Recorder()
    resume(tmp_path / "run", watcher=watcher)
    ended = {seed for seed in SEEDS if breaks_at[1] == 12 and seed <= breaks_at[0]}
    assert {seed for seed, _ in watcher.met} == set(SEEDS) - ended
    assert outcome(tmp_path / "run") == one_by_one


def least_loss_of_all_seeds(run: Path) -> bool:
    """Whether the run's model is the one with the least validation loss of all that its seeds have kept."""
    best = [Model.load(path).provenance for path in run.glob("seed-*/best.safetensors")]
    kept = Model.load(run / "model.safetensors").provenance
    least = min(best, key=lambda found: found["selected"]["validation_loss"])
    return kept["selected"] == least["selected"] and sorted(kept["training"]["seeds"]) == sorted(
        found["settings"]["seed"] for found in best
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("breaks_at", "steps"), [(11, 6), (12, None), (12, 3), (7, 20)])
def test_the_model_is_the_best_of_all_seeds_however_they_were_broken_off(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, breaks_at: int, steps: int | None
) -> None:
    """Seed after seed: the first has ended and is the run's model when the second is broken off."""
    monkeypatch.setattr(loop, "SHOW_SECONDS", -1.0)
    changes = {"seed": seed, "seeds": 2, "validate_every": 3, "learning_rate": 0.01, "keep_by": "loss"}
    with pytest.raises(KeyboardInterrupt):
        run_tiny(folder, tmp_path / "run", Recorder((seed + 1, breaks_at)), **changes)
    result = resume(tmp_path / "run", steps=steps)
    assert least_loss_of_all_seeds(tmp_path / "run")
    assert result.load().provenance["selected"]["validation_loss"] == result.validation_loss


@pytest.mark.parametrize("breaks_at", [None, (SEEDS[0], 20), (SEEDS[1], 15), (SEEDS[2], 20)])
def test_a_longer_run_forgets_no_seed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, breaks_at: tuple[int, int] | None
) -> None:
    """Also while seeds are still where the shorter run ended."""
    monkeypatch.setattr(loop, "SHOW_SECONDS", -1.0)
    run_tiny(folder, tmp_path / "run", keep_by="loss")
    if breaks_at:
        with pytest.raises(KeyboardInterrupt):
            resume(tmp_path / "run", steps=20, watcher=Recorder(breaks_at))
        assert Model.load(tmp_path / "run" / "model.safetensors").provenance["training"]["seeds"] == list(SEEDS)
    resume(tmp_path / "run", steps=20)
    assert least_loss_of_all_seeds(tmp_path / "run")


@pytest.mark.usefixtures("_in_turns")
def test_no_step_is_built_for_a_seed_that_has_ended(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_tiny(folder, tmp_path / "run")
    monkeypatch.setattr(loop, "TrainingStep", None)
    assert resume(tmp_path / "run").steps > 0


@pytest.mark.usefixtures("_in_turns")
def test_every_training_has_the_minutes_that_were_given(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All have taken as many steps then, up to one; a look at the watch takes a hundredth of a second here."""
    looks = itertools.count()
    for module in (loop, together):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(looks) / 100))
    run_tiny(folder, tmp_path / "run", steps=10**6, minutes=0.01)
    spent = Model.load(tmp_path / "run" / "model.safetensors").provenance["training"]
    assert spent["seconds"] == pytest.approx([0.6] * 3, abs=0.1)
    assert max(spent["steps"]) - min(spent["steps"]) <= 1 < min(spent["steps"])


@pytest.mark.usefixtures("_in_turns")
def test_what_the_card_has_no_room_for_is_trained_afterwards(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    one_by_one: tuple[Any, ...],
) -> None:
    """Each takes 3 of 11 GB: beside two of them there is room for a third, but not for as much again."""
    free = iter([11, 8, 8, 5, 11, 8])
    monkeypatch.setattr(together, "free_memory", lambda device: next(free))
    watcher = Recorder()
    run_tiny(folder, tmp_path / "run", watcher)
    assert watcher.met[:24] == [(seed, step) for step in range(1, 13) for seed in SEEDS[:2]]
    assert watcher.met[24:] == [(SEEDS[2], step) for step in range(1, 13)]
    assert outcome(tmp_path / "run") == one_by_one


def test_seconds_add_up_whoever_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainings of different length; all the waiting happens in the turns of one of them."""
    wall = SimpleNamespace(now=100.0)
    monkeypatch.setattr(together, "time", SimpleNamespace(monotonic=lambda: wall.now))

    def train(training: Any, show: object, clock: Callable[[], float]) -> None:
        began = clock()
        for step in range(training.steps):
            wall.now += training.seconds
            training.state = TrainingState(step=step + 1, seconds=clock() - began)

    def start(steps: int, seconds: float) -> Any:
        wall.now += 50  # to build the step, which is no training
        return SimpleNamespace(steps=steps, seconds=seconds, state=TrainingState())

    monkeypatch.setattr(together, "train_seed", train)
    starts = [partial(start, 1000, 2.0), partial(start, 1000, 0.0), partial(start, 2000, 1.0)]
    (endings,) = train_seeds(starts, lambda progress: None, 3, CPU)
    states = [ending.state for ending in endings]
    assert [state.step for state in states] == [1000, 1000, 2000]
    assert [state.seconds for state in states] == pytest.approx([1000, 1000, 2000], rel=0.01)
    assert sum(state.seconds for state in states) == pytest.approx(wall.now - 250, rel=0.01)


def test_no_training_takes_a_step_before_all_of_its_group_are_built(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []

    def start(name: str) -> Any:
        events.append(f"{name} is built")
        return SimpleNamespace(name=name, state=TrainingState())

    def train(training: Any, show: object, clock: Callable[[], float]) -> None:
        clock()
        events.append(f"{training.name} steps")

    monkeypatch.setattr(together, "train_seed", train)
    for _ in train_seeds([partial(start, name) for name in "abc"], lambda progress: None, 2, CPU):
        events.append("a group has ended")
    first, second = events[:5], events[5:]
    assert first == ["a is built", "b is built", "a steps", "b steps", "a group has ended"]
    assert second == ["c is built", "c steps", "a group has ended"]


def test_an_error_ends_all_trainings_and_leaves_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others end between two steps, and what went wrong is raised where the trainings were asked for."""
    ended: list[object] = []

    def train(training: Any, show: object, clock: Callable[[], float]) -> None:
        try:
            for _ in range(5):
                clock()
                if training.fails:
                    raise MemoryError("no more")
        finally:
            ended.append(training)

    monkeypatch.setattr(together, "train_seed", train)
    trainings = [namespace(fails=fails, state=TrainingState()) for fails in (False, True, False)]
    with pytest.raises(MemoryError, match="no more"):
        list(train_seeds([partial(itself, one) for one in trainings], lambda progress: None, 3, CPU))
    assert len(ended) == 3 and threading.active_count() == 1


def test_an_interrupt_in_the_middle_of_a_step_is_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes to the main thread while another one trains: that one ends its step, and all end."""
    ended: list[object] = []

    def train(training: Any, show: object, clock: Callable[[], float]) -> None:
        try:
            for _ in range(1000):
                clock()
                if training.interrupts:
                    signal.raise_signal(signal.SIGINT)
                    time.sleep(0.02)
        finally:
            ended.append(training)

    monkeypatch.setattr(together, "train_seed", train)
    trainings = [namespace(interrupts=which, state=TrainingState()) for which in (False, True, False)]
    with pytest.raises(KeyboardInterrupt):
        list(train_seeds([partial(itself, one) for one in trainings], lambda progress: None, 3, CPU))
    assert len(ended) == 3 and threading.active_count() == 1


@pytest.mark.parametrize("turns", [False, True], ids=["one by one", "in turns"])
def test_a_seed_that_diverges_does_not_end_the_others(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, turns: bool
) -> None:
    """It is left out, and said so; what it cost is kept."""
    if turns:
        request.getfixturevalue("_in_turns")
    validate = loop._validate

    def fail(training: SeedTraining, loss_sum: float, clock: Callable[[], float]) -> None:
        if training.seed == SEEDS[0] and training.state.step == 10:
            raise Diverged("training diverged")
        validate(training, loss_sum, clock)

    class Notes(Watcher):
        failures: ClassVar[list[Any]] = []

        def failed(self, seed: int, error: TrifoldError) -> None:
            self.failures.append((seed, error.message))

    monkeypatch.setattr(loop, "_validate", fail)
    result = run_tiny(folder, tmp_path / "run", Notes())
    assert Notes.failures == [(SEEDS[0], "training diverged")]
    assert result.seed in SEEDS[1:]
    kept = Model.load(result.model_path).provenance["training"]
    assert (kept["seeds"], kept["steps"]) == (list(SEEDS), [10, 12, 12])
    with pytest.raises(TrifoldError, match="training diverged"):
        run_tiny(folder, tmp_path / "alone", seeds=1)

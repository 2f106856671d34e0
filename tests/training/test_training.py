"""Training learns, keeps its best model, and can be broken off and resumed at any moment."""

from __future__ import annotations

import itertools
import json
import math
import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from trifold.data import Dataset, Labelled, label
from trifold.domains import write_problems
from trifold.errors import TrifoldError
from trifold.model import HEADS, Model, checkpoint
from trifold.nn import REFERENCE
from trifold.training import TrainingResult, Watcher, loop, prepare, resume, together, train
from trifold.training.coverage import Coverage
from trifold.training.loop import Progress
from trifold.training.loss import Validation, validate
from trifold.training.run import RunFolder
from trifold.training.step import TrainingStep, set_rate

TINY = {"dim": 4, "layers": 2, "steps": 12, "validate_every": 5, "batch": 8}


def run_tiny(folder: Path, run: Path, **changes: Any) -> TrainingResult:
    return train(folder, run, "small", **TINY | changes)


def outcome(run: Path, seed: int = 0) -> tuple[Any, ...]:
    """All that a run leaves behind, times aside."""
    tensors, header = checkpoint.read(run / f"seed-{seed}" / "last.safetensors", "training")
    best = Model.load(run / "model.safetensors")
    lines = [json.loads(line) for line in (run / f"seed-{seed}" / "metrics.jsonl").read_text().splitlines()]
    return (
        {name: tensor.tolist() for name, tensor in tensors.items()},
        header["state"] | {"seconds": 0, "policy_seconds": 0},
        {name: tensor.tolist() for name, tensor in best.network.state_dict().items()},
        best.provenance["selected"] | {"seconds": 0},
        [line | {"seconds": 0} for line in lines],
    )


class BrokenOff(Exception):
    pass


class Breaker(Watcher):
    """Breaks a training off when it reports a step."""

    def __init__(self, step: Any) -> None:
        self.step = step

    def progress(self, progress: Progress) -> None:
        if progress.step >= self.step:
            raise BrokenOff


@pytest.fixture
def _eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Report every step."""
    monkeypatch.setattr(loop, "SHOW_SECONDS", -1.0)


@pytest.mark.usefixtures("_eager")
@pytest.mark.parametrize(
    ("save_seconds", "schedule", "lost"), [(-1.0, "constant", 30.0), (60.0, "cosine", 30.0), (-1.0, "cosine", 0.0)]
)
def test_a_resumed_run_ends_where_an_unbroken_one_ends(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, save_seconds: float, schedule: str, lost: float
) -> None:
    """Bit for bit: weights, optimizer, best model and metrics, wherever it was broken off, and where it goes back."""
    monkeypatch.setattr(loop, "SAVE_SECONDS", save_seconds)
    monkeypatch.setattr(loop, "LOST", lost)
    run_tiny(folder, tmp_path / "whole", schedule=schedule, recover=True)
    assert outcome(tmp_path / "whole")[1]["lapses"] == (0 if lost else 2)
    tiny = TINY | {"schedule": schedule, "recover": True}
    for at in (1, 3, 5, 7, 10, 11):
        run = tmp_path / f"broken-{at}"
        with pytest.raises(BrokenOff):
            train(folder, run, "small", **tiny, watcher=Breaker(at))
        with (run / "seed-0" / "metrics.jsonl").open("a") as file:
            file.write('{"step": 99')  # torn by a crash
        with pytest.raises(BrokenOff):
            resume(run, watcher=Breaker(at + 1))
        resume(run)
        assert outcome(run) == outcome(tmp_path / "whole")


def test_kill_minus_nine_loses_nothing_that_was_saved(folder: Path, tmp_path: Path) -> None:
    script = (
        "import sys, torch; torch.set_num_threads(1)\n"
        "from trifold.training import loop, train\n"
        f"loop.SAVE_SECONDS, loop.WORTH = -1.0, {loop.WORTH}\n"
        "train(sys.argv[1], sys.argv[2], 'small', dim=4, layers=2, steps=150, validate_every=50, batch=8)\n"
    )
    command = [sys.executable, "-c", script, str(folder)]
    subprocess.run([*command, str(tmp_path / "whole")], check=True)
    child = subprocess.Popen([*command, str(tmp_path / "killed")])
    last = tmp_path / "killed" / "seed-0" / "last.safetensors"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and child.poll() is None:
        if last.exists() and checkpoint.read(last, "training")[1]["state"]["step"] >= 60:
            break
        time.sleep(0.005)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert checkpoint.read(last, "training")[1]["state"]["step"] >= 60
    resume(tmp_path / "killed")
    assert outcome(tmp_path / "killed") == outcome(tmp_path / "whole")


@pytest.mark.usefixtures("_eager")
def test_the_best_weights_are_a_copy_of_the_best_step(folder: Path, tmp_path: Path) -> None:
    """They give the least validation loss, and go on doing so after further steps."""
    result = run_tiny(folder, tmp_path / "run", steps=40, learning_rate=0.1, keep_by="loss")
    lines = RunFolder(tmp_path / "run").seed(0).metrics()
    least = min(lines, key=lambda line: line["validation"])
    assert least["step"] < 40, "the test needs a run whose last step is not its best"
    assert result.validation_loss == least["validation"]
    best = result.load()
    assert best.provenance["selected"]["step"] == least["step"]
    last, _ = checkpoint.read(tmp_path / "run" / "seed-0" / "last.safetensors", "training")
    weights = best.network.state_dict()
    assert any(not torch.equal(weights[name], last[f"network.{name}"]) for name in weights)
    run_tiny(folder, tmp_path / "short", steps=least["step"], learning_rate=0.1)
    short, _ = checkpoint.read(tmp_path / "short" / "seed-0" / "last.safetensors", "training")
    assert all(torch.equal(weights[name], short[f"network.{name}"]) for name in weights)


@pytest.mark.parametrize("keep_by", ["policy", "loss"])
def test_the_best_policy_is_kept_where_the_recipe_says_so(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep_by: str
) -> None:
    """Most solved, then the shortest plans, then the least loss; within a seed and among seeds, also if resumed."""
    seen = {seed: iter([(1, 2.0), (2, 1.5), (2, 1.2), (2, 1.2), (1, 1.0)]) for seed in (0, 1)}

    def pretend(model: Model, tracks: Any) -> Coverage:
        solved, length = next(seen[model.provenance["settings"]["seed"]])
        return Coverage(solved, 3, length)

    monkeypatch.setattr(loop, "follow", pretend)
    run_tiny(folder, tmp_path / "run", steps=15, seeds=2, keep_by=keep_by)
    result = resume(tmp_path / "run", steps=25)
    lines = {seed: RunFolder(tmp_path / "run").seed(seed).metrics() for seed in (0, 1)}
    assert [line["solved"] for line in lines[0]] == [1, 2, 2, 2, 1]
    orders = {
        "policy": lambda line: (-line["solved"], line["length"], line["validation"]),
        "loss": lambda line: line["validation"],
    }
    for seed, own in lines.items():
        kept = Model.load(tmp_path / "run" / f"seed-{seed}" / "best.safetensors").provenance["selected"]
        assert kept["step"] == min(own, key=orders[keep_by])["step"]
    best = min((line for own in lines.values() for line in own), key=orders[keep_by])
    assert result.load().provenance["selected"]["step"] == best["step"]
    assert result.validation_loss == best["validation"]


def test_few_steps_have_few_looks_at_the_policy(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look costs more than a tenth of these steps, so it comes at the end alone; which steps it is is no chance."""
    monkeypatch.setattr(loop, "WORTH", 0.01)
    run_tiny(folder, tmp_path / "run")
    assert ["solved" in line for line in RunFolder(tmp_path / "run").seed(0).metrics()] == [False, False, True]


def test_of_several_seeds_the_least_validation_loss_is_kept(folder: Path, tmp_path: Path) -> None:
    result = run_tiny(folder, tmp_path / "run", seeds=3, seed=4, keep_by="loss")
    losses = {seed: RunFolder(tmp_path / "run").seed(seed).metrics() for seed in (4, 5, 6)}
    least = {seed: min(line["validation"] for line in lines) for seed, lines in losses.items()}
    assert result.validation_loss == min(least.values()) and least[result.seed] == result.validation_loss
    assert len(set(least.values())) == 3
    alone = run_tiny(folder, tmp_path / "alone", seed=result.seed)
    for name, weight in alone.load().network.state_dict().items():
        assert torch.equal(weight, result.load().network.state_dict()[name])


def test_training_learns(folder: Path, tmp_path: Path) -> None:
    settings = {"steps": 150, "validate_every": 50, "batch": 8, "learning_rate": 0.01}
    result = train(folder, tmp_path / "run", "small", dim=8, layers=4, **settings)
    first, *_, last = RunFolder(tmp_path / "run").seed(0).metrics()
    assert last["loss"] < first["loss"] / 2
    assert result.validation_loss < 1


def test_a_run_can_be_longer_than_it_was_meant_to_be(folder: Path, tmp_path: Path) -> None:
    run_tiny(folder, tmp_path / "run", steps=5)
    resume(tmp_path / "run", steps=12)
    run_tiny(folder, tmp_path / "whole")
    assert outcome(tmp_path / "run")[0] == outcome(tmp_path / "whole")[0]


def test_the_logged_loss_is_a_mean_wherever_the_run_was_broken_off(folder: Path, tmp_path: Path) -> None:
    run_tiny(folder, tmp_path / "run", steps=7)
    resume(tmp_path / "run", steps=10)
    run_tiny(folder, tmp_path / "whole", steps=10)
    whole = {line["step"]: line for line in RunFolder(tmp_path / "whole").seed(0).metrics()}
    lines = {line["step"]: line for line in RunFolder(tmp_path / "run").seed(0).metrics()}
    assert list(lines) == [5, 7, 10] and lines[5]["loss"] == whole[5]["loss"]
    assert (2 * lines[7]["loss"] + 3 * lines[10]["loss"]) / 5 == pytest.approx(whole[10]["loss"])


@pytest.mark.usefixtures("_eager")
def test_an_end_that_is_passed_already_is_an_end(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also before the first validation, and if time runs out between two looks at the clock."""
    monkeypatch.setattr(loop, "SAVE_SECONDS", -1.0)
    with pytest.raises(BrokenOff):
        train(folder, tmp_path / "run", "small", **TINY, watcher=Breaker(3))
    assert resume(tmp_path / "run", steps=1).validation_loss > 0

    class Slow(Watcher):
        def progress(self, progress: Progress) -> None:
            time.sleep(0.4)

    settings = {"steps": 12, "batch": 8, "minutes": 0.005, "validate_every": 1000}
    assert train(folder, tmp_path / "slow", "small", **settings, watcher=Slow()).validation_loss > 0


@pytest.mark.parametrize("heads", HEADS)
def test_a_training_that_diverges_says_so(folder: Path, tmp_path: Path, heads: str) -> None:
    with pytest.raises(TrifoldError, match=r"training diverged.* at step \d+(.|\n)*learning rate below 1e\+18"):
        run_tiny(folder, tmp_path / "run", learning_rate=1e18, heads=heads)


def test_scores_alone_are_trained_also_on_batches_without_an_action(tmp_path: Path) -> None:
    """A goal that nothing leads away from has none, and a batch may be such a state alone."""
    domain = """(define (domain d) (:predicates (at ?x) (way ?x ?y)) (:action go :parameters (?x ?y)
        :precondition (and (at ?x) (way ?x ?y)) :effect (and (at ?y) (not (at ?x)))))"""
    (tmp_path / "pddl").mkdir()
    (tmp_path / "pddl" / "domain.pddl").write_text(domain)
    for end in ("b", "c"):
        (tmp_path / "pddl" / f"{end}.pddl").write_text(
            f"(define (problem {end}) (:domain d) (:objects a b c) (:init (at a) (way a b) (way b {end}) (way a c))"
            f" (:goal (at {end})))"
        )
    result = run_tiny(tmp_path / "pddl", tmp_path / "run", heads="actions", batch=1, steps=20)
    run_tiny(tmp_path / "pddl", tmp_path / "broken", heads="actions", batch=1, steps=10)
    resume(tmp_path / "broken", steps=20)
    assert outcome(tmp_path / "broken") == outcome(tmp_path / "run")
    assert result.load().config.heads == "actions"


@pytest.mark.parametrize("save_seconds", [-1.0, 60.0])
@pytest.mark.parametrize("blow", [1e3, math.nan])
def test_weights_that_are_lost_are_those_of_the_least_loss_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blow: float, save_seconds: float
) -> None:
    """And the training goes on from there, at half the rate and as an optimizer that has seen nothing."""
    rates: list[float] = []
    taken: list[list[Tensor]] = []

    class BadStep(TrainingStep):
        def __call__(self, number: int) -> Tensor:
            taken.append([parameter.detach().clone() for parameter in self.network.parameters()])
            loss = super().__call__(number)
            if len(taken) == 7:
                for parameter in self.network.parameters():
                    parameter.data *= blow
            return loss

    monkeypatch.setattr(loop, "SAVE_SECONDS", save_seconds)
    monkeypatch.setattr(loop, "TrainingStep", BadStep)
    monkeypatch.setattr(loop, "set_rate", lambda optimizer, rate: (rates.append(rate), set_rate(optimizer, rate)))
    result = run_tiny(folder, tmp_path / "run", recover=True, steps=13)
    tensors, state, _, _, lines = outcome(tmp_path / "run")
    assert state["lapses"] == 1 and result.validation_loss == state["best"] < math.inf
    assert rates[:10] == pytest.approx([rates[0]] * 10) and rates[10:] == pytest.approx([rates[0] / 2] * 3)
    assert all(torch.equal(*pair) for pair in zip(taken[5], taken[10], strict=True))  # those of the validation at 5
    assert {value for name, value in tensors.items() if name.endswith(".step")} == {3.0}
    assert [line["step"] for line in lines] == ([5, 10, 13] if math.isfinite(blow) else [5, 13])


def test_weights_that_are_lost_are_not_saved(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A save between two validations looks at the loss, too."""
    monkeypatch.setattr(loop, "SAVE_SECONDS", -1.0)
    with pytest.raises(TrifoldError, match="training diverged"):
        run_tiny(folder, tmp_path / "run", learning_rate=1e18, validate_every=1000)
    _, header = checkpoint.read(tmp_path / "run" / "seed-0" / "last.safetensors", "training")
    assert math.isfinite(header["state"]["loss_sum"])


def test_seeds_are_compared_on_the_same_states(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    samples = []
    measure = validate

    def watch(model: Model, validation: Dataset) -> Validation:
        samples.append(validation)
        return measure(model, validation)

    monkeypatch.setattr(loop, "validate", watch)
    run_tiny(folder, tmp_path / "run", seeds=2, validation_states=10)
    assert len(samples) > 2 and all(len(sample) == 10 for sample in samples)
    assert len({tuple(sample.structures.arguments.tolist()) for sample in samples}) == 1


def test_one_process_trains_in_a_folder(folder: Path, tmp_path: Path) -> None:
    run_tiny(folder, tmp_path / "run", steps=5)
    with (
        RunFolder(tmp_path / "run").locked(),
        pytest.raises(TrifoldError, match="another process is training in this folder"),
    ):
        resume(tmp_path / "run", steps=6)
    resume(tmp_path / "run", steps=6)


def test_who_is_refused_leaves_the_lock_to_its_holder(tmp_path: Path) -> None:
    """Also before there is anything but the lock in the folder."""
    run = RunFolder(tmp_path / "run")
    with run.locked():
        for _ in range(2):
            with pytest.raises(TrifoldError, match="another process is training in this folder"), run.locked():
                pass
    assert not run.path.exists()


def test_a_run_of_another_version_and_a_missing_device_are_errors(folder: Path, tmp_path: Path) -> None:
    run_tiny(folder, tmp_path / "run", steps=5)
    with pytest.raises(TrifoldError, match="cannot use the device abacus"):
        resume(tmp_path / "run", device="abacus")
    with RunFolder(tmp_path / "run").opened("config.json") as config:
        RunFolder(tmp_path / "run").write("config.json", config | {"settings": {"warmth": 3}})
    with pytest.raises(TrifoldError, match="of another version: it has other fields than those of Settings"):
        resume(tmp_path / "run")


def test_foreign_folders_in_a_run_do_no_harm(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "run" / "seed-0-copy").mkdir(parents=True)
    assert run_tiny(folder, tmp_path / "run", steps=5).model_path.exists()


def test_minutes_end_a_run_and_its_schedule(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at the watch takes a hundredth of a second here."""
    looks, rates = itertools.count(), list[float]()
    for module in (loop, together):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(looks) / 100))
    monkeypatch.setattr(loop, "set_rate", lambda optimizer, rate: (rates.append(rate), set_rate(optimizer, rate)))
    result = run_tiny(folder, tmp_path / "run", steps=10**6, minutes=0.01, learning_rate=1e-3, schedule="cosine")
    assert 0 < result.steps < 100 and result.model_path.exists()
    assert max(rates) > 0.9e-3 and rates[-1] < 0.1e-3 and rates[2:] == sorted(rates[2:], reverse=True)


@pytest.mark.draws
def test_a_run_folder_is_complete_and_readable(folder: Path, tmp_path: Path) -> None:
    run_tiny(folder, tmp_path / "run")
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert names == {"config.json", "environment.json", "data.json", "curves.png", "model.safetensors", "seed-0"}
    assert (tmp_path / "run" / "curves.png").read_bytes().startswith(b"\x89PNG")
    summary = json.loads((tmp_path / "run" / "data.json").read_text())
    assert summary["problems"] == 3 and summary["validation_problems"] == 1 and len(summary["files"]) == 4
    provenance = Model.load(tmp_path / "run" / "model.safetensors").provenance
    assert provenance["data"]["hash"] == summary["hash"] and provenance["settings"]["steps"] == 12


def test_a_run_is_not_overwritten_and_not_resumed_on_other_data(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    write_problems(copy, "gripper", [1, 2], 0)
    run_tiny(copy, tmp_path / "run", steps=5)
    with pytest.raises(TrifoldError, match="a run in this folder already"):
        run_tiny(copy, tmp_path / "run")
    write_problems(copy, "gripper", [3], 0)
    with pytest.raises(TrifoldError, match="the problems have changed"):
        resume(tmp_path / "run")
    with pytest.raises(TrifoldError, match=r"config.json cannot be read"):
        resume(tmp_path)


def test_a_resumed_run_keeps_the_split_that_was_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_problems(tmp_path / "pddl", "gripper", [1, 2, 3], 0, per_size=2)
    run_tiny(tmp_path / "pddl", tmp_path / "run", steps=5)
    before = json.loads((tmp_path / "run" / "data.json").read_text())
    roles = {file["file"]: file["role"] for file in before["files"]}
    kept = Model.load(tmp_path / "run" / "model.safetensors").provenance["data"]["split"]
    assert before["split"]["rule"] == kept["rule"] == "held out" and before["split"]["families"] == 3
    for role in ("training", "validation"):
        assert kept[role] == [file for file in roles if roles[file] == role]
    assert {file[:10] for file in kept["training"]}.isdisjoint(file[:10] for file in kept["validation"])

    monkeypatch.setitem(train.__globals__, "split", None)  # another version may have another rule
    resume(tmp_path / "run", steps=8)
    assert json.loads((tmp_path / "run" / "data.json").read_text()) == before


@pytest.mark.parametrize("role", ["training", "validation"])
def test_a_resumed_run_does_not_go_on_without_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    """One that was labelled when it began may fail later, if the cache is gone and the machine is busy."""
    write_problems(tmp_path / "pddl", "gripper", [1, 2, 3], 0)
    run_tiny(tmp_path / "pddl", tmp_path / "run", steps=5)
    before = (tmp_path / "run" / "data.json").read_text()
    name = next(file["file"] for file in json.loads(before)["files"] if file["role"] == role)

    def fail(*what: Any, **how: Any) -> list[Labelled]:
        return [
            replace(item, outcome="timeout", space=None) if item.path.name == name else item
            for item in label(*what, **how)
        ]

    monkeypatch.setattr(prepare, "label", fail)
    with pytest.raises(TrifoldError, match=rf"but not this time: {name} \(timeout\)(.|\n)*in the limits"):
        resume(tmp_path / "run", steps=8)
    assert (tmp_path / "run" / "data.json").read_text() == before


def test_a_resumed_run_may_have_other_limits_for_labels(tmp_path: Path) -> None:
    """As the remedy says: a failure is remembered, unless the limits in config.json are others."""
    write_problems(tmp_path / "pddl", "gripper", [1, 2], 0)
    run_tiny(tmp_path / "pddl", tmp_path / "run", steps=5)
    run = RunFolder(tmp_path / "run")
    before = (run.path / "data.json").read_text()
    for states in (1, 1, 1000):
        with run.opened("config.json") as config:
            config["limits"]["max_states"] = states
        run.write("config.json", config)
        with pytest.raises(TrifoldError, match="state limit") if states == 1 else nullcontext():
            resume(run.path, steps=8, cache=tmp_path / "cache")
        assert (run.path / "data.json").read_text() == before


def test_nothing_is_left_of_a_run_that_could_not_begin(tmp_path: Path) -> None:
    write_problems(tmp_path / "pddl", "gripper", [1], 0)
    (problem,) = (tmp_path / "pddl" / "train").iterdir()
    problem.write_text("(define (problem")
    with pytest.raises(TrifoldError, match="no training problem could be labelled: 1 bad input"):
        run_tiny(tmp_path / "pddl", tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"steps": 0}, "steps must be positive"),
        ({"minutes": -1}, "minutes must be"),
        ({"clip": 0}, "clip must be"),
        ({"balance": 1.5}, "balance lies between 0 and 1, not at 1.5"),
        ({"seed": -1}, "a seed lies"),
        ({"schedule": "magic"}, "schedule is one of constant, cosine"),
    ],
)
def test_senseless_settings_are_refused(folder: Path, tmp_path: Path, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(TrifoldError, match=message):
        run_tiny(folder, tmp_path / "run", **wrong)
    assert not (tmp_path / "run").exists()


def test_a_gradient_beyond_the_clip_is_scaled_down_to_it() -> None:
    """A network of one weight w, V = w n, whose gradient is the mean of n: 3 for states with n = 2 and n = 4."""
    network = torch.nn.Linear(1, 1, bias=False)

    class Data:
        encoder = None

        def take(self, indices: torch.Tensor) -> tuple[Any, torch.Tensor]:
            states = SimpleNamespace(disjoint_union=lambda: indices[:, None].float())
            return states, torch.full((len(indices), 1), 100.0)

    def gradient(clip: float | None) -> float:
        optimizer = torch.optim.SGD(network.parameters(), lr=0.0)
        read = SimpleNamespace(parameters=network.parameters, read=lambda states, backend: (network(states), None))
        model = SimpleNamespace(network=read, backend=REFERENCE)
        sampler = SimpleNamespace(draw=lambda number: torch.tensor([2, 4]))
        TrainingStep(model, optimizer, Data(), sampler, clip)(0)
        return float(network.weight.grad)

    assert gradient(None) == gradient(5.0) == -3.0
    assert gradient(0.5) == pytest.approx(-0.5, rel=1e-4)


def test_both_heads_are_trained_told_and_resumed(folder: Path, tmp_path: Path) -> None:
    """Also where a batch has no action of some schema, whose weights have no gradient and no moments then."""
    heads = {"heads": "both", "batch": 1, "validate_every": 1, "seed": 2}
    whole = run_tiny(folder, tmp_path / "whole", steps=6, **heads)
    run_tiny(folder, tmp_path / "run", steps=1, **heads)
    moments, _ = checkpoint.read(tmp_path / "run" / "seed-2" / "last.safetensors", "training")
    weights = [name for name in moments if name.startswith("network.")]
    assert len([name for name in moments if name.endswith("exp_avg")]) < len(weights), "the test needs an absent schema"
    resume(tmp_path / "run", steps=6)
    assert outcome(tmp_path / "run", 2) == outcome(tmp_path / "whole", 2)
    lines = RunFolder(tmp_path / "run").seed(2).metrics()
    assert all(0 <= line["optimal"] <= 1 and line["validation"] >= line["error"] > 0 for line in lines)
    model = whole.load()
    assert model.config.heads == "both" and model.schemas == (("drop", 3), ("move", 2), ("pick", 3))


def test_a_run_folder_is_loaded_as_its_model(folder: Path, tmp_path: Path) -> None:
    result = run_tiny(folder, tmp_path / "run")
    found, kept = Model.load(tmp_path / "run").network.state_dict(), result.load().network.state_dict()
    assert all(torch.equal(weight, kept[name]) for name, weight in found.items())

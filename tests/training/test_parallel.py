"""Several processes train what one trains: each takes a share of every batch, and the first one does all else."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from command_line import _load_once
from fuzz import commands_in_forks
from trifold.data import Dataset, label, read_folder
from trifold.errors import TrifoldError
from trifold.ladder import Rung, climb
from trifold.model import HEADS, Model, ModelConfig, checkpoint
from trifold.nn import REFERENCE
from trifold.training import assist, loop, parallel, train
from trifold.training.loss import are_asked, batch_loss, share_of_means
from trifold.training.parallel import ALONE, GradientSum, Parted, Ranks, Step
from trifold.training.run import RunFolder
from trifold.training.sampler import BalancedSampler

TINY = {"dim": 4, "layers": 2, "batch": 8, "validate_every": 1, "validation_states": 10, "steps": 20}


@pytest.fixture(autouse=True)
def _few_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """To follow the policy takes far longer than these trainings."""
    monkeypatch.setattr(loop, "WORTH", 0.01)


def words(folder: Path, run: str, **changes: Any) -> list[str]:
    """The command that trains as ``train`` does with TINY and these changes."""
    settings = [f"--set={name}={json.dumps(value)}" for name, value in (TINY | changes).items()]
    return ["train", str(folder), "-o", run, "--recipe=small", "--device=cpu", *settings]


class Started:
    """Processes of one training, as torchrun starts them, but as forks of the test, each in a folder of its own."""

    def __init__(self, command: Sequence[str], place: Path, count: int = 2) -> None:
        _load_once()
        torch.optim.Adam([torch.zeros(1, requires_grad=True)])  # which loads more, once and not in each fork
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        common = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count}
        self.folders = [place / f"process-{rank}" for rank in range(count)]
        self.outputs = [place / f"outputs-{rank}" for rank in range(count)]
        self.children = []
        for rank, (folder, outputs) in enumerate(zip(self.folders, self.outputs, strict=True)):
            folder.mkdir(exist_ok=True, parents=True)
            outputs.mkdir(exist_ok=True)
            child = commands_in_forks.fork()
            if not child:
                own = common | {"RANK": rank, "LOCAL_RANK": rank}
                os.environ.update({name: str(value) for name, value in own.items()})
                commands_in_forks._be_the_command(command, folder, outputs)
            self.children.append(child)

    def end(self) -> list[int]:
        """The exit codes of all."""
        waiting = zip(self.children, self.outputs, strict=True)
        return [commands_in_forks._wait(child, outputs, 300).code for child, outputs in waiting]

    def said(self, rank: int) -> str:
        """What a process has said."""
        return "".join((self.outputs[rank] / name).read_text() for name in ("stdout", "stderr"))


def train_together(command: Sequence[str], place: Path, count: int = 2) -> Path:
    """The run of several processes that come to a good end, of which the first alone writes and says anything."""
    started = Started(command, place, count)
    assert started.end() == [0] * count, started.said(0) + started.said(1)
    assert all(not started.said(rank) and not list(started.folders[rank].iterdir()) for rank in range(1, count))
    assert started.said(0)
    return started.folders[0] / "run"


def losses(run: Path, seed: int = 0) -> list[list[float]]:
    """The training and the validation loss of each step, for TINY validates at each."""
    return [[line["loss"], line["validation"]] for line in RunFolder(run).seed(seed).metrics()]


def same(found: list[list[float]], expected: list[list[float]]) -> bool:
    """Whether losses are the same but for rounding."""
    return len(found) == len(expected) and torch.allclose(
        torch.tensor(found), torch.tensor(expected), atol=1e-5, rtol=0
    )


def outcome(run: Path) -> tuple[Any, ...]:
    """What a run leaves behind, times aside."""
    tensors, header = checkpoint.read(run / "seed-0" / "last.safetensors", "training")
    state = header["state"] | {"seconds": 0, "policy_seconds": 0}
    best = Model.load(run / "model.safetensors").network.state_dict()
    return {name: tensor.tolist() for name, tensor in [*tensors.items(), *best.items()]}, state, losses(run)


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({"heads": "values"}, 2),
        ({"heads": "both", "batch": 9, "merge": True, "clip": 0.5, "seeds": 2}, 2),
        ({"heads": "actions", "batch": 4, "balance": 0.5, "schedule": "cosine"}, 3),
    ],
    ids=str,
)
def test_several_processes_train_what_one_trains(
    folder: Path, tmp_path: Path, changes: dict[str, Any], count: int
) -> None:
    """To 1e-5 in each of twenty losses, also where shares differ, and where some processes do not meet a schema."""
    run = train_together(words(folder, "run", **changes), tmp_path, count)
    train(folder, tmp_path / "alone", "small", device="cpu", **TINY | changes)
    for seed in range(changes.get("seeds", 1)):
        expected = losses(tmp_path / "alone", seed)
        assert len(expected) == 20 and expected[0] != expected[-1]
        assert same(losses(run, seed), expected)
    names = [{str(path.relative_to(top)) for path in top.rglob("*")} for top in (run, tmp_path / "alone")]
    assert names[0] == names[1]
    told = [json.loads((top / "environment.json").read_text()).get("processes") for top in (run, tmp_path / "alone")]
    assert told == [count, None]


def test_a_resumed_run_of_several_processes_ends_where_an_unbroken_one_ends(folder: Path, tmp_path: Path) -> None:
    """Bit for bit by as many processes; but for rounding by more or by one, and where one has begun it."""
    whole = train_together(words(folder, "run", heads="both"), tmp_path / "whole")
    half = train_together(words(folder, "run", heads="both", steps=7), tmp_path / "half")
    go_on = ["train", "--resume", "run", "--steps=20"]
    train_together(go_on, tmp_path / "half")
    assert outcome(half) == outcome(whole)
    begun = tmp_path / "begun" / "process-0" / "run"
    train(folder, begun, "small", device="cpu", **TINY | {"heads": "both", "steps": 7})
    assert same(losses(train_together(go_on, tmp_path / "begun", 3)), losses(whole))


def test_who_goes_back_to_the_best_weights_takes_all_with_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "LOST", 0.0)
    changes = {"recover": True, "validate_every": 5}
    run = train_together(words(folder, "run", **changes), tmp_path)
    train(folder, tmp_path / "alone", "small", device="cpu", **TINY | changes)
    assert outcome(run)[1]["lapses"] == outcome(tmp_path / "alone")[1]["lapses"] == 3
    assert same(losses(run), losses(tmp_path / "alone"))


def test_the_clock_of_the_first_process_ends_all(folder: Path, tmp_path: Path) -> None:
    run = train_together([*words(folder, "run", steps=10**6, validate_every=1000), "--minutes=0.005"], tmp_path)
    assert Model.load(run).provenance["training"]["seconds"][0] >= 0.3


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (["--set=batch=1"], "2 processes cannot share a batch of 1"),
        (["--set=warmth=1"], "warmth"),
        (["--banana"], "--banana"),
        (["--device=cuda:0"], "cuda:0"),
    ],
    ids=str,
)
def test_what_is_refused_is_said_once(folder: Path, tmp_path: Path, wrong: list[str], why: str) -> None:
    """And leaves nothing behind; each process has the exit code of bad input."""
    started = Started([*words(folder, "run")[:4], "--recipe=small", *wrong], tmp_path)
    assert started.end() == [2, 2]
    assert why in started.said(0) and "Traceback" not in started.said(0) and not started.said(1)
    assert not any(list(path.iterdir()) for path in started.folders)


def test_the_first_process_alone_draws_what_it_did(folder: Path, tmp_path: Path) -> None:
    """The others may not have the run folder."""
    train_together([*words(folder, "run", steps=2), "--plot=curves.svg"], tmp_path)
    assert (tmp_path / "process-0" / "curves.svg").exists()


def test_a_ladder_is_gone_on_with_where_the_first_process_alone_has_its_folder(folder: Path, tmp_path: Path) -> None:
    rungs = (Rung("small", "plain", None, 4, 2), Rung("large", "pairs", 1, 4, 2))
    shape = {name: TINY[name] for name in ("batch", "validate_every", "validation_states")}
    climb(folder, tmp_path / "process-0" / "run", "small", rungs=rungs, every=True, device="cpu", steps=2, **shape)
    run = train_together(["train", "--resume", "run", "--steps=3", "--architecture=all"], tmp_path)
    assert Model.load(run).provenance["training"]["steps"] == [3]


@pytest.mark.parametrize("broken", [loop, assist], ids=lambda module: str(module.__name__))
def test_who_cannot_build_a_step_leaves_nobody_waiting(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: Any
) -> None:
    """Such as where its graph has no room: the others wait for it already, and not for words."""

    def fail(*what: object) -> None:
        raise TrifoldError("there is no room for it")

    monkeypatch.setattr(parallel, "GRACE_SECONDS", 0.0)
    monkeypatch.setattr(broken, "TrainingStep", fail)
    started = Started(words(folder, "run"), tmp_path)
    is_first = broken is loop
    assert started.end() == ([2, 8] if is_first else [8, 2])
    assert "there is no room for it" in started.said(0 if is_first else 1) and "Traceback" not in started.said(0)


def test_who_has_broken_off_what_the_others_wait_in_tells_them_nothing_more() -> None:
    """A ladder would go on with its next rung, and they would take its words for gradients."""
    ranks = Ranks(0, 2)
    ranks.is_torn = True
    with pytest.raises(Parted, match="broken off"):
        ranks.tell(Step(0, 0.1))


def test_a_process_that_computes_otherwise_is_noticed_before_a_save(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assist, "digest_weights", lambda *what: 0)
    started = Started(words(folder, "run"), tmp_path)
    assert started.end() == [2, 2]
    assert "these have not the weights of the first: 1" in started.said(0) and not started.said(1)
    assert not (started.folders[0] / "run" / "seed-0" / "last.safetensors").exists()


def test_a_process_with_other_labels_says_which_it_is(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one hears no more of it than that it has gone."""
    monkeypatch.setattr(parallel, "GRACE_SECONDS", 0.0)
    monkeypatch.setattr(assist, "describe_labels", lambda labelled: [])
    started = Started(words(folder, "run"), tmp_path)
    assert started.end() == [8, 2]
    assert "process 1 of 2: it has found other problems" in started.said(1)
    assert "another process of this training has ended" in started.said(0) and "Traceback" not in started.said(0)


@pytest.mark.parametrize(
    ("victim", "number", "codes"),
    [(1, signal.SIGKILL, [8, -9]), (0, signal.SIGKILL, [-9, 8]), (0, signal.SIGTERM, [143, 130])],
    ids=str,
)
def test_who_is_killed_ends_the_others_and_loses_nothing_that_was_saved(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, victim: int, number: int, codes: list[int]
) -> None:
    monkeypatch.setattr(parallel, "GRACE_SECONDS", 0.0)
    started = Started(words(folder, "run", steps=10**6, validate_every=10), tmp_path)
    last = started.folders[0] / "run" / "seed-0" / "last.safetensors"
    deadline = time.monotonic() + 60
    while not last.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(started.children[victim], number)
    assert started.end() == codes
    assert not started.said(1) and "Traceback" not in started.said(0)
    assert Model.load(started.folders[0] / "run" / "seed-0" / "best.safetensors").provenance["selected"]["step"] >= 10
    steps = checkpoint.read(last, "training")[1]["state"]["step"]
    train_together(["train", "--resume", "run", f"--steps={steps + 10}"], tmp_path)


@pytest.mark.parametrize("heads", HEADS)
def test_the_losses_of_shares_add_up_to_the_loss_of_the_batch(folder: Path, heads: str) -> None:
    """And so do their gradients, where goals and dead ends have no say in the scores and shares differ."""
    files = read_folder(folder)
    spaces = [item.space for item in label(files.domain, files.training) if item.space is not None]
    config = ModelConfig(dim=4, layers=2, heads=heads)
    options = {"dead_end_target": None, "with_actions": config.has_actions}
    data = Dataset.build(spaces, config.build_encoder(), **options)
    schemas = spaces[0].actions.schemas if config.has_actions else ()
    domain = files.domain.read_text()
    network = Model.fresh(config, spaces[0].table.signature, domain, data.atom_counts, 0, schemas).network
    asked, batch = are_asked(data.structures), BalancedSampler(data.targets, 9, 0).draw(0)
    goals = torch.nonzero(data.targets == 0).reshape(-1)
    assert not config.has_actions or (not asked[goals].any() and asked.any())

    def gradient(indices: torch.Tensor, shares: torch.Tensor | None) -> tuple[float, torch.Tensor]:
        network.zero_grad()
        loss = batch_loss(network, *data.take(indices), REFERENCE, shares)
        loss.backward()
        found = [torch.zeros_like(p) if p.grad is None else p.grad for p in network.parameters()]
        return float(loss.detach()), torch.cat([part.reshape(-1) for part in found])

    for indices in (batch, torch.cat([goals[:1], batch[:4]]), goals[:1].repeat(5)):
        own = [Ranks(rank, 4).share(indices) for rank in range(4)]
        assert sorted(torch.cat(own).tolist()) == sorted(indices.tolist())
        parts = [gradient(part, share_of_means(config, part, indices, asked)) for part in own]
        whole = gradient(indices, None)
        assert sum(loss for loss, _ in parts) == pytest.approx(whole[0], abs=1e-5)
        torch.testing.assert_close(torch.stack([part for _, part in parts]).sum(0), whole[1], rtol=1e-4, atol=1e-6)


def test_a_parameter_that_no_process_has_met_has_no_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that its moments stand still, as in one process; one that some have met has the sum."""
    parameters = [torch.nn.Parameter(torch.zeros(2)) for _ in range(3)]
    parts = [GradientSum(parameters, ALONE) for _ in range(2)]
    parts[0].put([torch.tensor([1.0, 2.0]), None, None], torch.tensor(3.0))
    parts[1].put([torch.tensor([4.0, 5.0]), torch.tensor([6.0, 7.0]), None], torch.tensor(8.0))
    monkeypatch.setattr(Ranks, "add_up", lambda self, numbers: numbers.add_(parts[1].flat))
    assert parts[0].add_up() == 11.0
    parts[0].give()
    assert [None if p.grad is None else p.grad.tolist() for p in parameters] == [[5.0, 7.0], [6.0, 7.0], None]


@pytest.mark.real_children
def test_torchrun_trains(folder: Path, tmp_path: Path) -> None:
    """As a user starts it: its parser, its store and its environment."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "-m", "trifold"]
    train(folder, tmp_path / "alone", "small", device="cpu", **TINY)
    done = subprocess.run([*command, *words(folder, "run")], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("model.safetensors") == 1 and "Traceback" not in done.stderr
    assert same(losses(tmp_path / "run"), losses(tmp_path / "alone"))

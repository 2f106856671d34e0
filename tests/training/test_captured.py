"""Training by kernels: refused where it cannot run; on a GPU it follows the reference."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from trifold.data import Dataset, label, read_folder
from trifold.domains import DOMAINS, domain_text, write_problems
from trifold.errors import TrifoldError
from trifold.memory import OutOfMemory
from trifold.model import HEADS, Model, ModelConfig
from trifold.nn import BACKENDS, REFERENCE, EdgeTransformer
from trifold.pddl import expand
from trifold.training import resume, step, train
from trifold.training.captured import CapturedStep, check_room, likely_sizes
from trifold.training.loss import batch_loss
from trifold.training.run import RunFolder
from trifold.training.sampler import BalancedSampler
from trifold.training.step import TrainingStep, build_optimizer

# What labels may not be a fork of a process that has used the GPU: nothing was labelled so.
pytestmark = [pytest.mark.real_children] if torch.cuda.is_available() else []

SETTINGS = {"steps": 60, "validate_every": 20, "batch": 16, "learning_rate": 1e-3, "clip": 20.0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gripper")
    write_problems(path, "gripper", [1, 2, 3, 4], 0)
    write_problems(path, "gripper", [5], 0, split="validation")
    return path


def test_kernels_are_refused_on_a_cpu_with_the_reason(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(TrifoldError, match=r"cannot run this network: kernels run on CUDA(.|\n)*--kernels reference"):
        train(folder, tmp_path / "run", "small", kernels="fused", device="cpu")
    with pytest.raises(TrifoldError, match="kernels is one of auto, reference, fused, not 'magic'"):
        train(folder, tmp_path / "other", "small", kernels="magic", device="cpu")


def test_a_step_that_no_such_card_can_hold_is_refused_with_a_batch_that_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (0, 100 * 2**30))
    check_room(100 * 2**30, torch.device("cuda"), 64)  # whatever else is on it now
    with pytest.raises(
        OutOfMemory, match=r"a step of 64 states takes 400 GiB at least, and the card has 100"
    ) as raised:
        check_room(400 * 2**30, torch.device("cuda"), 64)
    assert "--set batch=8," in str(raised.value)
    check_room(400 * 2**30, torch.device("cpu"), 64)


@pytest.mark.parametrize("balance", [0.3, 1.0])
def test_batches_fit_where_large_values_belong_to_large_states(balance: float) -> None:
    """Many small states with small V*, few large ones with large V*: balanced, each batch has as many of both."""
    targets = torch.arange(64).repeat_interleave(torch.tensor([1000] * 32 + [3] * 32)).float()
    sizes = torch.stack([1 + targets.double(), (1 + targets.double()) ** 2])
    sampler = BalancedSampler(targets, 16, 0, balance=balance)
    most = torch.tensor(likely_sizes(sizes, sampler.shares, 16))
    drawn = torch.stack([sizes[:, sampler.draw(step)].sum(1) for step in range(300)])
    assert (drawn <= most).all() and (drawn.max(0).values > most / 4).all()
    if balance == 1:
        assert (drawn.mean(0) > 16 * sizes.mean(1) * 1.5).all()  # a mean over states would be too small


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, of lanes that are masked out
def test_a_batch_beyond_the_captured_step_of_an_edge_transformer_is_taken_by_kernels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a graph, to what the reference's steps come to."""
    attention = pytest.importorskip("trifold.nn.triangular_attention")
    attend, calls = attention.attend_and_sum, []
    monkeypatch.setattr(attention, "attend_and_sum", lambda *given: calls.append(given) or attend(*given))
    monkeypatch.setattr(step, "CapturedStep", lambda *given, **options: lambda indices, following, shares: None)
    domain, device = domain_text("gripper"), "cuda" if torch.cuda.is_available() else "cpu"
    space = expand(domain, DOMAINS["gripper"].problem(random.Random(0), 1), 1000)
    config = ModelConfig(encoder="marks", dim=16, layers=2)
    data = Dataset.build([space], config.build_encoder(), dead_end_target=9, device=device)
    weights = []
    for backend, attended in ((BACKENDS[EdgeTransformer][0], 2 * 2), (REFERENCE, 0)):
        model = Model.fresh(config, space.table.signature, domain, data.atom_counts, 0).to(device)
        model.backend = backend
        optimizer = torch.optim.SGD(model.network.parameters(), lr=0.1)
        take_step = TrainingStep(model, optimizer, data, BalancedSampler(data.targets, 3, 0))
        calls.clear()
        take_step(0)
        take_step(1)
        assert len(calls) == attended and take_step.beyond == (2 if attended else 0)
        weights.append(torch.cat([weight.detach().flatten() for weight in model.network.parameters()]))
    torch.testing.assert_close(*weights, rtol=1e-4, atol=1e-5)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("encoder", ["plain", "pairs", "oblivious", "marks"])
def test_a_training_whose_states_do_not_fit_is_captured_stretch_by_stretch(
    folder: Path, tmp_path: Path, encoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its batches, and so its losses, are those of the training whose states fit."""
    options: dict[str, Any] = SETTINGS | {"encoder": encoder, "dim": 32, "layers": 6, "device": "cuda"}
    found = {}
    for name, gib in (("whole", 1.0), ("stretches", 0.0)):
        monkeypatch.setattr("trifold.data.dataset.room", lambda device, held=0, gib=gib: gib)
        monkeypatch.setattr("trifold.training.stretch.MOST_STEPS", 16)  # and so four stretches
        train(folder, tmp_path / name, "small", **options)
        found[name] = RunFolder(tmp_path / name).seed(0).metrics()
        assert Model.load(tmp_path / name).provenance["backend"] == "cuda"
    for one, other in zip(found["whole"], found["stretches"], strict=True):
        assert one["loss"] == pytest.approx(other["loss"], rel=0.02) and not other["beyond"]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize(
    "model",
    [
        {"t": 1},
        *({"t": t, "heads": "both"} for t in (0, 1)),
        {"encoder": "plain", "heads": "actions"},
        *({"encoder": encoder} for encoder in ("plain", "compositions", "oblivious", "marks")),
    ],
    ids=str,
)
def test_training_by_kernels_follows_the_reference(folder: Path, tmp_path: Path, model: Any) -> None:
    """The first losses agree closely; a resumed run goes on as an unbroken one."""
    sizes = {"dim": 32, "layers": 6} | model
    losses = {}
    for kernels in ("reference", "fused"):
        run = tmp_path / kernels
        train(folder, run, "small", **sizes, **SETTINGS, kernels=kernels, device="cuda")
        losses[kernels] = [line["loss"] for line in RunFolder(run).seed(0).metrics()]
    assert losses["fused"] == pytest.approx(losses["reference"], rel=0.1)
    broken = tmp_path / "broken"
    train(folder, broken, "small", **sizes, **SETTINGS | {"kernels": "fused", "steps": 40}, device="cuda")
    resume(broken, steps=60)
    assert [line["loss"] for line in RunFolder(broken).seed(0).metrics()] == pytest.approx(losses["fused"], rel=0.05)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("encoder", ["plain", "pairs"])
def test_a_pupil_is_taught_by_captured_steps(folder: Path, tmp_path: Path, encoder: str) -> None:
    """The step is captured anew in each round, and what was taught is learned as the reference learns it."""
    (practice,) = write_problems(tmp_path / "practice", "gripper", [7], 1)
    options: dict[str, Any] = SETTINGS | {"dim": 32, "layers": 6, "heads": "both", "rounds": 2, "seeds": 2}
    found = {}
    for kernels in ("reference", "fused"):
        common = {"kernels": kernels, "device": "cuda", "teacher": "gripper", "practice": practice}
        train(folder, tmp_path / kernels, "small", encoder=encoder, **options, **common)
        found[kernels] = RunFolder(tmp_path / kernels).seed(1).metrics()
    first, *_, last = zip(found["fused"], found["reference"], strict=True)
    assert first[0]["loss"] == pytest.approx(first[1]["loss"], rel=0.1) and not first[0]["taught"]
    assert all(line["taught"] > 20 and not line["beyond"] for line in last)
    assert last[0]["loss"] == pytest.approx(last[1]["loss"], rel=0.3)  # their ways part where scores are nearly equal
    train(folder, tmp_path / "broken", "small", encoder=encoder, **options | {"steps": 40}, **common)
    resume(tmp_path / "broken", steps=60)
    assert RunFolder(tmp_path / "broken").seed(1).metrics()[-1]["taught"] > 20


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("model", [{"t": 1}, {"encoder": "oblivious"}, {"encoder": "marks"}], ids=str)
def test_seeds_trained_at_once_are_those_trained_alone(folder: Path, tmp_path: Path, model: Any) -> None:
    """Also if the run was broken off; and what they cost is the time that passed."""
    sizes = {"dim": 32, "layers": 6} | model
    settings = SETTINGS | {"kernels": "fused"}

    def losses(run: Any, seed: int) -> Any:
        return [line["loss"] for line in RunFolder(tmp_path / run).seed(seed).metrics()]

    began = time.monotonic()
    together = train(folder, tmp_path / "together", "small", **sizes, **settings, seeds=2, device="cuda")
    assert together.seconds < time.monotonic() - began
    short = settings | {"seeds": 2, "steps": 40}
    train(folder, tmp_path / "broken", "small", **sizes, **short, device="cuda")
    resume(tmp_path / "broken", steps=60)
    for seed in (0, 1):
        train(folder, tmp_path / f"alone-{seed}", "small", **sizes, **settings, seed=seed, device="cuda")
        expected = losses(f"alone-{seed}", seed)
        for run in ("together", "broken"):
            found = losses(run, seed)
            assert found[0] == pytest.approx(expected[0], rel=0.01)  # a card adds in any order, and rounding grows
            assert found == pytest.approx(expected, rel=0.2)
    assert losses("together", 0) != pytest.approx(losses("together", 1), rel=1e-6)


class Captured:
    """A captured step of a small network in float32, and its gradients by the reference."""

    def __init__(
        self,
        folder: Path,
        rate: Any = 0.0,
        clip: Any = None,
        moments: Any = None,
        heads: str = "values",
        encoder: str = "pairs",
    ) -> None:
        files = read_folder(folder)
        spaces = [item.space for item in label(files.domain, files.training) if item.space is not None]
        config, space = ModelConfig(dim=32, layers=3, heads=heads, encoder=encoder), spaces[0]
        facts: Any = {"dead_end_target": None, "with_actions": config.has_actions, "device": "cuda"}
        self.data = Dataset.build(spaces, config.build_encoder(), **facts)
        counts, schemas = self.data.atom_counts, space.actions.schemas
        self.model = Model.fresh(config, space.table.signature, "", counts, 0, schemas).to("cuda")
        self.optimizer = build_optimizer(self.model.network, rate, self.model.backend)
        self.parameters = list(self.model.network.parameters())
        self.before = self.weights()
        if moments:
            for parameter in self.parameters:
                state = {"step": torch.tensor(moments, device="cuda")}
                self.optimizer.state[parameter] = state | {
                    name: torch.full_like(parameter, moments) for name in ("exp_avg", "exp_avg_sq")
                }
        sampler = BalancedSampler(self.data.targets, 8, 0)
        data = self.data.structures, self.data.targets, sampler.shares
        network, backend = self.model.network, self.model.backend
        self.step = CapturedStep(network, backend, self.optimizer, *data, 8, precision="float32", clip=clip)
        self.draw = sampler.draw

    def weights(self) -> Any:
        return [parameter.detach().clone() for parameter in self.parameters]

    def truth(self, indices: Any) -> Any:
        """The loss of a batch, and its gradients."""
        structures, targets = self.data.take(indices)
        loss = batch_loss(self.model.network, structures, targets, REFERENCE)
        found = torch.autograd.grad(loss, self.parameters, allow_unused=True)
        pairs = zip(self.parameters, found, strict=True)
        return loss.detach(), [torch.zeros_like(p) if g is None else g for p, g in pairs]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("hoist", [0, float("inf")])
@pytest.mark.parametrize("heads", HEADS)
def test_a_captured_step_has_the_gradients_of_its_batch(
    folder: Path, hoist: Any, heads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each batch in a row, the next one being laid out meanwhile; also where another one comes than was said."""
    monkeypatch.setattr("trifold.nn.layout.HOIST", hoist)
    assert_gradients_are_those_of_the_batches(Captured(folder, heads=heads))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("heads", HEADS)
@pytest.mark.parametrize("encoder", ["marks", "oblivious"])
def test_so_has_that_of_an_edge_transformer_and_of_a_2_gnn(folder: Path, encoder: str, heads: str) -> None:
    assert_gradients_are_those_of_the_batches(Captured(folder, heads=heads, encoder=encoder))


def assert_gradients_are_those_of_the_batches(captured: Captured) -> None:
    for number, following in enumerate([1, 2, 7, 7, 4, 5]):
        loss = captured.step(captured.draw(number), captured.draw(following))
        found = [parameter.grad.clone() for parameter in captured.parameters]
        expected, truth = captured.truth(captured.draw(number))
        torch.testing.assert_close(loss, expected, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(found, truth, rtol=1e-3, atol=1e-3)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("encoder", ["pairs", "marks"])
@pytest.mark.parametrize("moments", [None, 3.0])
def test_to_capture_a_step_changes_nothing(folder: Path, moments: Any, encoder: str) -> None:
    captured = Captured(folder, rate=1.0, moments=moments, encoder=encoder)
    torch.testing.assert_close(captured.weights(), captured.before, rtol=0, atol=0)
    for state in captured.optimizer.state.values():
        assert all(bool((value == (moments or 0.0)).all()) for value in state.values())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_captured_step_clips_the_gradient(folder: Path) -> None:
    captured = Captured(folder, clip=1e-3)
    captured.step(captured.draw(0), captured.draw(1))
    found, (_, truth) = [parameter.grad for parameter in captured.parameters], captured.truth(captured.draw(0))
    norm = torch.nn.utils.get_total_norm(truth)
    assert norm > 1e-2
    torch.testing.assert_close(found, [gradient * (1e-3 / norm) for gradient in truth], rtol=1e-2, atol=1e-6)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("encoder", ["pairs", "marks"])
def test_a_batch_that_does_not_fit_is_left_alone(folder: Path, encoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trifold.training.captured.SPREAD", -1)
    captured = Captured(folder, encoder=encoder)
    largest = torch.argsort(captured.data.structures.element_counts.cpu(), descending=True)[:8]
    assert captured.step(largest, captured.draw(0)) is None

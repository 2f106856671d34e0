"""The kernels compute Algorithm 1 and its gradients; without a GPU, Triton's interpreter runs them."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch

from oracles import Naive, from_naive, random_structures
from trifold.encoders import Encoder, Pairs, Plain
from trifold.nn import RGNN
from trifold.nn.fused import FusedRGNN, Kept, Weights, _Backward
from trifold.nn.layout import Batcher, Capacity, Layout
from trifold.structures import READOUT, Relation, Structures

pytest.importorskip("triton")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, of lanes that are masked out
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

CASES: dict[str, tuple[Any, list[Naive]]] = {
    "no atoms": (Plain(), [(2, set())]),
    "one atom of one object": (Pairs(1), [(1, {("red", (0,))})]),
    "a ternary relation over pairs": (Pairs(0), [(3, {("triple", (0, 1, 2)), ("edge", (2, 2))}), (2, {("red", (1,))})]),
    "many triangles on one pair": (Pairs(1), [(9, {("edge", (0, o)) for o in range(9)})]),
    "several structures": (
        Pairs(1),
        [
            (4, {("edge", (0, 1)), ("edge", (1, 2)), ("edge", (2, 2)), ("red", (3,))}),
            (3, {("edge", (2, 0))}),
            (0, set()),
        ],
    ),
}


MODES = [("float32", True), ("mixed", False), ("mixed", True)]


@pytest.fixture(autouse=True)
def few_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter takes as long for an empty part as for a full one."""
    monkeypatch.setattr("trifold.nn.fused.PARTS", 2)


def tensors(layout: Layout) -> list[torch.Tensor]:
    return [value for value in vars(layout).values() if isinstance(value, torch.Tensor)]


def senders(structures: Structures) -> list[Relation]:
    return [relation for relation in structures.signature if relation.name != READOUT]


def gradients(values: torch.Tensor, weights: torch.Tensor, parameters: list[torch.nn.Parameter]) -> list[torch.Tensor]:
    found = torch.autograd.grad((values * weights).sum(), parameters, allow_unused=True)
    return [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, found, strict=True)]


@pytest.mark.parametrize(
    ("case", "precision", "hoisted", "spare", "sharpness"),
    [
        *((case, "float32", False, 0, 3.0) for case in CASES),
        *(("many triangles on one pair", precision, hoisted, 0, 12.0) for precision, hoisted in MODES),
        *(("several structures", precision, hoisted, 70, 12.0) for precision, hoisted in MODES),
    ],
)
def test_outputs_and_gradients_equal_the_reference_in_double_precision(
    case: str, precision: str, hoisted: bool, spare: int, sharpness: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the first layer of triangles is done once per element, and where tiles are spare."""
    monkeypatch.setattr("trifold.nn.layout.HOIST", 0 if hoisted else float("inf"))
    bound = {"float32": 1e-5, "mixed": 1e-2}[precision]
    encoder, naive = CASES[case]
    structures = encoder(from_naive(naive)).to(DEVICE)
    union = structures.disjoint_union()
    relations = [*senders(structures), Relation("unseen", 2)]
    torch.manual_seed(0)
    network = RGNN(relations, 16, 2, sharpness).to(DEVICE)
    exact = copy.deepcopy(network).double()
    atoms = [len(union.atoms(name)) + spare for name, _ in relations]
    capacity = Capacity.of(relations, atoms, union.elements + spare)
    assert (capacity.hoisted is not None) == hoisted
    fused, layout = FusedRGNN(network, capacity, precision), Layout.of(union, capacity)
    found = fused(layout)[: union.elements]
    expected = exact(union)
    torch.testing.assert_close(found.double(), expected, rtol=bound, atol=bound)
    with torch.no_grad():  # where nothing is kept
        torch.testing.assert_close(fused(layout)[: union.elements], found, rtol=0, atol=0)
    weights = torch.randn_like(found)
    left = gradients(found, weights, list(network.parameters()))
    right = gradients(expected, weights.double(), list(exact.parameters()))
    error = sum(((a.double() - b) ** 2).sum() for a, b in zip(left, right, strict=True)).sqrt()
    size = sum((b**2).sum() for b in right).sqrt()
    assert error <= bound * size


@pytest.mark.parametrize("precision", ["float32", "mixed"])
@pytest.mark.parametrize("hoisted", [True, False])
def test_what_a_step_keeps_is_known_before(hoisted: bool, precision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trifold.nn.layout.HOIST", 0 if hoisted else float("inf"))
    encoder, naive = CASES["several structures"]
    union = encoder(from_naive(naive)).to(DEVICE).disjoint_union()
    relations = senders(union.structures)
    capacity = Capacity.of(relations, [len(union.atoms(name)) for name, _ in relations], union.elements)
    fused = FusedRGNN(RGNN(relations, 16, 3).to(DEVICE), capacity, precision)
    layout = Layout.of(union, capacity)
    found = fused(layout)
    saved, weights = found.grad_fn.saved_tensors, len(Weights._fields)
    run = _Backward(fused, layout, Weights(*saved[:weights]), Kept(*saved[weights:]), torch.ones_like(found))
    gradients = [run.d_messages, run.d_hidden, run.d_change, run.d_after, *([run.d_projected] if hoisted else [])]
    assert fused.kept_bytes == sum(one.nbytes for one in (*saved[weights:], *(one for one, _ in gradients)))


def test_initial_embeddings_enter_and_have_gradients() -> None:
    structures = Plain()(from_naive([(3, {("edge", (0, 1))})])).to(DEVICE)
    union = structures.disjoint_union()
    relations = senders(structures)
    network = RGNN(relations, 16, 1).to(DEVICE)
    capacity = Capacity.of(relations, [len(union.atoms(name)) for name, _ in relations], union.elements)
    fused, layout = FusedRGNN(network, capacity, "float32"), Layout.of(union, capacity)
    start = torch.randn(capacity.elements, 16, device=DEVICE, requires_grad=True)
    result = fused(layout, start)
    (gradient,) = torch.autograd.grad(result[:3].sum(), start)
    step, place = 1e-2, torch.zeros_like(start)
    place[1, 3] = step
    difference = (fused(layout, start + place) - fused(layout, start - place))[:3].sum() / (2 * step)
    torch.testing.assert_close(difference, gradient[1, 3], rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("hoist", [0, float("inf")])
@pytest.mark.parametrize("encoder", [Plain(), Pairs(0), Pairs(1)], ids=lambda encoder: encoder.label)
def test_batches_of_fixed_size_hold_what_batches_hold(
    encoder: Encoder, hoist: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trifold.nn.layout.HOIST", hoist)
    structures = encoder(from_naive(random_structures(9, objects=6, atoms=5, seed=2))).to(DEVICE)
    relations = senders(structures)
    for chosen in ([0], [3, 1, 3], [8, 7, 6, 5, 0]):
        indices = torch.tensor(chosen, device=DEVICE)
        union = structures.take(indices).disjoint_union()
        atoms = [len(union.atoms(name)) for name, _ in relations]
        capacity = Capacity.of(relations, [count + 3 for count in atoms], union.elements + 5)
        expected = Layout.of(union, capacity)
        batcher = Batcher(structures, capacity, {Relation(READOUT, 1): 50})
        found, aside = batcher(indices)
        readout, owners = aside[READOUT]
        assert all(torch.equal(a, b) for a, b in zip(*map(tensors, (found, expected)), strict=True))
        elements, structure = union.readout()
        count = len(elements)
        assert torch.equal(readout[:count, 0], elements) and torch.equal(owners[:count], structure)
        assert (owners[count:] == len(chosen)).all() and (readout[count:] == capacity.elements - 1).all()
        assert batcher.fits(indices.cpu())
        assert not batcher.fits(indices.cpu().repeat(40))
        layout, aside = batcher(indices.repeat(40))  # is wrong, but nothing points outside
        assert layout.counts[-1] < capacity.elements
        assert max(layout.gather.max(), aside[READOUT][0].max()) < capacity.elements
        layout, _ = batcher(indices.flip(0))
        layout.become(found)
        assert all(torch.equal(a, b) for a, b in zip(*map(tensors, (layout, found)), strict=True))
        assert (layout.counts[:-1] <= torch.tensor(capacity.atoms, device=DEVICE)).all()


def test_what_does_not_fit_is_refused() -> None:
    structures = Plain()(from_naive([(3, {("edge", (0, 1))})]))
    union, relations = structures.disjoint_union(), senders(structures)
    with pytest.raises(ValueError, match="exceeds"):
        Layout.of(union, Capacity.of(relations, [0] * len(relations), 3))
    with pytest.raises(ValueError, match="a dimension of 16, 32, 64 or 128, not 24"):
        FusedRGNN(RGNN(relations, 24, 1), Capacity.of(relations, [4] * len(relations), 3))


@pytest.mark.parametrize("precision", ["mixed", "split"])
@pytest.mark.parametrize("hoist", [0, float("inf")])
def test_what_float16_cannot_hold_stays_finite(hoist: float, precision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights that blow embeddings up: float32 holds them, and so must float16, outputs and gradients."""
    monkeypatch.setattr("trifold.nn.layout.HOIST", hoist)
    structures = Pairs(1)(from_naive([(4, {("edge", (0, o)) for o in range(4)})])).to(DEVICE)
    union, relations = structures.disjoint_union(), senders(structures)
    torch.manual_seed(0)
    network = RGNN(relations, 16, 2).to(DEVICE)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(80.0)
    assert network(union).abs().max() > 65504
    capacity = Capacity.of(relations, [len(union.atoms(name)) for name, _ in relations], union.elements)
    found = FusedRGNN(network, capacity, precision)(Layout.of(union, capacity))[: union.elements]
    assert found.isfinite().all()
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(found.sum(), list(network.parameters())))

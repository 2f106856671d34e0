"""The kernels compute triangular attention and its gradients; without a GPU, Triton's interpreter runs them."""

from __future__ import annotations

import copy
import itertools
import math

import pytest
import torch

from oracles import from_naive, random_structures
from oracles_pairs import BINARY
from trifold.model import HeadedNetwork, ModelConfig
from trifold.nn import BACKENDS, EdgeTransformer
from trifold.nn.edge_transformer import Grids, TriangularAttention, fixed_pairs
from trifold.nn.fused_transformer import FusedTransformer, Kept, Weights, _go_through, run_layers
from trifold.nn.layout import Capacity
from trifold.structures import READOUT

pytest.importorskip("triton")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, of lanes that are masked out
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

# The objects of each structure, heads, width. A tile has at most 128 rows, one for each pair and head.
CASES = [
    ([0], 2, 4),
    ([1], 1, 1),
    ([3, 0, 1, 5, 0, 2], 2, 8),
    ([4, 8, 4], 4, 4),
    ([8, 9], 2, 2),
    ([7, 1, 6], 8, 16),
    ([6, 5], 2, 32),
    ([5, 3], 3, 6),
]


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


def grids(sizes: list[int]) -> Grids:
    return Grids.of(torch.tensor(sizes, device=DEVICE) ** 2)


def relative_error(found: torch.Tensor, expected: torch.Tensor) -> float:
    return float((found.double() - expected).detach().norm() / expected.detach().norm().clamp(min=1e-30))


def attend_by_kernels(attention: TriangularAttention, f: torch.Tensor, batch: Grids) -> torch.Tensor:
    """The module's output, with what it attends to by kernels."""
    from trifold.nn.triangular_attention import attend

    return attention.output(attend(attention.project(f), batch.pairs, attention.heads))


def assert_equals_the_reference(attention: TriangularAttention, batch: Grids, bound: float) -> None:
    """Outputs, and gradients of a weighted sum of them, against the reference in double precision."""
    exact = copy.deepcopy(attention).double()
    f = torch.randn(len(batch.places), attention.heads * attention.width, device=DEVICE, requires_grad=True)
    found, expected = attend_by_kernels(attention, f, batch), exact(f.double(), batch)
    weights = torch.randn_like(found)
    left = torch.autograd.grad((found * weights).sum(), [f, *attention.parameters()])
    right = torch.autograd.grad((expected * weights).sum(), [f, *exact.parameters()])
    for a, b in zip([found, *left], [expected, *right], strict=True):
        assert a.isfinite().all() and relative_error(a, b.double()) < bound


@pytest.mark.parametrize(("sizes", "heads", "width"), CASES, ids=str)
def test_outputs_and_gradients_equal_the_reference(sizes: list[int], heads: int, width: int) -> None:
    assert_equals_the_reference(TriangularAttention(heads * width, heads).to(DEVICE), grids(sizes), 1e-5)


@pytest.mark.parametrize("shift", [-12.0, 12.0])
def test_scores_may_lie_beyond_what_exp_reaches(shift: float) -> None:
    """About ±12² √4, and far apart; what float32 loses in them is lost in their exponentials."""
    attention = TriangularAttention(8, 2).to(DEVICE)
    with torch.no_grad():
        attention.project.weight[:16] *= 3
        attention.project.bias[:8] += 12
        attention.project.bias[8:16] += shift
    assert_equals_the_reference(attention, grids([5, 2]), 1e-3)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_large_structures_equal_the_reference_on_a_gpu() -> None:
    assert_equals_the_reference(TriangularAttention(64, 8).to(DEVICE), grids([60, 17, 0, 33]), 1e-5)


def test_equals_attention_triple_by_triple() -> None:
    from trifold.nn.triangular_attention import attend

    sizes, heads, width = [3, 1, 2], 2, 4
    projected = torch.randn(14, 4 * heads * width, device=DEVICE, requires_grad=True)
    found = attend(projected, grids(sizes).pairs, heads)
    query, key, left, right = projected.double().view(14, 4, heads, width).unbind(1)
    outputs, first = [], 0
    for n in sizes:
        for u, v, head in itertools.product(range(n), range(n), range(heads)):
            to, fro = ([first + u * n + w for w in range(n)], [first + w * n + v for w in range(n)])
            scores = torch.stack([query[a, head] @ key[b, head] for a, b in zip(to, fro, strict=True)])
            shares = (scores / math.sqrt(width)).softmax(0)
            outputs.append(sum(s * left[a, head] * right[b, head] for s, a, b in zip(shares, to, fro, strict=True)))
        first += n * n
    expected = torch.cat(outputs).view(found.shape)
    assert relative_error(found, expected) < 1e-6
    weights = torch.randn_like(found)
    (a,), (b,) = (torch.autograd.grad((o * weights).sum(), projected) for o in (found, expected))
    assert relative_error(a, b.double()) < 1e-6


def test_strips_hold_every_pair_once() -> None:
    sizes = [5, 0, 1, 4, 9]
    u, v, size, first = grids(sizes).pairs.cpu().long()
    assert (torch.maximum(u, v) < size).all()
    assert torch.equal((first + u * size + v).sort().values, torch.arange(sum(n * n for n in sizes)))
    starts = torch.repeat_interleave(torch.tensor([0, 25, 25, 26, 42]), torch.tensor(sizes) ** 2)
    assert torch.equal(first, starts)
    assert (v[26:42].view(4, 4) == torch.arange(4)).all()  # one strip, row by row
    assert [(int(a), int(b)) for a, b in zip(u[42:48], v[42:48], strict=True)] == [
        (0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1),
    ]  # fmt: skip


@pytest.mark.parametrize("elements", [57, 60, 63, 64, 100])
def test_a_table_of_fixed_size_is_that_of_the_grids_and_of_single_objects(elements: int) -> None:
    """Of the structures that fit whole; each element beyond them is a structure of its own."""
    sizes = [5, 0, 1, 4, 3, 2, 2]  # which end at 25, 25, 26, 42, 51, 55 and 59
    ends = itertools.accumulate(size**2 for size in sizes)
    within = [size for size, end in zip(sizes, ends, strict=True) if end <= elements]
    alone = elements - sum(n * n for n in within)
    found = fixed_pairs(torch.tensor(sizes, device=DEVICE) ** 2, elements)
    assert found.dtype == torch.int32 and torch.equal(found, grids([*within, *[1] * alone]).pairs)


@pytest.mark.parametrize("layers", [0, 2])
def test_the_whole_network_equals_the_reference(layers: int) -> None:
    config = ModelConfig(encoder="marks", dim=32, layers=layers)
    encoder = config.build_encoder()
    structures = encoder(from_naive([*random_structures(3, objects=5, atoms=6, seed=1), (0, set())], BINARY)).to(DEVICE)
    relations = [relation for relation in structures.signature if relation.name != READOUT]
    network = HeadedNetwork.seeded(relations, config, 0).to(DEVICE)
    exact = copy.deepcopy(network).double()
    (by_kernels,) = BACKENDS[EdgeTransformer]
    found, expected = network(structures, by_kernels), exact(structures)
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-5)
    left = torch.autograd.grad(found.sum(), list(network.parameters()))
    right = torch.autograd.grad(expected.sum(), list(exact.parameters()), allow_unused=True)
    for a, b in zip(left, right, strict=True):
        assert relative_error(a, torch.zeros_like(a) if b is None else b) < 1e-5


def test_other_precisions_are_refused() -> None:
    attention = TriangularAttention(8, 2).double()
    with pytest.raises(ValueError, match=r"in float32, not in torch\.float64: use the reference"):
        attend_by_kernels(attention, torch.zeros(4, 8, dtype=torch.float64), Grids.of(torch.tensor([4])))


def test_what_a_step_keeps_is_known_before() -> None:
    network = EdgeTransformer([], 16, 2, heads=4).to(DEVICE)
    capacity = Capacity.of([], [], 60)
    fused = FusedTransformer(network, capacity)
    pairs = fixed_pairs(torch.tensor([5, 3], device=DEVICE), capacity.elements)
    found = run_layers(network, torch.randn(capacity.elements, 16, device=DEVICE, requires_grad=True), pairs)
    saved = found.grad_fn.saved_tensors[1 + len(Weights._fields) :]  # of pairs, weights and layers
    size = len(Kept._fields)
    assert len(saved) == size * network.layers
    own = Kept(*saved[:size]), Weights(*found.grad_fn.saved_tensors[1 : 1 + len(Weights._fields)])
    gradients = _go_through(own[0], pairs, own[1], torch.randn_like(found))[1]
    assert fused.kept_bytes == network.layers * sum(one.nbytes for one in (*saved[:size], *gradients))

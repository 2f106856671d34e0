"""The compiled layers compute what Algorithm 1 computes, with any vector instructions that this machine has."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nn.test_cpu import ENCODERS, SHAPES
from oracles import Naive, batches, from_naive, random_structures
from trifold.encoders import Oblivious
from trifold.native import instructions, obstacle, use_instructions
from trifold.nn import RGNN, choose_backend
from trifold.nn.compiled import compile_network, embed_natively
from trifold.structures import READOUT, Signature, Structures

pytestmark = pytest.mark.skipif(obstacle() is not None, reason=f"no compiled library: {obstacle()}")


@pytest.fixture(params=["avx512", "avx2", "generic"])
def chosen(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each set of instructions in turn."""
    before = instructions()
    if not use_instructions(request.param):
        pytest.skip(f"this machine has no {request.param}")
    assert instructions() == request.param
    yield request.param
    use_instructions(before)


def network_of(structures: Structures, layers: int, dim: int, sharpness: float = 12.0, seed: int = 0) -> RGNN:
    torch.manual_seed(seed)
    return RGNN([relation for relation in structures.signature if relation.name != READOUT], dim, layers, sharpness)


def assert_same(structures: Structures, layers: int, dim: int = 5, sharpness: float = 12.0) -> None:
    """The embeddings of the library, in single precision, and of the reference, in double."""
    network, union = network_of(structures, layers, dim, sharpness), structures.disjoint_union()
    found = embed_natively(network, union)
    expected = network.double()(union).detach()
    scale = max(1.0, float(expected.abs().max())) if expected.numel() else 1.0
    torch.testing.assert_close(found.double() / scale, expected / scale, rtol=0, atol=3e-6)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ENCODERS)
def test_embeddings_of_every_shape(name: str, shape: str, chosen: str) -> None:
    structures = ENCODERS[name](from_naive(SHAPES[shape]))
    assert_same(structures, layers=4)
    assert_same(structures, layers=2, dim=32)  # fewer rounds than the fixed point needs


@pytest.mark.parametrize("name", ENCODERS)
@settings(max_examples=15)
@given(naive=batches, layers=st.integers(0, 4), sharpness=st.sampled_from([12.0, 3.0]))
def test_embeddings_of_any_structures(name: str, naive: list[Naive], layers: int, sharpness: float) -> None:
    assert_same(ENCODERS[name](from_naive(naive)), layers, sharpness=sharpness)


@pytest.mark.parametrize("dim", [1, 16, 17, 48, 64])
def test_any_width_will_do(dim: int, chosen: str) -> None:
    assert_same(ENCODERS["t=1"](from_naive(random_structures(2, objects=9, atoms=20, seed=3))), 3, dim)


def test_initial_embeddings_tell_elements_apart() -> None:
    signature = Signature.of([("edge", 2), ("red", 1)])
    naive: list[Naive] = [(3, {("edge", (0, 1)), ("red", (2,))}), (2, {("red", (0,))}), (2, set())]
    assert_same(Oblivious()(from_naive(naive, signature)), layers=3)


def test_large_numbers_saturate_as_in_the_reference(chosen: str) -> None:
    """Mish of −100 and 100, and messages that lie far apart."""
    structures = ENCODERS["plain"](from_naive(SHAPES["large"]))
    network = network_of(structures, layers=1, dim=8)
    with torch.no_grad():
        for weight in network.messages.parameters():
            weight.mul_(100)
    union = structures.disjoint_union()
    expected = network(union).detach()
    scale = float(expected.abs().max())
    torch.testing.assert_close(embed_natively(network, union), expected, rtol=1e-5, atol=1e-5 * scale)


def test_copies_of_a_structure_cost_one() -> None:
    """Elements that no network can tell apart are computed once: their embeddings are equal to the bit."""
    one = from_naive(SHAPES["large"][:1] * 40)
    structures = ENCODERS["t=1"](one)
    found = embed_natively(network_of(structures, 4, 8), structures.disjoint_union())
    first = found[: len(found) // 40]
    assert torch.equal(found, first.repeat(40, 1))


@pytest.mark.parametrize("change", ["step", "load", "in place", "replaced"])
def test_weights_that_change_are_seen(change: str) -> None:
    structures = ENCODERS["plain"](from_naive(SHAPES["large"]))
    union = structures.disjoint_union()
    network, other = network_of(structures, 2, 8), network_of(structures, 2, 8, seed=1)
    before = embed_natively(network, union)
    assert compile_network(network) is compile_network(network)
    match change:
        case "step":
            optimizer = torch.optim.Adam(network.parameters(), 0.1)
            network(union).sum().backward()
            optimizer.step()
        case "load":
            network.load_state_dict(other.state_dict())
        case "in place":
            with torch.no_grad():
                network.update.outer.weight.add_(1)
        case "replaced":
            network.update.outer.weight = torch.nn.Parameter(torch.ones_like(network.update.outer.weight))
    after = embed_natively(network, union)
    assert not torch.allclose(before, after)
    torch.testing.assert_close(after, network(union).detach(), rtol=1e-4, atol=1e-4)


def test_the_best_backend_of_a_cpu_is_the_library_in_single_precision_alone() -> None:
    network: Any = RGNN([], 8, 1)
    assert choose_backend(network, torch.device("cpu")).name == "native"
    assert choose_backend(network.double(), torch.device("cpu")).name == "cpu"


def test_no_elements_and_no_relations() -> None:
    assert compile_network(RGNN([], 4, 2)).embed(np.zeros((0, 4), np.float32), []).shape == (0, 4)
    assert not math.isnan(float(compile_network(RGNN([], 4, 2)).embed(np.zeros((3, 4), np.float32), []).sum()))

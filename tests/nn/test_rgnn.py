"""The network computes Algorithm 1, whatever the batch, the names of objects, and the pairs that are left out."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import SIGNATURE, Naive, batches, from_naive, naive_pairs, naive_rgnn, naive_structures
from trifold.encoders import Encoder, Pairs, Plain
from trifold.model import HeadedNetwork, ModelConfig
from trifold.nn import Incidence, smooth_max
from trifold.structures import READOUT, concatenate

ENCODERS: dict[str, Any] = {"plain": Plain(), "t=0": Pairs(0), "t=1": Pairs(1), "t=2": Pairs(2), "t=∞": Pairs(math.inf)}


def network_for(
    encoder: Encoder, seed: int = 0, dim: Any = 6, layers: int = 3, sharpness: float = 12.0
) -> HeadedNetwork:
    relations = [relation for relation in encoder.signature(SIGNATURE) if relation.name != READOUT]
    return HeadedNetwork.seeded(relations, ModelConfig(dim=dim, layers=layers, sharpness=sharpness), seed).double()


def gradients(loss: torch.Tensor, network: HeadedNetwork) -> list[torch.Tensor]:
    parameters = list(network.parameters())
    found = torch.autograd.grad(loss, parameters, allow_unused=True)
    return [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, found, strict=True)]


@pytest.mark.parametrize("name", ENCODERS)
@settings(max_examples=15)
@given(naive=batches, sharpness=st.sampled_from([12.0, 3.0]))
def test_equals_the_naive_algorithm_over_all_pairs(name: str, naive: list[Naive], sharpness: float) -> None:
    """The oracle embeds every pair of O², the network only the live ones: the same values and gradients."""
    encoder = ENCODERS[name]
    network = network_for(encoder, sharpness=sharpness)
    assert network.embed.sharpness == sharpness
    values = network(encoder(from_naive(naive)))
    weights = torch.linspace(1, 2, len(naive), dtype=torch.float64)
    found = gradients((weights * values).sum(), network)
    expected_values = []
    for n, atoms in naive:
        if encoder == Plain():
            elements: list[Any] = list(range(n))
            encoded = atoms | {(READOUT, (o,)) for o in range(n)}
        else:
            elements, encoded = list(itertools.product(range(n), repeat=2)), naive_pairs((n, atoms), encoder.t)
        expected_values.append(naive_rgnn(network, elements, encoded)[1])
    oracle = torch.stack(expected_values)
    torch.testing.assert_close(values, oracle, rtol=1e-9, atol=1e-9)
    expected = gradients((weights * oracle).sum(), network)
    torch.testing.assert_close(found, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", ENCODERS)
@given(naive=naive_structures(), data=st.data())
def test_renaming_objects_changes_no_value(name: str, naive: Naive, data: st.DataObject) -> None:
    n, atoms = naive
    names = data.draw(st.permutations(range(n)))
    renamed = (n, {(relation, tuple(names[o] for o in args)) for relation, args in atoms})
    network = network_for(ENCODERS[name])
    before, after = (network(ENCODERS[name](from_naive([structure]))) for structure in (naive, renamed))
    torch.testing.assert_close(before, after, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", ENCODERS)
@given(naive=batches)
def test_a_batch_gives_what_its_members_give_alone(name: str, naive: list[Naive]) -> None:
    encoder = ENCODERS[name]
    network = network_for(encoder)
    together = network(encoder(from_naive(naive)))
    alone = torch.cat([network(encoder(from_naive([structure]))) for structure in naive])
    torch.testing.assert_close(together, alone, rtol=1e-10, atol=1e-10)
    joined = concatenate([encoder(from_naive([structure])) for structure in naive])
    torch.testing.assert_close(network(joined), together, rtol=1e-10, atol=1e-10)


def test_atoms_of_unknown_relations_send_nothing() -> None:
    structures = Plain()(from_naive([(3, {("edge", (0, 1)), ("red", (2,))})]))
    without = Plain()(from_naive([(3, {("edge", (0, 1))})]))
    network = HeadedNetwork.seeded([SIGNATURE["edge"]], ModelConfig(dim=4, layers=2), 0)
    assert torch.equal(network(structures), network(without))


def test_a_state_without_atoms_has_a_value() -> None:
    assert network_for(Plain())(Plain()(from_naive([(2, set())]))).isfinite().all()
    nothing = HeadedNetwork.seeded([], ModelConfig(dim=4, layers=2), 0)
    assert nothing(Plain()(from_naive([(2, set())]))).isfinite().all()


@given(st.integers(0, 30), st.integers(1, 12), st.integers(0, 2**31), st.sampled_from([12.0, 3.0]))
def test_smooth_max_by_segments_equals_the_reference(rows: int, elements: int, seed: int, sharpness: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    messages = torch.randn(rows, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    receivers = torch.randint(0, elements, (rows,), generator=generator)
    weights = torch.randn(elements, 3, generator=generator, dtype=torch.float64)
    incidence = Incidence(receivers, elements)
    fast, slow = incidence.smooth_max(messages, sharpness), smooth_max(messages, receivers, elements, sharpness)
    torch.testing.assert_close(fast, slow)
    gradients = [torch.autograd.grad((weights * result).sum(), messages)[0] for result in (fast, slow)]
    torch.testing.assert_close(*gradients)
    for element in range(elements):
        received = messages[receivers == element]
        if len(received):
            torch.testing.assert_close(fast[element], torch.logsumexp(sharpness * received, 0) / sharpness)
        else:
            assert not fast[element].any()


@pytest.mark.parametrize("scale", [0.0, 1e-30, 1e4, 1e30])
def test_smooth_max_is_safe_at_any_magnitude(scale: float) -> None:
    messages = (scale * torch.tensor([[1.0, -1.0], [2.0, -2.0], [-3.0, 3.0]])).requires_grad_()
    receivers = torch.tensor([0, 0, 2])
    for result in (smooth_max(messages, receivers, 4), Incidence(receivers, 4).smooth_max(messages)):
        assert result.isfinite().all() and (result[[1, 3]] == 0).all()
        assert torch.autograd.grad(result.sum(), messages)[0].isfinite().all()


def test_gather_passes_gradcheck() -> None:
    receivers = torch.tensor([2, 0, 2, 2])
    f = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)
    incidence = Incidence(receivers, 4)
    assert torch.equal(incidence.gather(f), f[receivers])
    assert torch.autograd.gradcheck(incidence.gather, f)
    assert torch.autograd.gradcheck(incidence.smooth_max, torch.randn(4, 2, dtype=torch.float64, requires_grad=True))

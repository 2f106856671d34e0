"""The paper's whole family computes what its definitions say, whatever the batch and the names of objects."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import Atom, Naive, from_naive, naive_rgnn, to_naive
from oracles_pairs import (
    BINARY,
    binary_batches,
    binary_structures,
    connected,
    naive_compositions,
    naive_edge_transformer,
    naive_two_gnn,
    square,
)
from trifold.domains import DOMAINS, domain_text
from trifold.encoders import Compositions, Encoder, Pairs
from trifold.errors import TrifoldError
from trifold.model import HeadedNetwork, ModelConfig
from trifold.nn import EdgeTransformer, InitialEmbeddings
from trifold.pddl import expand
from trifold.structures import READOUT, Relation, Signature, Structures, concatenate

NEW = ["compositions", "oblivious", "marks"]
ALL = ["plain", "pairs", *NEW]
MIXED: list[Naive] = [
    (4, {("edge", (0, 1)), ("edge", (1, 2)), ("edge@goal", (2, 0)), ("red", (3,)), ("edge", (3, 3))}),
    (1, {("red", (0,))}),
    (3, {("edge", (2, 1)), ("blue@goal-not", (0,))}),
    (1, set()),
]


def architecture(
    name: str, signature: Signature = BINARY, dim: Any = 8, layers: int = 3
) -> tuple[Encoder, HeadedNetwork]:
    config = ModelConfig(encoder=name, dim=dim, layers=layers)
    encoder = config.build_encoder()
    relations = [relation for relation in encoder.signature(signature) if relation.name != READOUT]
    return encoder, HeadedNetwork.seeded(relations, config, 0).double()


def naive_value(name: str, network: HeadedNetwork, structure: Naive) -> torch.Tensor:
    if name == "compositions":
        return naive_rgnn(network, square(structure[0]), naive_compositions(structure))[1]
    return (naive_two_gnn if name == "oblivious" else naive_edge_transformer)(network, structure)


def assert_equals_the_oracle(name: str, network: HeadedNetwork, encoded: Structures, naive: list[Naive]) -> None:
    """Values and the gradients of a weighted sum of them."""
    values = network(encoded)
    oracle = torch.stack([naive_value(name, network, structure) for structure in naive])
    torch.testing.assert_close(values, oracle, rtol=1e-9, atol=1e-9)
    weights = torch.linspace(1, 2, len(naive), dtype=torch.float64)
    found, expected = (
        torch.autograd.grad((weights * v).sum(), list(network.parameters()), allow_unused=True, materialize_grads=True)
        for v in (values, oracle)
    )
    torch.testing.assert_close(found, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", NEW)
@settings(max_examples=6)
@given(naive=st.lists(binary_structures(max_objects=3), min_size=1, max_size=3))
def test_equals_the_naive_network(name: str, naive: list[Naive]) -> None:
    encoder, network = architecture(name, layers=2)
    assert_equals_the_oracle(name, network, encoder(from_naive(naive, BINARY)), naive)


@pytest.mark.parametrize("name", NEW)
def test_equals_the_naive_network_for_mixed_sizes_in_one_batch(name: str) -> None:
    encoder, network = architecture(name)
    assert_equals_the_oracle(name, network, encoder(from_naive(MIXED, BINARY)), MIXED)


@pytest.mark.parametrize("name", NEW)
def test_equals_the_naive_network_on_real_states(name: str) -> None:
    space = expand(domain_text("gripper"), DOMAINS["gripper"].problem(random.Random(0), 1), 1000)
    structures = space.structures().take(torch.tensor([0, 3, 6]))
    encoder, network = architecture(name, structures.signature, layers=2)
    assert_equals_the_oracle(name, network, encoder(structures), to_naive(structures))


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=20)
@given(naive=binary_structures(), data=st.data())
def test_renaming_objects_changes_no_value(name: str, naive: Naive, data: st.DataObject) -> None:
    n, atoms = naive
    names = data.draw(st.permutations(range(n)))
    renamed = (n, {(relation, tuple(names[o] for o in args)) for relation, args in atoms})
    encoder, network = architecture(name)
    before, after = (network(encoder(from_naive([structure], BINARY))) for structure in (naive, renamed))
    torch.testing.assert_close(before, after, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=20)
@given(naive=binary_batches)
def test_a_batch_gives_what_its_members_give_alone(name: str, naive: list[Naive]) -> None:
    encoder, network = architecture(name)
    together = network(encoder(from_naive(naive, BINARY)))
    parts = [encoder(from_naive([structure], BINARY)) for structure in naive]
    torch.testing.assert_close(torch.cat([network(part) for part in parts]), together, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(network(concatenate(parts)), together, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", NEW)
def test_every_relation_and_its_direction_matter(name: str) -> None:
    """A mark or an atom that is lost, or laid on the wrong pair, would leave these values equal."""
    encoder, network = architecture(name)
    variants: list[set[Atom]] = [
        {("edge", (0, 1))},
        {("edge", (1, 0)), ("red", (0,))},
        {("edge@goal", (0, 1))},
        {("red", (0,))},
        set(),
    ]
    values = network(encoder(from_naive([(2, atoms) for atoms in variants], BINARY))).tolist()
    assert len({round(value, 9) for value in values}) == len(variants)


@settings(max_examples=20)
@given(binary_structures().filter(connected))
def test_where_all_objects_are_connected_r_gnn_infinity_is_r_gnn_2(structure: Naive) -> None:
    _, network = architecture("compositions")
    structures = from_naive([structure], BINARY)
    torch.testing.assert_close(network(Pairs(math.inf)(structures)), network(Compositions()(structures)))


def test_padding_reaches_neither_values_nor_gradients() -> None:
    """A structure without objects has a grid of padding alone; its neighbours do not feel it."""
    encoder, network = architecture("marks")
    values = network(encoder(from_naive([*MIXED, (0, set())], BINARY)))
    torch.testing.assert_close(values[:-1], network(encoder(from_naive(MIXED, BINARY))), rtol=1e-12, atol=1e-12)
    gradients = torch.autograd.grad(values.sum(), list(network.parameters()))
    assert all(gradient.isfinite().all() for gradient in gradients)


def test_an_edge_transformer_refuses_what_is_not_all_pairs() -> None:
    _, network = architecture("marks")
    with pytest.raises(ValueError, match="reads all pairs of objects"):
        network(Pairs(0)(from_naive(MIXED, BINARY)))
    with pytest.raises(TrifoldError, match="8 heads, which cannot share 12"):
        EdgeTransformer([], dim=12, layers=1)


def test_without_marks_there_is_no_initial_embedding_and_no_entry_in_the_state_dict() -> None:
    encoder, network = architecture("pairs")
    assert not any("initial" in name for name in network.state_dict())
    union = encoder(from_naive(MIXED, BINARY)).disjoint_union()
    assert torch.equal(network.embed.initial(union), torch.zeros(union.elements, 8, dtype=torch.float64))


def test_marks_without_a_vector_are_not_seen() -> None:
    encoder, _ = architecture("marks")
    union = encoder(from_naive([(2, {("edge", (0, 1)), ("red", (1,))})], BINARY)).disjoint_union()
    initial = InitialEmbeddings([Relation("red@mark", 1), Relation("never@mark", 1)], 3)
    found = initial(union)
    assert torch.equal(found[3], initial.vectors[0]) and not found[:3].any()

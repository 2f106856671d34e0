"""Without gradients, elements that a network cannot tell apart are merged: the embeddings are the same."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import SIGNATURE, Naive, batches, from_naive, random_structures
from trifold.encoders import Compositions, Oblivious, Pairs, Plain
from trifold.nn import RGNN, cpu, merging
from trifold.nn.cpu import embed_on_cpu
from trifold.structures import READOUT, Signature, Structures
from trifold.wl import refine

ENCODERS: dict[str, Any] = {
    "plain": Plain(),
    "t=0": Pairs(0),
    "t=1": Pairs(1),
    "t=∞": Pairs(math.inf),
    "R-GNN₂": Compositions(),
}

SHAPES: dict[str, list[Naive]] = {
    "no atoms": [(2, set())],
    "one atom of one object": [(1, {("red", (0,))})],
    "twice in an atom": [(3, {("triple", (1, 1, 0)), ("edge", (2, 2)), ("edge", (0, 0))})],
    "many triangles on one pair": [(12, {("edge", (0, o)) for o in range(12)})],
    "a long path": [(30, {("edge", (o, o + 1)) for o in range(29)})],
    "copies": [(4, {("edge", (0, 1)), ("edge", (2, 3)), ("red", (3,))})] * 3,
    "large": random_structures(5, objects=12, atoms=30, seed=1),
}


@pytest.fixture(params=[True, False], ids=["merged", "whole"], autouse=True)
def merges(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Small structures are merged, too, or none are."""
    monkeypatch.setattr(merging, "SMALL", 0 if request.param else math.inf)
    return request.param


def assert_same(structures: Structures, layers: int, dim: int = 5, sharpness: float = 12.0) -> None:
    """The embeddings of the backend and of the reference are the same, in double precision."""
    torch.manual_seed(0)
    senders = [relation for relation in structures.signature if relation.name != READOUT]
    network = RGNN(senders, dim, layers, sharpness).double()
    union = structures.disjoint_union()
    torch.testing.assert_close(embed_on_cpu(network, union), network(union).detach(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ENCODERS)
def test_embeddings_of_every_shape(name: str, shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    structures = ENCODERS[name](from_naive(SHAPES[shape]))
    assert_same(structures, layers=4)
    monkeypatch.setattr(cpu, "TILE", 64)
    monkeypatch.setattr(cpu, "PADDING", 3)
    assert_same(structures, layers=2)  # fewer rounds than the fixed point needs


@pytest.mark.parametrize("name", ENCODERS)
@settings(max_examples=15)
@given(naive=batches, layers=st.integers(0, 4), sharpness=st.sampled_from([12.0, 3.0]))
def test_embeddings_of_any_structures(name: str, naive: list[Naive], layers: int, sharpness: float) -> None:
    assert_same(ENCODERS[name](from_naive(naive)), layers, sharpness=sharpness)


def test_initial_embeddings_tell_elements_apart() -> None:
    signature = Signature.of([("edge", 2), ("red", 1)])
    naive: list[Naive] = [(3, {("edge", (0, 1)), ("red", (2,))}), (2, {("red", (0,))}), (2, set())]
    assert_same(Oblivious()(from_naive(naive, signature)), layers=3)


def test_no_structures_and_no_relations_have_embeddings() -> None:
    structures = Plain()(from_naive([(2, set())]))
    assert embed_on_cpu(RGNN([], 4, 2), structures.disjoint_union()).shape == (2, 4)
    nothing = structures.take(torch.empty(0, dtype=torch.int64))
    assert embed_on_cpu(RGNN(SIGNATURE.relations, 4, 2), nothing.disjoint_union()).shape == (0, 4)


@pytest.mark.parametrize("layers", [1, 2, 3, 30])
def test_classes_are_those_of_colour_refinement(layers: int, merges: bool) -> None:
    structures = Pairs(1)(from_naive(SHAPES["copies"] * 3))
    union = structures.disjoint_union()
    senders = [relation for relation in structures.signature if relation.sends]
    merged = merging.merge(senders, [], union, layers)
    if not merges:
        assert len(merged.members) == union.elements
        return
    expected = refine(structures, layers).elements
    both = torch.stack([merged.classes, expected])
    assert len(merged.members) == len(expected.unique()) == both.unique(dim=1).shape[1]
    assert torch.equal(merged.classes[merged.members], torch.arange(len(merged.members)))
    # every member of a class gets as many messages as the class
    received = torch.zeros(len(merged.members), dtype=torch.float64)
    for table, numbers in zip(merged.atoms, merged.multiplicities, strict=True):
        received.index_add_(0, table.reshape(-1), numbers.reshape(-1).double())
    rows = torch.cat([union.atoms(name).reshape(-1) for name, _ in senders])
    torch.testing.assert_close(received[merged.classes], torch.bincount(rows, minlength=union.elements).double())


def test_where_little_would_merge_nothing_does() -> None:
    structures = Plain()(from_naive(SHAPES["a long path"]))
    union = structures.disjoint_union()
    merged = merging.merge([SIGNATURE["edge"]], [], union, 30)
    assert torch.equal(merged.classes, torch.arange(30)) and torch.equal(merged.atoms[0], union.atoms("edge"))

"""The encoders over all pairs build the inputs of R-GNN₂, the 2-GNN and the Edge Transformer by their definitions."""

from __future__ import annotations

import math
import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from oracles import SIGNATURE, Naive, batches, from_naive, naive_pairs, naive_structures, random_structures, to_naive
from oracles_pairs import (
    BINARY,
    binary_batches,
    connected,
    decode,
    naive_compositions,
    naive_marks,
    naive_oblivious,
    square,
)
from trifold.domains import DOMAINS, domain_text
from trifold.encoders import Compositions, Encoder, Marks, Oblivious, Pairs, encode_all, encode_chunks, layer_rows
from trifold.errors import TrifoldError
from trifold.pddl import expand
from trifold.structures import READOUT, Signature, Structures, concatenate

MARKED = {Oblivious(): naive_oblivious, Marks(): naive_marks}
ORACLES = {Compositions(): naive_compositions, **MARKED}


def label(encoder: Encoder) -> str:
    return encoder.label


def assert_defined(encoder: Encoder, structures: Structures) -> None:
    """The encoded structures are what the oracle says, over all pairs row by row."""
    for (pairs, atoms), structure in zip(decode(encoder(structures)), to_naive(structures), strict=True):
        assert pairs == square(structure[0])
        assert atoms == ORACLES[encoder](structure)


@given(naive=batches)
def test_compositions_equal_the_definition_for_any_arity(naive: list[Naive]) -> None:
    assert_defined(Compositions(), from_naive(naive))


@pytest.mark.parametrize("encoder", MARKED, ids=label)
@given(naive=binary_batches)
def test_marks_and_oblivious_atoms_equal_the_definition(encoder: Encoder, naive: list[Naive]) -> None:
    assert_defined(encoder, from_naive(naive, BINARY))


@pytest.mark.parametrize("encoder", ORACLES, ids=label)
@pytest.mark.parametrize(("domain", "size"), [("gripper", 2), ("blocks-m", 3)])
def test_real_states_equal_the_definition(encoder: Encoder, domain: str, size: int) -> None:
    space = expand(domain_text(domain), DOMAINS[domain].problem(random.Random(1), size), 1000)
    structures = space.structures().take(torch.arange(0, len(space.distances), 5))
    assert_defined(encoder, structures)


@given(naive_structures(max_objects=6))
def test_infinity_has_all_compositions_exactly_if_the_gaifman_graph_is_connected(structure: Naive) -> None:
    infinite, every = (decode(encoder(from_naive([structure])))[0][1] for encoder in (Pairs(math.inf), Compositions()))
    assert infinite <= every
    assert (infinite == every) == connected(structure)


def test_both_sides_of_that_law_occur() -> None:
    naive = random_structures(count=60, objects=5, atoms=4, seed=0)
    assert {connected(structure) for structure in naive} == {True, False}
    for structure in naive:
        assert (naive_pairs(structure, math.inf) == naive_compositions(structure)) == connected(structure)


@given(naive=binary_batches)
def test_marks_send_no_messages_and_the_attention_counts_triples(naive: list[Naive]) -> None:
    structures = from_naive(naive, BINARY)
    assert Marks()(structures).message_rows().tolist() == [0] * len(naive)
    assert layer_rows(Marks()(structures)).tolist() == [n**3 for n, _ in naive]


@pytest.mark.parametrize("encoder", ORACLES, ids=label)
@given(naive=binary_batches, budget=st.integers(1, 300))
def test_chunks_and_batches_give_what_the_members_give(encoder: Encoder, naive: list[Naive], budget: int) -> None:
    structures = from_naive(naive, BINARY)
    whole = to_naive(encoder(structures))
    for chunk in encode_chunks(encoder, structures, budget):
        assert len(chunk) == 1 or int(layer_rows(chunk).sum()) <= budget
    assert to_naive(encode_all(encoder, structures, budget)) == whole
    alone = [encoder(from_naive([structure], BINARY)) for structure in naive]
    assert to_naive(concatenate(alone)) == whole


@pytest.mark.parametrize("encoder", [Compositions(max_triples=1000), Oblivious(max_triples=1000)], ids=label)
def test_too_many_triples_raise_before_they_are_built(encoder: Encoder) -> None:
    structures = from_naive([(500, set())], BINARY)
    with pytest.raises(TrifoldError, match=f"{encoder.label} needs 125,000,000 triples .* limit of 1,000"):
        encoder(structures)
    encoder(from_naive([(10, set())], BINARY))
    with pytest.raises(TrifoldError, match="needs 1,001 triples"):
        encoder(from_naive([(10, set()), (1, set())], BINARY))


@pytest.mark.parametrize("encoder", MARKED, ids=label)
def test_predicates_of_three_arguments_are_refused_by_name(encoder: Encoder) -> None:
    signature = Signature.of([("edge", 2), ("stamped", 3), ("stamped@goal", 3), ("box", 4)])
    structures = from_naive([(2, {("edge", (0, 1))})], signature)
    for refused in (
        lambda: encoder.signature(signature),
        lambda: encoder(structures),
    ):
        with pytest.raises(TrifoldError, match=f"{encoder.label} reads .* this domain has box/4, stamped/3\n"):
            refused()
    assert "triple" in Compositions().signature(SIGNATURE)


def test_names_are_ours_and_only_messages_send() -> None:
    names = Oblivious().signature(BINARY).names
    marks = ["edge@mark", "edge@goal@mark", "red@mark", "blue@goal-not@mark", "@object@mark"]
    assert list(names) == [*marks, "@left", "@right", READOUT]
    assert [relation.name for relation in Oblivious().signature(BINARY) if relation.sends] == ["@left", "@right"]
    assert [relation.name for relation in Marks().signature(BINARY) if relation.is_mark] == marks
    assert Compositions().signature(SIGNATURE) == Pairs(2).signature(SIGNATURE)

"""The encoder ``pairs`` builds A_t(S) as the paper defines it."""

from __future__ import annotations

import itertools
import math
from typing import Any, cast

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from oracles import Naive, batches, from_naive, naive_pairs, naive_structures, random_structures, related, to_naive
from trifold.encoders import TRIANGLE, Encoder, Pairs, Plain, chunks, encode_all, encode_chunks
from trifold.errors import TrifoldError
from trifold.structures import Structures

LEVELS = [0, 1, 2, 3, math.inf]


def decode(encoded: Structures) -> list[tuple[list[Any], set[Any]]]:
    """Encoded structures as sets of atoms over pairs of objects."""
    assert encoded.pairs is not None
    result, start = [], 0
    for n, atoms in to_naive(encoded):
        pairs = [tuple(pair) for pair in encoded.pairs[start : start + n].tolist()]
        result.append((pairs, {(name, tuple(pairs[i] for i in args)) for name, args in atoms}))
        start += n
    return result


@pytest.mark.parametrize("t", LEVELS)
@given(naive=batches)
def test_equals_the_definition(t: float, naive: list[Naive]) -> None:
    for (pairs, atoms), structure in zip(decode(Pairs(t)(from_naive(naive))), naive, strict=True):
        assert atoms == naive_pairs(structure, t)
        live = {pair for _, args in atoms for pair in args}
        assert set(pairs) == live and len(pairs) == len(live)


@pytest.mark.parametrize("t", LEVELS)
def test_equals_the_definition_on_larger_structures(t: float) -> None:
    naive = random_structures(count=5, objects=12, atoms=16, seed=3)
    for (_, atoms), structure in zip(decode(Pairs(t)(from_naive(naive))), naive, strict=True):
        assert atoms == naive_pairs(structure, t)


@given(naive_structures())
def test_more_compositions_with_every_t(structure: Naive) -> None:
    levels = [decode(Pairs(t)(from_naive([structure])))[0][1] for t in LEVELS]
    assert all(low <= high for low, high in itertools.pairwise(levels))


@given(naive_structures())
def test_infinity_is_the_fixed_point(structure: Naive) -> None:
    n = structure[0]
    assert related(structure, math.inf) == related(structure, 2 + n.bit_length())
    far, infinite = (decode(Pairs(t)(from_naive([structure])))[0] for t in (2 + n.bit_length(), math.inf))
    assert far == infinite


@pytest.mark.parametrize("encoder", [Plain(), Pairs(1), Pairs(2)])
@given(naive=batches, budget=st.integers(1, 200))
def test_chunks_give_what_the_whole_gives(encoder: Encoder, naive: list[Naive], budget: int) -> None:
    structures = from_naive(naive)
    whole = encoder(structures)
    chunks = list(encode_chunks(encoder, structures, budget))
    assert all(len(chunk) == 1 or int(chunk.message_rows().sum()) <= budget for chunk in chunks)
    assert to_naive(encode_all(encoder, structures, budget)) == to_naive(whole)


def test_too_many_triangles_raise_before_they_are_built() -> None:
    structures = from_naive([(40, {("edge", (0, o)) for o in range(40)})])
    with pytest.raises(TrifoldError, match=r"R-GNN\[1\] needs 1,75\d triangles .* limit of 1,000"):
        Pairs(1, max_triangles=1000)(structures)


def test_the_limit_of_triangles_is_the_number_that_may_be() -> None:
    structures = from_naive([(4, {("edge", (0, 1)), ("edge", (1, 2))})])
    whole = Pairs(1)(structures)
    count = len(whole.atoms(TRIANGLE))
    assert to_naive(Pairs(1, max_triangles=count)(structures)) == to_naive(whole)
    with pytest.raises(TrifoldError, match=f"needs {count} triangles"):
        Pairs(1, max_triangles=count - 1)(structures)


@pytest.mark.parametrize(("limit", "pieces"), [(2 * 27, [2, 2, 1]), (3 * 27 - 1, [2, 2, 1]), (3 * 27, [3, 2])])
def test_so_many_triples_are_encoded_at_once_and_no_more(
    limit: int, pieces: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "TRIPLES", limit)
    encoded: list[int] = []

    def encoder(structures: Structures) -> Structures:
        encoded.append(len(structures))
        return Plain()(structures)

    encode_all(cast(Encoder, encoder), from_naive([(3, {("edge", (0, 1))})] * 5))
    assert encoded == pieces


@pytest.mark.parametrize("t", [1, 2, math.inf])
def test_many_structures_are_encoded_in_pieces_that_fit(t: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is on what is built at once, so the number of structures does not matter."""
    monkeypatch.setattr(chunks, "TRIPLES", 2000)
    star = (10, {("edge", (0, o)) for o in range(10)})
    structures = from_naive([star] * 30)
    with pytest.raises(TrifoldError, match="triangles at once"):
        Pairs(t, max_triangles=2000)(structures)
    encoded = encode_all(Pairs(t, max_triangles=2000), structures, max_rows=4000)
    assert to_naive(encoded) == to_naive(Pairs(t)(structures))


@pytest.mark.parametrize("t", [-1, 0.5, math.nan])
def test_t_is_a_whole_number_or_infinity(t: float) -> None:
    with pytest.raises(TrifoldError, match="t is 0, 1, 2"):
        Pairs(t)


def test_plain_reads_out_every_object() -> None:
    encoded = Plain()(from_naive([(2, {("edge", (0, 1))}), (3, set())]))
    assert to_naive(encoded)[1] == (3, {("@readout", (o,)) for o in range(3)})


def test_pairs_of_a_connected_structure_are_all_pairs_at_infinity() -> None:
    chain = from_naive([(6, {("edge", (o, o + 1)) for o in range(5)})])
    encoded = Pairs(math.inf)(chain)
    assert encoded.element_counts.tolist() == [36]
    assert encoded.atoms(TRIANGLE).shape == (6**3, 3)
    assert encoded.arguments.dtype == torch.uint8

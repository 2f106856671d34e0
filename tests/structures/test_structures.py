"""Structures gather, join and unite without changing what is in them."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from oracles import SIGNATURE, Naive, batches, from_naive, to_naive
from trifold.structures import Signature, Structures, concatenate, expand_segments, narrowest_dtype, segment_starts


@given(batches)
def test_build_keeps_every_atom(naive: list[Naive]) -> None:
    assert to_naive(from_naive(naive)) == naive


@given(batches, st.data())
def test_take_gathers_any_order_with_repetition(naive: list[Naive], data: st.DataObject) -> None:
    indices = data.draw(st.lists(st.integers(0, len(naive) - 1), max_size=6))
    taken = from_naive(naive).take(torch.tensor(indices, dtype=torch.int64))
    assert to_naive(taken) == [naive[i] for i in indices]


@given(st.lists(batches, min_size=1, max_size=3))
def test_concatenate_appends(parts: list[list[Naive]]) -> None:
    joined = concatenate([from_naive(part) for part in parts])
    assert to_naive(joined) == [structure for part in parts for structure in part]


@given(batches)
def test_disjoint_union_shifts_each_structure(naive: list[Naive]) -> None:
    union = from_naive(naive).disjoint_union()
    start, expected = 0, set()
    for n, atoms in naive:
        expected |= {(name, tuple(start + o for o in args)) for name, args in atoms}
        start += n
    found = {(name, tuple(row)) for name, _ in SIGNATURE for row in union.atoms(name).tolist()}
    assert found == expected
    assert union.elements == start
    assert len(union.atoms("unheard-of")) == 0


@given(batches)
def test_narrow_types_hold_the_same_atoms(naive: list[Naive]) -> None:
    wide = from_naive(naive)
    narrow = Structures.join(
        wide.signature, [wide.atoms(name) for name, _ in SIGNATURE], list(wide.atom_counts), wide.element_counts
    )
    assert narrow.arguments.dtype == torch.uint8
    assert to_naive(narrow) == naive
    assert torch.equal(narrow.disjoint_union().arguments, wide.disjoint_union().arguments)


def test_concatenation_widens_what_is_too_narrow() -> None:
    signature = Signature.of([("p", 1)])
    small = Structures.build(signature, [2], {"p": [[[1]]]})
    large = Structures.build(signature, [40_000], {"p": [[[39_999]]]})
    assert concatenate([small, large]).atoms("p").tolist() == [[1], [39_999]]


@pytest.mark.parametrize("count", [1, 256, 257, 2**15, 2**15 + 1])
def test_narrowest_type_indexes_every_element(count: int) -> None:
    assert torch.iinfo(narrowest_dtype(count)).max >= count - 1


def test_no_structures_and_no_relations_are_fine() -> None:
    empty = Structures.build(SIGNATURE, [], {})
    assert len(empty) == 0 and empty.disjoint_union().elements == 0
    bare = Structures.build(Signature(()), [3], {})
    assert len(bare.take(torch.tensor([0, 0]))) == 2


def test_segments() -> None:
    lengths = torch.tensor([3, 0, 1])
    assert segment_starts(lengths).tolist() == [0, 3, 3]
    assert expand_segments(torch.tensor([5, 9, 0]), lengths).tolist() == [5, 6, 7, 0]


def test_signatures_refuse_double_names_and_nullary_relations() -> None:
    with pytest.raises(ValueError, match="once, not twice: p"):
        Signature.of([("p", 1), ("p", 2)])
    with pytest.raises(ValueError, match="at least one argument"):
        Signature.of([("p", 0)])


def test_structures_of_two_signatures_do_not_mix() -> None:
    with pytest.raises(ValueError, match="different signatures"):
        concatenate([Structures.build(Signature.of([(name, 1)]), [1], {}) for name in "pq"])

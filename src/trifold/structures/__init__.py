"""Relational structures, many at a time: the one type that flows through Trifold."""

from trifold.structures.ragged import expand_segments, segment_starts
from trifold.structures.signature import (
    APPLICABLE,
    MARK,
    NULLARY,
    OPTIMAL,
    READOUT,
    TRIANGLE,
    Relation,
    Signature,
    query_relations,
)
from trifold.structures.structures import DisjointUnion, Structures, concatenate, narrowest_dtype

__all__ = [
    "APPLICABLE",
    "MARK",
    "NULLARY",
    "OPTIMAL",
    "READOUT",
    "TRIANGLE",
    "DisjointUnion",
    "Relation",
    "Signature",
    "Structures",
    "concatenate",
    "expand_segments",
    "narrowest_dtype",
    "query_relations",
    "segment_starts",
]

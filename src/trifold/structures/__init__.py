"""Relational structures, many at a time: the one type that flows through Trifold."""

from trifold.structures.ragged import expand_segments, segment_starts
from trifold.structures.signature import MARK, READOUT, TRIANGLE, Relation, Signature
from trifold.structures.structures import DisjointUnion, Structures, concatenate, narrowest_dtype

__all__ = [
    "MARK",
    "READOUT",
    "TRIANGLE",
    "DisjointUnion",
    "Relation",
    "Signature",
    "Structures",
    "concatenate",
    "expand_segments",
    "narrowest_dtype",
    "segment_starts",
]

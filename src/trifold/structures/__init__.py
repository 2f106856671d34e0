"""Relational structures, many at a time: the one type that flows through Trifold.

What needs torch is imported when it is first used: relations and signatures alone do not.
"""

from typing import TYPE_CHECKING

from trifold.lazy import lazily
from trifold.structures.signature import (
    APPLICABLE,
    CONSTANT,
    MARK,
    NULLARY,
    OBJECT,
    OPTIMAL,
    READOUT,
    TRIANGLE,
    Relation,
    Signature,
    query_relations,
)

if TYPE_CHECKING:
    from trifold.structures.ragged import expand_segments, segment_starts
    from trifold.structures.structures import DisjointUnion, Structures, concatenate, narrowest_dtype

__getattr__ = lazily(__name__)

__all__ = [
    "APPLICABLE",
    "CONSTANT",
    "MARK",
    "NULLARY",
    "OBJECT",
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

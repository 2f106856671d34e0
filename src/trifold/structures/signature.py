"""Which relations a structure can have: names and arities, in a fixed order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

READOUT = "@readout"
"""The unary relation of the elements that a readout sums. It is data, and sends no messages."""

OBJECT = "@object"
"""Obj, the unary relation of the pairs ⟨o,o⟩."""

TRIANGLE = "@triangle"
"""△: the ternary relation of compositions ⟨o,o'⟩, ⟨o',o''⟩, ⟨o,o''⟩ in structures over pairs of objects."""

CONSTANT = "@constant-"
"""How the names of relations begin that hold of one constant of the domain alone: ``@constant-kitchen(kitchen)``."""

APPLICABLE, OPTIMAL = "@applicable", "@optimal"
"""How the names of queries end: the actions of a state that ask for a score, and those of them that are known to be
optimal, as a training is told. A query is the tuple of an action's objects. It is data, and sends no messages."""

NULLARY = "()"
"""In the names of queries of actions without arguments. Relations have an argument, but nobody reads that of these."""

MARK = "@mark"
"""How the names of marks end: unary relations that give an element its first embedding, and send no messages."""


class Relation(NamedTuple):
    """A relation symbol. Names that start with or contain ``@`` are ours: PDDL cannot hold them."""

    name: str
    arity: int

    @property
    def is_mark(self) -> bool:
        """Whether it gives elements their first embedding."""
        return self.name.endswith(MARK)

    @property
    def sends(self) -> bool:
        """Whether its atoms send messages: those of the readout, of marks and of queries do not."""
        return self.name != READOUT and not self.is_mark and not self.is_query

    @property
    def is_query(self) -> bool:
        """Whether its atoms ask for the score of an action."""
        return self.name.endswith((APPLICABLE, OPTIMAL))

    @property
    def reads(self) -> int:
        """How many of its arguments a query reads: all, or none if the action has none."""
        return 0 if NULLARY in self.name else self.arity


def query_relations(schemas: Iterable[tuple[str, int]]) -> tuple[Relation, ...]:
    """The queries of action schemas, given as (name, arity): two relations for each, in order.

    >>> [tuple(relation) for relation in query_relations([("move", 2), ("wait", 0)])]
    [('move@applicable', 2), ('move@optimal', 2), ('wait()@applicable', 1), ('wait()@optimal', 1)]
    """
    return tuple(
        Relation(name + (NULLARY if not arity else "") + ending, max(arity, 1))
        for name, arity in schemas
        for ending in (APPLICABLE, OPTIMAL)
    )


@dataclass(frozen=True)
class Signature:
    """An ordered set of relation symbols.

    >>> signature = Signature.of([("on", 2), ("clear", 1)])
    >>> signature.index("clear"), signature["on"].arity, "table" in signature
    (1, 2, False)
    """

    relations: tuple[Relation, ...]

    def __post_init__(self) -> None:
        counts = Counter(relation.name for relation in self.relations)
        twice = sorted(name for name, count in counts.items() if count > 1)
        if twice:
            raise ValueError(f"a signature names each relation once, not twice: {', '.join(twice)}")
        if any(relation.arity < 1 for relation in self.relations):
            raise ValueError("a relation has at least one argument; nullary atoms become unary ones")

    @classmethod
    def of(cls, relations: Iterable[tuple[str, int]]) -> Signature:
        """Build a signature from (name, arity) pairs."""
        return cls(tuple(Relation(name, arity) for name, arity in relations))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the relations, in order."""
        return tuple(relation.name for relation in self.relations)

    @cached_property
    def arities(self) -> tuple[int, ...]:
        """The arities of the relations, in order."""
        return tuple(relation.arity for relation in self.relations)

    def index(self, name: str) -> int:
        """Where the relation of this name stands in the order."""
        return self.names.index(name)

    def __getitem__(self, name: str) -> Relation:
        return self.relations[self.index(name)]

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[Relation]:
        return iter(self.relations)

    def __len__(self) -> int:
        return len(self.relations)

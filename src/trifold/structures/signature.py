"""Which relations a structure can have: names and arities, in a fixed order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

READOUT = "@readout"
"""The unary relation of the elements that a readout sums. It is data, and sends no messages."""

TRIANGLE = "@triangle"
"""△: the ternary relation of compositions ⟨o,o'⟩, ⟨o',o''⟩, ⟨o,o''⟩ in structures over pairs of objects."""

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
        """Whether its atoms send messages: those of the readout and of marks do not."""
        return self.name != READOUT and not self.is_mark


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

"""Colours as hashes of 64 bits, and a round of refinement: the same in every process and on every machine."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

Positions = Mapping[str, Collection[int]]
"""Positions of arguments, for some relations."""

ALL: Positions = MappingProxyType({})
"""All positions of each relation."""


@dataclass(frozen=True)
class Keys:
    """The random odd numbers by which a stream, one of several independent hashes, tells relations and positions apart.

    relation   one for the relation
    arguments  (arity,) one for each argument that an atom reads
    messages   (arity,) one for each argument that an atom writes to
    """

    relation: np.uint64
    arguments: Words
    messages: Words

    @classmethod
    @cache
    def of(cls, stream: int, name: str, arity: int) -> Keys:
        """Those of a relation."""
        return cls(
            draw(stream, "relation", name),
            np.array([draw(stream, "argument", name, position) for position in range(arity)]),
            np.array([draw(stream, "message", name, position) for position in range(arity)]),
        )


@cache
def draw(*seed: int | str) -> np.uint64:
    """An odd number that looks random and depends on the seed alone."""
    return np.uint64(int.from_bytes(blake2b(repr(seed).encode(), digest_size=8).digest(), "little") | 1)


def mix(words: Words) -> Words:
    """A fixed bijection of 64 bits that looks random: the finaliser of splitmix64, in place."""
    words ^= words >> np.uint64(30)
    words *= np.uint64(0xBF58476D1CE4E5B9)
    words ^= words >> np.uint64(27)
    words *= np.uint64(0x94D049BB133111EB)
    words ^= words >> np.uint64(31)
    return words


def first_colours(stream: int, elements: int) -> Words:
    """(elements,) the same colour for all."""
    return np.full(elements, draw(stream, "initial"))


def recolour(stream: int, colours: Words, atoms: Mapping[str, NDArray[np.int64]], receivers: Positions = ALL) -> Words:
    """One round, in one stream: RELABEL is a hash, and a multiset is the sum of the hashes of what is in it.

    atoms      relation → (arity, atoms) the arguments of its atoms, by position
    receivers  for some relations, the only positions that are told of its atoms

    Colours look random, so a product with a random odd number tells positions apart as well as a second mix would.
    """
    received = colours * draw(stream, "own")
    for name, columns in atoms.items():
        if not columns.size:
            continue
        hashes = hash_atoms(stream, colours, name, columns)
        messages = Keys.of(stream, name, len(columns)).messages
        for position in receivers.get(name, range(len(columns))):
            np.add.at(received, columns[position], hashes * messages[position])
    return mix(received)


def hash_atoms(stream: int, colours: Words, name: str, columns: NDArray[np.int64]) -> Words:
    """(arity, atoms) → (atoms,) the colour of each atom: its relation's name and its arguments' colours, in order."""
    keys = Keys.of(stream, name, len(columns))
    hashes = np.full(columns.shape[1], keys.relation)
    for column, key in zip(columns, keys.arguments, strict=True):
        hashes += colours[column] * key
    return mix(hashes)


def count_different(words: Words) -> int:
    """How many different words there are: np.unique takes ten times as long where most words differ."""
    ordered = np.sort(words)
    return len(words[:1]) + int(np.count_nonzero(ordered[1:] != ordered[:-1]))

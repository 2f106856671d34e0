"""Hashes of colours in 64 bits, twice with independent keys: the same in every process and on every machine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

STREAMS = 2
"""How many independent hashes of 64 bits make a colour."""


@dataclass(frozen=True)
class Keys:
    """The random odd numbers by which a stream tells relations and positions apart.

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
        return cls(
            draw(stream, "relation", name),
            np.array([draw(stream, "argument", name, position) for position in range(arity)]),
            np.array([draw(stream, "message", name, position) for position in range(arity)]),
        )


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

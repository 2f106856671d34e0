"""Encoders map structures over objects to the structures that networks and colourings read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from trifold.encoders.chunks import encode_all, encode_chunks, layer_rows
from trifold.encoders.compositions import Compositions
from trifold.encoders.fixed import FixedPairs
from trifold.encoders.marks import Marks
from trifold.encoders.oblivious import Oblivious
from trifold.encoders.pairs import Pairs
from trifold.encoders.plain import Plain
from trifold.encoders.queries import Queried
from trifold.structures import OBJECT, TRIANGLE, Signature, Structures


class Encoder(Protocol):
    """A map from structures over objects to encoded structures, for whole batches on any device."""

    @property
    def label(self) -> str:
        """The name in the paper of the architecture that reads what this encoder makes."""

    def signature(self, objects: Signature) -> Signature:
        """The signature of the encoded structures."""

    def __call__(self, structures: Structures) -> Structures:
        """The encoded structures, in the same order."""


ENCODERS: dict[str, Callable[[float], Encoder]] = {
    "plain": lambda t: Plain(),
    "pairs": Pairs,
    "compositions": lambda t: Compositions(),
    "oblivious": lambda t: Oblivious(),
    "marks": lambda t: Marks(),
}
"""The encoder of each name, given t, which R-GNN[t] alone uses. A new one is one more line, here or in a plugin."""

__all__ = [
    "ENCODERS",
    "OBJECT",
    "TRIANGLE",
    "Compositions",
    "Encoder",
    "FixedPairs",
    "Marks",
    "Oblivious",
    "Pairs",
    "Plain",
    "Queried",
    "encode_all",
    "encode_chunks",
    "layer_rows",
]

"""Encoding in pieces of bounded size: for data sets larger than a batch and states larger than expected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from trifold.memory import MESSAGES, TRIPLES, TRIPLES_ON_A_CARD
from trifold.structures import Structures, concatenate

if TYPE_CHECKING:
    from trifold.encoders import Encoder


def encode_chunks(encoder: Encoder, structures: Structures, max_rows: int = MESSAGES) -> Iterator[Structures]:
    """Encode structures piece by piece, in order, each piece with at most ``max_rows`` messages a layer.

    A single structure with more messages than that is a piece of its own. What encoding takes is bounded by the triples
    of objects that are encoded at once, or by the largest structure. What was encoded apart for its triples is yielded
    together: the successors of a state have much in common.
    """
    held: list[Structures] = []
    spent = 0
    most = TRIPLES_ON_A_CARD if structures.device.type == "cuda" else TRIPLES
    for start, end in _pieces(structures.element_counts**3, most):
        piece = structures.take(torch.arange(start, end))
        encoded = encoder(piece)
        rows = layer_rows(encoded)
        for first, last in _pieces(rows, max_rows):
            size = int(rows[first:last].sum())
            if held and spent + size > max_rows:
                yield concatenate(held)
                held, spent = [], 0
            held.append(encoded if last - first == len(encoded) else encoded.take(torch.arange(first, last)))
            spent += size
    if held:
        yield concatenate(held)


def encode_all(encoder: Encoder, structures: Structures, max_rows: int = MESSAGES) -> Structures:
    """Encode any number of structures, without the memory that doing it at once would take."""
    return concatenate(list(encode_chunks(encoder, structures, max_rows)))


def layer_rows(encoded: Structures) -> Tensor:
    """(structures,) what a layer's memory grows with: messages or, where nothing sends, n³ triples of n² pairs."""
    if any(relation.sends for relation in encoded.signature):
        return encoded.message_rows()
    return (encoded.element_counts.double() ** 1.5).round().long()


def _pieces(costs: Tensor, budget: int) -> Iterator[tuple[int, int]]:
    """Cut 0 … n into consecutive ranges whose costs add up to at most the budget, or that hold one item."""
    totals = torch.cumsum(costs, 0).cpu()
    start, spent = 0, 0
    while start < len(totals):
        end = int(torch.searchsorted(totals, spent + budget, right=True))
        end = max(end, start + 1)
        yield start, end
        start, spent = end, int(totals[end - 1])

"""Relational colour refinement: what a network of a given depth can tell apart, for whole batches at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from trifold.structures import READOUT, Signature, Structures
from trifold.wl.hashing import ALL, Positions, Words, count_different, first_colours, hash_atoms, recolour

PIECE = 2**17
"""About how many arguments of atoms are hashed at a time: few enough for the cache, many enough for the calls."""

STREAMS = range(2)
"""The independent hashes of 64 bits that make a colour."""


@dataclass(frozen=True)
class Colouring:
    """The classes of elements and of structures in one batch, numbered 0, 1, … in no particular order.

    elements  (Σ elements,) int64: the class of each element after the last round, structure by structure
    history   (rounds + 1, structures) int64: the class of each structure after each round, as heads see it: by the
              multiset of the colours of its READOUT elements and of the tuples of colours of its queries, if any. Row 0
              is before the first round.
    """

    elements: Tensor
    history: Tensor

    @property
    def rounds(self) -> int:
        """How many rounds there were."""
        return len(self.history) - 1

    @property
    def structures(self) -> Tensor:
        """(structures,) the class of each structure after the last round."""
        return self.history[-1]

    @property
    def classes(self) -> list[int]:
        """How many classes of structures there are after each round."""
        return [len(row.unique()) for row in self.history]


def refine(
    structures: Structures, rounds: int | None, *, relations: Collection[str] | None = None, receivers: Positions = ALL
) -> Colouring:
    """Colour elements as Algorithm 1 embeds them, with the paper's RELABEL for the MLPs.

    C_0(e)     = RELABEL({{marks of e}}), as initial embeddings: the same for all elements if there are no marks
    C_{i+1}(e) = RELABEL(⟨C_i(e), {{(p, j, C_i(o₁), …, C_i(o_m)) | p(o₁…o_m) ∈ S, o_j = e}}⟩)

    So no R-GNN with L layers separates what L rounds merge: its smooth maximum may see less than the multiset, never
    more. ``tests/oracles_wl.py`` has this definition without hashes: the oracle.

    rounds     how many; None is until the fixed point, when a round would split no class of elements of the batch
    relations  those that send messages; None is all of the signature but READOUT, marks and queries
    receivers  for some relations, the only positions j that are told of its atoms. Told to position 2 alone, all
               compositions △(⟨o,o'⟩,⟨o',o''⟩,⟨o,o''⟩) make this 2-FWL: what an Edge Transformer sees.

    RELABEL is a hash of twice 64 bits. If these were random, the probability that 30 rounds over 10⁷ elements merge two
    colours by mistake would be 30 · 10¹⁴ / 2¹²⁹ < 10⁻²³.
    """
    if rounds is not None and rounds < 0:
        raise ValueError(f"refinement has 0, 1, 2, … rounds, not {rounds}")
    batch = _Batch(structures)
    history: list[Tensor] = []
    classes = -1
    for colours in batch.rounds(sending(structures.signature, relations, receivers)):
        if rounds is None:
            classes, before = count_different(colours[0]), classes
            if classes == before:
                break
        stable = colours
        history.append(number_classes(_tensor(batch.read(colours))))
        if len(history) - 1 == rounds:
            break
    return Colouring(number_classes(_tensor(stable)), torch.stack(history))


def digest(structures: Structures, rounds: int, *, receivers: Positions = ALL) -> Tensor:
    """(structures, 2) int64: the colour of each structure after the rounds, as ``refine`` sees it, in 128 bits.

    Digests depend on the structure alone, up to the order of its elements. So, unlike classes, they can be compared
    between batches, processes and machines, and data of any size is coloured piece by piece.
    """
    senders = sending(structures.signature, None, receivers)
    digests = [torch.empty((0, len(STREAMS)), dtype=torch.int64)]
    for first, last in pairwise(_cut(structures)):
        batch = _Batch(structures.take(torch.arange(first, last)))
        colours = next(islice(batch.rounds(senders), rounds, None))
        digests.append(_tensor(batch.read(colours)))
    return torch.cat(digests)


def number_classes(digests: Tensor) -> Tensor:
    """(n, 2) → (n,) a number 0, 1, … for each different row.

    >>> number_classes(torch.tensor([[7, 7], [5, 5], [7, 7]])).tolist()
    [1, 0, 1]
    """
    first, second = digests.numpy().T
    _, example, numbers = np.unique(first, return_index=True, return_inverse=True)
    if (second[example][numbers] != second).any():  # two rows differ in their second half alone: sort by both, slowly
        _, numbers = np.unique(digests.numpy(), axis=0, return_inverse=True)
    return torch.from_numpy(numbers.reshape(-1))


def sending(signature: Signature, relations: Collection[str] | None, receivers: Positions) -> dict[str, list[int]]:
    """Which relations of a signature send messages, in its order, and to which positions."""
    if unknown := {*(relations or ()), *receivers} - set(signature.names):
        raise ValueError(f"the structures have no relation {', '.join(sorted(unknown))}")
    chosen = [one for one in signature if one.sends and (relations is None or one.name in relations)]
    return {name: sorted(receivers.get(name, range(arity))) for name, arity in chosen}


class _Batch:
    """Structures as arrays, cut into pieces; a round makes absolute indices piece by piece and keeps none of them."""

    def __init__(self, structures: Structures) -> None:
        if READOUT not in structures.signature:
            raise ValueError(f"the structures have no {READOUT}: encode them, so that a readout knows its elements")
        self.signature = structures.signature
        self.arguments = structures.arguments.cpu().numpy()
        self.atom_counts = structures.atom_counts.cpu().numpy()
        ends = np.array(structures.relation_bounds[1:]).reshape(-1, 1)
        self.bounds = np.hstack([structures.block_starts.cpu().numpy(), ends])  # (R, structures + 1)
        self.starts = np.append(structures.element_starts.cpu().numpy(), int(structures.element_counts.sum()))
        self.pieces = _cut(structures)

    def rounds(self, senders: Positions) -> Iterator[Words]:
        """(streams, elements) the colours before the first round, after it, after the second, …"""
        colours = np.stack([first_colours(stream, self.starts[-1]) for stream in STREAMS])
        if marks := {one.name: range(one.arity) for one in self.signature if one.is_mark}:
            colours = self._round(colours, marks)
        while True:
            yield colours
            colours = self._round(colours, senders)

    def read(self, colours: Words) -> Words:
        """(streams, structures) the multiset of what heads read, as its sum: READOUT elements, and queries if any."""
        structures = self.atom_counts.shape[1]
        sums = np.zeros((len(STREAMS), structures), np.uint64)
        for r, relation in enumerate(self.signature):
            if relation.name != READOUT and not relation.is_query:
                continue
            owners = np.repeat(np.arange(structures), self.atom_counts[r])
            columns = self._atoms(relation.name, 0, structures)
            for stream in STREAMS:
                if relation.is_query:
                    words = hash_atoms(stream, colours[stream], relation.name, columns[: relation.reads])
                else:
                    words = colours[stream, columns[0]]
                np.add.at(sums[stream], owners, words)
        return sums

    def _round(self, colours: Words, senders: Positions) -> Words:
        following = np.empty_like(colours)
        for first, last in pairwise(self.pieces):
            elements = slice(self.starts[first], self.starts[last])
            atoms = {name: self._atoms(name, first, last) for name in senders}
            for stream in STREAMS:
                following[stream, elements] = recolour(stream, colours[stream, elements], atoms, senders)
        return following

    def _atoms(self, name: str, first: int, last: int) -> NDArray[np.int64]:
        """(arity, atoms) the arguments of the atoms of some structures, counted from their first element."""
        r = self.signature.index(name)
        arity = self.signature.relations[r].arity
        counts = self.atom_counts[r, first:last]
        local = self.arguments[self.bounds[r, first] : self.bounds[r, last]].reshape(-1, arity)
        offsets = np.repeat(self.starts[first:last] - self.starts[first], counts)
        arguments: NDArray[np.int64] = np.add(local.T, offsets, order="C")
        return arguments


def _cut(structures: Structures) -> list[int]:
    """Where to cut structures into pieces of about ``PIECE`` arguments: 0, …, their number."""
    totals = np.cumsum((structures.atom_counts * structures.arities).sum(0).cpu().numpy())
    cuts = np.searchsorted(totals, np.arange(PIECE, totals[-1] if len(totals) else 0, PIECE)) + 1
    return list(np.unique([0, *cuts, len(structures)]).tolist())


def _tensor(words: Words) -> Tensor:
    """(streams, n) unsigned → (n, streams) int64 of the same bits."""
    return torch.from_numpy(words.view(np.int64)).T

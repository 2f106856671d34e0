"""Relational colour refinement atom by atom, without hashes: the slow twin of ``refine``, and its oracle."""

from __future__ import annotations

from collections.abc import Collection

import torch

from trifold.structures import Structures
from trifold.wl.refinement import ALL, Colouring, Positions, sending
from trifold.wl.relabel import Relabel


def refine_exactly(
    structures: Structures,
    rounds: int | None,
    *,
    relations: Collection[str] | None = None,
    marks: Collection[str] = (),
    receivers: Positions = ALL,
) -> Colouring:
    """The classes that ``refine`` returns, by its definition, with multisets as sorted tuples.

    Only the order in which classes are numbered differs.
    """
    union = structures.disjoint_union()
    senders = sending(structures.signature, relations, marks, receivers)

    def refined(colours: list[int], senders: Positions) -> list[int]:
        received: list[list[tuple[str, int, tuple[int, ...]]]] = [[] for _ in colours]
        for name, positions in senders.items():
            for atom in union.atoms(name).tolist():
                seen = tuple(colours[element] for element in atom)
                for position in positions:
                    received[atom[position]].append((name, position, seen))
        relabel = Relabel()
        return [relabel[colour, tuple(sorted(multiset))] for colour, multiset in zip(colours, received, strict=True)]

    def read(colours: list[int]) -> list[int]:
        multisets: list[list[int]] = [[] for _ in range(len(structures))]
        for element, owner in zip(*(column.tolist() for column in union.readout()), strict=True):
            multisets[owner].append(colours[element])
        relabel = Relabel()
        return [relabel[tuple(sorted(multiset))] for multiset in multisets]

    colours = refined([0] * union.elements, {name: range(structures.signature[name].arity) for name in marks})
    history = [read(colours)]
    while rounds is None or len(history) <= rounds:
        following = refined(colours, senders)
        if rounds is None and len(set(following)) == len(set(colours)):
            break
        colours = following
        history.append(read(colours))
    return Colouring(torch.tensor(colours, dtype=torch.int64), torch.tensor(history, dtype=torch.int64))

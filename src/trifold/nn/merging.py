"""Elements that a network cannot tell apart, found by colour refinement, so that each class is computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from trifold.structures import DisjointUnion, Relation
from trifold.wl import count_different, first_colours, hash_atoms, recolour

SMALL = 2**12
"""For fewer arguments of atoms than these, refinement takes longer than what it saves."""


@dataclass(frozen=True)
class Merged:
    """A union whose elements are classes of elements, with one atom for all that become the same.

    classes         (elements,) the class of each element
    members         (classes,) an element of each class
    atoms           per relation, (atoms, arity) tuples of classes
    multiplicities  per relation, (atoms, arity) how many of the atoms in one a member of that class is in, there
    """

    classes: Tensor
    members: Tensor
    atoms: list[Tensor]
    multiplicities: list[Tensor]


def merge(relations: Sequence[Relation], marks: Sequence[Relation], union: DisjointUnion, layers: int) -> Merged:
    """Merge the elements that ``layers`` layers cannot tell apart, or none where that would not halve the elements.

    No network of L layers separates what L rounds of ``wl.refine`` merge. The successors of a state share most of their
    atoms, and objects with nothing to tell them apart are many: a policy step of a large Logistics problem has a sixth
    of the classes that it has elements.

    Of N atoms that become one, each member of a class c has N/|c| at a position. If L rounds did not reach the fixed
    point this is a mean, of atoms whose messages are equal in all L layers, so it may stand for their number.

    One stream of hashes is enough here. If its 64 bits were random, the probability that 30 rounds over 10⁵ elements
    merge two colours by mistake would be 30 · 10¹⁰ / 2⁶⁵ < 10⁻⁸.
    """
    atoms = [union.atoms(name) for name, _ in relations]
    elements = torch.arange(union.elements)
    whole = Merged(elements, elements, atoms, [torch.ones_like(table) for table in atoms])
    if sum(table.numel() for table in atoms) < SMALL:
        return whole
    columns = {name: np.ascontiguousarray(union.atoms(name).numpy().T) for name, _ in (*marks, *relations)}
    marked, senders = ({name: columns[name] for name, _ in kind} for kind in (marks, relations))
    colours = recolour(0, first_colours(0, union.elements), marked)
    found = 0
    for layer in range(1, layers + 1):
        colours = recolour(0, colours, senders)
        if layer & (layer - 1) == 0:  # sorting takes as long as a round
            before, found = found, count_different(colours)
            if 2 * found > union.elements:
                return whole
            if found == before:
                break
    classes, sizes = _number(colours)
    merged = Merged(classes, _examples(classes, len(sizes)), [], [])
    for table, (name, of_relation) in zip(atoms, senders.items(), strict=True):
        same, counts = _number(hash_atoms(0, colours, name, of_relation))
        merged.atoms.append(classes[table[_examples(same, len(counts))]])
        merged.multiplicities.append(counts[:, None].double() / sizes[merged.atoms[-1]])
    return merged


def _number(words: np.ndarray) -> tuple[Tensor, Tensor]:
    """(n,), (classes,) a number 0, 1, … for each different word, and how often each occurs."""
    _, numbers, counts = torch.unique(torch.from_numpy(words.view(np.int64)), return_inverse=True, return_counts=True)
    return numbers, counts


def _examples(groups: Tensor, count: int) -> Tensor:
    """(count,) the index of some member of each group."""
    return groups.new_empty(count).scatter_(0, groups, torch.arange(len(groups)))

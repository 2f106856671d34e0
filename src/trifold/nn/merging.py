"""Elements that a network cannot tell apart, found by colour refinement, so that each class is computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from trifold.structures import DisjointUnion, Relation

SMALL = 2**12
"""Below so many arguments of atoms, refinement takes longer than what it saves."""

FACTORS = (-0x61C8864680B583EB, -0x40A7B892E31B1A47)
"""Odd numbers of 64 bits that mix well: splitmix64's."""


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
    """Merge the elements that so many layers cannot tell apart, or none where that would not halve the elements.

    C_{i+1}(e) = RELABEL(⟨C_i(e), {{(p, j, C_i(o₁), …, C_i(o_m)) | p(o₁…o_m) ∈ S, o_j = e}}⟩): no network of L layers
    separates what L rounds merge. The successors of a state share most of their atoms, and objects with nothing to tell
    them apart are many: a policy step of a large Logistics problem has a sixth of the classes that it has elements.

    Of N atoms that become one, each member of a class c has N/|c| at a position. If L rounds did not reach the fixed
    point this is a mean, of atoms whose messages are equal in all L layers, so it may stand for their number.

    RELABEL is a hash of 64 bits. If that were random, the probability that 30 rounds over 10⁵ elements merge two
    colours by mistake would be 30 · 10¹⁰ / 2⁶⁵ < 10⁻⁸.
    """
    atoms = [union.atoms(name) for name, _ in relations]
    device = union.arguments.device
    elements = torch.arange(union.elements, device=device)
    whole = Merged(elements, elements, atoms, [torch.ones_like(table) for table in atoms])
    if sum(table.numel() for table in atoms) < SMALL:
        return whole
    random = torch.Generator().manual_seed(0)

    def draw(count: int) -> Tensor:
        return torch.randint(-(2**63), 2**63 - 1, (count,), generator=random).to(device)

    colours = torch.full_like(elements, FACTORS[0])
    for name, _ in marks:
        colours[union.atoms(name)[:, 0]] += draw(1)
    senders = [(table, draw(table.shape[1]), draw(table.shape[1])) for table in atoms]
    found = 0
    for layer in range(1, layers + 1):
        sums = colours * FACTORS[0]
        for table, places, receivers in senders:
            hashes = _hash(colours, table, places)[:, None] * receivers
            sums.index_add_(0, table.view(-1), hashes.view(-1))
        colours = _mix(sums)
        if layer & (layer - 1) == 0:  # sorting takes as long as a round
            before, found = found, len(torch.unique(colours))
            if 2 * found > union.elements:
                return whole
            if found == before:
                break
    names, classes, sizes = torch.unique(colours, return_inverse=True, return_counts=True)
    merged = Merged(classes, _examples(classes, len(names)), [], [])
    for table, places, _ in senders:
        _, same, counts = torch.unique(_hash(colours, table, places), return_inverse=True, return_counts=True)
        merged.atoms.append(classes[table[_examples(same, len(counts))]])
        merged.multiplicities.append(counts[:, None].double() / sizes[merged.atoms[-1]])
    return merged


def _hash(colours: Tensor, table: Tensor, places: Tensor) -> Tensor:
    """(atoms, arity), (arity,) → (atoms,) the colour of each atom."""
    return _mix((colours.index_select(0, table.view(-1)).view(table.shape) * places).sum(1))


def _mix(x: Tensor) -> Tensor:
    """A bijection of 64 bits after which each bit depends on all; in place."""
    for factor in FACTORS:
        x.bitwise_xor_((x >> 32) & 0xFFFFFFFF).mul_(factor)  # a shift keeps the sign, and would lose a bit
    return x.bitwise_xor_((x >> 32) & 0xFFFFFFFF)


def _examples(groups: Tensor, count: int) -> Tensor:
    """(count,) the index of some member of each group."""
    return groups.new_empty(count).scatter_(0, groups, torch.arange(len(groups), device=groups.device))

"""Batches in arrays of fixed size, so that one captured graph serves them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import torch
from torch import Tensor

from trifold.structures import DisjointUnion, Relation, Structures

BLOCK = 64
"""Atoms or elements in a tile."""

HOIST = 4
"""With so many times more atoms than elements, a ternary relation has its first layer done once per element."""


@dataclass(frozen=True)
class Capacity:
    """How much a batch may hold: atoms of each relation, multiples of ``BLOCK``, and elements.

    The last element is nobody's: unused rows point to it.
    """

    relations: tuple[Relation, ...]
    atoms: tuple[int, ...]
    elements: int

    @classmethod
    def of(cls, relations: Sequence[Relation], atoms: Sequence[int], elements: int) -> Capacity:
        """The least capacity for so many atoms and elements."""
        rounded = tuple(-(-count // BLOCK) * BLOCK for count in atoms)
        return cls(tuple(relations), rounded, -(-(elements + 1) // BLOCK) * BLOCK)

    @cached_property
    def first_rows(self) -> list[int]:
        """The first row of each relation, and after the last one the number of rows."""
        firsts = [0]
        for (_, arity), atoms in zip(self.relations, self.atoms, strict=True):
            firsts.append(firsts[-1] + arity * atoms)
        return firsts

    @property
    def rows(self) -> int:
        """How many rows a layer may have: arguments of atoms."""
        return self.first_rows[-1]

    @cached_property
    def hoisted(self) -> int | None:
        """The relation, if any, that ``triangles`` does: the one of arity 3 with most atoms, if they are many."""
        ternary = [r for r, (_, arity) in enumerate(self.relations) if arity == 3]
        most = max(ternary, key=lambda r: self.atoms[r], default=None)
        return most if most is not None and self.atoms[most] >= HOIST * self.elements else None

    @property
    def segments(self) -> int:
        """In how many segments the rows of an element lie: those of △ are apart, by position."""
        return 1 if self.hoisted is None else 4

    def first_weights(self, dim: int) -> tuple[list[int], list[int]]:
        """Where the weights and biases of each relation begin: they are packed relation after relation."""
        sizes = [arity * dim for _, arity in self.relations]
        return [0, *accumulate(size**2 for size in sizes)][:-1], [0, *accumulate(sizes)][:-1]

    def tiles(self, dim: int) -> list[list[int]]:
        """What each tile is, but for what ``triangles`` does: see ``kernels``."""
        return [
            [self.first_rows[r] + atom * m, m, j, w, b, atom, r]
            for r, ((_, m), w, b) in enumerate(zip(self.relations, *self.first_weights(dim), strict=True))
            for atom in range(0, self.atoms[r], BLOCK)
            for j in range(m)
            if r != self.hoisted
        ]

    def blocks(self, dim: int) -> list[list[int]]:
        """The blocks of the weights of all relations: see ``kernels.weight_gradient``."""
        return [
            [self.first_rows[r], m, j, m, i, w + (j * m * dim + i) * dim, m * dim, b + j * dim if i == 0 else -1, r]
            for r, ((_, m), w, b) in enumerate(zip(self.relations, *self.first_weights(dim), strict=True))
            for j in range(m)
            for i in range(m)
        ]


@dataclass(frozen=True)
class Layout:
    """A batch in arrays of fixed size.

    gather   (rows,) int32: the element of each row
    counts   (relations + 1,) int32: atoms of each relation, and elements
    starts   (segments · elements + 1,) int32: where each segment of each element begins, rows being sorted so
    place    (rows,) int32: where each row is then
    order    (rows,) int32: which row is at each place
    sizes    (structures,) the elements of each structure; structures lie end to end
    """

    capacity: Capacity
    gather: Tensor
    counts: Tensor
    starts: Tensor
    place: Tensor
    order: Tensor
    sizes: Tensor

    def become(self, other: Layout) -> None:
        """Take over another layout of the same capacity in place: a captured graph reads these very arrays."""
        for name, tensor in vars(self).items():
            if isinstance(tensor, Tensor):
                tensor.copy_(getattr(other, name))

    @classmethod
    def of(cls, union: DisjointUnion, capacity: Capacity) -> Layout:
        """Lay a disjoint union out; it must fit."""
        device, nobody = union.arguments.device, capacity.elements - 1
        atoms = [union.atoms(name) for name, _ in capacity.relations]
        counts = [len(rows) for rows in atoms]
        fits = all(count <= most for count, most in zip(counts, capacity.atoms, strict=True))
        if not fits or union.elements > nobody:
            raise ValueError(f"a batch of {counts} atoms and {union.elements} elements exceeds {capacity}")
        gather = torch.full((capacity.rows,), nobody, dtype=torch.int64, device=device)
        for rows, first in zip(atoms, capacity.first_rows, strict=False):
            gather[first : first + rows.numel()] = rows.reshape(-1)
        totals = torch.tensor([*counts, union.elements], device=device)
        return cls.build(capacity, gather, totals, union.structures.element_counts)

    @classmethod
    def build(cls, capacity: Capacity, gather: Tensor, counts: Tensor, sizes: Tensor) -> Layout:
        """Sort the rows by element and segment. No number is read back, so that it can be captured."""
        gather, segments = gather.to(torch.int32), capacity.segments
        numbers = torch.arange(capacity.rows, dtype=torch.int32, device=gather.device)
        keys = gather * segments
        if capacity.hoisted is not None:
            first, end = capacity.first_rows[capacity.hoisted : capacity.hoisted + 2]
            keys[first:end] += 1 + (numbers[first:end] - first) % 3
        keys, order = torch.sort(keys, stable=True)
        bounds = torch.arange((capacity.elements - 1) * segments + 1, dtype=torch.int32, device=gather.device)
        starts = torch.searchsorted(keys, bounds, out_int32=True)
        starts = torch.cat([starts, starts[-1:].expand(segments)])  # nobody's rows are never reduced
        place = torch.empty_like(numbers).scatter_(0, order, numbers)
        return cls(capacity, gather, counts.to(torch.int32), starts, place, order.to(torch.int32), sizes)


class Batcher:
    """Mini-batches of resident structures, laid out on their device in arrays of fixed size.

    Every step is an array operation of fixed shape: nothing is read back, so it can be captured with the training step.
    What exceeds the capacity is left out, or nobody's; ``fits`` says of a batch whether that happens.

    ``aside`` are relations that send no messages, the readout, marks and queries, each with its capacity.
    """

    def __init__(self, structures: Structures, capacity: Capacity, aside: Mapping[Relation, int]) -> None:
        self.structures, self.capacity, self.aside = structures, capacity, aside
        device = structures.device
        relations = (*capacity.relations, *aside)
        atoms = torch.tensor([*capacity.atoms, *aside.values()], device=device)
        self.index = torch.tensor([structures.signature.index(name) for name, _ in relations], device=device)
        self.arity = torch.tensor([arity for _, arity in relations], device=device)
        self.limits = atoms
        self.base = torch.cumsum(atoms, 0) - atoms  # the first slot of each relation; a slot holds an atom
        self.relation = torch.repeat_interleave(torch.arange(len(relations), device=device), atoms)
        self.slots = torch.arange(len(self.relation), device=device)
        rows = self.arity[self.relation]
        self.slot = torch.repeat_interleave(self.slots, rows)  # of each row
        self.place = torch.arange(len(self.slot), device=device) - torch.repeat_interleave(
            torch.cumsum(rows, 0) - rows, rows
        )
        self.counts = structures.atom_counts[self.index].to(torch.int64)  # (relations, structures)
        self.starts = structures.block_starts[self.index]

    def __call__(self, indices: Tensor) -> tuple[Layout, dict[str, tuple[Tensor, Tensor]]]:
        """The layout of these structures, and the atoms of each relation set aside: their elements and structures.

        Shapes: indices (batch,) → layout, (capacity, arity) and (capacity,); unused atoms are nobody's, of structure
        ``batch``.
        """
        batch, nobody = len(indices), self.capacity.elements - 1
        counts, starts = self.counts[:, indices], self.starts[:, indices].reshape(-1)
        ends = torch.cumsum(counts, 1)
        # Ends shifted by the first slot of their relation ascend, so one search finds the block of every slot.
        block = torch.searchsorted((ends + self.base[:, None]).reshape(-1), self.slots, right=True)
        used = block // batch == self.relation
        block = torch.where(used, block, 0)
        before = (ends - counts).reshape(-1)[block]
        source = starts[block] + (self.slots - self.base[self.relation] - before) * self.arity[self.relation]
        sizes = self.structures.element_counts[indices]
        offsets = (torch.cumsum(sizes, 0) - sizes)[block % batch]

        source = torch.where(used, source, 0)[self.slot] + self.place
        source = source.clamp_(0, max(len(self.structures.arguments) - 1, 0))  # in a batch that does not fit
        elements = self.structures.arguments[source].to(torch.int64) + offsets[self.slot]
        elements = torch.where(used[self.slot], elements, nobody).clamp_(max=nobody)
        rows = self.capacity.rows
        totals = torch.minimum(ends[:, -1], self.limits)[: len(self.capacity.relations)]
        present = sizes.sum().clamp(max=nobody)
        layout = Layout.build(self.capacity, elements[:rows], torch.cat([totals, present[None]]), sizes)
        atoms = list(self.aside.values())
        owners = torch.where(used, block % batch, batch)[len(self.slots) - sum(atoms) :].split(atoms)
        parts = elements[rows:].split([relation.arity * count for relation, count in self.aside.items()])
        return layout, {
            relation.name: (part.view(-1, relation.arity), of)
            for relation, part, of in zip(self.aside, parts, owners, strict=True)
        }

    def take_over(self, structures: Structures) -> None:
        """Lay out other structures from now on, as many, in place: a captured graph reads these very arrays.

        ``fits`` goes on to speak of the former ones.
        """
        held = self.structures
        held.arguments[: len(structures.arguments)].copy_(structures.arguments)
        held.element_counts.copy_(structures.element_counts)
        self.counts.copy_(structures.atom_counts[self.index])
        self.starts.copy_(structures.block_starts[self.index])

    def fits(self, indices: Tensor) -> bool:
        """Whether these structures keep within the capacity; indices and what is looked at lie on the host."""
        counts, elements, limits = self.on_host
        within = (counts[:, indices].sum(1) <= limits).all() and elements[indices].sum() < self.capacity.elements
        return bool(within)

    @cached_property
    def on_host(self) -> tuple[Tensor, Tensor, Tensor]:
        """The counts of atoms and of elements, and the limits of the former."""
        return self.counts.cpu(), self.structures.element_counts.cpu(), self.limits.cpu()

"""Many relational structures held flat, and the mini-batches made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from trifold.structures.ragged import expand_segments, segment_starts
from trifold.structures.signature import READOUT, Signature


@dataclass(frozen=True)
class Structures:
    """Many relational structures over one signature. A single structure is a batch of one.

    A structure is a set of elements 0 … n−1 and, for each relation of the signature, a list of atoms: tuples of
    elements. Elements are objects of a planning problem, or pairs of them after the encoder ``pairs``. Indices are
    local to their structure, so structures can be gathered, reordered and joined without being rewritten.

    signature      the R relations, in order
    arguments      (Σ atoms·arity,)  the arguments of all atoms, row by row: first by relation, then by structure.
                   Any integer type: the narrowest that holds the largest structure saves memory.
    atom_counts    (R, structures)   int32: how many atoms each structure has of each relation
    element_counts (structures,)     how many elements each structure has
    pairs          (Σ elements, 2)   which pair ⟨o,o'⟩ of objects each element is, or None if elements are objects

    The argument at position j of atom a of relation r in structure s is
    ``arguments[start(r, s) + a · arity(r) + j]`` where start(r, s) is the number of arguments before that block.

    >>> path = Structures.build(Signature.of([("edge", 2), ("red", 1)]), [3], {"edge": [[[0, 1], [1, 2]]]})
    >>> path.atoms("edge").tolist(), path.atoms("red").tolist()
    ([[0, 1], [1, 2]], [])
    >>> two = concatenate([path, path]).take(torch.tensor([1, 0]))
    >>> two.disjoint_union().atoms("edge").tolist()
    [[0, 1], [1, 2], [3, 4], [4, 5]]
    """

    signature: Signature
    arguments: Tensor
    atom_counts: Tensor
    element_counts: Tensor
    pairs: Tensor | None = None

    @classmethod
    def build(
        cls,
        signature: Signature,
        element_counts: Sequence[int],
        atoms: dict[str, list[list[list[int]]]],
    ) -> Structures:
        """Build structures from nested lists: relation name → structure → atoms. For tests and small examples."""
        counts: list[list[int]] = []
        flat: list[int] = []
        for name, _ in signature:
            rows = atoms.get(name, [[] for _ in element_counts])
            counts.append([len(row) for row in rows])
            flat.extend(element for row in rows for atom in row for element in atom)
        return cls(
            signature,
            torch.tensor(flat, dtype=torch.int64),
            torch.tensor(counts, dtype=torch.int32).reshape(len(signature), len(element_counts)),
            torch.tensor(element_counts, dtype=torch.int64),
        )

    @classmethod
    def join(
        cls,
        signature: Signature,
        atoms: Sequence[Tensor],
        atom_counts: Sequence[Tensor],
        element_counts: Tensor,
        pairs: Tensor | None = None,
    ) -> Structures:
        """Join one (atoms, arity) array and one row of counts per relation, in the signature's order."""
        dtype = narrowest_dtype(int(element_counts.max()) if element_counts.numel() else 0)
        flat = [rows.reshape(-1).to(dtype) for rows in atoms]
        device = element_counts.device
        return cls(
            signature,
            torch.cat(flat) if flat else torch.empty(0, dtype=dtype, device=device),
            torch.stack(list(atom_counts)).to(torch.int32)
            if flat
            else element_counts.new_empty((0, len(element_counts))),
            element_counts,
            pairs,
        )

    def __len__(self) -> int:
        """How many structures there are."""
        return self.element_counts.shape[0]

    @property
    def device(self) -> torch.device:
        """Where the data lives."""
        return self.element_counts.device

    @property
    def nbytes(self) -> int:
        """How many bytes the data takes."""
        tensors = [self.arguments, self.atom_counts, self.element_counts, self.pairs]
        return sum(tensor.nbytes for tensor in tensors if tensor is not None)

    @cached_property
    def arities(self) -> Tensor:
        """(R, 1) the arity of each relation, where the data lives."""
        return torch.tensor(self.signature.arities, dtype=torch.int64, device=self.device).reshape(-1, 1)

    @cached_property
    def block_starts(self) -> Tensor:
        """(R, structures) where the arguments of each relation in each structure start."""
        lengths = self.atom_counts * self.arities
        return segment_starts(lengths.reshape(-1)).reshape(lengths.shape)

    @cached_property
    def element_starts(self) -> Tensor:
        """(structures,) the first element of each structure, when they lie end to end."""
        return segment_starts(self.element_counts)

    @cached_property
    def relation_bounds(self) -> list[int]:
        """Where the arguments of each relation start, and after the last where they end."""
        lengths = (self.atom_counts.sum(1, keepdim=True) * self.arities).reshape(-1)
        return [0, *torch.cumsum(lengths, 0).tolist()]

    def atoms(self, name: str) -> Tensor:
        """(atoms, arity) all atoms of a relation, structure after structure, in local indices."""
        r = self.signature.index(name)
        start, end = self.relation_bounds[r : r + 2]
        return self.arguments[start:end].view(-1, self.signature.relations[r].arity)

    def message_rows(self) -> Tensor:
        """(structures,) how many messages a layer sends in each structure: those of relations that send."""
        senders = torch.tensor([int(relation.sends) for relation in self.signature], device=self.device)
        return (self.atom_counts * self.arities * senders.reshape(-1, 1)).sum(0)

    def take(self, indices: Tensor) -> Structures:
        """The structures at these indices, in this order: the mini-batch. One gather, on the data's device."""
        indices = indices.to(self.device)
        counts = self.atom_counts[:, indices]
        lengths = (counts * self.arities).reshape(-1)
        rows = expand_segments(self.block_starts[:, indices].reshape(-1), lengths)
        pairs = None
        if self.pairs is not None:
            elements = expand_segments(self.element_starts[indices], self.element_counts[indices])
            pairs = self.pairs.index_select(0, elements)
        arguments = self.arguments.index_select(0, rows)
        return Structures(self.signature, arguments, counts, self.element_counts[indices], pairs)

    def disjoint_union(self) -> DisjointUnion:
        """All structures as one: indices made absolute by adding each structure's offset."""
        lengths = (self.atom_counts * self.arities).reshape(-1)
        offsets = self.element_starts.repeat(len(self.signature))
        arguments = self.arguments.to(torch.int64) + torch.repeat_interleave(
            offsets, lengths, output_size=len(self.arguments)
        )
        return DisjointUnion(self, arguments)

    def to(self, device: torch.device | str) -> Structures:
        """The same structures on another device."""
        pairs = None if self.pairs is None else self.pairs.to(device)
        return Structures(
            self.signature,
            self.arguments.to(device),
            self.atom_counts.to(device),
            self.element_counts.to(device),
            pairs,
        )


@dataclass(frozen=True)
class DisjointUnion:
    """What a network reads: the disjoint union of structures, with the structure of each element at hand.

    structures     the structures it is made of
    arguments      (Σ atoms·arity,) int64: as in ``structures``, but absolute
    """

    structures: Structures
    arguments: Tensor

    @cached_property
    def elements(self) -> int:
        """How many elements there are in all."""
        return int(self.structures.element_counts.sum())

    def atoms(self, name: str) -> Tensor:
        """(atoms, arity) the atoms of a relation, in absolute indices; none if the signature lacks the relation."""
        signature = self.structures.signature
        if name not in signature:
            return self.arguments.new_empty((0, 1))
        r = signature.index(name)
        start, end = self.structures.relation_bounds[r : r + 2]
        return self.arguments[start:end].view(-1, signature.relations[r].arity)

    def readout(self) -> tuple[Tensor, Tensor]:
        """(readout,), (readout,) the elements that are read out, and the structure of each."""
        counts = self.structures.atom_counts[self.structures.signature.index(READOUT)]
        owners = torch.arange(len(self.structures), device=counts.device)
        return self.atoms(READOUT).reshape(-1), torch.repeat_interleave(owners, counts)


def concatenate(parts: Sequence[Structures]) -> Structures:
    """One batch that holds the structures of all parts, in order. All parts have the same signature."""
    if not parts:
        raise ValueError("there is nothing to concatenate")
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    if any(part.signature != first.signature for part in parts):
        raise ValueError("structures of different signatures cannot be concatenated")
    element_counts = torch.cat([part.element_counts for part in parts])
    dtype = narrowest_dtype(int(element_counts.max()) if element_counts.numel() else 0)
    blocks = []
    for r in range(len(first.signature)):
        for part in parts:
            start, end = part.relation_bounds[r : r + 2]
            blocks.append(part.arguments[start:end].to(dtype))
    pairs = [part.pairs for part in parts if part.pairs is not None]
    return Structures(
        first.signature,
        torch.cat(blocks) if blocks else first.arguments,
        torch.cat([part.atom_counts for part in parts], dim=1),
        element_counts,
        torch.cat(pairs) if len(pairs) == len(parts) else None,
    )


def narrowest_dtype(count: int) -> torch.dtype:
    """The narrowest integer type that can index this many elements."""
    if count <= 2**8:
        return torch.uint8
    return torch.int16 if count <= 2**15 else torch.int32

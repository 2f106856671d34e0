"""A_t(S) of one state by operations of fixed shapes, so that encoding can be captured as part of a CUDA graph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

import torch
from torch import Tensor

from trifold.encoders.pairs import Pairs
from trifold.structures import Signature, Structures


class FixedPairs:
    """``Queried(Pairs(t))`` of one structure, in arrays with room for more: no shape depends on the structure.

    What lies beyond what a structure has means nothing, so all comes with counts; where one exceeds the room, nothing
    means anything. One difference: there is always one element more than there are live pairs, for all other pairs.

    objects    n, how many a structure has
    atoms      room for atoms of each of its relations
    starts     where their arguments begin when it is packed, and after the last where they end
    packed     the size of a packed structure: arguments, then how many atoms each relation has
    encoded    where the arguments of each encoded relation begin, and after the last where they end
    related    room for pairs of R_t
    triangles  room for △
    """

    def __init__(
        self,
        encoder: Pairs,
        signature: Signature,
        objects: int,
        atoms: Sequence[int],
        related: int,
        triangles: int,
        device: torch.device | str = "cpu",
    ) -> None:
        """The signature has the relations of states, then queries."""
        self.t, self.objects, self.atoms, self.related, self.triangles = encoder.t, objects, atoms, related, triangles
        states = sum(not relation.is_query for relation in signature)
        added = [objects, objects] if self.t == 0 else [objects, 3 * triangles, objects]
        rooms = [(room, arity) for room, (_, arity) in zip(atoms, signature, strict=True)]
        squares = [room * arity * arity for room, arity in rooms]
        self.starts = [0, *accumulate(room * arity for room, arity in rooms)]
        self.packed = self.starts[-1] + len(rooms)
        self.encoded = [0, *accumulate([*squares[:states], *added, *squares[states:]])]
        self.state_relations, self.state_cells = states, sum(squares[:states])
        # For each pair of arguments of each atom, row by row: where they are.
        first, second = [], []
        for start, (room, arity) in zip(self.starts, rooms, strict=False):
            places = start + torch.arange(room * arity).view(room, arity)
            first.append(places[:, :, None].expand(-1, -1, arity).reshape(-1))
            second.append(places[:, None, :].expand(-1, arity, -1).reshape(-1))
        self.first, self.second = torch.cat(first).to(device), torch.cat(second).to(device)
        self.diagonal = (torch.arange(objects) * (objects + 2)).to(device)
        self.none = torch.tensor([(objects + 1) ** 2 - 1], device=device)

    def pack(self, structure: Structures, out: Tensor) -> bool:
        """Write a structure on the host to an array there, with n for no object; False if there is no room for it.

        Shapes: out (packed,).
        """
        counts = structure.atom_counts[:, 0].tolist()
        if int(structure.element_counts) != self.objects:
            return False
        if any(count > room for count, room in zip(counts, self.atoms, strict=True)):
            return False
        packed, arguments, bounds = out.numpy(), structure.arguments.numpy(), structure.relation_bounds
        packed[: self.starts[-1]] = self.objects
        for relation, start in enumerate(self.starts[:-1]):
            part = arguments[bounds[relation] : bounds[relation + 1]]
            packed[start : start + len(part)] = part
        packed[self.starts[-1] :] = counts
        return True

    def __call__(self, packed: Tensor) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor, Tensor]]:
        """The arguments of all encoded atoms, how many atoms each relation has, and three counts.

        These are of what may exceed the room: live pairs, for which there is no room here; pairs of R_t; and △.

        Shapes: packed (packed,) → (encoded[-1],), (encoded relations,), three times ().
        """
        arguments, counts = packed[: self.starts[-1]], packed[self.starts[-1] :]
        size, states = self.objects + 1, self.state_relations  # the last object is none, and so are all its pairs
        cells = arguments[self.first] * size + arguments[self.second]
        of_state, of_queries = cells[: self.state_cells], cells[self.state_cells :]
        related = torch.zeros(size * size, dtype=torch.bool, device=arguments.device)
        related.index_fill_(0, self.diagonal, True).index_fill_(0, of_state, True).index_fill_(0, self.none, False)
        live, triangles, total = related, cells[:0], counts[:0]
        if self.t > 0:
            related = self._close(related.view(size, size))
            triangles, total = self._compose(related)
            live = torch.zeros_like(live).index_fill_(0, triangles[:, 2], True).index_fill_(0, self.none, False)
        element = torch.cumsum(live, 0)
        alive = element[-1].clone()
        element = torch.where(live, element - 1, alive)
        blocks = [of_state, self.diagonal, triangles.reshape(-1), self.diagonal, of_queries]
        objects = torch.full_like(counts[:1], self.objects)
        numbers = torch.cat([counts[:states], objects, total, objects, counts[states:]])
        return element[torch.cat(blocks)], numbers, (alive, related.sum(), total.sum())

    def _close(self, related: Tensor) -> Tensor:
        """R_t of R_1. Shapes: (n + 1, n + 1) → the same."""
        for _ in range(related.shape[0].bit_length() if self.t == math.inf else int(self.t) - 1):
            related = related.float() @ related.float() > 0.5
        return related

    def _compose(self, related: Tensor) -> tuple[Tensor, Tensor]:
        """(triangles, 3) the cells of △, those of none where there are no more, and (1,) how many there are."""
        size, device = related.shape[0], related.device
        degrees = related.sum(1)
        starts = torch.cumsum(degrees, 0) - degrees
        numbers = torch.arange(1, self.related + 1, device=device)
        listed = torch.searchsorted(torch.cumsum(related.view(-1), 0), numbers).clamp_(max=size * size - 1)
        first, second = listed // size, listed % size
        compositions = degrees[second]
        ends = torch.cumsum(compositions, 0)
        slots = torch.arange(self.triangles, device=device)
        left = torch.searchsorted(ends, slots, right=True).clamp_(max=self.related - 1)
        right = (starts[second[left]] + slots - ends[left] + compositions[left]).clamp_(0, self.related - 1)
        cells = torch.stack([listed[left], listed[right], first[left] * size + second[right]], 1)
        return torch.where((slots < ends[-1])[:, None], cells, size * size - 1), ends[-1:]

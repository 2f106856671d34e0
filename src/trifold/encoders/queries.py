"""Queries, encoded beside the structure that they are of: which elements the score of each action reads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from trifold.structures import (
    Relation,
    Signature,
    Structures,
    narrowest_dtype,
    segment_starts,
)

if TYPE_CHECKING:
    from trifold.encoders import Encoder


@dataclass(frozen=True)
class Queried:
    """Any encoder, and the queries of the structures: S, {a(o₁…o_m)} ↦ encoder(S), {the elements that q(S, a) reads}.

    Where elements are objects, a query reads o₁ … o_m. Where they are pairs, it reads ⟨o_i,o_j⟩ for all i and j, row by
    row. Nothing else changes: queries send no messages, and no pair is live for their sake. All pairs that are not live
    have one embedding in the paper's dense form, which no message ever changes; so a structure that is asked for such
    pairs gets one more element, in no atom, that stands for them all.

    >>> from trifold.encoders import Pairs
    >>> from trifold.structures import query_relations
    >>> signature = Signature((*Signature.of([("on", 2)]), *query_relations([("move", 2)])))
    >>> state = Structures.build(signature, [3], {"on": [[[0, 1]]], "move@applicable": [[[0, 1], [0, 2]]]})
    >>> encoded = Queried(Pairs(t=0))(state)
    >>> encoded.element_counts.tolist(), encoded.atoms("move@applicable").tolist()  # ⟨0,2⟩ and ⟨2,0⟩ are not live
    ([6], [[0, 1, 2, 3], [0, 5, 5, 4]])
    """

    encoder: Encoder

    @property
    def label(self) -> str:
        """The architecture that reads what this makes."""
        return self.encoder.label

    @cached_property
    def over_pairs(self) -> bool:
        """Whether elements are pairs of objects: what the encoder makes of one object says it."""
        return self.encoder(Structures.build(Signature(()), [1], {})).pairs is not None

    def signature(self, objects: Signature) -> Signature:
        """The signature of the encoded structures: the encoder's, then the queries."""
        state, queries = _split(objects)
        power = 2 if queries and self.over_pairs else 1
        encoded = (Relation(query.name, max(query.reads, 1) ** power) for query in queries)
        return Signature((*self.encoder.signature(state), *encoded))

    def __call__(self, structures: Structures) -> Structures:
        state, queries = _split(structures.signature)
        relations = len(state)
        end = structures.relation_bounds[relations]
        plain = Structures(
            state, structures.arguments[:end], structures.atom_counts[:relations], structures.element_counts
        )
        encoded = self.encoder(plain)
        counts = structures.atom_counts[relations:]
        rows = [structures.atoms(query.name).to(torch.int64) for query in queries]
        sizes = encoded.element_counts
        if self.over_pairs:
            owners = torch.arange(len(structures), device=structures.device)
            asking = [torch.repeat_interleave(owners, count) for count in counts]
            reads = [row if query.reads else row[:, :0] for query, row in zip(queries, rows, strict=True)]
            found, sizes = _find_pairs(encoded, structures.element_counts, reads, asking)
            rows = [pairs if query.reads else 0 * row for query, pairs, row in zip(queries, found, rows, strict=True)]
        dtype = narrowest_dtype(int(sizes.max()) if len(sizes) else 0)
        return Structures(
            self.signature(structures.signature),
            torch.cat([encoded.arguments.to(dtype), *(row.reshape(-1).to(dtype) for row in rows)]),
            torch.cat([encoded.atom_counts, counts.to(encoded.atom_counts.dtype)]),
            sizes,
        )


def _split(signature: Signature) -> tuple[Signature, list[Relation]]:
    """The relations of a state, and its queries, which come after them."""
    queries = [relation for relation in signature if relation.is_query]
    state = signature.relations[: len(signature) - len(queries)]
    if any(relation.is_query for relation in state):
        raise ValueError("queries come after all other relations")
    return Signature(state), queries


def _find_pairs(
    encoded: Structures, objects: Tensor, rows: list[Tensor], owners: list[Tensor]
) -> tuple[list[Tensor], Tensor]:
    """The elements ⟨o_i,o_j⟩ of each query, and how many elements each structure has with the one for all others.

    Shapes: objects (structures,); per relation rows (queries, m), owners (queries,) → (queries, m²); (structures,).
    """
    sizes = encoded.element_counts
    assert encoded.pairs is not None
    grid = segment_starts(objects * objects)  # the first cell of each structure, where all pairs lie end to end
    owner = torch.repeat_interleave(torch.arange(len(sizes), device=sizes.device), sizes)
    pairs = encoded.pairs.to(torch.int64)
    cells = grid[owner] + pairs[:, 0] * objects[owner] + pairs[:, 1]
    local = torch.arange(len(owner), device=sizes.device) - segment_starts(sizes)[owner]
    element = torch.full((int((objects * objects).sum()),), -1, dtype=torch.int64, device=sizes.device)
    element[cells] = local
    lacks = torch.zeros(len(sizes), dtype=torch.bool, device=sizes.device)
    found = []
    for row, of in zip(rows, owners, strict=True):
        asked = (row[:, :, None] * objects[of][:, None, None] + row[:, None, :]).flatten(1) + grid[of][:, None]
        elements = element[asked]
        missing = elements < 0
        lacks[of[missing.any(1)]] = True
        found.append(torch.where(missing, sizes[of][:, None], elements))
    return found, sizes + lacks

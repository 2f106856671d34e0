"""The plain R-GNN's input: the state itself, every object read out."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from trifold.structures import READOUT, Relation, Signature, Structures, segment_starts


@dataclass(frozen=True)
class Plain:
    """S ↦ S, with every object in the readout: R-GNN(S, O).

    >>> state = Structures.build(Signature.of([("on", 2)]), [2], {"on": [[[0, 1]]]})
    >>> Plain()(state).atoms("@readout").tolist()
    [[0], [1]]
    """

    label = "R-GNN"

    def signature(self, objects: Signature) -> Signature:
        """The signature of the encoded structures."""
        return Signature((*objects.relations, Relation(READOUT, 1)))

    def __call__(self, structures: Structures) -> Structures:
        counts = structures.element_counts
        objects = torch.arange(int(counts.sum()), device=structures.device)
        local = objects - torch.repeat_interleave(segment_starts(counts), counts)
        return Structures(
            self.signature(structures.signature),
            torch.cat([structures.arguments, local.to(structures.arguments.dtype)]),
            torch.cat([structures.atom_counts, counts[None].to(structures.atom_counts.dtype)]),
            counts,
        )

"""The 2-GNN's input: pairs that differ in one object talk to each other, as in 2-OWL."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from trifold.encoders import square
from trifold.encoders.marks import mark, mark_signature
from trifold.memory import MAX_TRIPLES
from trifold.structures import Relation, Signature, Structures

LEFT = "@left"
"""p₁: the binary relation of pairs that may differ in their left object."""

RIGHT = "@right"
"""p₂: the binary relation of pairs that may differ in their right object."""


@dataclass(frozen=True)
class Oblivious:
    """S ↦ p₁(⟨w,v⟩,⟨u,v⟩) and p₂(⟨u,w⟩,⟨u,v⟩) for all u, v, w ∈ O, and the marks of S: the paper's 2-GNN.

    State and goal enter as marks alone, as for the Edge Transformer (see ``Marks``), Obj among them: the first colour
    of 2-OWL tells ⟨o,o⟩ from other pairs.

    More than ``max_triples`` triples of objects in one call raise before their atoms are built.

    >>> state = Structures.build(Signature.of([("on", 2)]), [2], {"on": [[[0, 1]]]})
    >>> Oblivious()(state).atoms("@left").tolist()
    [[0, 0], [2, 0], [1, 1], [3, 1], [0, 2], [2, 2], [1, 3], [3, 3]]
    """

    label = "2-GNN"
    max_triples: int = MAX_TRIPLES

    def signature(self, objects: Signature) -> Signature:
        """The signature of the encoded structures."""
        return mark_signature(objects, (Relation(LEFT, 2), Relation(RIGHT, 2)), self.label)

    def __call__(self, structures: Structures) -> Structures:
        signature = self.signature(structures.signature)
        u, v, w, n = square.triples(structures, self.max_triples, self.label)
        receiver = u * n + v
        left = torch.stack([w * n + v, receiver], dim=1)
        right = torch.stack([u * n + w, receiver], dim=1)
        return mark(structures, signature, [left, right], 2 * [structures.element_counts**3])

"""R-GNN₂'s input: A_0(S) and every composition."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from trifold.encoders import square
from trifold.encoders.pairs import Pairs
from trifold.memory import MAX_TRIPLES
from trifold.structures import Signature, Structures


@dataclass(frozen=True)
class Compositions:
    """S ↦ A_0(S) and △(⟨o,o'⟩,⟨o',o''⟩,⟨o,o''⟩) for all o, o', o'' ∈ O: the paper's R-GNN₂.

    Every pair of O² is live. The relations are those of ``Pairs``: where all objects are connected, this is A_∞(S).

    More than ``max_triples`` triples of objects in one call raise before they are built.

    >>> state = Structures.build(Signature.of([("on", 2)]), [3], {"on": [[[0, 1]]]})
    >>> encoded = Compositions()(state)
    >>> encoded.element_counts.tolist(), encoded.atoms("on").tolist(), len(encoded.atoms("@triangle"))
    ([9], [[0, 1, 3, 4]], 27)
    """

    label = "R-GNN₂"
    max_triples: int = MAX_TRIPLES

    def signature(self, objects: Signature) -> Signature:
        """The signature of the encoded structures."""
        return Pairs(t=1).signature(objects)

    def __call__(self, structures: Structures) -> Structures:
        sizes = structures.element_counts
        u, v, w, n = square.triples(structures, self.max_triples, self.label)
        triangles = torch.stack([u * n + v, v * n + w, u * n + w], dim=1)
        diagonal = square.diagonal(structures)
        atoms = [
            (rows[:, :, None] * n[:, :, None] + rows[:, None, :]).flatten(1)  # (atoms, arity²)
            for rows, n in square.atoms_over_objects(structures)
        ]
        return Structures.join(
            self.signature(structures.signature),
            [*atoms, diagonal, triangles, diagonal],
            [*structures.atom_counts, sizes, sizes**3, sizes],
            sizes**2,
            square.pairs(structures),
        )

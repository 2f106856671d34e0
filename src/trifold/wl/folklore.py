"""2-FWL on structures over pairs: all compositions, told to the composed pair alone."""

from __future__ import annotations

import torch

from trifold.structures import TRIANGLE, Relation, Signature, Structures, expand_segments
from trifold.wl.hashing import Positions

FOLKLORE: Positions = {TRIANGLE: (2,)}
"""The receivers that make colour refinement of all compositions 2-FWL: ⟨u,w⟩ is told of each v."""


def add_compositions(structures: Structures) -> Structures:
    """Structures over O², row by row, with the composition of any two pairs that share their inner object.

    Without any other relation that sends, these are what an Edge Transformer attends to.

    >>> pair = Structures.build(Signature.of([("@readout", 1)]), [4], {"@readout": [[[0], [3]]]})
    >>> add_compositions(pair).atoms("@triangle").tolist()[:3]
    [[0, 0, 0], [0, 1, 1], [1, 2, 0]]
    """
    sizes = structures.element_counts.double().sqrt().round().long()
    if not torch.equal(sizes**2, structures.element_counts.long()):
        raise ValueError("the elements are not all pairs of objects")
    triples = sizes**3
    index, n = expand_segments(torch.zeros_like(triples), triples), torch.repeat_interleave(sizes, triples)
    u, v, w = index // (n * n), index // n % n, index % n
    return Structures.join(
        Signature((*structures.signature.relations, Relation(TRIANGLE, 3))),
        [*map(structures.atoms, structures.signature.names), torch.stack([u * n + v, v * n + w, u * n + w], dim=1)],
        [*structures.atom_counts, triples],
        structures.element_counts,
        structures.pairs,
    )

"""The first embedding of each element, learned from its marks."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from trifold.structures import DisjointUnion, Relation


class InitialEmbeddings(nn.Module):
    """f₀(o) = Σ_p e_p · [p(o)] over the marks p, with one learned vector e_p each; 0 without marks.

    The brackets are a matrix of zeros and ones, so that the sum and its gradient are matrix products, in fixed order.

    Shapes: a disjoint union → (elements, dim).
    """

    none: Tensor

    def __init__(self, marks: Sequence[Relation], dim: int) -> None:
        super().__init__()
        self.marks = tuple(marks)
        # A list and a buffer that is not saved: a network without marks has no entry in the state dict.
        self.vectors = nn.ParameterList(nn.Parameter(torch.randn(dim)) for _ in self.marks)
        self.register_buffer("none", torch.empty(0, dim), persistent=False)

    def forward(self, union: DisjointUnion) -> Tensor:
        """f₀ of each element."""
        vectors = torch.cat([self.none, *(vector[None] for vector in self.vectors)])  # (marks, dim)
        brackets = vectors.new_zeros((union.elements, len(self.marks)))
        for p, (name, _) in enumerate(self.marks):
            brackets[union.atoms(name)[:, 0], p] = 1
        return brackets @ vectors

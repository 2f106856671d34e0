"""The Edge Transformer: attention over the triangles of a complete graph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from trifold.nn.initial import InitialEmbeddings
from trifold.nn.mlp import MLP
from trifold.structures import DisjointUnion, Relation, expand_segments

HEADS = 8
"""The attention heads of the paper's Edge Transformers."""


class EdgeTransformer(nn.Module):
    """Embeddings of all pairs of objects, by the Edge Transformer of Bergen et al. (NeurIPS 2021) as the paper has it.

    f₀(u,v) = Σ_p e_p · [p(u,v)]                                            over the marks p
    f_{i+1}(u,v) = MLP(LN(f_i(u,v) + TriangularAttention(LN(f_i))(u,v)))

    All L layers share their weights. The differences from Bergen et al. are the paper's: the MLP has no residual of its
    own, and no dropout. Marks that the network was not built with are not seen.

    Shapes: a disjoint union of structures over all pairs O², row by row, as ``Marks`` makes them → (elements, dim).
    """

    def __init__(self, marks: Sequence[Relation], dim: int, layers: int, heads: int = HEADS) -> None:
        super().__init__()
        self.dim, self.layers = dim, layers
        self.initial = InitialEmbeddings(marks, dim)
        self.attention = TriangularAttention(dim, heads)
        self.norm_before, self.norm_after = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.update = MLP(dim, dim)

    def forward(self, union: DisjointUnion) -> Tensor:
        grids = Grids.of(union.structures.element_counts)
        f = self.initial(union)
        for _ in range(self.layers):
            f = self.update(self.norm_after(f + self.attention(self.norm_before(f), grids)))
        return f


class TriangularAttention(nn.Module):
    """Each pair ⟨u,v⟩ attends to the pairs of pairs ⟨u,w⟩, ⟨w,v⟩, for all w: the contexts of 2-FWL.

    a(u,w,v) = softmax_w(Q f(u,w) · K f(w,v) / √d)
    TriangularAttention(f)(u,v) = O Σ_w a(u,w,v) · (V₁ f(u,w) ⊙ V₂ f(w,v))

    in each of the heads, of width d = dim / heads, laid side by side before O; Q, K, V₁, V₂ and O are affine.

    Shapes: (elements, dim) → (elements, dim). Each triple of a grid takes dim numbers.
    """

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        if dim % heads:
            raise ValueError(f"{heads} heads cannot share {dim} dimensions evenly")
        self.heads, self.width = heads, dim // heads
        self.project = nn.Linear(dim, 4 * dim)  # Q, K, V₁, V₂
        self.output = nn.Linear(dim, dim)

    def forward(self, f: Tensor, grids: Grids) -> Tensor:
        projected = grids.pad(self.project(f)).unflatten(-1, (4, self.heads, self.width))
        query, key, left, right = projected.permute(3, 0, 4, 1, 2, 5)  # (structures, heads, n, n, width) each
        scores = torch.einsum("shuwd,shwvd->shuvw", query, key) / math.sqrt(self.width)
        # The least number, not −∞: in a grid without objects, −∞ would make gradients NaN.
        scores = scores.masked_fill(grids.absent[:, None, None, None], torch.finfo(scores.dtype).min)
        values = left[:, :, :, None] * right.transpose(2, 3)[:, :, None]  # (structures, heads, u, v, w, width)
        attended = torch.einsum("shuvw,shuvwd->suvhd", scores.softmax(-1), values)
        return self.output(grids.gather(attended))


@dataclass(frozen=True)
class Grids:
    """The pairs of structures of different size as n×n grids, n the largest number of objects, with padding.

    places  (elements,) the cell of each pair, when the grids lie end to end
    absent  (structures, n) bool: which objects are padding
    """

    places: Tensor
    absent: Tensor

    @classmethod
    def of(cls, element_counts: Tensor) -> Grids:
        sizes = element_counts.to(torch.float64).sqrt().round().to(torch.int64)
        if not torch.equal(sizes**2, element_counts.to(torch.int64)):
            raise ValueError("an Edge Transformer reads all pairs of objects: encode the structures with Marks")
        n = int(sizes.max()) if len(sizes) else 0
        absent = torch.arange(n, device=sizes.device) >= sizes[:, None]
        size = torch.repeat_interleave(sizes, element_counts)
        number = expand_segments(torch.zeros_like(sizes), element_counts)
        structure = torch.repeat_interleave(torch.arange(len(sizes), device=sizes.device), element_counts)
        return cls((structure * n + number // size) * n + number % size, absent)

    def pad(self, rows: Tensor) -> Tensor:
        """(elements, dim) → (structures, n, n, dim), zero where there is no pair."""
        structures, n = self.absent.shape
        cells = rows.new_zeros((structures * n * n, rows.shape[1])).index_copy(0, self.places, rows)
        return cells.view(structures, n, n, -1)

    def gather(self, grids: Tensor) -> Tensor:
        """(structures, n, n, heads, width) → (elements, heads · width)."""
        return grids.reshape(-1, grids.shape[-2] * grids.shape[-1]).index_select(0, self.places)

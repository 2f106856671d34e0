"""The Edge Transformer: attention over the triangles of a complete graph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from trifold.errors import TrifoldError
from trifold.nn.initial import InitialEmbeddings
from trifold.nn.mlp import MLP
from trifold.nn.network import Network
from trifold.structures import DisjointUnion, Relation, expand_segments

HEADS = 8
"""The attention heads of the paper's Edge Transformers."""

STRIP = 4
"""Kernels take the pairs of a grid in strips of so many columns: what they read lies in few rows and few columns."""


class EdgeTransformer(Network):
    """Embeddings of all pairs of objects, by the Edge Transformer of Bergen et al. (NeurIPS 2021) as the paper has it.

    f₀(u,v) = Σ_p e_p · [p(u,v)]                                            over the marks p
    f_{i+1}(u,v) = MLP(LN(f_i(u,v) + TriangularAttention(LN(f_i))(u,v)))

    All L layers share their weights. The differences from Bergen et al. are the paper's: the MLP has no residual of its
    own, and no dropout. Marks that the network was not built with are not seen.

    Shapes: a disjoint union of structures over all pairs O², row by row, as ``Marks`` makes them → (elements, dim).
    """

    folklore = True

    def __init__(self, marks: Sequence[Relation], dim: int, layers: int, heads: int = HEADS) -> None:
        super().__init__()
        self.dim, self.layers = dim, layers
        self.initial = InitialEmbeddings(marks, dim)
        self.attention = TriangularAttention(dim, heads)
        self.norm_before, self.norm_after = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.update = MLP(dim, dim)

    def forward(self, union: DisjointUnion) -> Tensor:
        """The embedding of each pair, with gradients, on any device."""
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

    Shapes: (elements, dim) → (elements, dim). Each triple of a grid takes dim numbers; by kernels none.
    """

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        if dim % heads:
            raise TrifoldError(
                f"the Edge Transformer has {heads} heads, which cannot share {dim} dimensions",
                remedy=f"use a dim that is a multiple of {heads}",
            )
        self.heads, self.width = heads, dim // heads
        self.project = nn.Linear(dim, 4 * dim)  # Q, K, V₁, V₂
        self.output = nn.Linear(dim, dim)

    def forward(self, f: Tensor, grids: Grids) -> Tensor:
        """What each pair attends to, with gradients."""
        padded = grids.pad(self.project(f)).unflatten(-1, (4, self.heads, self.width))
        query, key, left, right = padded.permute(3, 0, 4, 1, 2, 5)  # (structures, heads, n, n, width) each
        scores = torch.einsum("shuwd,shwvd->shuvw", query, key) / math.sqrt(self.width)
        # The least number, not −∞: in a grid without objects, −∞ would make gradients NaN.
        scores = scores.masked_fill(grids.absent[:, None, None, None], torch.finfo(scores.dtype).min)
        values = left[:, :, :, None] * right.transpose(2, 3)[:, :, None]  # (structures, heads, u, v, w, width)
        attended = torch.einsum("shuvw,shuvwd->suvhd", scores.softmax(-1), values)
        return self.output(grids.gather(attended))


@dataclass(frozen=True)
class Grids:
    """The pairs of structures of different size, (structures,) numbers of objects, as n×n grids with padding."""

    sizes: Tensor

    @classmethod
    def of(cls, element_counts: Tensor) -> Grids:
        """The grids of structures over all pairs, from their numbers of pairs; raises if these are no squares."""
        sizes = element_counts.to(torch.float64).sqrt().round().to(torch.int64)
        if not torch.equal(sizes**2, element_counts.to(torch.int64)):
            raise ValueError("an Edge Transformer reads all pairs of objects: encode the structures with Marks")
        return cls(sizes)

    @cached_property
    def n(self) -> int:
        """The largest number of objects."""
        return int(self.sizes.max()) if len(self.sizes) else 0

    @cached_property
    def absent(self) -> Tensor:
        """(structures, n) bool: which objects are padding."""
        return torch.arange(self.n, device=self.sizes.device) >= self.sizes[:, None]

    @cached_property
    def places(self) -> Tensor:
        """(elements,) the cell of each pair, when the grids lie end to end."""
        size, number = self._sizes_and_numbers()
        structure = torch.repeat_interleave(torch.arange(len(self.sizes), device=self.sizes.device), self.sizes**2)
        return (structure * self.n + number // size) * self.n + number % size

    @cached_property
    def pairs(self) -> Tensor:
        """(4, elements) int32, for kernels: u and v of each pair, its structure's size and first pair, in strips."""
        return _in_strips(*self._sizes_and_numbers())

    def _sizes_and_numbers(self) -> tuple[Tensor, Tensor]:
        """(elements,) the size of each pair's structure, and the pair's number in it."""
        counts = self.sizes**2
        return torch.repeat_interleave(self.sizes, counts), expand_segments(torch.zeros_like(counts), counts)

    def pad(self, rows: Tensor) -> Tensor:
        """(elements, dim) → (structures, n, n, dim), zero where there is no pair."""
        shape = (len(self.sizes), self.n, self.n, rows.shape[1])
        return rows.new_zeros(shape).flatten(0, 2).index_copy(0, self.places, rows).view(shape)

    def gather(self, grids: Tensor) -> Tensor:
        """(structures, n, n, heads, width) → (elements, heads · width)."""
        return grids.reshape(-1, grids.shape[-2] * grids.shape[-1]).index_select(0, self.places)


def fixed_pairs(element_counts: Tensor, elements: int) -> Tensor:
    """``Grids.pairs`` of structures with so many pairs, for a fixed number of elements: nothing is read back.

    Elements beyond those of the structures, or of one that does not fit whole, are structures of one object each, which
    attend to themselves alone: their numbers are finite, and as nobody reads them, their gradients are zero.
    """
    counts = element_counts.to(torch.int64)
    ends = torch.cumsum(counts, 0)
    each = torch.arange(elements, device=counts.device)
    structure = torch.searchsorted(ends, each, right=True)
    exists = structure < len(counts)
    structure = torch.where(exists, structure, 0)
    used = exists & (ends[structure] <= elements)
    size = torch.where(used, counts[structure].double().sqrt().round().long(), 1)
    return _in_strips(size, torch.where(used, each - (ends - counts)[structure], 0))


def _in_strips(size: Tensor, number: Tensor) -> Tensor:
    """(4, elements) int32: see ``Grids.pairs``; given are the size of each pair's structure, and its number there."""
    strip = number // (STRIP * size) * STRIP  # the first column of the pair's strip
    width = (size - strip).clamp(max=STRIP)
    rest = number - strip * size
    first = torch.arange(len(number), device=number.device) - number
    return torch.stack([rest // width, strip + rest % width, size, first]).to(torch.int32)

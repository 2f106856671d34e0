"""Algorithm 1 by kernels: the same function as ``RGNN``, outputs and gradients, on batches of fixed capacity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import Function

from trifold.nn.layout import BLOCK, Capacity, Layout
from trifold.nn.mlp import MLP
from trifold.nn.rgnn import RGNN

PARTS = 64
"""Parts into which the tiles are divided for the weights' gradients: more parts keep more of the card at work."""

SEGMENT = 16
"""Rows that a reduction takes at a time."""

DIMENSIONS = (16, 32, 64, 128)
"""The sizes of embeddings that make tiles of tensor cores."""

PRECISIONS = {"float32": "ieee", "split": "fp16x3", "mixed": "fp16"}
"""Products in full precision, as three of float16, or of float16 factors; sums are float32 anyway."""


def reaches(capacity: Capacity, dim: int) -> bool:
    """Whether the kernels, which count in 32 bits, reach every number of a layer."""
    blocks = 2 if capacity.hoisted is None else 9  # of each element
    return max(capacity.rows, blocks * capacity.elements) * dim < 2**31


@dataclass(frozen=True)
class Hoisted:
    """What ``triangles`` needs to know of its relation; the projection is (k, 9k): all of W₁ⱼᵢᵀ side by side."""

    relation: int
    first_row: int
    tiles: int
    projection: Tensor
    inner: Tensor
    inner_bias: Tensor
    outer: Tensor
    outer_bias: Tensor


class FusedRGNN(torch.nn.Module):
    """``RGNN`` run by kernels: it holds the network itself, so the state dict is the network's.

    Raises where it cannot run: the dimension must be 16, 32, 64 or 128.
    """

    tiles: Tensor
    inner: Tensor
    projections: Tensor
    outer: Tensor
    change_inner: Tensor
    change_outer: Tensor
    pairs: Tensor

    def __init__(self, network: RGNN, capacity: Capacity, precision: str = "mixed") -> None:
        super().__init__()
        if network.dim not in DIMENSIONS:
            raise ValueError(f"the kernels need a dimension of 16, 32, 64 or 128, not {network.dim}: use the reference")
        if not reaches(capacity, network.dim):
            raise ValueError(
                f"{capacity.rows:,} messages and {capacity.elements:,} elements are too many: use a smaller batch"
            )
        self.network, self.capacity = network, capacity
        self.precision = PRECISIONS[precision]
        device = network.update.outer.weight.device
        k, elements, blocks = network.dim, len(capacity.relations), capacity.blocks(network.dim)
        tables = {
            "tiles": capacity.tiles(k),
            "inner": [block for block in blocks if block[-1] != capacity.hoisted],
            "projections": [  # △'s blocks, of sums over atoms for each element and position
                [0, 9, i * 3 + j, 1, 0, w, stride, b, elements]
                for _, _, j, _, i, w, stride, b, r in blocks
                if r == capacity.hoisted
            ],
            "outer": blocks,
            "change_inner": [
                [0, 2, j, 2, i, (2 * j * k + i) * k, 2 * k, j * k if i == 0 else -1, elements]
                for j in range(2)
                for i in range(2)
            ],
            "change_outer": [[0, 1, 0, 2, i, i * k, 2 * k, 0 if i == 0 else -1, elements] for i in range(2)],
        }
        for name, table in tables.items():
            self.register_buffer(name, torch.tensor(table, dtype=torch.int32, device=device), False)
        each = torch.arange(capacity.elements, device=device)
        both = torch.stack([each, capacity.elements + each], 1).reshape(-1)
        self.register_buffer("pairs", both.to(torch.int32), False)

    @property
    def kept_bytes(self) -> int:
        """What a step with gradients keeps of all layers: ``Kept``, and what the weights' gradients are made of."""
        hidden, change, tables, projected = 5, 3 * 2, 2 + 1, 0 if self.capacity.hoisted is None else 9
        of_elements = (change + tables + projected) * self.network.layers + 2  # tables have one level more
        numbers = hidden * self.network.layers * self.capacity.rows + of_elements * self.capacity.elements
        return numbers * self.network.dim * (2 if self.precision == "fp16" else 4)

    def hoisted(self, inner: Tensor, inner_bias: Tensor, outer: Tensor, outer_bias: Tensor) -> Hoisted | None:
        """The relation that ``triangles`` does, if there is one, with its part of the packed weights."""
        relation, k = self.capacity.hoisted, self.network.dim
        if relation is None:
            return None
        w, b = (firsts[relation] for firsts in self.capacity.first_weights(k))
        block = inner[w : w + 9 * k * k]
        return Hoisted(
            relation,
            self.capacity.first_rows[relation],
            self.capacity.atoms[relation] // BLOCK,
            block.view(3, k, 3, k).permute(3, 2, 0, 1).reshape(k, 9 * k),
            block,
            inner_bias[b:],
            outer[w:],
            outer_bias[b:],
        )

    def forward(self, layout: Layout, initial: Tensor | None = None) -> Tensor:
        """(elements, dim) the embeddings of the batch, and of what is not in use; from f₀ = 0 or the initial ones."""
        messages = [mlp for mlp in self.network.messages if isinstance(mlp, MLP)]
        change = self.network.update
        packed = [
            torch.cat([part.reshape(-1) for part in parts])
            for parts in (
                [mlp.inner.weight for mlp in messages],
                [mlp.inner.bias for mlp in messages],
                [mlp.outer.weight for mlp in messages],
                [mlp.outer.bias for mlp in messages],
            )
        ]
        own = (change.inner.weight, change.inner.bias, change.outer.weight, change.outer.bias)
        with torch.cuda.device_of(packed[0]):  # Triton launches on the current device
            return _Fused.apply(self, layout, torch.is_grad_enabled(), initial, *packed, *own)


class Weights(NamedTuple):
    """The weights of a layer: of all message MLPs, packed end to end, and of the update's MLP."""

    inner: Tensor
    inner_bias: Tensor
    outer: Tensor
    outer_bias: Tensor
    change_inner: Tensor
    change_inner_bias: Tensor
    change_outer: Tensor
    change_outer_bias: Tensor


class Kept(NamedTuple):
    """What the forward pass keeps of each layer for the backward pass.

    tables                (layers + 1, 2, elements, dim) the embeddings, and what was received
    hidden, slopes        (layers, rows, dim) of the message MLPs: Mish and its derivative
    shares                (layers, rows, dim) of each message in the smooth maximum
    change_hidden, …      (layers, elements, 2 dim) of the update's MLP
    """

    tables: Tensor
    hidden: Tensor
    slopes: Tensor
    shares: Tensor
    change_hidden: Tensor
    change_slopes: Tensor


class _Fused(Function):
    """All layers forward, keeping what the backward pass needs; all layers backward; then all weights at once."""

    @staticmethod
    def forward(
        context: Any, fused: FusedRGNN, layout: Layout, keep: bool, initial: Tensor | None, *given: Tensor
    ) -> Tensor:
        from trifold.nn import kernels, triangles

        dtype = torch.float16 if fused.precision == "fp16" else torch.float32
        weights = Weights(*(weight.to(dtype) if n % 2 == 0 else weight for n, weight in enumerate(given)))
        network, elements, rows = fused.network, fused.capacity.elements, fused.capacity.rows
        dim, layers = network.dim, network.layers
        levels = layers if keep else min(layers, 1)  # without gradients every layer writes over the last one

        def made(*shape: int, like: torch.dtype = dtype) -> Tensor:
            return torch.empty(shape, dtype=like, device=given[0].device)

        f = torch.zeros_like(made(elements, dim, like=torch.float32)) if initial is None else initial.clone()
        hidden, change_hidden = made(levels, rows, dim), made(levels, elements, 2 * dim)
        slopes, shares, change_slopes = (  # which only a backward pass needs
            (torch.empty_like(hidden), torch.empty_like(hidden), torch.empty_like(change_hidden))
            if keep
            else (hidden, hidden, change_hidden)
        )
        tables = torch.zeros_like(made(levels + 1, 2, elements, dim))
        tables[0, 0] = f
        kept = Kept(tables, hidden, slopes, shares, change_hidden, change_slopes)
        messages = made(rows, dim, like=torch.float32)
        tiles, hoisted = fused.tiles, fused.hoisted(*weights[:4])
        sizes = {"K": dim, "BLOCK": BLOCK, "PRECISION": fused.precision, "KEEP": keep}
        for layer in range(layers):
            at = layer if keep else 0
            table, received, after = tables[at, 0], tables[at, 1], tables[at + 1 if keep else 0, 0]
            if len(tiles):
                for source, rows_of, weight, bias, out, inner in (
                    (table, layout.gather, weights.inner, weights.inner_bias, hidden[at], True),
                    (hidden[at], layout.place, weights.outer, weights.outer_bias, messages, False),
                ):
                    kernels.linear[(len(tiles),)](
                        tiles, layout.counts, source, rows_of, weight, bias, out, slopes[at],
                        **sizes, TILE=kernels.TILE, INNER=inner,
                    )  # fmt: skip
            if hoisted:
                triangles.forward[(hoisted.tiles,)](
                    layout.counts[hoisted.relation :], layout.gather, layout.place, table @ hoisted.projection,
                    hoisted.inner_bias, hoisted.outer, hoisted.outer_bias, hidden[at], slopes[at], messages,
                    hoisted.first_row, **sizes, num_stages=1,
                )  # fmt: skip
            kernels.smooth_max[(elements,)](
                layout.starts, messages, received, shares[at], network.sharpness,
                K=dim, SEGMENT=SEGMENT, SEGMENTS=fused.capacity.segments, KEEP=keep, num_warps=1,
            )  # fmt: skip
            kernels.update[(elements // BLOCK,)](
                layout.counts[-1:], f, table, received, *weights[4:], change_hidden[at], change_slopes[at], f, after,
                **sizes,
            )  # fmt: skip
        context.fused, context.layout = fused, layout
        context.save_for_backward(*weights, *kept)
        return f

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        saved, count = context.saved_tensors, len(Weights._fields)
        run = _Backward(context.fused, context.layout, Weights(*saved[:count]), Kept(*saved[count:]), gradient)
        for layer in reversed(range(run.layers)):
            run.go_through(layer)
        return (None, None, None, run.d_f if context.needs_input_grad[3] else None, *run.weight_gradients())


Scaled = tuple[Tensor, Tensor]
"""Gradients in the precision of the products, and the scale of each tile of them."""


class _Backward:
    """The backward pass: d_f is the gradient of the embeddings after the layer that comes next, from last to first."""

    def __init__(self, fused: FusedRGNN, layout: Layout, weights: Weights, kept: Kept, gradient: Tensor) -> None:
        self.fused, self.layout, self.weights, self.kept = fused, layout, weights, kept
        self.layers, self.dim = fused.network.layers, fused.network.dim
        self.elements, self.segments = fused.capacity.elements, fused.capacity.segments
        self.sizes = {"K": self.dim, "BLOCK": BLOCK, "PRECISION": fused.precision}
        self.hoisted = fused.hoisted(*weights[:4])
        self.d_f = gradient.contiguous().clone()
        self.base, self.d_received = torch.zeros_like(self.d_f), torch.zeros_like(self.d_f)
        self.d_rows = torch.empty(kept.hidden.shape[1:], device=gradient.device)
        self.d_messages, self.d_hidden = self._room(kept.hidden), self._room(kept.hidden)
        self.d_change, self.d_after = self._room(kept.change_hidden), self._room(kept.tables[:-1, 0])
        if self.hoisted:
            self.sums = torch.empty((self.elements, 9, self.dim), device=gradient.device)
            self.d_projected = self._room(kept.hidden.new_empty((self.layers, self.elements, 9, self.dim)))

    def _room(self, like: Tensor) -> Scaled:
        """Room for the gradients of all layers, and for the scales of their tiles."""
        if not self.layers:
            return torch.empty_like(like), like
        return torch.empty_like(like), torch.empty(
            (self.layers, like[0].numel() // (BLOCK * self.dim)), device=like.device
        )

    def go_through(self, layer: int) -> None:
        """Take the gradient through a layer, and keep what the weights' gradients are made of."""
        from trifold.nn import kernels

        kernels.update_backward[(self.elements // BLOCK,)](
            self.layout.counts[-1:], self.d_f, self.kept.change_slopes[layer], self.weights.change_inner,
            self.weights.change_outer, *_at(self.d_after, layer), *_at(self.d_change, layer), self.base,
            self.d_received, **self.sizes,
        )  # fmt: skip
        self._go_through_messages(layer)
        kernels.segment_sum[(self.elements,)](
            self.layout.starts, self.d_rows, self.base, self.d_f,
            K=self.dim, SEGMENT=SEGMENT, SEGMENTS=self.segments, num_warps=1,
        )  # fmt: skip
        if self.hoisted:
            self._go_through_triangles(layer, self.hoisted)

    def _go_through_messages(self, layer: int) -> None:
        from trifold.nn import kernels

        tiles, layout, slopes = self.fused.tiles, self.layout, self.kept.slopes[layer]
        d_messages, d_hidden = _at(self.d_messages, layer), _at(self.d_hidden, layer)
        if not len(tiles):
            return
        kernels.message_backward[(len(tiles),)](
            tiles, layout.counts, layout.gather, layout.place, self.kept.shares[layer], self.d_received, *d_messages,
            K=self.dim, BLOCK=BLOCK, TILE=kernels.TILE,
        )  # fmt: skip
        for d_out, weight, d_in, inner in (
            (d_messages, self.weights.outer, d_hidden, False),
            (d_hidden, self.weights.inner, (self.d_rows, self.d_rows), True),
        ):
            kernels.linear_backward[(len(tiles),)](
                tiles, layout.counts, *d_out, weight, slopes, layout.place, *d_in,
                **self.sizes, TILE=kernels.TILE, INNER=inner,
            )  # fmt: skip

    def _go_through_triangles(self, layer: int, hoisted: Hoisted) -> None:
        from trifold.nn import triangles

        layout, d_hidden = self.layout, _at(self.d_hidden, layer)
        triangles.backward[(hoisted.tiles,)](
            layout.counts[hoisted.relation :], layout.gather, layout.place, self.kept.shares[layer], self.d_received,
            self.kept.slopes[layer], hoisted.outer, *_at(self.d_messages, layer), *d_hidden, hoisted.first_row,
            **self.sizes, num_stages=1,
        )  # fmt: skip
        triangles.position_sum[(self.elements, 3)](
            layout.starts, layout.order, *d_hidden, self.sums, hoisted.first_row,
            K=self.dim, BLOCK=BLOCK, SEGMENT=SEGMENT, SEGMENTS=self.segments, num_warps=1,
        )  # fmt: skip
        triangles.project_backward[(self.elements // BLOCK,)](
            layout.counts[-1:], self.sums, hoisted.inner, self.d_f, *_at(self.d_projected, layer), **self.sizes
        )

    def weight_gradients(self) -> tuple[Tensor, ...]:
        """The gradients of ``Weights``, in their order, from what all layers have kept."""
        fused, kept, weights = self.fused, self.kept, self.weights
        inner: list[Product] = [(fused.inner, self.d_hidden, kept.tables, self.layout.gather)]
        if self.hoisted:
            inner.append((fused.projections, self.d_projected, kept.tables, None))
        return (
            *self._weigh(weights[0:2], *inner),
            *self._weigh(weights[2:4], (fused.outer, self.d_messages, kept.hidden, None)),
            *self._weigh(weights[4:6], (fused.change_inner, self.d_change, kept.tables, fused.pairs)),
            *self._weigh(weights[6:8], (fused.change_outer, self.d_after, kept.change_hidden, None)),
        )

    def _weigh(self, like: tuple[Tensor, ...], *products: Product) -> tuple[Tensor, Tensor]:
        """The gradients of a weight and its bias, part by part, added up."""
        from trifold.nn import kernels

        layout = self.layout
        weight, bias = (torch.zeros((PARTS, tensor.numel()), device=tensor.device) for tensor in like)
        for blocks, d_out, inputs, rows_of in products:
            if len(blocks) and self.layers:
                kernels.weight_gradient[(len(blocks), PARTS)](
                    blocks, layout.counts, *d_out, inputs, layout.gather if rows_of is None else rows_of, weight, bias,
                    self.layers, *(tensor.stride(0) for tensor in (*d_out, inputs, weight, bias)),
                    **self.sizes, WEIGHTS=kernels.WEIGHTS, INNER=rows_of is not None, num_stages=2,
                )  # fmt: skip
        return weight.sum(0).view(like[0].shape), bias.sum(0)


Product = tuple[Tensor, Scaled, Tensor, Tensor | None]
"""The blocks of a product, the gradients of its results, its inputs, and the rows of these where not in order."""


def _at(gradients: Scaled, layer: int) -> Scaled:
    """Those of one layer."""
    return gradients[0][layer], gradients[1][layer]

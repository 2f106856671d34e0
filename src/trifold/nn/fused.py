"""Algorithm 1 by kernels: the same function as ``RGNN``, outputs and gradients, on batches of fixed capacity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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


class _Fused(Function):
    """All layers forward, keeping what the backward pass needs; all layers backward; then all weights at once."""

    @staticmethod
    def forward(
        context: Any, fused: FusedRGNN, layout: Layout, keep: bool, initial: Tensor | None, *weights: Tensor
    ) -> Tensor:
        from trifold.nn import kernels, triangles

        dtype = torch.float16 if fused.precision == "fp16" else torch.float32
        w1, b1, w2, b2, u1, c1, u2, c2 = (w.to(dtype) if n % 2 == 0 else w for n, w in enumerate(weights))
        network, elements, rows = fused.network, fused.capacity.elements, fused.capacity.rows
        dim, layers, sharpness = network.dim, network.layers, network.sharpness
        kept = layers if keep else min(layers, 1)  # without gradients every layer writes over the last one

        def made(*shape: int, like: torch.dtype = dtype) -> Tensor:
            return torch.empty(shape, dtype=like, device=b1.device)

        f = torch.zeros_like(made(elements, dim, like=torch.float32)) if initial is None else initial.clone()
        tables = torch.zeros_like(made(kept + 1, 2, elements, dim))  # f and what was received, of each layer
        tables[0, 0] = f
        hidden, change_hidden = made(kept, rows, dim), made(kept, elements, 2 * dim)
        slopes, shares, change_slopes = (  # which only a backward pass needs
            (torch.empty_like(hidden), torch.empty_like(hidden), torch.empty_like(change_hidden))
            if keep
            else (hidden, hidden, change_hidden)
        )
        messages = made(rows, dim, like=torch.float32)
        tiles, used, hoisted = fused.tiles, layout.counts[-1:], fused.hoisted(w1, b1, w2, b2)
        sizes = {"K": dim, "BLOCK": BLOCK, "PRECISION": fused.precision, "KEEP": keep}
        for layer in range(layers):
            at = layer if keep else 0
            table, received, after = tables[at, 0], tables[at, 1], tables[at + 1 if keep else 0, 0]
            if len(tiles):
                for source, rows_of, weight, bias, out, inner in (
                    (table, layout.gather, w1, b1, hidden[at], True),
                    (hidden[at], layout.place, w2, b2, messages, False),
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
                layout.starts, messages, received, shares[at], sharpness,
                K=dim, SEGMENT=SEGMENT, SEGMENTS=fused.capacity.segments, KEEP=keep, num_warps=1,
            )  # fmt: skip
            kernels.update[(elements // BLOCK,)](
                used, f, table, received, u1, c1, u2, c2, change_hidden[at], change_slopes[at], f, after, **sizes
            )
        context.fused, context.layout = fused, layout
        context.save_for_backward(
            w1, b1, w2, b2, u1, c1, u2, c2, tables, hidden, slopes, shares, change_hidden, change_slopes
        )
        return f

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        from trifold.nn import kernels, triangles

        fused, layout = context.fused, context.layout
        w1, b1, w2, b2, u1, c1, u2, c2, tables, hidden, slopes, shares, change_hidden, change_slopes = (
            context.saved_tensors
        )
        network, elements, segments = fused.network, fused.capacity.elements, fused.capacity.segments
        dim, layers = network.dim, network.layers
        sizes = {"K": dim, "BLOCK": BLOCK, "PRECISION": fused.precision}

        def scaled(like: Tensor) -> tuple[Tensor, Tensor]:
            """Room for gradients, and for the scales of their tiles."""
            scales = torch.empty((layers, like[0].numel() // (BLOCK * dim)), device=like.device) if layers else like
            return torch.empty_like(like), scales

        d_messages, d_hidden, d_change = scaled(hidden), scaled(hidden), scaled(change_hidden)
        d_f = gradient.contiguous().clone()
        d_after = scaled(tables[:-1, 0])
        d_rows = torch.empty(hidden.shape[1:], device=gradient.device)
        base, d_received = torch.zeros_like(d_f), torch.zeros_like(d_f)
        tiles, used, hoisted = fused.tiles, layout.counts[-1:], fused.hoisted(w1, b1, w2, b2)
        if hoisted:
            sums = torch.empty((elements, 9, dim), device=gradient.device)
            d_projected = scaled(hidden.new_empty((layers, elements, 9, dim)))
        for layer in reversed(range(layers)):
            kernels.update_backward[(elements // BLOCK,)](
                used, d_f, change_slopes[layer], u1, u2, d_after[0][layer], d_after[1][layer],
                d_change[0][layer], d_change[1][layer], base, d_received, **sizes,
            )  # fmt: skip
            message_gradient = d_messages[0][layer], d_messages[1][layer]
            hidden_gradient = d_hidden[0][layer], d_hidden[1][layer]
            if len(tiles):
                kernels.message_backward[(len(tiles),)](
                    tiles, layout.counts, layout.gather, layout.place, shares[layer], d_received, *message_gradient,
                    K=dim, BLOCK=BLOCK, TILE=kernels.TILE,
                )  # fmt: skip
                for d_out, weight, d_in, inner in (
                    (message_gradient, w2, hidden_gradient, False),
                    (hidden_gradient, w1, (d_rows, d_rows), True),
                ):
                    kernels.linear_backward[(len(tiles),)](
                        tiles, layout.counts, *d_out, weight, slopes[layer], layout.place, *d_in,
                        **sizes, TILE=kernels.TILE, INNER=inner,
                    )  # fmt: skip
            kernels.segment_sum[(elements,)](
                layout.starts, d_rows, base, d_f, K=dim, SEGMENT=SEGMENT, SEGMENTS=segments, num_warps=1
            )
            if hoisted:
                triangles.backward[(hoisted.tiles,)](
                    layout.counts[hoisted.relation :], layout.gather, layout.place, shares[layer], d_received,
                    slopes[layer], hoisted.outer, *message_gradient, *hidden_gradient, hoisted.first_row,
                    **sizes, num_stages=1,
                )  # fmt: skip
                triangles.position_sum[(elements, 3)](
                    layout.starts, layout.order, *hidden_gradient, sums, hoisted.first_row,
                    K=dim, BLOCK=BLOCK, SEGMENT=SEGMENT, SEGMENTS=segments, num_warps=1,
                )  # fmt: skip
                triangles.project_backward[(elements // BLOCK,)](
                    used, sums, hoisted.inner, d_f, d_projected[0][layer], d_projected[1][layer], **sizes
                )

        def weigh(
            like: tuple[Tensor, Tensor], *products: tuple[Tensor, tuple[Tensor, Tensor], Tensor, Tensor | None]
        ) -> tuple[Tensor, Tensor]:
            """The gradients of weights and biases, part by part, added up.

            Of each product: its blocks, the gradients with their scales, the inputs, and their rows if not in order.
            """
            found = [torch.zeros((PARTS, tensor.numel()), device=tensor.device) for tensor in like]
            for blocks, d_out, inputs, rows_of in products:
                if len(blocks) and layers:
                    kernels.weight_gradient[(len(blocks), PARTS)](
                        blocks, layout.counts, *d_out, inputs, layout.gather if rows_of is None else rows_of, *found,
                        layers, *(tensor.stride(0) for tensor in (*d_out, inputs, *found)),
                        **sizes, WEIGHTS=kernels.WEIGHTS, INNER=rows_of is not None, num_stages=2,
                    )  # fmt: skip
            return found[0].sum(0).view(like[0].shape), found[1].sum(0)

        arguments: list[Any] = [(fused.inner, d_hidden, tables, layout.gather)]
        if hoisted:
            arguments.append((fused.projections, d_projected, tables, None))
        return (
            None,
            None,
            None,
            d_f if context.needs_input_grad[3] else None,
            *weigh((w1, b1), *arguments),
            *weigh((w2, b2), (fused.outer, d_messages, hidden, None)),
            *weigh((u1, c1), (fused.change_inner, d_change, tables, fused.pairs)),
            *weigh((u2, c2), (fused.change_outer, d_after, change_hidden, None)),
        )

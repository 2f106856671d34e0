"""Algorithm 1 by kernels: the same function as ``RGNN``, outputs and gradients, on batches of fixed capacity."""

from __future__ import annotations

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

PRECISIONS = {"float32": "ieee", "split": "tf32x3", "mixed": "fp16"}
"""Products in full precision, as three of TF32, or of float16 factors; sums are float32 anyway."""


def reaches(capacity: Capacity, dim: int) -> bool:
    """Whether the kernels, which count in 32 bits, reach every number of a layer."""
    return max(capacity.rows, 2 * capacity.elements) * dim < 2**31


class FusedRGNN(torch.nn.Module):
    """``RGNN`` run by kernels: it holds the network itself, so the state dict is the network's.

    Raises where it cannot run: the dimension must be 16, 32, 64 or 128.
    """

    tiles: Tensor
    blocks: Tensor
    inner_blocks: Tensor
    outer_blocks: Tensor
    pairs: Tensor

    def __init__(self, network: RGNN, capacity: Capacity, precision: str = "mixed") -> None:
        super().__init__()
        if network.dim not in DIMENSIONS:
            raise ValueError(f"the kernels need a dimension of 16, 32, 64 or 128, not {network.dim}: use the reference")
        if not reaches(capacity, network.dim):
            raise ValueError(f"{capacity.rows:,} messages of {network.dim} numbers are too many: use a smaller batch")
        self.network, self.capacity = network, capacity
        self.precision = PRECISIONS[precision]
        device = network.update.outer.weight.device
        tables = {
            "tiles": capacity.tiles(network.dim),
            "blocks": capacity.blocks(network.dim),
            "inner_blocks": [[0, 2, j, 0, 0, i, len(capacity.relations), 2] for j in range(2) for i in range(2)],
            "outer_blocks": [[0, 2, 0, 0, 0, i, len(capacity.relations), 1] for i in range(2)],
        }
        for name, table in tables.items():
            self.register_buffer(name, torch.tensor(table, dtype=torch.int32, device=device).reshape(-1, 8), False)
        elements = torch.arange(capacity.elements, device=device)
        both = torch.stack([elements, capacity.elements + elements], 1).reshape(-1)
        self.register_buffer("pairs", both.to(torch.int32), False)

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
        return _Fused.apply(self, layout, torch.is_grad_enabled(), initial, *packed, *own)


class _Fused(Function):
    """All layers forward, keeping what the backward pass needs; all layers backward; then all weights at once."""

    @staticmethod
    def forward(
        context: Any, fused: FusedRGNN, layout: Layout, keep: bool, initial: Tensor | None, *weights: Tensor
    ) -> Tensor:
        from trifold.nn import kernels

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
        hidden, slopes, shares = (made(kept, rows, dim) for _ in range(3))
        messages = made(rows, dim, like=torch.float32)
        change_hidden, change_slopes = made(kept, elements, 2 * dim), made(kept, elements, 2 * dim)
        tiles, grid, used = fused.tiles, (len(fused.tiles),), layout.counts[-1:]
        sizes = {"K": dim, "BLOCK": BLOCK, "PRECISION": fused.precision, "KEEP": keep}
        for layer in range(layers):
            at = layer if keep else 0
            table, received, after = tables[at, 0], tables[at, 1], tables[at + 1 if keep else 0, 0]
            if len(tiles):
                for source, rows_of, weight, bias, out, inner in (
                    (table, layout.gather, w1, b1, hidden[at], True),
                    (hidden[at], layout.place, w2, b2, messages, False),
                ):
                    kernels.linear[grid](
                        tiles, layout.counts, source, rows_of, weight, bias, out, slopes[at],
                        **sizes, TILE=kernels.TILE, INNER=inner,
                    )  # fmt: skip
            kernels.smooth_max[(elements,)](
                layout.starts, messages, received, shares[at], sharpness,
                K=dim, SEGMENT=SEGMENT, KEEP=keep, num_warps=1,
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
        from trifold.nn import kernels

        fused, layout = context.fused, context.layout
        w1, b1, w2, b2, u1, c1, u2, c2, tables, hidden, slopes, shares, change_hidden, change_slopes = (
            context.saved_tensors
        )
        network, elements = fused.network, fused.capacity.elements
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
        tiles, grid, used = fused.tiles, (len(fused.tiles),), layout.counts[-1:]
        for layer in reversed(range(layers)):
            kernels.update_backward[(elements // BLOCK,)](
                used, d_f, change_slopes[layer], u1, u2, d_after[0][layer], d_after[1][layer],
                d_change[0][layer], d_change[1][layer], base, d_received, **sizes,
            )  # fmt: skip
            if len(tiles):
                kernels.message_backward[grid](
                    tiles, layout.counts, layout.gather, layout.place, shares[layer], d_received,
                    d_messages[0][layer], d_messages[1][layer], K=dim, BLOCK=BLOCK, TILE=kernels.TILE,
                )  # fmt: skip
                hidden_gradient = d_hidden[0][layer], d_hidden[1][layer]
                for d_out, weight, d_in, inner in (
                    ((d_messages[0][layer], d_messages[1][layer]), w2, hidden_gradient, False),
                    (hidden_gradient, w1, (d_rows, d_rows), True),
                ):
                    kernels.linear_backward[grid](
                        tiles, layout.counts, *d_out, weight, slopes[layer], layout.place, *d_in,
                        **sizes, TILE=kernels.TILE, INNER=inner,
                    )  # fmt: skip
            kernels.segment_sum[(elements,)](layout.starts, d_rows, base, d_f, K=dim, SEGMENT=SEGMENT, num_warps=1)

        def weigh(
            blocks: Tensor,
            d_out: tuple[Tensor, Tensor],
            inputs: Tensor,
            rows_of: Tensor,
            like: tuple[Tensor, Tensor],
            inner: bool,
        ) -> tuple[Tensor, Tensor]:
            """The gradients of weights and biases, part by part, added up."""
            found = [torch.zeros((PARTS, tensor.numel()), device=tensor.device) for tensor in like]
            if len(blocks) and layers:
                kernels.weight_gradient[(len(blocks), PARTS)](
                    blocks, layout.counts, *d_out, inputs, rows_of, *found,
                    layers, *(tensor.stride(0) for tensor in (*d_out, inputs, *found)),
                    **sizes, TILE=kernels.TILE, INNER=inner,
                )  # fmt: skip
            return found[0].sum(0).view(like[0].shape), found[1].sum(0)

        return (
            None,
            None,
            None,
            d_f if context.needs_input_grad[3] else None,
            *weigh(fused.blocks, d_hidden, tables, layout.gather, (w1, b1), True),
            *weigh(fused.blocks, d_messages, hidden, layout.gather, (w2, b2), False),
            *weigh(fused.inner_blocks, d_change, tables, fused.pairs, (u1, c1), True),
            *weigh(fused.outer_blocks, d_after, change_hidden, layout.gather, (u2, c2), False),
        )

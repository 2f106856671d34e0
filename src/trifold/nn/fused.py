"""Algorithm 1 by kernels: the same function as ``RGNN``, outputs and gradients, on batches of fixed capacity."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from trifold.nn.layout import BLOCK, Capacity, Layout
from trifold.nn.mlp import MLP
from trifold.nn.rgnn import RGNN

SPLITS = 2
"""Parts into which the atoms are split for the weights' gradients: more parts keep more of the card at work."""

SEGMENT = 16
"""Rows that a reduction takes at a time."""

PRECISIONS = {"float32": "ieee", "split": "tf32x3", "mixed": "tf32"}
"""Products in full precision, or with inputs rounded to 10 bits; everything is stored and added in float32 anyway."""


class FusedRGNN(torch.nn.Module):
    """``RGNN`` run by kernels: it holds the network itself, so the state dict is the network's.

    Raises where it cannot run: the dimension must be 16, 32, 64 or 128.
    """

    tiles: Tensor
    blocks: Tensor
    inner_blocks: Tensor
    outer_blocks: Tensor
    pairs: Tensor
    plain: Tensor

    def __init__(self, network: RGNN, capacity: Capacity, precision: str = "mixed") -> None:
        super().__init__()
        if network.dim not in (16, 32, 64, 128):
            raise ValueError(f"the kernels need a dimension of 16, 32, 64 or 128, not {network.dim}: use the reference")
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
        self.register_buffer("plain", torch.arange(2 * capacity.elements, device=device, dtype=torch.int32), False)

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
        return _Fused.apply(self, layout, initial, *packed, *own)


class _Fused(Function):
    """All layers forward, keeping what the backward pass needs; all layers backward; then all weights at once."""

    @staticmethod
    def forward(context: Any, fused: FusedRGNN, layout: Layout, initial: Tensor | None, *weights: Tensor) -> Tensor:
        from trifold.nn import kernels

        w1, b1, w2, b2, u1, c1, u2, c2 = weights
        network, elements, rows = fused.network, fused.capacity.elements, fused.capacity.rows
        dim, layers, sharpness = network.dim, network.layers, network.sharpness
        sizes = {"K": dim, "BLOCK": BLOCK, "PRECISION": fused.precision}
        tables = w1.new_zeros((layers + 1, 2 * elements, dim))  # f, then what was received, of each layer
        if initial is not None:
            tables[0, :elements] = initial
        hidden = w1.new_empty((layers, rows, dim))
        messages = w1.new_empty((layers, rows, dim))
        changes = w1.new_empty((layers, elements, 2 * dim))
        tiles, grid, used = fused.tiles, (len(fused.tiles),), layout.counts[-1:]
        for layer in range(layers):
            f, received = tables[layer, :elements], tables[layer, elements:]
            if len(tiles):
                for source, weight, bias, out, inner in (
                    (f, w1, b1, hidden[layer], True),
                    (hidden[layer], w2, b2, messages[layer], False),
                ):
                    kernels.linear[grid](
                        tiles, layout.counts, source, layout.gather, weight, bias, out,
                        **sizes, TILE=kernels.TILE, INNER=inner,
                    )  # fmt: skip
            kernels.smooth_max[(elements,)](
                layout.starts, layout.order, messages[layer], received, sharpness, K=dim, BLOCK=SEGMENT
            )
            kernels.update[(elements // BLOCK,)](
                used, f, received, u1, c1, u2, c2, changes[layer], tables[layer + 1, :elements], **sizes
            )
        context.fused, context.layout = fused, layout
        context.save_for_backward(*weights, tables, hidden, messages, changes)
        return tables[layers, :elements]

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        from trifold.nn import kernels

        fused, layout = context.fused, context.layout
        w1, b1, w2, b2, u1, c1, u2, c2, tables, hidden, messages, changes = context.saved_tensors
        network, elements = fused.network, fused.capacity.elements
        dim, layers, sharpness = network.dim, network.layers, network.sharpness
        sizes = {"K": dim, "BLOCK": BLOCK, "PRECISION": fused.precision}
        gradients = w1.new_empty((layers + 1, elements, dim))
        gradients[layers] = gradient
        d_changes, d_hidden, d_messages = (torch.empty_like(tensor) for tensor in (changes, hidden, messages))
        d_rows = torch.empty_like(hidden[0]) if layers else hidden
        d_f, d_received = torch.zeros_like(gradient), torch.zeros_like(gradient)
        tiles, grid, used = fused.tiles, (len(fused.tiles),), layout.counts[-1:]
        for layer in reversed(range(layers)):
            received = tables[layer, elements:]
            kernels.update_backward[(elements // BLOCK,)](
                used, gradients[layer + 1], changes[layer], u1, u2, d_changes[layer], d_f, d_received, **sizes
            )
            if len(tiles):
                kernels.outer_backward[grid](
                    tiles, layout.counts, layout.gather, messages[layer], received, d_received, hidden[layer], w2,
                    d_messages[layer], d_hidden[layer], sharpness, **sizes, TILE=kernels.TILE,
                )  # fmt: skip
                kernels.inner_backward[grid](
                    tiles, layout.counts, d_hidden[layer], w1, d_rows, **sizes, TILE=kernels.TILE
                )
            kernels.segment_sum[(elements,)](
                layout.starts, layout.order, d_rows, d_f, gradients[layer], K=dim, BLOCK=SEGMENT
            )

        def weigh(
            blocks: Tensor, d_out: Tensor, inputs: Tensor, gather: Tensor, like: tuple[Tensor, Tensor], inner: bool
        ) -> tuple[Tensor, Tensor]:
            """The gradients of weights and biases, layer by layer, added up."""
            weight, bias = (tensor.new_zeros((layers * SPLITS, tensor.numel())) for tensor in like)
            if len(blocks) and layers:
                kernels.weight_gradient[(len(blocks), layers, SPLITS)](
                    blocks, layout.counts, d_out, inputs, gather, weight, bias,
                    d_out[0].numel(), inputs[0].numel(), weight.shape[1], bias.shape[1],
                    **sizes, TILE=kernels.TILE, INNER=inner, SPLITS=SPLITS,
                )  # fmt: skip
            return weight.sum(0).view(like[0].shape), bias.sum(0)

        return (
            None,
            None,
            gradients[0] if context.needs_input_grad[2] else None,
            *weigh(fused.blocks, d_hidden, tables, layout.gather, (w1, b1), True),
            *weigh(fused.blocks, d_messages, hidden, layout.gather, (w2, b2), False),
            *weigh(fused.inner_blocks, d_changes, tables, fused.pairs, (u1, c1), True),
            *weigh(fused.outer_blocks, gradients[1:], changes, fused.plain, (u2, c2), False),
        )

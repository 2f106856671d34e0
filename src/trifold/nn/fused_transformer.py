"""The Edge Transformer by kernels: the same function as ``EdgeTransformer``, outputs and gradients, in few launches.

The attention is that of ``triangular_attention``, which stores nothing for a triple of objects. All layers share their
weights, so the gradients of these are made once, of what all layers have kept, and not added up layer by layer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.nn import functional

from trifold.nn.edge_transformer import EdgeTransformer, fixed_pairs
from trifold.nn.layout import Capacity, Layout

PARTS = 8
"""Parts into which the elements of a layer are divided for the weights' gradients, if that comes out even: as many
products side by side, where the card would be idle but for one long one."""


class FusedTransformer(nn.Module):
    """``EdgeTransformer`` on batches of fixed capacity: it holds the network itself, and reads nothing back.

    Whatever is asked for, its precision is float32.
    """

    def __init__(self, network: EdgeTransformer, capacity: Capacity, precision: str = "float32") -> None:
        super().__init__()
        self.network, self.capacity = network, capacity

    @property
    def kept_bytes(self) -> int:
        """What a step with gradients keeps of all layers: ``Kept`` and ``Gradients``."""
        numbers = 20 * self.network.dim + self.network.attention.heads + 4
        return 4 * numbers * self.network.layers * self.capacity.elements

    def forward(self, layout: Layout, initial: Tensor | None = None) -> Tensor:
        """(elements, dim) the embeddings of the batch, and of what is not in use; from f₀ = 0 or the initial ones."""
        elements = self.capacity.elements
        f = layout.sizes.new_zeros((elements, self.network.dim), dtype=torch.float32) if initial is None else initial
        return run_layers(self.network, f, fixed_pairs(layout.sizes, elements))


def run_layers(network: EdgeTransformer, f: Tensor, pairs: Tensor) -> Tensor:
    """All layers of the network, from the initial embeddings, with gradients; ``pairs`` is that of ``Grids``."""
    before, after, attention, update = network.norm_before, network.norm_after, network.attention, network.update
    modules = (before, attention.project, attention.output, after, update.inner, update.outer)
    weights = [weight for module in modules for weight in (module.weight, module.bias)]
    facts = Facts(network.layers, attention.heads, before.eps, torch.is_grad_enabled())
    embeddings: Tensor = _Layers.apply(facts, pairs, f, *weights)
    return embeddings


class Facts(NamedTuple):
    """What the layers are but for their weights, and whether a backward pass may follow."""

    layers: int
    heads: int
    eps: float
    keep: bool


class Weights(NamedTuple):
    """The weights of a layer, in the order of their use: LN, Q K V₁ V₂, O, LN, and the two layers of the MLP."""

    before: Tensor
    before_bias: Tensor
    project: Tensor
    project_bias: Tensor
    output: Tensor
    output_bias: Tensor
    after: Tensor
    after_bias: Tensor
    inner: Tensor
    inner_bias: Tensor
    outer: Tensor
    outer_bias: Tensor


class Kept(NamedTuple):
    """What the forward pass keeps of a layer; of what is normed, also its mean and one over its deviation."""

    f: Tensor
    f_mean: Tensor
    f_scale: Tensor
    normed: Tensor  # LN(f)
    projected: Tensor
    attended: Tensor
    log_sums: Tensor
    g: Tensor  # f + TriangularAttention(LN(f))
    g_mean: Tensor
    g_scale: Tensor
    read: Tensor  # LN(g)
    inner: Tensor
    hidden: Tensor  # Mish of inner


class Gradients(NamedTuple):
    """What the backward pass keeps of a layer: the gradients of what its names are in ``Kept``, and of its result."""

    normed: Tensor
    projected: Tensor
    g: Tensor
    read: Tensor
    inner: Tensor
    result: Tensor


class _Layers(Function):
    """All layers forward, keeping what the backward pass needs; all layers backward; then all weights at once."""

    @staticmethod
    def forward(context: Any, facts: Facts, pairs: Tensor, f: Tensor, *given: Tensor) -> Tensor:
        from trifold.nn.triangular_attention import attend_and_sum

        weights, kept, dim = Weights(*given), list[Tensor](), f.shape[1:]
        for _ in range(facts.layers):
            normed, f_mean, f_scale = torch.native_layer_norm(f, dim, weights.before, weights.before_bias, facts.eps)
            projected = functional.linear(normed, weights.project, weights.project_bias)
            attended, log_sums = attend_and_sum(projected, pairs, facts.heads)
            g = functional.linear(attended, weights.output, weights.output_bias).add_(f)
            read, g_mean, g_scale = torch.native_layer_norm(g, dim, weights.after, weights.after_bias, facts.eps)
            inner = functional.linear(read, weights.inner, weights.inner_bias)
            hidden = functional.mish(inner)
            if facts.keep:
                kept += Kept(
                    f, f_mean, f_scale, normed, projected, attended, log_sums, g, g_mean, g_scale, read, inner, hidden
                )
            f = functional.linear(hidden, weights.outer, weights.outer_bias)
        context.save_for_backward(pairs, *weights, *kept)
        return f

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        pairs, *saved = context.saved_tensors
        count, size = len(Weights._fields), len(Kept._fields)
        weights, flat = Weights(*saved[:count]), saved[count:]
        kept = [Kept(*flat[start : start + size]) for start in range(0, len(flat), size)]
        gradients, d_f = list[Gradients](), gradient.contiguous()
        for layer in reversed(kept):
            d_f, found = _go_through(layer, pairs, weights, d_f)
            gradients.append(found)
        return None, None, d_f, *_weight_gradients(weights, kept[::-1], gradients)


def _go_through(kept: Kept, pairs: Tensor, weights: Weights, d_result: Tensor) -> tuple[Tensor, Gradients]:
    """Take the gradient through a layer, and keep what the weights' gradients are made of."""
    from trifold.nn.triangular_attention import attend_backward

    d_inner = torch.ops.aten.mish_backward(d_result @ weights.outer, kept.inner)
    d_read = d_inner @ weights.inner
    d_g = _norm_backward(d_read, kept.g, kept.g_mean, kept.g_scale, weights.after, weights.after_bias, 0)[0]
    d_projected = attend_backward(kept.projected, pairs, kept.attended, kept.log_sums, d_g @ weights.output)
    d_normed = d_projected @ weights.project
    norm = kept.f, kept.f_mean, kept.f_scale, weights.before, weights.before_bias
    d_f = _norm_backward(d_normed, *norm, 0)[0].add_(d_g)
    return d_f, Gradients(d_normed, d_projected, d_g, d_read, d_inner, d_result)


def _norm_backward(
    d_out: Tensor, x: Tensor, mean: Tensor, scale: Tensor, weight: Tensor, bias: Tensor, *wanted: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of what is normed (0), of the weight (1) and of the bias (2): those that are wanted."""
    mask = [number in wanted for number in range(3)]
    found: tuple[Tensor, Tensor, Tensor] = torch.ops.aten.native_layer_norm_backward(
        d_out, x, x.shape[1:], mean, scale, weight, bias, mask
    )
    return found


def _weight_gradients(weights: Weights, kept: Sequence[Kept], gradients: Sequence[Gradients]) -> tuple[Tensor, ...]:
    """The gradients of ``Weights``, in their order, from what all layers have kept."""
    if not kept:
        return tuple(map(torch.zeros_like, weights))
    elements = len(kept[0].f)
    share = math.gcd(elements, PARTS)

    def linear(d_out: str, x: str) -> tuple[Tensor, Tensor]:
        d_rows, rows = _all(gradients, d_out), _all(kept, x)
        left, right = (matrix.view(len(kept) * share, elements // share, matrix.shape[1]) for matrix in (d_rows, rows))
        return (left.transpose(1, 2) @ right).sum(0), d_rows.sum(0)

    def norm(d_out: str, x: str, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
        normed, mean, scale = (_all(kept, name) for name in (x, f"{x}_mean", f"{x}_scale"))
        return _norm_backward(_all(gradients, d_out), normed, mean, scale, weight, bias, 1, 2)[1:]

    return (
        *norm("normed", "f", weights.before, weights.before_bias),
        *linear("projected", "normed"),
        *linear("g", "attended"),
        *norm("read", "g", weights.after, weights.after_bias),
        *linear("inner", "read"),
        *linear("result", "hidden"),
    )


def _all(layers: Sequence[NamedTuple], name: str) -> Tensor:
    """(layers · elements, …) what each layer has kept by this name, end to end."""
    return torch.cat([getattr(layer, name) for layer in layers])

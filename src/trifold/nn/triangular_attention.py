"""Triangular attention by Triton kernels, in the manner of flash attention: nothing is stored for a triple.

    a(u,w,v) = softmax_w(q(u,w) · k(w,v) / √d)
    o(u,v) = Σ_w a(u,w,v) · (l(u,w) ⊙ r(w,v))

in each head. Forward, one pass over w keeps the highest score so far, and scales down what was summed before it rose;
of the scores only log Σ_w exp is stored, for each pair and head. Backward computes them again:

    ds(u,w,v) = a(u,w,v) · (do(u,v) · (l(u,w) ⊙ r(w,v) − o(u,v)))
    dq(u,w) = Σ_v ds(u,w,v) · k(w,v) / √d        dl(u,w) = Σ_v a(u,w,v) · (do(u,v) ⊙ r(w,v))
    dk(w,v) = Σ_u ds(u,w,v) · q(u,w) / √d        dr(w,v) = Σ_u a(u,w,v) · (do(u,v) ⊙ l(u,w))

The last line is the one before it with left and right exchanged, so one kernel does both.

All is read and written where the linear layers have it, the pairs of structures of any size end to end: nothing is
padded, and nothing moved. A *row* is one pair and one head. Each has one writer, so every sum has a fixed order; all
sums are float32. Addresses have 64 bits.

Shapes: projected (pairs, 4 · heads · width): q, k, l and r; out (pairs, heads · width); log_sums (pairs, heads).
"""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd import Function

NUMBERS = 1024
"""The numbers of a tile, rows × width: one load of four for each thread of ``WARPS`` warps."""

MOST_ROWS = 128
"""Fewer than threads, so that each thread reads for itself what a row has one number of."""

WARPS = 8


def attend(projected: Tensor, pairs: Tensor, heads: int) -> Tensor:
    """Triangular attention in each head, with gradients; ``pairs`` is that of ``Grids``."""
    attended: Tensor = _Attention.apply(projected, pairs, heads)
    return attended


class _Attention(Function):
    @staticmethod
    def forward(context: Any, projected: Tensor, pairs: Tensor, heads: int) -> Tensor:
        projected = projected.contiguous()
        out, log_sums = attend_and_sum(projected, pairs, heads)
        context.save_for_backward(projected, pairs, out, log_sums)
        return out

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        projected, pairs, out, log_sums = context.saved_tensors
        return attend_backward(projected, pairs, out, log_sums, gradient.contiguous()), None, None


def attend_and_sum(projected: Tensor, pairs: Tensor, heads: int) -> tuple[Tensor, Tensor]:
    """What each pair attends to, and the log_sums that the backward pass needs: one launch. All is contiguous."""
    if projected.dtype != torch.float32:
        raise ValueError(f"the kernels attend in float32, not in {projected.dtype}: use the reference")
    count, width = len(projected), projected.shape[1] // (4 * heads)
    out, log_sums = projected.new_empty((count, heads * width)), projected.new_empty((count, heads))
    tiles, sizes = _tiles(count, heads, width)
    if count:
        with torch.cuda.device_of(projected):  # Triton launches on the current device
            forward[(tiles,)](pairs, projected, out, log_sums, count, 1 / math.sqrt(width), **sizes)
    return out, log_sums


def attend_backward(projected: Tensor, pairs: Tensor, out: Tensor, log_sums: Tensor, gradient: Tensor) -> Tensor:
    """The gradient of ``projected``, from that of ``out``: one launch. All is contiguous."""
    (count, heads), width = log_sums.shape, out.shape[1] // log_sums.shape[1]
    d_projected = torch.empty_like(projected)
    tiles, sizes = _tiles(count, heads, width)
    if count:
        with torch.cuda.device_of(projected):
            backward[(tiles, 2)](
                pairs, projected, out, log_sums, gradient, d_projected, count, 1 / math.sqrt(width), **sizes
            )  # fmt: skip
    return d_projected


def _tiles(count: int, heads: int, width: int) -> tuple[int, dict[str, int]]:
    """How many tiles there are, and what the kernels are compiled for."""
    padded = triton.next_power_of_2(width)
    rows = max(1, min(MOST_ROWS, NUMBERS // padded))
    sizes = {"HEADS": heads, "WIDTH": width, "PADDED": padded, "ROWS": rows, "num_warps": WARPS}
    return triton.cdiv(count * heads, rows), sizes


@triton.jit
def _place(pairs, count, HEADS: tl.constexpr, ROWS: tl.constexpr):  # type: ignore[no-untyped-def]
    """Whether there is a row, its head and pair ⟨x,y⟩, and its structure's n and first pair; n is 0 for no row."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    at, exists = pairs + row // HEADS, row // HEADS < count
    x, y = tl.load(at, exists, 0), tl.load(at + count, exists, 0)
    n, first = tl.load(at + 2 * count, exists, 0), tl.load(at + 3 * count, exists, 0)
    return exists, row % HEADS, x, y, n, first.to(tl.int64)


@triton.jit
def forward(  # type: ignore[no-untyped-def]
    pairs, projected, out, log_sums, count, scale,
    HEADS: tl.constexpr, WIDTH: tl.constexpr, PADDED: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """o(u,v) of ``ROWS`` rows, and the logarithms of what their softmax divides by."""
    exists, head, u, v, n, first = _place(pairs, count, HEADS, ROWS)
    dim: tl.constexpr = HEADS * WIDTH
    d = tl.arange(0, PADDED)[None, :]
    numbers = (head * WIDTH)[:, None] + d
    left = projected + (first + u * n)[:, None] * (4 * dim) + numbers  # q and, 2 · dim further on, l of ⟨u,0⟩
    right = projected + (first + v)[:, None] * (4 * dim) + dim + numbers  # k and r of ⟨0,v⟩
    highest = tl.full((ROWS,), float("-inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    attended = tl.zeros((ROWS, PADDED), tl.float32)
    for w in range(tl.max(n, 0)):
        inside = (w < n)[:, None] & (d < WIDTH)
        q, k = tl.load(left, inside, 0.0), tl.load(right, inside, 0.0)
        values = tl.load(left + 2 * dim, inside, 0.0) * tl.load(right + 2 * dim, inside, 0.0)
        score = tl.where(w < n, tl.sum(q * k, 1) * scale, float("-inf"))
        higher = tl.maximum(highest, score)
        shrink, weight = tl.exp(highest - higher), tl.exp(score - higher)
        total = total * shrink + weight
        attended = attended * shrink[:, None] + weight[:, None] * values
        highest = higher
        left += 4 * dim
        right += (n * (4 * dim))[:, None]
    pair = first + u * n + v
    tl.store(out + pair[:, None] * dim + numbers, attended / total[:, None], exists[:, None] & (d < WIDTH))
    tl.store(log_sums + pair * HEADS + head, highest + tl.log(total), exists)


@triton.jit
def backward(  # type: ignore[no-untyped-def]
    pairs, projected, out, log_sums, d_out, d_projected, count, scale,
    HEADS: tl.constexpr, WIDTH: tl.constexpr, PADDED: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """dq and dl of ``ROWS`` rows ⟨u,w⟩, or on the other side (axis 1) dk and dr of rows ⟨w,v⟩."""
    exists, head, x, y, n, first = _place(pairs, count, HEADS, ROWS)
    dim: tl.constexpr = HEADS * WIDTH
    d = tl.arange(0, PADDED)[None, :]
    numbers = (head * WIDTH)[:, None] + d
    side = tl.program_id(1)
    own = (first + x * n + y)[:, None] * (4 * dim) + side * dim + numbers
    # ⟨u,w⟩ makes ⟨u,v⟩ with ⟨w,v⟩, for all v; and ⟨w,v⟩ with ⟨u,w⟩, for all u.
    other = tl.where(side == 0, first + y * n, first + x)
    made = tl.where(side == 0, first + x * n, first + y)
    step = tl.where(side == 0, 1, n)
    there = other[:, None] * (4 * dim) + (1 - side) * dim + numbers
    at = made[:, None] * dim + numbers
    whole = exists[:, None] & (d < WIDTH)
    own_key, own_value = tl.load(projected + own, whole, 0.0), tl.load(projected + own + 2 * dim, whole, 0.0)
    d_key, d_value = tl.zeros((ROWS, PADDED), tl.float32), tl.zeros((ROWS, PADDED), tl.float32)
    for z in range(tl.max(n, 0)):
        inside = (z < n)[:, None] & (d < WIDTH)  # where it is not, all is zero
        key, value = tl.load(projected + there, inside, 0.0), tl.load(projected + there + 2 * dim, inside, 0.0)
        o, d_o = tl.load(out + at, inside, 0.0), tl.load(d_out + at, inside, 0.0)
        log_sum = tl.load(log_sums + (made + z * step) * HEADS + head, z < n, 0.0)
        weight = tl.exp(tl.sum(own_key * key, 1) * scale - log_sum)
        d_score = weight * tl.sum(d_o * (own_value * value - o), 1)
        d_key += d_score[:, None] * key
        d_value += weight[:, None] * (d_o * value)
        there += (step * (4 * dim))[:, None]
        at += (step * dim)[:, None]
    tl.store(d_projected + own, d_key * scale, whole)
    tl.store(d_projected + own + 2 * dim, d_value, whole)

"""Triton kernels for a ternary relation that has far more atoms than there are elements: the compositions △.

The first layer of its message MLP is a sum over positions, W₁[x₀; x₁; x₂] = Σᵢ W₁ᵢxᵢ. So it is done once per element
and position, and atoms gather and add what they need. Backward, the gradients of hidden rows are added up per element
and position first, and then multiplied: once per element, for the arguments as for the weights.

    P[e, i, j] = W₁ⱼᵢ f(e)                            one product
    h(a, j)    = mish(b₁ⱼ + Σᵢ P[eᵢ(a), i, j])        ``forward``, and the outer layer with it
    G[e, i, j] = Σ dh(a, j) over a with eᵢ(a) = e     ``position_sum``, after ``backward``
    df(e)     += Σᵢⱼ G[e, i, j] W₁ⱼᵢ                  ``project_backward``
    dW₁ⱼᵢ      = Σₑ G[e, i, j]ᵀ f(e)                  ``kernels.weight_gradient``

Rows, places and scales are those of ``kernels``. The rows of an element lie sorted in ``SEGMENTS`` segments: those of
other relations, and those of △ by position.

Shapes: P, G (elements, 9, k).
"""

from __future__ import annotations

import triton
import triton.language as tl

from trifold.nn.kernels import _dot, _mish, _scale, _stored


@triton.jit
def _hidden(  # type: ignore[no-untyped-def]
    rows, j, gather, projected, bias, hidden, slopes, K: tl.constexpr, KEEP: tl.constexpr
):  # fmt: skip
    """The hidden rows (a, j) of the atoms whose first rows these are; with KEEP they and their slopes are stored."""
    k = tl.arange(0, K)
    p0 = tl.load(projected + (tl.load(gather + rows) * 9 + j)[:, None] * K + k[None, :])
    p1 = tl.load(projected + (tl.load(gather + rows + 1) * 9 + 3 + j)[:, None] * K + k[None, :])
    p2 = tl.load(projected + (tl.load(gather + rows + 2) * 9 + 6 + j)[:, None] * K + k[None, :])
    h = _stored(p0, projected).to(tl.float32) + _stored(p1, projected).to(tl.float32)  # a product may be infinite
    h, slope = _mish(h + _stored(p2, projected).to(tl.float32) + tl.load(bias + j * K + k)[None, :])
    h = _stored(h, hidden)
    if KEEP:
        at = (rows + j)[:, None] * K + k[None, :]
        tl.store(hidden + at, h)
        tl.store(slopes + at, slope.to(slopes.dtype.element_ty))
    return h


@triton.jit
def forward(  # type: ignore[no-untyped-def]
    count, gather, place, projected, inner_bias, outer, outer_bias, hidden, slopes, messages, first,
    K: tl.constexpr, BLOCK: tl.constexpr, KEEP: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """From what elements were projected to, the messages of ``BLOCK`` atoms; with KEEP hidden rows and their slopes."""
    atom = tl.program_id(0) * BLOCK
    if atom < tl.load(count):
        rows, k = first + (atom + tl.arange(0, BLOCK)) * 3, tl.arange(0, K)
        h0 = _hidden(rows, 0, gather, projected, inner_bias, hidden, slopes, K, KEEP)
        h1 = _hidden(rows, 1, gather, projected, inner_bias, hidden, slopes, K, KEEP)
        h2 = _hidden(rows, 2, gather, projected, inner_bias, hidden, slopes, K, KEEP)
        for j in range(3):
            block = outer + (j * K + k[:, None]) * (3 * K) + k[None, :]  # (out, in)
            total = tl.zeros((BLOCK, K), tl.float32) + tl.load(outer_bias + j * K + k)[None, :]
            total += _dot(h0, tl.trans(tl.load(block)), PRECISION)
            total += _dot(h1, tl.trans(tl.load(block + K)), PRECISION)
            total += _dot(h2, tl.trans(tl.load(block + 2 * K)), PRECISION)
            tl.store(messages + tl.load(place + rows + j)[:, None] * K + k[None, :], total)


@triton.jit
def _message_gradient(  # type: ignore[no-untyped-def]
    rows, inside, gather, place, shares, d_received, d_messages, scale_at, K: tl.constexpr
):  # fmt: skip
    """The gradients of the messages in these rows, as products read them, and their scale; both are stored."""
    k = tl.arange(0, K)
    share = tl.load(shares + tl.load(place + rows)[:, None] * K + k[None, :], inside, 0.0)
    d = tl.load(d_received + tl.load(gather + rows)[:, None] * K + k[None, :], inside, 0.0) * share.to(tl.float32)
    scale = _scale(d)
    d = (d / scale).to(d_messages.dtype.element_ty)
    tl.store(d_messages + rows[:, None] * K + k[None, :], d)
    tl.store(scale_at, scale)
    return d, scale


@triton.jit
def backward(  # type: ignore[no-untyped-def]
    count, gather, place, shares, d_received, slopes, outer, d_messages, message_scales, d_hidden, hidden_scales, first,
    K: tl.constexpr, BLOCK: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """From what elements received to the messages of ``BLOCK`` atoms, and through the outer layer to hidden rows."""
    atom = tl.program_id(0) * BLOCK
    left = tl.load(count) - atom
    if left > 0:
        atoms, k = tl.arange(0, BLOCK), tl.arange(0, K)
        rows, inside = first + (atom + atoms) * 3, (atoms < left)[:, None]
        tile = first // BLOCK + tl.program_id(0) * 3
        at = message_scales + tile
        d0, s0 = _message_gradient(rows, inside, gather, place, shares, d_received, d_messages, at, K)
        d1, s1 = _message_gradient(rows + 1, inside, gather, place, shares, d_received, d_messages, at + 1, K)
        d2, s2 = _message_gradient(rows + 2, inside, gather, place, shares, d_received, d_messages, at + 2, K)
        for j in range(3):
            block = outer + k[:, None] * (3 * K) + j * K + k[None, :]  # (out, in)
            total = _dot(d0, tl.load(block), PRECISION) * s0
            total += _dot(d1, tl.load(block + 3 * K * K), PRECISION) * s1
            total += _dot(d2, tl.load(block + 6 * K * K), PRECISION) * s2
            to = (rows + j)[:, None] * K + k[None, :]
            total *= tl.load(slopes + to, inside, 0.0).to(tl.float32)
            scale = _scale(total)
            tl.store(d_hidden + to, (total / scale).to(d_hidden.dtype.element_ty))
            tl.store(hidden_scales + tile + j, scale)


@triton.jit
def position_sum(  # type: ignore[no-untyped-def]
    starts, order, d_hidden, scales, sums, first,
    K: tl.constexpr, BLOCK: tl.constexpr, SEGMENT: tl.constexpr, SEGMENTS: tl.constexpr,
):  # fmt: skip
    """G[e, i]: the gradients of the hidden rows of all atoms that have e at position i, added up."""
    e, i, k = tl.program_id(0), tl.program_id(1), tl.arange(0, K)
    start, end = tl.load(starts + e * SEGMENTS + 1 + i), tl.load(starts + e * SEGMENTS + 2 + i)
    g0, g1, g2 = tl.zeros((K,), tl.float32), tl.zeros((K,), tl.float32), tl.zeros((K,), tl.float32)
    for position in range(start, end, SEGMENT):
        places = position + tl.arange(0, SEGMENT)
        inside = places < end
        atoms = (tl.load(order + places, inside, first) - first) // 3
        tile = scales + first // BLOCK + atoms // BLOCK * 3
        at = d_hidden + (first + atoms * 3)[:, None] * K + k[None, :]
        s0, s1, s2 = tl.load(tile, inside, 0.0), tl.load(tile + 1, inside, 0.0), tl.load(tile + 2, inside, 0.0)
        g0 += tl.sum(tl.load(at, inside[:, None], 0.0).to(tl.float32) * s0[:, None], 0)
        g1 += tl.sum(tl.load(at + K, inside[:, None], 0.0).to(tl.float32) * s1[:, None], 0)
        g2 += tl.sum(tl.load(at + 2 * K, inside[:, None], 0.0).to(tl.float32) * s2[:, None], 0)
    to = sums + (e * 9 + i * 3) * K + k
    tl.store(to, g0)
    tl.store(to + K, g1)
    tl.store(to + 2 * K, g2)


@triton.jit
def project_backward(  # type: ignore[no-untyped-def]
    count, sums, inner, d_f, d_projected, scales, K: tl.constexpr, BLOCK: tl.constexpr, PRECISION: tl.constexpr
):  # fmt: skip
    """Add to df what comes through the projections; G is stored as products read it."""
    tile = tl.program_id(0)
    if tile * BLOCK < tl.load(count):
        e, k = tile * BLOCK + tl.arange(0, BLOCK), tl.arange(0, K)
        to = d_f + e[:, None] * K + k[None, :]
        total = tl.load(to)
        for q in range(9):
            at = (e[:, None] * 9 + q) * K + k[None, :]
            g = tl.load(sums + at)
            scale = _scale(g)
            g = (g / scale).to(d_projected.dtype.element_ty)
            tl.store(d_projected + at, g)
            tl.store(scales + tile * 9 + q, scale)
            block = tl.load(inner + (q % 3 * K + k[:, None]) * (3 * K) + q // 3 * K + k[None, :])  # (out, in)
            total += _dot(g, block, PRECISION) * scale
        tl.store(to, total)

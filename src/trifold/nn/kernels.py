"""Triton kernels for Algorithm 1: every linear layer of every relation in one launch, argument rows never copied.

A message MLP of arity m maps m blocks of k numbers to m blocks, so its linear layers are m × m blocks of k × k. A *row*
is one argument of one atom: row (a, i) of a relation is its atom a's argument i. A *tile* is ``BLOCK`` atoms of one
relation and one block of the output; all tiles of all relations run side by side, whatever their arities.

A table says what each tile is, in ``TILE`` numbers: its first row, the arity m, the block, where the relation's
weights and biases begin, its first atom, the relation, and how many blocks its output has. ``counts`` says how many
atoms there are of each relation: tiles beyond return at once, so that one captured graph serves batches of any size.

Shapes: rows (rows, k), elements (elements, k), all float32; products in the precision given.
"""

from __future__ import annotations

import triton
import triton.language as tl

TILE = 8
"""How many numbers describe a tile."""


@triton.jit
def _nearest(x):  # type: ignore[no-untyped-def]
    """Round to the 10 bits of TF32: the tensor cores would cut the others off, twice as far and always down."""
    return ((x.to(tl.int32, bitcast=True) + 0x1000) & -0x2000).to(tl.float32, bitcast=True)


@triton.jit
def _dot(a, b, PRECISION: tl.constexpr):  # type: ignore[no-untyped-def]
    if PRECISION == "tf32":
        a, b = _nearest(a), _nearest(b)
    return tl.dot(a, b, input_precision=PRECISION)


@triton.jit
def _tau(x):  # type: ignore[no-untyped-def]
    """tanh(softplus(x)), and eˣ with it."""
    power = tl.exp(tl.minimum(x, 20.0))
    n = power * (power + 2.0)
    return n / (n + 2.0), power


@triton.jit
def _mish(x):  # type: ignore[no-untyped-def]
    tau, _ = _tau(x)
    return x * tau


@triton.jit
def _mish_slope(x):  # type: ignore[no-untyped-def]
    tau, power = _tau(x)
    n = power * (power + 2.0)
    return tau + x * (power / (1.0 + power)) * (4.0 * (n + 1.0) / ((n + 2.0) * (n + 2.0)))


@triton.jit
def linear(  # type: ignore[no-untyped-def]
    tiles, counts, source, gather, weights, biases, out,
    K: tl.constexpr, BLOCK: tl.constexpr, TILE: tl.constexpr, INNER: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """out(a, j) = Σ_i in(a, i) Wⱼᵢᵀ + bⱼ: the inner layer reads f[gather], the outer one mish of the inner one's."""
    tile = tiles + tl.program_id(0) * TILE
    first, m, j = tl.load(tile), tl.load(tile + 1), tl.load(tile + 2)
    w, b = tl.load(tile + 3), tl.load(tile + 4)
    if tl.load(tile + 5) < tl.load(counts + tl.load(tile + 6)):
        atoms, k = tl.arange(0, BLOCK), tl.arange(0, K)
        total = tl.zeros((BLOCK, K), tl.float32)
        for i in range(m):
            rows = first + atoms * m + i
            if INNER:
                x = tl.load(source + tl.load(gather + rows)[:, None] * K + k[None, :])
            else:
                x = _mish(tl.load(source + rows[:, None] * K + k[None, :]))
            block = tl.load(weights + w + (j * K + k[:, None]) * (m * K) + i * K + k[None, :])  # (out, in)
            total += _dot(x, tl.trans(block), PRECISION)
        total += tl.load(biases + b + j * K + k)[None, :]
        tl.store(out + (first + atoms * m + j)[:, None] * K + k[None, :], total)


@triton.jit
def smooth_max(  # type: ignore[no-untyped-def]
    starts, order, messages, out, sharpness, K: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """The smooth maximum of the messages of one element, in one pass over them; 0 where there are none."""
    e, k = tl.program_id(0), tl.arange(0, K)
    start, end = tl.load(starts + e), tl.load(starts + e + 1)
    highest = tl.full((K,), float("-inf"), tl.float32)
    total = tl.zeros((K,), tl.float32)
    for position in range(start, end, BLOCK):
        rows = position + tl.arange(0, BLOCK)
        inside = (rows < end)[:, None]
        ids = tl.load(order + rows, rows < end, 0)
        values = tl.load(messages + ids[:, None] * K + k[None, :], inside, float("-inf"))
        higher = tl.maximum(highest, tl.max(values, 0))
        total = total * tl.exp(sharpness * (highest - higher)) + tl.sum(
            tl.exp(sharpness * (values - higher[None, :])), 0
        )
        highest = higher
    tl.store(out + e * K + k, tl.where(end > start, highest + tl.log(total) / sharpness, 0.0))


@triton.jit
def update(  # type: ignore[no-untyped-def]
    count, f, received, inner, inner_bias, outer, outer_bias, hidden, out,
    K: tl.constexpr, BLOCK: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """f' = f + W₂ mish(W₁[f; received] + b₁) + b₂; the hidden layer before mish is kept for the backward pass."""
    first = tl.program_id(0) * BLOCK
    if first < tl.load(count):
        e, k = first + tl.arange(0, BLOCK), tl.arange(0, K)
        at = e[:, None] * K + k[None, :]
        old, new = tl.load(f + at), tl.load(received + at)
        total = old + tl.load(outer_bias + k)[None, :]
        for j in tl.static_range(2):
            rows = inner + (j * K + k[:, None]) * (2 * K) + k[None, :]  # (hidden, in)
            h = _dot(old, tl.trans(tl.load(rows)), PRECISION) + _dot(new, tl.trans(tl.load(rows + K)), PRECISION)
            h += tl.load(inner_bias + j * K + k)[None, :]
            tl.store(hidden + e[:, None] * (2 * K) + j * K + k[None, :], h)
            block = tl.load(outer + k[:, None] * (2 * K) + j * K + k[None, :])  # (out, hidden)
            total += _dot(_mish(h), tl.trans(block), PRECISION)
        tl.store(out + at, total)


@triton.jit
def update_backward(  # type: ignore[no-untyped-def]
    count, gradient, hidden, inner, outer, d_hidden, d_f, d_received,
    K: tl.constexpr, BLOCK: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """From df': the gradients of the hidden layer, of f (the residual's included) and of what was received."""
    first = tl.program_id(0) * BLOCK
    if first < tl.load(count):
        e, k = first + tl.arange(0, BLOCK), tl.arange(0, K)
        at = e[:, None] * K + k[None, :]
        g = tl.load(gradient + at)
        left, right = g, tl.zeros((BLOCK, K), tl.float32)
        for j in tl.static_range(2):
            h = tl.load(hidden + e[:, None] * (2 * K) + j * K + k[None, :])
            block = tl.load(outer + k[:, None] * (2 * K) + j * K + k[None, :])  # (out, hidden)
            d = _dot(g, block, PRECISION) * _mish_slope(h)
            tl.store(d_hidden + e[:, None] * (2 * K) + j * K + k[None, :], d)
            rows = inner + (j * K + k[:, None]) * (2 * K) + k[None, :]  # (hidden, in)
            left += _dot(d, tl.load(rows), PRECISION)
            right += _dot(d, tl.load(rows + K), PRECISION)
        tl.store(d_f + at, left)
        tl.store(d_received + at, right)


@triton.jit
def outer_backward(  # type: ignore[no-untyped-def]
    tiles, counts, gather, messages, received, d_received, hidden, weights, d_messages, d_hidden, sharpness,
    K: tl.constexpr, BLOCK: tl.constexpr, TILE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """From what elements received to the hidden layer: dm = d_received · exp(α(m − received)), then W₂ᵀ, then mish'."""
    tile = tiles + tl.program_id(0) * TILE
    first, m, i, w = tl.load(tile), tl.load(tile + 1), tl.load(tile + 2), tl.load(tile + 3)
    if tl.load(tile + 5) < tl.load(counts + tl.load(tile + 6)):
        atoms, k = tl.arange(0, BLOCK), tl.arange(0, K)
        total = tl.zeros((BLOCK, K), tl.float32)
        for j in range(m):
            rows = first + atoms * m + j
            at = rows[:, None] * K + k[None, :]
            to = tl.load(gather + rows)[:, None] * K + k[None, :]
            share = tl.exp(tl.minimum(sharpness * (tl.load(messages + at) - tl.load(received + to)), 0.0))
            d = tl.load(d_received + to) * share
            if i == j:
                tl.store(d_messages + at, d)
            block = tl.load(weights + w + (j * K + k[:, None]) * (m * K) + i * K + k[None, :])  # (out, hidden)
            total += _dot(d, block, PRECISION)
        at = (first + atoms * m + i)[:, None] * K + k[None, :]
        tl.store(d_hidden + at, total * _mish_slope(tl.load(hidden + at)))


@triton.jit
def inner_backward(  # type: ignore[no-untyped-def]
    tiles, counts, d_hidden, weights, d_rows,
    K: tl.constexpr, BLOCK: tl.constexpr, TILE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """From the hidden layer to the arguments: dx(a, i) = Σ_j dh(a, j) Wⱼᵢ."""
    tile = tiles + tl.program_id(0) * TILE
    first, m, i, w = tl.load(tile), tl.load(tile + 1), tl.load(tile + 2), tl.load(tile + 3)
    if tl.load(tile + 5) < tl.load(counts + tl.load(tile + 6)):
        atoms, k = tl.arange(0, BLOCK), tl.arange(0, K)
        total = tl.zeros((BLOCK, K), tl.float32)
        for j in range(m):
            d = tl.load(d_hidden + (first + atoms * m + j)[:, None] * K + k[None, :])
            block = tl.load(weights + w + (j * K + k[:, None]) * (m * K) + i * K + k[None, :])
            total += _dot(d, block, PRECISION)
        tl.store(d_rows + (first + atoms * m + i)[:, None] * K + k[None, :], total)


@triton.jit
def segment_sum(  # type: ignore[no-untyped-def]
    starts, order, rows, base, out, K: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """out = base + the sum of the rows of one element, in the order of the rows."""
    e, k = tl.program_id(0), tl.arange(0, K)
    start, end = tl.load(starts + e), tl.load(starts + e + 1)
    total = tl.load(base + e * K + k)
    for position in range(start, end, BLOCK):
        places = position + tl.arange(0, BLOCK)
        ids = tl.load(order + places, places < end, 0)
        total += tl.sum(tl.load(rows + ids[:, None] * K + k[None, :], (places < end)[:, None], 0.0), 0)
    tl.store(out + e * K + k, total)


@triton.jit
def weight_gradient(  # type: ignore[no-untyped-def]
    blocks, counts, d_out, inputs, gather, d_weights, d_biases,
    out_stride, in_stride, weights_size, biases_size,
    K: tl.constexpr, BLOCK: tl.constexpr, TILE: tl.constexpr, INNER: tl.constexpr, PRECISION: tl.constexpr,
    SPLITS: tl.constexpr,
):  # fmt: skip
    """dWⱼᵢ = Σ_a d_out(a, j)ᵀ in(a, i) and dbⱼ = Σ_a d_out(a, j), for a layer (axis 1) and part of its atoms (axis 2).

    The parts are added up afterwards, in a fixed order.

    A block is described as a tile is, with i in place of the first atom.
    """
    block = blocks + tl.program_id(0) * TILE
    first, m, j = tl.load(block), tl.load(block + 1), tl.load(block + 2)
    w, b, i, out_blocks = tl.load(block + 3), tl.load(block + 4), tl.load(block + 5), tl.load(block + 7)
    layer, split = tl.program_id(1).to(tl.int64), tl.program_id(2)
    d_out += layer * out_stride
    inputs += layer * in_stride
    n = tl.load(counts + tl.load(block + 6))
    k = tl.arange(0, K)
    total = tl.zeros((K, K), tl.float32)
    bias = tl.zeros((K,), tl.float32)
    for atom in range(split * BLOCK, n, SPLITS * BLOCK):
        atoms = atom + tl.arange(0, BLOCK)
        inside = (atoms < n)[:, None]
        d = tl.load(d_out + (first + atoms * out_blocks + j)[:, None] * K + k[None, :], inside, 0.0)
        rows = first + atoms * m + i
        if INNER:
            x = tl.load(inputs + tl.load(gather + rows, atoms < n, 0)[:, None] * K + k[None, :], inside, 0.0)
        else:
            x = _mish(tl.load(inputs + rows[:, None] * K + k[None, :], inside, 0.0))
        total += _dot(tl.trans(d), x, PRECISION)
        bias += tl.sum(d, 0)
    at = w + (j * K + k[:, None]) * (m * K) + i * K + k[None, :]
    part = layer * SPLITS + split
    tl.store(d_weights + part * weights_size + at, total)
    if i == 0:
        tl.store(d_biases + part * biases_size + b + j * K + k, bias)

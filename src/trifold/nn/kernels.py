"""Triton kernels for Algorithm 1: every linear layer of every relation in one launch, argument rows never copied.

A message MLP of arity m maps m blocks of k numbers to m blocks, so its linear layers are m × m blocks of k × k. A *row*
is one argument of one atom: row (a, i) of a relation is its atom a's argument i. A *tile* is ``BLOCK`` atoms of one
relation and one block of the output; all tiles of all relations run side by side, whatever their arities.

A table says what each tile is, in ``TILE`` numbers: its first row, the arity m, the block, where the relation's
weights and biases begin, its first atom, and the relation. ``counts`` says how many
atoms there are of each relation: tiles beyond return at once, so that one captured graph serves batches of any size.

Messages to elements, their shares of the smooth maximum, and gradients of arguments lie sorted by element: row r at
``place[r]``. Then a reduction reads what lies together, and only the writer needs to know where.

Sums, the residual stream and the smooth maximum are float32. Factors of products are stored as the arrays given:
float32, or float16, which keeps as many bits as the tensor cores' TF32. A gradient may be smaller than float16
reaches, so its tiles are scaled: d is stored as d / s with one float32 s for each tile.

Shapes: rows (rows, k), elements (elements, k), scales (rows / BLOCK,).
"""

from __future__ import annotations

import triton
import triton.language as tl

TILE = 7
"""How many numbers describe a tile."""

WEIGHTS = 9
"""How many numbers describe a block of weights."""


@triton.jit
def _dot(a, b, PRECISION: tl.constexpr):  # type: ignore[no-untyped-def]
    """Factors are rounded to float16, or to 22 bits, or taken as they are; the sum is float32."""
    if PRECISION == "fp16":
        product = tl.dot(a.to(tl.float16), b.to(tl.float16))
    elif PRECISION == "fp16x3":
        high_a, low_a = _halves(a)
        high_b, low_b = _halves(b)
        product = tl.dot(high_a, high_b) + tl.dot(low_a, high_b, tl.dot(high_a, low_b)) / 2048.0
    else:
        product = tl.dot(a, b, input_precision=PRECISION)
    return product


@triton.jit
def _halves(x):  # type: ignore[no-untyped-def]
    """x in two float16 numbers, high + low / 2048: 22 bits, and as small as float16 reaches in either."""
    high = _half(x)
    return high, _half((x - high.to(tl.float32)) * 2048.0)


@triton.jit
def _half(x):  # type: ignore[no-untyped-def]
    """x in float16: what that cannot hold becomes the largest that it can, not infinite."""
    return tl.minimum(tl.maximum(x, -65504.0), 65504.0).to(tl.float16)


@triton.jit
def _stored(x, array):  # type: ignore[no-untyped-def]
    """x as it is stored in an array."""
    if array.dtype.element_ty == tl.float16:
        x = _half(x)
    return x.to(array.dtype.element_ty)


@triton.jit
def _scale(d):  # type: ignore[no-untyped-def]
    """What to divide a tile of gradients by, so that its largest is 1024: far from both ends of float16."""
    return tl.maximum(tl.max(tl.max(tl.abs(d), 1), 0), 1e-30) / 1024.0


@triton.jit
def _mish(x):  # type: ignore[no-untyped-def]
    """mish(x) = xτ where τ = n / (n + 2) and n = eˣ(eˣ + 2), and its slope τ + x σ(x) (1 − τ²)."""
    power = tl.exp(tl.minimum(x, 20.0))
    n = power * (power + 2.0)
    tau = n / (n + 2.0)
    return x * tau, tau + x * (power / (1.0 + power)) * (4.0 * (n + 1.0) / ((n + 2.0) * (n + 2.0)))


@triton.jit
def linear(  # type: ignore[no-untyped-def]
    tiles, counts, source, rows_of, weights, biases, out, slopes,
    K: tl.constexpr, BLOCK: tl.constexpr, TILE: tl.constexpr, INNER: tl.constexpr, KEEP: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """y(a, j) = Σ_i x(a, i) Wⱼᵢᵀ + bⱼ, of the inner or the outer layer.

    The inner one reads x from source[rows_of] and writes mish(y), and with KEEP its slope. The outer one reads what the
    inner one wrote, and writes y, a message, to out[rows_of].
    """
    tile = tiles + tl.program_id(0) * TILE
    first, m, j = tl.load(tile), tl.load(tile + 1), tl.load(tile + 2)
    w, b = tl.load(tile + 3), tl.load(tile + 4)
    if tl.load(tile + 5) < tl.load(counts + tl.load(tile + 6)):
        atoms, k = tl.arange(0, BLOCK), tl.arange(0, K)
        total = tl.zeros((BLOCK, K), tl.float32) + tl.load(biases + b + j * K + k)[None, :]
        for i in range(m):
            rows = first + atoms * m + i
            if INNER:
                rows = tl.load(rows_of + rows)
            x = tl.load(source + rows[:, None] * K + k[None, :])
            block = tl.load(weights + w + (j * K + k[:, None]) * (m * K) + i * K + k[None, :])  # (out, in)
            total += _dot(x, tl.trans(block), PRECISION)
        to = first + atoms * m + j
        if INNER:
            at = to[:, None] * K + k[None, :]
            total, slope = _mish(total)
            if KEEP:
                tl.store(slopes + at, slope.to(slopes.dtype.element_ty))
        else:
            at = tl.load(rows_of + to)[:, None] * K + k[None, :]
        tl.store(out + at, _stored(total, out))


@triton.jit
def smooth_max(  # type: ignore[no-untyped-def]
    starts, messages, received, shares, sharpness,
    K: tl.constexpr, SEGMENT: tl.constexpr, SEGMENTS: tl.constexpr, KEEP: tl.constexpr,
):  # fmt: skip
    """The smooth maximum of the messages of one element, 0 where there are none, and with KEEP each one's share.

    The share of a message m is exp(α(m − smax)) = ∂ smax / ∂ m.
    """
    e, k = tl.program_id(0), tl.arange(0, K)
    start, end = tl.load(starts + e * SEGMENTS), tl.load(starts + (e + 1) * SEGMENTS)
    highest = tl.full((K,), float("-inf"), tl.float32)
    total = tl.zeros((K,), tl.float32)
    for position in range(start, end, SEGMENT):
        rows = position + tl.arange(0, SEGMENT)
        values = tl.load(messages + rows[:, None] * K + k[None, :], (rows < end)[:, None], float("-inf"))
        higher = tl.maximum(highest, tl.max(values, 0))
        total = total * tl.exp(sharpness * (highest - higher)) + tl.sum(
            tl.exp(sharpness * (values - higher[None, :])), 0
        )
        highest = higher
    result = tl.where(end > start, highest + tl.log(total) / sharpness, 0.0)
    tl.store(received + e * K + k, _stored(result, received))
    if KEEP:
        for position in range(start, end, SEGMENT):
            rows = position + tl.arange(0, SEGMENT)
            at, inside = rows[:, None] * K + k[None, :], (rows < end)[:, None]
            share = tl.exp(sharpness * (tl.load(messages + at, inside, 0.0) - result[None, :]))
            tl.store(shares + at, share.to(shares.dtype.element_ty), inside)


@triton.jit
def update(  # type: ignore[no-untyped-def]
    count, f, table, received, inner, inner_bias, outer, outer_bias, hidden, slopes, out, out_table,
    K: tl.constexpr, BLOCK: tl.constexpr, KEEP: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """f' = f + W₂ mish(W₁[f; received] + b₁) + b₂; with KEEP the hidden layer and its slopes are kept.

    ``table`` has f as products read it, ``out_table`` gets f' so.
    """
    first = tl.program_id(0) * BLOCK
    if first < tl.load(count):
        e, k = first + tl.arange(0, BLOCK), tl.arange(0, K)
        at = e[:, None] * K + k[None, :]
        old, new = tl.load(table + at), tl.load(received + at)
        total = tl.load(f + at) + tl.load(outer_bias + k)[None, :]
        for j in tl.static_range(2):
            rows = inner + (j * K + k[:, None]) * (2 * K) + k[None, :]  # (hidden, in)
            h = _dot(old, tl.trans(tl.load(rows)), PRECISION) + _dot(new, tl.trans(tl.load(rows + K)), PRECISION)
            h += tl.load(inner_bias + j * K + k)[None, :]
            h, slope = _mish(h)
            if KEEP:
                hidden_at = e[:, None] * (2 * K) + j * K + k[None, :]
                tl.store(hidden + hidden_at, _stored(h, hidden))
                tl.store(slopes + hidden_at, slope.to(slopes.dtype.element_ty))
            block = tl.load(outer + k[:, None] * (2 * K) + j * K + k[None, :])  # (out, hidden)
            total += _dot(_stored(h, out_table), tl.trans(block), PRECISION)
        tl.store(out + at, total)
        tl.store(out_table + at, _stored(total, out_table))


@triton.jit
def update_backward(  # type: ignore[no-untyped-def]
    count, gradient, slopes, inner, outer, d_out, d_out_scales, d_hidden, d_hidden_scales, d_f, d_received,
    K: tl.constexpr, BLOCK: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """From df': the gradients of the hidden layer, of f (the residual's included) and of what was received.

    ``d_out`` is df' itself, stored as products read it.
    """
    tile = tl.program_id(0)
    if tile * BLOCK < tl.load(count):
        e, k = tile * BLOCK + tl.arange(0, BLOCK), tl.arange(0, K)
        at = e[:, None] * K + k[None, :]
        g = tl.load(gradient + at)
        g_scale = _scale(g)
        left, right = g, tl.zeros((BLOCK, K), tl.float32)
        g = (g / g_scale).to(d_out.dtype.element_ty)
        tl.store(d_out + at, g)
        tl.store(d_out_scales + tile, g_scale)
        for j in tl.static_range(2):
            slope = tl.load(slopes + e[:, None] * (2 * K) + j * K + k[None, :]).to(tl.float32)
            block = tl.load(outer + k[:, None] * (2 * K) + j * K + k[None, :])  # (out, hidden)
            d = _dot(g, block, PRECISION) * g_scale * slope
            scale = _scale(d)
            d = (d / scale).to(d_hidden.dtype.element_ty)
            tl.store(d_hidden + e[:, None] * (2 * K) + j * K + k[None, :], d)
            tl.store(d_hidden_scales + 2 * tile + j, scale)
            rows = inner + (j * K + k[:, None]) * (2 * K) + k[None, :]  # (hidden, in)
            left += _dot(d, tl.load(rows), PRECISION) * scale
            right += _dot(d, tl.load(rows + K), PRECISION) * scale
        tl.store(d_f + at, left)
        tl.store(d_received + at, right)


@triton.jit
def message_backward(  # type: ignore[no-untyped-def]
    tiles, counts, gather, place, shares, d_received, d_messages, scales,
    K: tl.constexpr, BLOCK: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """From what elements received to the messages: dm = d_received · share."""
    tile = tiles + tl.program_id(0) * TILE
    first, m, j = tl.load(tile), tl.load(tile + 1), tl.load(tile + 2)
    left = tl.load(counts + tl.load(tile + 6)) - tl.load(tile + 5)
    if left > 0:
        atoms, k = tl.arange(0, BLOCK), tl.arange(0, K)
        rows, inside = first + atoms * m + j, (atoms < left)[:, None]
        share = tl.load(shares + tl.load(place + rows)[:, None] * K + k[None, :], inside, 0.0)
        d = tl.load(d_received + tl.load(gather + rows)[:, None] * K + k[None, :], inside, 0.0) * share.to(tl.float32)
        scale = _scale(d)
        tl.store(d_messages + rows[:, None] * K + k[None, :], (d / scale).to(d_messages.dtype.element_ty))
        tl.store(scales + first // BLOCK + j, scale)


@triton.jit
def linear_backward(  # type: ignore[no-untyped-def]
    tiles, counts, d_out, scales, weights, slopes, place, d_in, d_in_scales,
    K: tl.constexpr, BLOCK: tl.constexpr, TILE: tl.constexpr, INNER: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """dx(a, i) = Σ_j dy(a, j) Wⱼᵢ, through the slopes of mish after the inner layer.

    The outer layer's dx is stored as products read it, the inner one's, of the arguments, sorted by element.
    """
    tile = tiles + tl.program_id(0) * TILE
    first, m, i, w = tl.load(tile), tl.load(tile + 1), tl.load(tile + 2), tl.load(tile + 3)
    left = tl.load(counts + tl.load(tile + 6)) - tl.load(tile + 5)
    if left > 0:
        atoms, k = tl.arange(0, BLOCK), tl.arange(0, K)
        total = tl.zeros((BLOCK, K), tl.float32)
        for j in range(m):
            d = tl.load(d_out + (first + atoms * m + j)[:, None] * K + k[None, :])
            block = tl.load(weights + w + (j * K + k[:, None]) * (m * K) + i * K + k[None, :])  # (out, in)
            total += _dot(d, block, PRECISION) * tl.load(scales + first // BLOCK + j)
        rows = first + atoms * m + i
        if INNER:
            tl.store(d_in + tl.load(place + rows)[:, None] * K + k[None, :], total)
        else:
            at, inside = rows[:, None] * K + k[None, :], (atoms < left)[:, None]
            total *= tl.load(slopes + at, inside, 0.0).to(tl.float32)  # an atom that is none must not set the scale
            scale = _scale(total)
            tl.store(d_in + at, (total / scale).to(d_in.dtype.element_ty))
            tl.store(d_in_scales + first // BLOCK + i, scale)


@triton.jit
def segment_sum(  # type: ignore[no-untyped-def]
    starts, rows, base, out, K: tl.constexpr, SEGMENT: tl.constexpr, SEGMENTS: tl.constexpr
):  # fmt: skip
    """out = base + the sum of the rows in the first segment of one element, in their order."""
    e, k = tl.program_id(0), tl.arange(0, K)
    start, end = tl.load(starts + e * SEGMENTS), tl.load(starts + e * SEGMENTS + 1)
    total = tl.load(base + e * K + k)
    for position in range(start, end, SEGMENT):
        places = position + tl.arange(0, SEGMENT)
        total += tl.sum(tl.load(rows + places[:, None] * K + k[None, :], (places < end)[:, None], 0.0), 0)
    tl.store(out + e * K + k, total)


@triton.jit
def weight_gradient(  # type: ignore[no-untyped-def]
    blocks, counts, d_out, scales, inputs, gather, d_weights, d_biases,
    layers, out_stride, scale_stride, in_stride, weights_size, biases_size,
    K: tl.constexpr, BLOCK: tl.constexpr, WEIGHTS: tl.constexpr, INNER: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """dWⱼᵢ = Σ_a d_out(a, j)ᵀ in(a, i) and dbⱼ = Σ_a d_out(a, j) over all layers, for a part (axis 1) of the tiles.

    The parts are added up afterwards, in a fixed order.

    A block of weights is described by ``WEIGHTS`` numbers: its first row, of how many blocks d_out consists and which
    one it is, the same of the inputs, where the block begins and how far its rows are apart, where its biases begin, or
    -1, and the relation.
    """
    block = blocks + tl.program_id(0) * WEIGHTS
    first, out_blocks, j = tl.load(block), tl.load(block + 1), tl.load(block + 2)
    in_blocks, i = tl.load(block + 3), tl.load(block + 4)
    w, stride, b = tl.load(block + 5), tl.load(block + 6), tl.load(block + 7)
    part = tl.program_id(1).to(tl.int64)
    n = tl.load(counts + tl.load(block + 8))
    k = tl.arange(0, K)
    total = tl.zeros((K, K), tl.float32)
    sums = tl.zeros((BLOCK, K), tl.float32)
    for atom in range(tl.program_id(1) * BLOCK, n, tl.num_programs(1) * BLOCK):
        atoms = atom + tl.arange(0, BLOCK)
        inside = (atoms < n)[:, None]
        d_at = d_out + (first + atoms * out_blocks + j)[:, None] * K + k[None, :]
        scale_at = scales + first // BLOCK + atom // BLOCK * out_blocks + j
        rows = first + atoms * in_blocks + i
        if INNER:
            rows = tl.load(gather + rows, atoms < n, 0)
        x_at = inputs + rows[:, None] * K + k[None, :]
        for _ in range(layers):
            d, x, scale = tl.load(d_at, inside, 0.0), tl.load(x_at, inside, 0.0), tl.load(scale_at)
            d_at, x_at, scale_at = d_at + out_stride, x_at + in_stride, scale_at + scale_stride
            total += _dot(tl.trans(d), x, PRECISION) * scale
            sums += d.to(tl.float32) * scale
    tl.store(d_weights + part * weights_size + w + k[:, None] * stride + k[None, :], total)
    if b >= 0:
        tl.store(d_biases + part * biases_size + b + k, tl.sum(sums, 0))

"""The backend ``cpu``: Algorithm 1 without gradients, at little more than the cost of its products."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional

from trifold.nn.merging import merge
from trifold.nn.mish import mish_
from trifold.nn.mlp import MLP
from trifold.nn.rgnn import RGNN
from trifold.structures import DisjointUnion

TILE = 2**18
"""Numbers that are worked on at a time: a megabyte, what a core's cache holds."""

PADDING = 400
"""Rows that may be reduced in vain: as long as the calls that another group of elements would take."""


@torch.no_grad()
def embed_on_cpu(network: RGNN, union: DisjointUnion) -> Tensor:
    """The embeddings that Algorithm 1 computes, to rounding.

    Elements that the network cannot tell apart are merged, then sorted by how many messages they get, so that those
    with equally many are reduced as one dense array. Messages are computed tile by tile and carry the factor α.

    Shapes: → (elements, dim).
    """
    merged = merge(network.relations, network.initial.marks, union, network.layers)
    rows = torch.cat([merged.classes[:0], *(table.reshape(-1) for table in merged.atoms)])
    numbers = torch.cat([merged.classes[:0], *(numbers.reshape(-1) for numbers in merged.multiplicities)])
    degrees = torch.bincount(rows, minlength=len(merged.members))
    order = torch.argsort(degrees, descending=True, stable=True)
    place = torch.empty_like(order).index_copy_(0, order, torch.arange(len(order)))

    f = network.initial(union)[merged.members[order]]
    messages = f.new_empty((len(rows), network.dim))
    received = torch.zeros_like(f)
    senders, start = [], 0
    for mlp, table in zip(network.messages, merged.atoms, strict=True):
        if len(table):
            assert isinstance(mlp, MLP)
            out = messages[start : start + table.numel()].view(len(table), -1)
            senders.append(_Sender(mlp, place[table], out, len(f), network.sharpness))
            start += table.numel()
    inbox = _Inbox(place[rows], degrees[order], numbers.log().to(f.dtype))
    for _ in range(network.layers):
        for sender in senders:
            sender.send(f)
        inbox.smooth_max(messages, received)
        received.div_(network.sharpness)
        _change(network.update, f, received)
    return f[place[merged.classes]]


class _Sender:
    """A relation's atoms and its MLP, which writes their messages, times α, to a place of its own.

    The first layer of the MLP is a sum over the arguments, W[f₁;…;f_m] = ΣWⱼfⱼ. Where there are fewer elements than
    atoms it is done once per element and position, and an atom looks its m parts up and adds them.
    """

    def __init__(self, mlp: MLP, table: Tensor, out: Tensor, elements: int, sharpness: float) -> None:
        arity, width = table.shape[1], out.shape[1]
        self.width, self.out, self.hoisted = width, out, len(table) > elements
        self.inner, self.bias = mlp.inner.weight.t(), mlp.inner.bias.data
        if self.hoisted:
            table = table * arity + torch.arange(arity)
            self.inner = self.inner.view(arity, -1, width).transpose(0, 1).reshape(-1, arity * width)
            self.bias = functional.pad(self.bias, (0, (arity - 1) * width))
            self.parts = out.new_empty((elements, arity * width))
        self.table = table
        self.outer, self.outer_bias = mlp.outer.weight.t() * sharpness, mlp.outer.bias * sharpness

    def send(self, f: Tensor) -> None:
        if self.hoisted:
            torch.addmm(self.bias, f, self.inner, out=self.parts)
        for tile in _tiles(len(self.table), self.width):
            table = self.table[tile]
            if self.hoisted:
                hidden = functional.embedding_bag(table, self.parts.view(-1, self.width), mode="sum")
            else:
                arguments = f.index_select(0, table.view(-1)).view(-1, self.width)
                hidden = torch.addmm(self.bias, arguments, self.inner)
            torch.addmm(self.outer_bias, mish_(hidden), self.outer, out=self.out[tile])


class _Inbox:
    """The messages to each element, where elements are sorted by how many they get, most first.

    Elements are cut into groups. A group is a dense array (elements, most messages) of rows, with the logarithm of each
    one's multiplicity: −∞ where an element has fewer.
    """

    def __init__(self, receivers: Tensor, degrees: Tensor, logarithms: Tensor) -> None:
        rows = torch.argsort(receivers, stable=True)
        starts = torch.cumsum(degrees, 0) - degrees
        self.groups: list[tuple[int, Tensor, Tensor | None]] = []
        for first, last, most in _groups(degrees):
            counts = degrees[first:last, None]
            used = torch.arange(most) < counts  # (elements, most)
            table = rows[starts[first:last, None] + torch.arange(most).minimum(counts - 1)]
            offsets = logarithms[table].masked_fill_(~used, -math.inf)
            self.groups.append((first, table, offsets[:, :, None] if offsets.any() else None))

    def smooth_max(self, messages: Tensor, out: Tensor) -> None:
        """log Σ n exp(m) over the messages m of each element, n of each; elements without messages are left alone."""
        dim = messages.shape[1]
        for first, table, offsets in self.groups:
            most = table.shape[1]
            for tile in _tiles(len(table), most * dim):
                rows = messages.index_select(0, table[tile].view(-1)).view(-1, most, dim)
                if offsets is not None:
                    rows += offsets[tile]
                # log softmax(m)₁ = m₁ − log Σ exp(m): the one call that needs no more passes over the rows
                shifted = torch.log_softmax(rows, 1)[:, 0]
                torch.sub(rows[:, 0], shifted, out=out[first + tile.start : first + tile.stop])


def _change(mlp: MLP, f: Tensor, received: Tensor) -> None:
    """f ← f + MLP(f, received)."""
    inner, outer = mlp.inner.weight.t(), mlp.outer.weight.t()
    for tile in _tiles(len(f), 2 * f.shape[1]):
        own = f[tile]
        hidden = mish_(torch.addmm(mlp.inner.bias, torch.cat([own, received[tile]], 1), inner))
        own.add_(mlp.outer.bias).addmm_(hidden, outer)


def _tiles(count: int, width: int) -> Iterator[slice]:
    """Cut so many rows into tiles of about ``TILE`` numbers."""
    step = max(1, TILE // width)
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


def _groups(degrees: Tensor) -> Iterator[tuple[int, int, int]]:
    """Cut degrees, which descend, into ranges (first, last, highest) with little padding; zeros are in none."""
    values, counts = torch.unique_consecutive(degrees, return_counts=True)
    first, last, highest, padding = 0, 0, 0, 0
    for degree, count in zip(values.tolist(), counts.tolist(), strict=True):
        padding += count * (highest - degree)
        if degree == 0 or padding > PADDING or not last:
            if last > first:
                yield first, last, highest
            first, highest, padding = last, degree, 0
        last += count
    if last > first and highest:
        yield first, last, highest

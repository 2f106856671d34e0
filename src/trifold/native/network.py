"""An R-GNN by compiled code: Algorithm 1, all its layers in one call."""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from trifold.native.library import Floats, Integers, check, opened, pointers

SHARPNESS = 12.0
"""The sharpness of the smooth maximum in the authors' code; the paper gives none."""

BLOCK = 16
"""Rows of weights are padded to a multiple of these: a vector of the widest instructions."""


class MlpWeights(NamedTuple):
    """W₁ (hidden, inputs), b₁ (hidden,), W₂ (outputs, hidden) and b₂ (outputs,), as torch has them."""

    inner: Floats
    inner_bias: Floats
    outer: Floats
    outer_bias: Floats


class Question(NamedTuple):
    """Some states of one problem, and their actions, as arrays of integers.

    objects         how many the problem has
    fixed, varying  (…, 1 + m) atoms: a relation, and its arguments, padded; the first is −1 if there is none
    offsets, indices  (states + 1,), (Σ,) state i has all fixed atoms, and of the varying ones
                    ``indices[offsets[i]:offsets[i + 1]]``
    actions         (A, 1 + m) a schema, and its arguments, padded
    action_offsets  (states + 1,) which actions are of which state; None if no scores are wanted
    """

    objects: int
    fixed: Any
    varying: Any
    offsets: Any
    indices: Any
    actions: Any
    action_offsets: Any = None


@dataclass(frozen=True)
class NetworkWeights:
    """All weights of an R-GNN.

    dim, layers, sharpness  of the network
    arities                 of the relations that send
    messages                the MLP of each of them
    update                  MLP_U
    """

    dim: int
    layers: int
    sharpness: float
    arities: tuple[int, ...]
    messages: tuple[MlpWeights, ...]
    update: MlpWeights


class NativeNetwork:
    """An R-GNN whose weights were copied, laid out for vector instructions: later changes of theirs are not seen."""

    def __init__(self, weights: NetworkWeights) -> None:
        self.dim, self.padded, self.arities = weights.dim, padded(weights.dim), weights.arities
        library = opened()
        laid_out: list[Floats] = []
        for arity, mlp in zip(weights.arities, weights.messages, strict=True):
            scaled = mlp._replace(outer=mlp.outer * weights.sharpness, outer_bias=mlp.outer_bias * weights.sharpness)
            laid_out += lay_out(scaled, weights.dim, arity, arity * self.padded, arity)
        laid_out += lay_out(weights.update, weights.dim, 2, 2 * self.padded, 1)
        sizes = (weights.dim, self.padded, weights.layers, weights.sharpness)
        arities = np.array(weights.arities, np.int32)
        self.handle = library.trifold_network(*sizes, len(arities), arities.ctypes.data, pointers(laid_out))
        if not self.handle:
            raise MemoryError("not enough memory for the weights")
        weakref.finalize(self, library.trifold_free, self.handle)

    def set_values(self, mlp: MlpWeights) -> None:
        """Give it a head of values."""
        laid_out = lay_out(mlp, self.dim, 1, self.padded, 0)
        inputs, hidden = laid_out[0].shape
        check(opened().trifold_set_values(self.handle, pointers(laid_out), inputs, hidden, laid_out[3].size))

    def set_scores(self, reads: Sequence[int], mlps: Sequence[MlpWeights]) -> None:
        """Give it a head of actions: per schema how many elements a query reads, −1 if it has no MLP, and the MLPs."""
        hidden = padded(2 * self.dim)
        known = [number for number in reads if number >= 0]
        laid_out = [
            array
            for number, mlp in zip(known, mlps, strict=True)
            for array in lay_out(mlp, self.dim, number + 1, hidden, 0)
        ]
        numbers = np.array(reads, np.int32)
        sizes = (hidden, padded(1))
        check(opened().trifold_set_scores(self.handle, len(reads), numbers.ctypes.data, *sizes, pointers(laid_out)))

    def set_encoder(self, t: int, relations: Sequence[tuple[int, int]], objects: int, triangles: int) -> None:
        """Let it read states: as they are if t is −1, and else A_t(S).

        relations           of a state: the arity of each, and which of the network's relations it becomes, −1 if none
        objects, triangles  which of them Obj and △ are, −1 if none
        """
        table = np.array(relations, np.int32).reshape(-1, 2)
        arities, senders = np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1])
        addresses = (arities.ctypes.data, senders.ctypes.data)
        check(opened().trifold_set_encoder(self.handle, t, len(table), *addresses, objects, triangles))

    def read(self, question: Question, max_rows: int, threads: int) -> tuple[Floats, Floats]:
        """V of each state, NaN without a head of values, and the scores of all actions, state by state.

        States are read together up to ``max_rows`` messages a layer, and shared out to ``threads`` threads.
        """
        states = len(question.offsets) - 1
        values = np.full(states, math.nan, np.float32)
        scores = np.empty(len(question.actions), np.float32)
        fixed, varying, actions = (
            np.ascontiguousarray(rows, np.int32) for rows in (question.fixed, question.varying, question.actions)
        )
        offsets, indices = np.asarray(question.offsets, np.int64), np.ascontiguousarray(question.indices, np.int32)
        ends = question.action_offsets
        asked = None if ends is None else np.ascontiguousarray(ends, np.int64)
        check(
            opened().trifold_read(
                self.handle,
                question.objects,
                *(fixed.ctypes.data, len(fixed)),
                *(varying.ctypes.data, varying.shape[1]),
                *(states, offsets.ctypes.data, indices.ctypes.data),
                None if asked is None else asked.ctypes.data,
                *(actions.ctypes.data, actions.shape[1]),
                *(max_rows, threads),
                *(values.ctypes.data, scores.ctypes.data),
            )
        )
        return values, scores

    def embed(self, initial: Floats, atoms: Sequence[Integers]) -> Floats:
        """The embeddings of all elements after the last layer, of those before the first.

        Shapes: initial (elements, dim), per sending relation (atoms, arity) → (elements, dim).
        """
        embeddings = np.array(initial, np.float32, order="C")
        tables = [np.ascontiguousarray(table, np.int32) for table in atoms]
        counts = np.array([table.size for table in tables], np.int64)
        elements = len(embeddings)
        check(
            opened().trifold_embed(self.handle, elements, counts.ctypes.data, pointers(tables), embeddings.ctypes.data)
        )
        return embeddings


def padded(width: int) -> int:
    """A width, rounded up to whole vectors."""
    return -(-width // BLOCK) * BLOCK


def lay_out(mlp: MlpWeights, dim: int, blocks: int, hidden: int, out_blocks: int) -> list[Floats]:
    """The weights of an MLP as (inputs, hidden), (hidden,), (hidden, outputs), (outputs,), with zeros between.

    Its input is ``blocks`` embeddings and its output ``out_blocks`` of them, each padded; 0 of them is a number. Its
    hidden layer is padded at the end, to ``hidden``.
    """
    wide, neurons = padded(dim), len(mlp.inner_bias)
    inner = np.zeros((blocks, wide, hidden), np.float32)
    inner[:, :dim, :neurons] = mlp.inner.T.reshape(blocks, dim, neurons)
    size = dim if out_blocks else 1
    outer = np.zeros((hidden, max(1, out_blocks), padded(size)), np.float32)
    outer[:neurons, :, :size] = mlp.outer.T.reshape(neurons, -1, size)
    bias = np.zeros((max(1, out_blocks), padded(size)), np.float32)
    bias[:, :size] = mlp.outer_bias.reshape(-1, size)
    inner_bias = np.zeros(hidden, np.float32)
    inner_bias[:neurons] = mlp.inner_bias
    return [inner.reshape(-1, hidden), inner_bias, outer.reshape(hidden, -1), bias.reshape(-1)]

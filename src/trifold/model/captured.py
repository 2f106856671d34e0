"""A look at a state by the backend ``cuda``: from its encoded atoms to scores, one captured CUDA graph."""

from __future__ import annotations

import torch
from torch import Tensor

from trifold.model.network import HeadedNetwork, LaidOutNetwork
from trifold.nn import BLOCK
from trifold.structures import Structures

ROOM = 1.25
"""There is room for this many times what the first state has: others of its problem have about as much."""

WASTE = 4
"""With room for this many times what a state has, a smaller graph is worth its capture."""


class CapturedLook:
    """One encoded structure → V, and the scores of its queries: ``HeadedNetwork.read``, captured for a size.

    All that the graph reads and writes are attributes, so that they live as long as it does:

    network  with the batcher, and the structure in it
    only     (1,) the index of this structure: 0
    answer   of the last replay: V, or NaN; then, for each relation of queries, as many scores as there is room for
    """

    def __init__(self, network: HeadedNetwork, structure: Structures, precision: str = "split") -> None:
        counts = structure.atom_counts.clone(), structure.element_counts.clone()
        arguments = torch.zeros(_with_room(len(structure.arguments)), dtype=torch.int32, device=structure.device)
        held = Structures(structure.signature, arguments, *counts)
        self.network = LaidOutNetwork(
            network, held, lambda sizes: [_with_room(n) for n in sizes[:, 0].tolist()], precision
        )
        self.batcher = self.network.batcher
        self.limits = [*self.batcher.limits.tolist(), self.batcher.capacity.elements - 1]
        self.only = torch.zeros(1, dtype=torch.int64, device=structure.device)
        self.batcher.take_over(structure)
        self._capture()

    def _capture(self) -> None:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            self._read()  # which compiles the kernels
        torch.cuda.current_stream().wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=stream):
            self.answer = self._read()

    def _read(self) -> Tensor:
        values, scored = self.network.read(*self.batcher(self.only), 1)
        assert scored is not None
        return torch.cat([scored.scores.new_full((1,), torch.nan) if values is None else values, scored.scores])

    def __call__(self, structure: Structures) -> tuple[float, list[float]] | None:
        """V, or NaN, and the scores of the queries, relation by relation; None if the structure needs another graph."""
        sizes = torch.cat([structure.atom_counts[self.batcher.index, 0], structure.element_counts]).tolist()
        room, needed = len(self.batcher.structures.arguments), len(structure.arguments)
        if any(size > most for size, most in zip(sizes, self.limits, strict=True)):
            return None
        if not needed <= room <= WASTE * _with_room(needed):
            return None
        self.batcher.take_over(structure)
        self.graph.replay()
        value, *scores = self.answer.tolist()
        found, start = [], 0
        senders_and_aside = len(self.limits) - 1
        for relation in range(senders_and_aside - len(self.network.queries), senders_and_aside):
            found += scores[start : start + sizes[relation]]
            start += self.limits[relation]
        return value, found


def _with_room(size: float) -> int:
    """Room for something of this size, in whole blocks and at least one: what there is none of may come."""
    return (int(ROOM * size) // BLOCK + 1) * BLOCK

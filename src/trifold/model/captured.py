"""A look at a state by the backend ``cuda``: from its atoms to scores, one captured CUDA graph."""

from __future__ import annotations

import torch
from torch import Tensor

from trifold.encoders import FixedPairs, Pairs, Queried
from trifold.model.network import HeadedNetwork, LaidOutNetwork
from trifold.nn import BLOCK
from trifold.structures import TRIANGLE, Structures

ROOM = 1.25
"""There is room for this many times what the first state has: others of its problem have about as much."""

WASTE = 4
"""With room for this many times what a state has, a smaller graph is worth its capture."""


def capture_look(
    network: HeadedNetwork, encoder: Queried, structure: Structures, precision: str = "split"
) -> CapturedLook:
    """The captured look for structures about as large as this one, which lies on the host."""
    kind = CapturedPairsLook if isinstance(encoder.encoder, Pairs) else CapturedLook
    return kind(network, encoder, structure, precision)


class CapturedLook:
    """One structure with queries → V, and the scores of the queries, as ``HeadedNetwork.read`` gives them.

    It is encoded first, and then read by a graph that was captured for its size. All that the graph reads and writes
    are attributes, so that they live as long as it does:

    batcher  with the encoded structure, which it lays out
    only     (1,) the index of this structure: 0
    answer   of the last replay: V, or NaN; what must not exceed ``most``; then, for each relation of queries, as many
             scores as there is room for
    """

    def __init__(self, network: HeadedNetwork, encoder: Queried, structure: Structures, precision: str) -> None:
        self.encoder, self.device = encoder, next(network.parameters()).device
        self.most: list[int] = []
        encoded = encoder(structure.to(self.device))
        counts = encoded.atom_counts.clone(), encoded.element_counts.clone()
        held = Structures(encoded.signature, self._make_room(structure, encoded), *counts)
        self.network = LaidOutNetwork(
            network, held, lambda sizes: [_with_room(n) for n in sizes[:, 0].tolist()], precision
        )
        self.batcher = self.network.batcher
        self.limits = self.batcher.limits.tolist()
        self.queries = [structure.signature.index(name) for name in self.network.queries]
        self.only = torch.zeros(1, dtype=torch.int64, device=self.device)
        self._offer(structure)
        self._capture()

    def __call__(self, structure: Structures) -> tuple[float, list[float]] | None:
        """V, or NaN, and the scores of the queries, relation by relation; None if the structure needs another graph."""
        if not self._offer(structure):
            return None
        self.graph.replay()
        value, *rest = self.answer.tolist()
        sizes, scores = rest[: len(self.most)], rest[len(self.most) :]
        if any(size > most for size, most in zip(sizes, self.most, strict=True)):
            return None
        counts, found, start = structure.atom_counts[:, 0].tolist(), list[float](), 0
        for query, room in zip(self.queries, self.limits[len(self.limits) - len(self.queries) :], strict=True):
            found += scores[start : start + counts[query]]
            start += room
        return value, found

    def _make_room(self, structure: Structures, encoded: Structures) -> Tensor:
        """Room for the arguments of encoded structures of this size, and what ``_offer`` and ``_encode`` need."""
        return torch.zeros(_with_room(len(encoded.arguments)), dtype=torch.int64, device=self.device)

    def _offer(self, structure: Structures) -> bool:
        """Put a structure where the graph reads it, unless the graph has no room for it, or far too much."""
        encoded = self.encoder(structure.to(self.device))
        sizes = torch.cat([encoded.atom_counts[self.batcher.index, 0], encoded.element_counts]).tolist()
        most = [*self.limits, self.batcher.capacity.elements - 1]
        needed, room = len(encoded.arguments), len(self.batcher.structures.arguments)
        if any(size > limit for size, limit in zip(sizes, most, strict=True)) or needed > room:
            return False
        if room > WASTE * _with_room(needed):
            return False
        self.batcher.take_over(encoded)
        return True

    def _encode(self) -> Tensor:
        """What of encoding the graph does; → (sizes,) what must not exceed ``most``."""
        return torch.empty(0, dtype=torch.int64, device=self.device)

    def _read(self) -> Tensor:
        sizes = self._encode()
        values, scored = self.network.read(*self.batcher(self.only), 1)
        assert scored is not None
        value = scored.scores.new_full((1,), torch.nan) if values is None else values
        return torch.cat([value.double(), sizes.double(), scored.scores.double()])

    def _capture(self) -> None:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            self._read()  # which compiles the kernels
        torch.cuda.current_stream().wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=stream):
            self.answer = self._read()


class CapturedPairsLook(CapturedLook):
    """The look of R-GNN[t], whose graph encodes, too: structures with one number of objects.

    waiting  the arguments of a structure's atoms and how many atoms there are, on the host: see ``FixedPairs``
    given    the same where the graph reads it
    """

    def _make_room(self, structure: Structures, encoded: Structures) -> Tensor:
        assert isinstance(self.encoder.encoder, Pairs)
        self.objects, signature = int(structure.element_counts), structure.signature
        self.atoms = [_with_room(count) for count in structure.atom_counts[:, 0].tolist()]
        triangles = len(encoded.atoms(TRIANGLE)) if TRIANGLE in encoded.signature else 0
        rooms = _with_room(int(encoded.element_counts)), _with_room(triangles)
        self.fixed = FixedPairs(self.encoder.encoder, signature, self.objects, self.atoms, *rooms, self.device)
        self.most = [rooms[0], *rooms]
        is_pinned = self.device.type == "cuda"
        self.waiting = torch.empty(self.fixed.starts[-1] + len(signature), dtype=torch.int64, pin_memory=is_pinned)
        self.given = torch.zeros_like(self.waiting, device=self.device)
        self.starts = torch.tensor(self.fixed.encoded[:-1], device=self.device)
        return torch.zeros(self.fixed.encoded[-1], dtype=torch.int64, device=self.device)

    def _offer(self, structure: Structures) -> bool:
        counts = structure.atom_counts[:, 0].tolist()
        if int(structure.element_counts) != self.objects:
            return False
        if any(count > room for count, room in zip(counts, self.atoms, strict=True)):
            return False
        waiting, arguments, bounds = self.waiting.numpy(), structure.arguments.numpy(), structure.relation_bounds
        end = self.fixed.starts[-1]
        waiting[:end] = self.objects  # none
        for relation, start in enumerate(self.fixed.starts[:-1]):
            part = arguments[bounds[relation] : bounds[relation + 1]]
            waiting[start : start + len(part)] = part
        waiting[end:] = counts
        self.given.copy_(self.waiting, non_blocking=True)
        return True

    def _encode(self) -> Tensor:
        end, held = self.fixed.starts[-1], self.batcher.structures
        arguments, counts, alive, related = self.fixed(self.given[:end], self.given[end:])
        held.arguments.copy_(arguments)
        held.element_counts.copy_(alive + 1)
        self.batcher.counts.copy_(counts[self.batcher.index][:, None])
        self.batcher.starts.copy_(self.starts[self.batcher.index][:, None])
        return torch.stack([alive + 1, related, counts.amax()])


def _with_room(size: float) -> int:
    """Room for something of this size, in whole blocks and at least one: what there is none of may come."""
    return (int(ROOM * size) // BLOCK + 1) * BLOCK

"""A look at a state by the backend ``cuda``: from its atoms to scores, one captured CUDA graph."""

from __future__ import annotations

import torch
from torch import Tensor

from trifold.encoders import FixedPairs, Pairs, Queried
from trifold.model.network import HeadedNetwork, LaidOutNetwork
from trifold.nn import BLOCK, Backend
from trifold.structures import TRIANGLE, Structures

ROOM = 1.25
"""There is room for this many times what the first state has: others of its problem have about as much."""

WASTE = 4
"""With room for this many times what a state has, a smaller graph is worth its capture."""


@torch.inference_mode()
def capture_look(
    network: HeadedNetwork, backend: Backend, encoder: Queried, structure: Structures, encoded: Structures
) -> CapturedLook:
    """The captured look for structures about as large as this one, which lies on the host; it is given encoded, too."""
    is_pairs = type(encoder.encoder) is Pairs  # a subclass may encode otherwise
    with torch.cuda.device_of(encoded.arguments):
        return (CapturedPairsLook if is_pairs else CapturedLook)(network, backend, encoder, structure, encoded)


class CapturedLook:
    """One structure with queries → V, and the scores of the queries, as ``HeadedNetwork.read`` gives them.

    It is encoded first, and then read by a graph that was captured for its size. All that the graph reads and writes
    are attributes, so that they live as long as it does:

    batcher  with the encoded structure, which it lays out
    only     (1,) the index of this structure: 0
    answer   of the last replay: V, or NaN; what must not exceed ``rooms``; then, for each relation of queries, as many
             scores as there is room for
    """

    rooms: tuple[int, ...] = ()

    def __init__(
        self, network: HeadedNetwork, backend: Backend, encoder: Queried, structure: Structures, encoded: Structures
    ) -> None:
        self.encoder, self.device = encoder, encoded.device
        held = Structures(
            encoded.signature,
            torch.zeros(self._make_room(structure, encoded), dtype=torch.int64, device=self.device),
            encoded.atom_counts.clone(),
            encoded.element_counts.clone(),
        )
        self.laid_out = LaidOutNetwork(
            network, backend, held, lambda sizes: list(map(_with_room, sizes[:, 0].tolist())), "split"
        )
        self.batcher = self.laid_out.batcher
        self.limits = self.batcher.limits.tolist()
        self.queries = [structure.signature.index(name) for name in self.laid_out.queries]
        self.only = torch.zeros(1, dtype=torch.int64, device=self.device)
        self._offer(structure)
        self._capture()

    @torch.inference_mode()
    def __call__(self, structure: Structures) -> tuple[float, list[float]] | None:
        """V, or NaN, and the scores of the queries, relation by relation; None if the structure needs another graph."""
        with torch.cuda.device_of(self.only):
            if not self._offer(structure):
                return None
            self.graph.replay()
            value, *rest = self.answer.tolist()  # which waits for all that was begun: what was offered may change now
        sizes, scores = rest[: len(self.rooms)], rest[len(self.rooms) :]
        if any(size > room for size, room in zip(sizes, self.rooms, strict=True)):
            return None
        counts, found, start = structure.atom_counts[:, 0].tolist(), list[float](), 0
        for query, room in zip(self.queries, self.limits[len(self.limits) - len(self.queries) :], strict=True):
            found += scores[start : start + counts[query]]
            start += room
        return value, found

    def _make_room(self, structure: Structures, encoded: Structures) -> int:
        """How many arguments there is room for, where the graph finds the encoded structure."""
        return _with_room(len(encoded.arguments))

    def _offer(self, structure: Structures) -> bool:
        """Put a structure where the graph finds it, unless there is no room for it, or far too much."""
        encoded = self.encoder(structure.to(self.device))
        sizes = torch.cat([encoded.atom_counts[self.batcher.index, 0], encoded.element_counts]).tolist()
        most = [*self.limits, self.batcher.capacity.elements - 1]
        needed, room = len(encoded.arguments), len(self.batcher.structures.arguments)
        fits = needed <= room and all(size <= limit for size, limit in zip(sizes, most, strict=True))
        if not fits or room > WASTE * _with_room(needed):
            return False
        self.batcher.take_over(encoded)
        return True

    def _encode(self) -> Tensor:
        """What the graph does before it lays out the structure; → (rooms,) what must not exceed ``rooms``."""
        return torch.empty(0, dtype=torch.int64, device=self.device)

    def _read(self) -> Tensor:
        sizes = self._encode()
        values, scored = self.laid_out.read(*self.batcher(self.only), 1)
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

    waiting  a structure as ``FixedPairs`` packs it, on the host
    given    the same where the graph reads it
    """

    def _make_room(self, structure: Structures, encoded: Structures) -> int:
        assert isinstance(self.encoder.encoder, Pairs)
        triangles = len(encoded.atoms(TRIANGLE)) if TRIANGLE in encoded.signature else 0
        elements, atoms = int(encoded.element_counts), structure.atom_counts[:, 0].tolist()
        self.rooms = _with_room(elements), _with_room(elements), _with_room(triangles)
        self.fixed = FixedPairs(
            self.encoder.encoder,
            structure.signature,
            int(structure.element_counts),
            list(map(_with_room, atoms)),
            *self.rooms[1:],
            self.device,
        )
        self.waiting = torch.empty(self.fixed.packed, dtype=torch.int64, pin_memory=self.device.type == "cuda")
        self.given = torch.zeros_like(self.waiting, device=self.device)
        self.starts = torch.tensor(self.fixed.encoded[:-1], device=self.device)
        return self.fixed.encoded[-1]

    def _offer(self, structure: Structures) -> bool:
        """Put a structure where the graph reads it, unless it has too many atoms, or another number of objects."""
        if not self.fixed.pack(structure, self.waiting):
            return False
        self.given.copy_(self.waiting, non_blocking=True)
        return True

    def _encode(self) -> Tensor:
        arguments, counts, (alive, related, triangles) = self.fixed(self.given)
        held, index = self.batcher.structures, self.batcher.index
        held.arguments.copy_(arguments)
        held.element_counts.copy_(alive + 1)
        self.batcher.counts.copy_(counts[index][:, None])
        self.batcher.starts.copy_(self.starts[index][:, None])
        return torch.stack([alive + 1, related, triangles])


def _with_room(size: float) -> int:
    """Room for something of this size, in whole blocks and at least one: what there is none of may come."""
    return (int(ROOM * size) // BLOCK + 1) * BLOCK

"""States of many problems with their targets, ready for mini-batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from trifold.encoders import Encoder, encode_chunks
from trifold.errors import TrifoldError
from trifold.pddl.state_space import StateSpace
from trifold.structures import Structures, concatenate

DEAD_ENDS = ("keep", "drop")
"""What becomes of states without a plan: kept with a target above every finite one, or dropped."""

CHUNK_ROWS = 2**22


@dataclass(frozen=True)
class Dataset:
    """Labelled states of one domain as structures, encoded where they are used.

    structures   of all states: encoded, or plain if the encoded ones would not fit into memory
    encoder      what ``take`` has still to apply, or None
    targets      (states,) float32: V*, or for a dead end the capped target
    atom_counts  how many atoms of each encoded relation the data has
    """

    structures: Structures
    encoder: Encoder | None
    targets: Tensor
    atom_counts: dict[str, int]

    @classmethod
    def build(
        cls,
        spaces: Sequence[StateSpace],
        encoder: Encoder,
        *,
        dead_end_target: float | None,
        max_gib: float = 4.0,
        device: torch.device | str = "cpu",
    ) -> Dataset:
        """Encode the states of these spaces; ``dead_end_target`` None drops the dead ends.

        Encoded structures stay on the device up to ``max_gib``. Beyond that the plain ones stay, often a hundred
        times smaller, and each mini-batch is encoded when it is taken.
        """
        parts, targets = [], []
        for space in spaces:
            distances = torch.from_numpy(space.distances).to(torch.float32)
            kept = torch.ones(len(distances), dtype=torch.bool) if dead_end_target is not None else distances >= 0
            distances[distances < 0] = dead_end_target or 0.0
            structures = space.structures()
            parts.append(structures if kept.all() else structures.take(torch.nonzero(kept).reshape(-1)))
            targets.append(distances[kept])
        if not parts or not sum(len(part) for part in parts):
            raise TrifoldError("there are no labelled states", remedy="add problems that can be solved and expanded")
        plain = concatenate(parts)

        resident: list[Structures] | None = []
        size, counts = 0, torch.zeros(len(encoder.signature(plain.signature)), dtype=torch.int64)
        for chunk in encode_chunks(encoder, plain, CHUNK_ROWS):
            counts += chunk.atom_counts.sum(1)
            size += chunk.nbytes
            if resident is not None:
                # Which pair an element is matters to a reader, not to a network.
                resident.append(replace(chunk, pairs=None))
            if size > max_gib * 2**30:
                resident = None
        names = encoder.signature(plain.signature).names
        return cls(
            (plain if resident is None else concatenate(resident)).to(device),
            encoder if resident is None else None,
            torch.cat(targets).to(device),
            dict(zip(names, counts.tolist(), strict=True)),
        )

    def __len__(self) -> int:
        return len(self.targets)

    def take(self, indices: Tensor) -> tuple[Structures, Tensor]:
        """The encoded structures and the targets of these states: a mini-batch."""
        batch = self.structures.take(indices)
        return (batch if self.encoder is None else self.encoder(batch)), self.targets[indices.to(self.targets.device)]


def dead_end_target(spaces: Sequence[StateSpace], choice: str) -> float | None:
    """The target of dead ends: one more than the largest V* of all spaces, or None to drop them."""
    if choice not in DEAD_ENDS:
        raise TrifoldError(f"dead ends can be {' or '.join(DEAD_ENDS)}, not {choice!r}")
    if choice == "drop":
        return None
    return 1.0 + max((int(space.distances.max()) for space in spaces), default=0)

"""States of many problems with their targets, ready for mini-batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from trifold.encoders import Encoder, Queried, encode_all, encode_chunks, layer_rows
from trifold.errors import TrifoldError
from trifold.memory import ENCODED_GIB, ENCODED_SHARE_OF_A_CARD
from trifold.pddl import StateSpace
from trifold.structures import MARK, Structures, concatenate

SAMPLE = 512
"""States, evenly over all, that are encoded to see how much memory all would take."""

DEAD_ENDS = ("keep", "drop")
"""What becomes of states without a plan: kept with a target above every finite one, or dropped."""


@dataclass(frozen=True)
class Dataset:
    """Labelled states of one domain as structures, encoded where they are used.

    structures   of all states: encoded, or plain if the encoded ones would not fit into memory; with queries if actions
                 are learned, and then of the listed states alone
    encoder      what ``take`` has still to apply, or None
    targets      (states,) float32: V*, or for a dead end the capped target
    weights      (states,) int64: how many states each stands for: 1, unless some were merged
    atom_counts  how many atoms of each encoded relation the data has, before any were merged
    """

    structures: Structures
    encoder: Encoder | None
    targets: Tensor
    weights: Tensor
    atom_counts: dict[str, int]

    @classmethod
    def build(
        cls,
        spaces: Sequence[StateSpace],
        encoder: Encoder,
        *,
        dead_end_target: float | None,
        with_actions: bool = False,
        max_gib: float | None = None,
        keep_plain: bool = False,
        device: torch.device | str = "cpu",
        on_progress: Callable[[int, int], None] | None = None,
    ) -> Dataset:
        """Encode the states of these spaces; ``dead_end_target`` None drops the dead ends.

        With actions, these are the listed states, each with its applicable actions as queries.

        Encoded structures stay on the device up to ``max_gib``, or what ``room`` says. Beyond that the plain
        ones stay, often a hundred times smaller, and each mini-batch is encoded when it is taken; so they do with
        ``keep_plain``, where others are to be added. ``on_progress`` is called with how many of the states are encoded.
        """
        plain, targets = _gather(spaces, dead_end_target, with_actions)
        encoder = Queried(encoder) if with_actions else encoder
        plain = plain.to(device)  # encoded where it is used
        resident, counts = _encode_within(max_gib, encoder, plain, on_progress)
        resident = None if keep_plain else resident
        if resident is None:  # a state's own relations count whole, and what the encoder adds as far as it was met
            own = dict(zip(plain.signature.names, plain.atom_counts.sum(1).tolist(), strict=True))
            counts = {name: max(own.get(name.removesuffix(MARK), 0), count) for name, count in counts.items()}
        return cls(
            plain if resident is None else resident,
            encoder if resident is None else None,
            targets.to(device),
            torch.ones(len(plain), dtype=torch.int64, device=device),
            counts,
        )

    def __len__(self) -> int:
        return len(self.targets)

    def take(self, indices: Tensor) -> tuple[Structures, Tensor]:
        """The encoded structures and the targets of these states: a mini-batch."""
        batch = self.structures.take(indices)
        return (batch if self.encoder is None else self.encoder(batch)), self.targets[indices.to(self.targets.device)]

    def batches(self, max_rows: int) -> Iterator[tuple[Structures, Tensor]]:
        """All states in order, in mini-batches with at most ``max_rows`` messages a layer, or of one state."""
        most = int(layer_rows(self.structures).max())
        return map(self.take, torch.arange(len(self)).split(max(1, max_rows // max(most, 1))))

    def encoded(self, indices: Tensor) -> Dataset:
        """These states alone, encoded once and for all."""
        chosen, targets = self.structures.take(indices), self.targets[indices.to(self.targets.device)]
        if self.encoder is not None:
            chosen = replace(encode_all(self.encoder, chosen), pairs=None)  # as those that ``build`` encodes
        weights = self.weights[indices.to(self.targets.device)]
        return replace(self, structures=chosen, encoder=None, targets=targets, weights=weights)

    def add(self, structures: Structures, targets: Tensor) -> Dataset:
        """These states, which are plain, and behind them others: each a mini-batch encodes."""
        assert self.encoder is not None
        more = structures.to(self.targets.device)
        targets = torch.cat([self.targets, targets.to(self.targets)])
        weights = torch.cat([self.weights, self.weights.new_ones(len(more))])
        return replace(self, structures=concatenate([self.structures, more]), targets=targets, weights=weights)

    def keep(self, indices: Tensor, weights: Tensor) -> Dataset:
        """These states alone, each of which stands for as many as its weight says."""
        indices, weights = indices.to(self.targets.device), weights.to(self.targets.device)
        return replace(self, structures=self.structures.take(indices), targets=self.targets[indices], weights=weights)


def _gather(
    spaces: Sequence[StateSpace], dead_end_target: float | None, with_actions: bool
) -> tuple[Structures, Tensor]:
    """The plain structures of all states that are kept, and their targets."""
    parts, targets = [], []
    for space in spaces:
        distances = torch.from_numpy(space.distances[: space.listed if with_actions else None]).to(torch.float32)
        kept = torch.ones(len(distances), dtype=torch.bool) if dead_end_target is not None else distances >= 0
        distances[distances < 0] = dead_end_target or 0.0
        structures = space.queries() if with_actions else space.structures()
        parts.append(structures if kept.all() else structures.take(torch.nonzero(kept).reshape(-1)))
        targets.append(distances[kept])
    if not sum(map(len, parts)):
        remedy = "all are dead ends: dead_ends=keep keeps them" if dead_end_target is None else "add problems"
        raise TrifoldError("there are no states to learn from", remedy=remedy)
    return concatenate(parts), torch.cat(targets)


def _encode_within(
    max_gib: float | None, encoder: Encoder, plain: Structures, on_progress: Callable[[int, int], None] | None
) -> tuple[Structures | None, dict[str, int]]:
    """The encoded structures, or None if they take more memory, and how many atoms of each relation were met.

    What all take is guessed from some of them first: nothing is encoded in vain, nor takes the room of others for it.
    """
    names = encoder.signature(plain.signature).names
    met = torch.zeros(len(names), dtype=torch.int64, device=plain.device)
    if max_gib == 0:
        return None, dict.fromkeys(names, 0)
    some = encode_all(encoder, plain.take(torch.arange(0, len(plain), max(1, len(plain) // SAMPLE))))
    guess = replace(some, pairs=None).nbytes * len(plain) / len(some)
    if guess > 2**30 * (room(plain.device) if max_gib is None else max_gib):
        return None, dict(zip(names, some.atom_counts.sum(1).tolist(), strict=True))
    del some
    resident: list[Structures] = []
    encoded, size, fits = 0, 0, True
    for chunk in encode_chunks(encoder, plain):
        # Which pair an element is matters to a reader, not to a network.
        resident.append(replace(chunk, pairs=None))
        met += chunk.atom_counts.sum(1)
        encoded, size = encoded + len(chunk), size + resident[-1].nbytes
        if on_progress is not None:
            on_progress(encoded, len(plain))
        fits = size <= 2**30 * (room(plain.device, size) if max_gib is None else max_gib)
        if not fits:
            break
    return concatenate(resident) if fits else None, dict(zip(names, met.tolist(), strict=True))


def room(device: torch.device, held: int = 0) -> float:
    """How many GiB of encoded data a device keeps: of a card a share of what is free, or ``held`` by such data already.

    So trainings that begin on one card at the same time come to share what there is.
    """
    if device.type != "cuda":
        return ENCODED_GIB
    return ENCODED_SHARE_OF_A_CARD * (torch.cuda.mem_get_info(device)[0] + held) / 2**30


def dead_end_target(spaces: Sequence[StateSpace], choice: str) -> float | None:
    """The target of dead ends: one more than the largest V* of all spaces, or None to drop them."""
    if choice not in DEAD_ENDS:
        raise TrifoldError(f"dead ends can be {' or '.join(DEAD_ENDS)}, not {choice!r}")
    if choice == "drop":
        return None
    return 1.0 + max((int(space.distances.max()) for space in spaces), default=0)

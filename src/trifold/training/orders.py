"""What the first process of a training tells the others to do; ``assist`` does it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from trifold.data import Labelled, Split
from trifold.errors import TrifoldError
from trifold.model import Model
from trifold.training.parallel import Ranks


@dataclass(frozen=True)
class Prepare:
    """Make the data of a run's config ready, which the first process has labelled and split.

    places    of the problems that are used, among all: training files first
    labels    what came of labelling these: ``describe_labels``
    roles     of these
    split     that of ``Split.to_json``
    """

    content: dict[str, Any]
    places: list[int]
    labels: list[Any]
    roles: list[str]
    split: dict[str, Any]

    @classmethod
    def of(cls, content: dict[str, Any], labelled: Sequence[Labelled], parts: Split) -> Prepare:
        """As the first process has found it."""
        places = [place for place, role in enumerate(parts.roles(labelled)) if role != "left out"]
        used = [labelled[place] for place in places]
        return cls(content, places, describe_labels(used), parts.roles(used), parts.to_json())


@dataclass(frozen=True)
class Start:
    """Begin or go on with a seed, from these weights and moments: the others need no run folder."""

    seed: int
    weights: dict[str, Any]
    moments: dict[int, Any]

    @classmethod
    def of(cls, seed: int, model: Model, optimizer: torch.optim.Optimizer) -> Start:
        """As they are in this process."""
        moments = {
            index: {name: torch.as_tensor(value).cpu() for name, value in entries.items()}
            for index, entries in optimizer.state_dict()["state"].items()
        }
        return cls(seed, {name: weight.cpu() for name, weight in model.network.state_dict().items()}, moments)


@dataclass(frozen=True)
class GoBack:
    """Take these weights, and forget the moments."""

    weights: dict[str, Any]


@dataclass(frozen=True)
class Compare:
    """Say what weights and moments this process has."""


def describe_labels(labelled: Sequence[Labelled]) -> list[Any]:
    """What is the same in two processes that have labelled the same problems alike."""
    return [(item.digest, item.states, item.kept) for item in labelled]


def check_weights(ranks: Ranks, network: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Raise unless all processes have the same weights and moments, bit for bit: what is saved is that of all."""
    if ranks.is_alone:
        return
    ranks.tell(Compare())
    own, *others = ranks.gather(digest_weights(network, optimizer))
    if lost := [rank for rank, other in enumerate(others, start=1) if other != own]:
        raise TrifoldError(
            f"of {ranks.count} processes, these have not the weights of the first: {', '.join(map(str, lost))}",
            remedy="use machines of one kind, with the same versions; the last save is good: --resume goes on from it",
        )


def digest_weights(network: torch.nn.Module, optimizer: torch.optim.Optimizer) -> int:
    """A number that stands for the weights and the moments of the optimizer, bit for bit."""
    digest = hashlib.sha256()
    for parameter in network.parameters():
        for value in (parameter, *optimizer.state.get(parameter, {}).values()):
            digest.update(torch.as_tensor(value).detach().cpu().contiguous().numpy().tobytes())
    return int.from_bytes(digest.digest()[:7], "little")

"""The rungs of the ladder: architectures from cheap to dear, and which of them a domain's small problems rule out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trifold.analysis import Architecture, compare_architectures
from trifold.data import Labelled
from trifold.model import ModelConfig

CHOSEN = ("encoder", "t", "dim", "layers")
"""Keys of recipes that a rung sets."""


@dataclass(frozen=True)
class Rung:
    """An architecture to try: an encoder, with t if it has one, k and L."""

    name: str
    encoder: str
    t: int | None
    dim: int
    layers: int

    @property
    def settings(self) -> dict[str, Any]:
        """What it sets in a recipe."""
        return {key: value for key in CHOSEN if (value := getattr(self, key)) is not None}

    @property
    def label(self) -> str:
        """Its name in the paper.

        >>> RUNGS[2].label
        'R-GNN[0]'
        """
        return self.config.label

    @property
    def config(self) -> ModelConfig:
        """Its architecture, with nothing else."""
        return ModelConfig(**self.settings)


RUNGS = (
    Rung("plain-32-16", encoder="plain", t=None, dim=32, layers=16),
    Rung("plain-32-30", encoder="plain", t=None, dim=32, layers=30),
    Rung("pairs0-32-16", encoder="pairs", t=0, dim=32, layers=16),
    Rung("pairs0-32-30", encoder="pairs", t=0, dim=32, layers=30),
    Rung("pairs1-32-16", encoder="pairs", t=1, dim=32, layers=16),
    Rung("pairs1-32-30", encoder="pairs", t=1, dim=32, layers=30),
    Rung("pairs1-64-30", encoder="pairs", t=1, dim=64, layers=30),
)
"""From the cheapest on. What an element must know of another travels one atom a layer, so that L bounds the problems
that can be solved: 30 layers are among the rungs of each encoder."""


def count_conflicts(
    rungs: Sequence[Rung], labelled: Sequence[Labelled], on_progress: Callable[[str], None] | None = None
) -> dict[str, int]:
    """How many states no network of a rung's architecture and depth can tell from one with another V*, by its name.

    A rung that could not be coloured has no entry: nothing speaks against it.
    """
    architectures = {rung.label: Architecture(rung.config.build_encoder()) for rung in rungs}
    rounds = max(rung.layers for rung in rungs)
    found = compare_architectures(
        labelled, rounds=rounds, architectures=list(architectures.values()), on_progress=on_progress
    )
    depths = {finding.architecture: finding.depths for finding in found.findings}
    return {
        rung.name: depths[rung.label][min(rung.layers, len(depths[rung.label])) - 1].conflicts
        for rung in rungs
        if rung.label in depths
    }


def rule_out(rungs: Sequence[Rung], conflicts: Mapping[str, int]) -> list[Rung]:
    """The rungs that are not worth a training: those with conflicts or, where all have some, with more than the fewest.

    >>> [rung.name for rung in rule_out(RUNGS[:3], {"plain-32-16": 8, "plain-32-30": 8, "pairs0-32-16": 0})]
    ['plain-32-16', 'plain-32-30']
    >>> [rung.name for rung in rule_out(RUNGS[:3], {"plain-32-16": 8, "plain-32-30": 2, "pairs0-32-16": 2})]
    ['plain-32-16']
    """
    fewest = min(conflicts.get(rung.name, 0) for rung in rungs)
    return [rung for rung in rungs if conflicts.get(rung.name, 0) > fewest]

"""Which architectures cannot represent V* on the states of small problems: colours against optimal distances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from trifold.analysis.architectures import ARCHITECTURES, Architecture
from trifold.analysis.witness import WitnessState, describe_state
from trifold.data import (
    Labelled,
    LabelLimits,
    count_outcomes,
    dead_end_target,
    default_cache,
    label,
    read_folder,
    remedy_of,
)
from trifold.errors import TrifoldError
from trifold.pddl import rank_within_values
from trifold.structures import Structures, concatenate
from trifold.wl import find_conflicts


@dataclass(frozen=True)
class Depth:
    """What an architecture of so many layers sees at best.

    classes      classes of states, as the readout sees them
    conflicts    states in a class with different V*
    least_error  the least mean |V* − V| that any network of this architecture and depth can reach on the states
    """

    rounds: int
    classes: int
    conflicts: int
    least_error: float


@dataclass(frozen=True)
class Witness:
    """Two states of one class, with the greatest difference in V* that there is in any.

    rounds        the depth at which they are of one class: the last that has conflicts
    separated_by  architecture → the fewest rounds after which it tells the two apart
    """

    rounds: int
    first: WitnessState
    second: WitnessState
    separated_by: dict[str, int]


@dataclass(frozen=True)
class Finding:
    """One architecture.

    messages     per state and layer, in the mean
    depths       for 1, 2, … rounds, up to the limit or to the fixed point
    fixed_point  the rounds after which no class of elements splits any more
    witness      None if there is no conflict at any depth
    """

    architecture: str
    messages: float
    depths: tuple[Depth, ...]
    fixed_point: int
    witness: Witness | None

    @property
    def ruled_out(self) -> bool:
        """Whether states conflict at full depth."""
        return self.depths[-1].conflicts > 0

    @property
    def enough_rounds(self) -> int | None:
        """The fewest rounds without a conflict; None if it is ruled out."""
        return next((depth.rounds for depth in self.depths if not depth.conflicts), None)


@dataclass(frozen=True)
class Expressivity:
    """What the states of some problems say about the architectures.

    states     how many were coloured, of ``available``; where some were left out, conflicts are a lower bound
    dead_ends  how many of them have no plan; they count with a target one above the largest V*
    rounds     the most layers asked about
    left_out   architecture → why it was not coloured
    """

    domain: str
    problems: int
    states: int
    available: int
    dead_ends: int
    rounds: int
    findings: tuple[Finding, ...]
    left_out: dict[str, str]

    @property
    def advice(self) -> list[Finding]:
        """The architectures that are not ruled out, cheapest first."""
        return sorted((one for one in self.findings if not one.ruled_out), key=lambda one: one.messages)


def expressivity(directory: Path | str, *, limits: LabelLimits | None = None, **options: Any) -> Expressivity:
    """Label the problems of a folder, as for a training, and compare the architectures on their states.

    limits   of labelling
    options  of ``compare_architectures``: rounds, states, seed, architectures, on_progress

    >>> found = expressivity("gripper", states=50)  # gripper/domain.pddl, …
    >>> [finding.architecture for finding in found.advice][0], found.problems
    ('R-GNN', 3)
    """
    files = read_folder(Path(directory))
    problems = [*files.training, *files.validation]
    return compare_architectures(label(files.domain, problems, limits=limits, cache=default_cache()), **options)


def compare_architectures(
    labelled: Sequence[Labelled],
    *,
    rounds: int = 30,
    states: int = 2_000,
    seed: int = 0,
    architectures: Sequence[Architecture] = ARCHITECTURES,
    on_progress: Callable[[str], None] | None = None,
) -> Expressivity:
    """Colour the labelled states of a domain under each architecture and compare the classes with V*.

    rounds       the most layers to ask about, at least 1
    states       how many to colour in all; of more, a sample as even over V* as it can be
    on_progress  is called with each architecture as it is begun
    """
    if rounds < 1 or states < 1:
        raise TrifoldError(f"{rounds} rounds of {states} states show nothing", remedy="use positive numbers")
    items = [item for item in labelled if item.space is not None and not item.space.is_bound]  # bounds differ by chance
    if not items and any(item.space for item in labelled):
        raise TrifoldError(
            "all problems are too large: they are labelled around plans, where V may be more than V*",
            remedy="use smaller problems, or raise max_states (--max-states)",
        )
    if not items:
        raise TrifoldError(
            f"no problem could be labelled: {count_outcomes(labelled) or 'there is none'}",
            remedy=remedy_of(labelled) or "give some problems",
        )
    sample = _Sample.draw(items, states, seed)
    histories: dict[str, Tensor] = {}
    costs: dict[str, float] = {}
    left_out: dict[str, str] = {}
    for architecture in architectures:
        name = architecture.label
        if on_progress is not None:
            on_progress(name)
        try:
            encoded, costs[name] = architecture.encode(sample.structures)
        except TrifoldError as error:  # the domain's arities are refused, or there are too many messages
            left_out[name] = error.message
            continue
        histories[name] = architecture.colour(encoded).history
    return Expressivity(
        domain=items[0].space.domain if items[0].space else "",
        problems=len(items),
        states=len(sample.targets),
        available=sum(len(item.space) for item in items if item.space),
        dead_ends=int(sample.dead_ends.sum()),
        rounds=rounds,
        findings=tuple(_finding(name, costs[name], histories, rounds, sample) for name in histories),
        left_out=left_out,
    )


@dataclass(frozen=True)
class _Sample:
    """The states to colour.

    owners, states  (states,) the problem of each, and its number there
    """

    items: Sequence[Labelled]
    structures: Structures
    targets: Tensor
    dead_ends: Tensor
    owners: Tensor
    states: Tensor

    @classmethod
    def draw(cls, items: Sequence[Labelled], limit: int, seed: int) -> _Sample:
        spaces = [item.space for item in items if item.space is not None]
        values = np.concatenate([space.distances for space in spaces])
        owners = np.repeat(np.arange(len(spaces)), [len(space) for space in spaces])
        states = np.concatenate([np.arange(len(space)) for space in spaces])
        chosen = sample_evenly(values, limit, seed)
        parts = [
            space.structures().take(torch.from_numpy(states[chosen[owners[chosen] == number]]))
            for number, space in enumerate(spaces)
        ]
        targets = torch.from_numpy(values[chosen]).to(torch.float32)
        dead_ends = targets < 0
        targets[dead_ends] = dead_end_target(spaces, "keep") or 0.0
        owner, state = torch.from_numpy(owners[chosen]), torch.from_numpy(states[chosen])
        return cls(items, concatenate(parts), targets, dead_ends, owner, state)

    def describe(self, index: int) -> WitnessState:
        return describe_state(self.items[int(self.owners[index])], int(self.states[index]), float(self.targets[index]))


def sample_evenly(values: np.ndarray, limit: int, seed: int) -> np.ndarray:
    """Indices of at most ``limit`` values, ascending: of each different value the same number, or all there are."""
    shuffled = np.random.default_rng(seed).permutation(len(values))
    return np.sort(np.lexsort((values, rank_within_values(values, shuffled)))[:limit])


def _finding(label: str, messages: float, histories: dict[str, Tensor], rounds: int, sample: _Sample) -> Finding:
    history = histories[label]
    fixed_point = len(history) - 1
    depths, witness = [], None
    for depth in range(1, min(rounds, max(fixed_point, 1)) + 1):
        found = find_conflicts(history[min(depth, fixed_point)], sample.targets, max_witnesses=1)
        depths.append(Depth(depth, found.classes, found.conflicting, found.least_error))
        if found.witnesses:
            witness = depth, *found.witnesses[0]
    return Finding(
        label, messages, tuple(depths), fixed_point, witness and _witness(*witness, histories, rounds, sample)
    )


def _witness(
    depth: int, first: int, second: int, histories: dict[str, Tensor], rounds: int, sample: _Sample
) -> Witness:
    separated = {}
    for name, history in histories.items():
        apart = torch.nonzero(history[: rounds + 1, first] != history[: rounds + 1, second])
        if len(apart):
            separated[name] = int(apart[0])
    return Witness(depth, sample.describe(first), sample.describe(second), separated)

"""Coverage: how many held-out problems the policy of a model solves, and how long its plans are.

A labelled space that is whole has all that a policy needs, so the policy is followed inside of it: without pymimir,
which runs in child processes alone, and so without the start of a child, a model file or a clock. All problems are
followed at once: a round is one forward pass over states of all of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from trifold.data import Labelled
from trifold.model import Model
from trifold.pddl import Integers, StateSpace
from trifold.planning import Outcome, choose
from trifold.structures import Structures, concatenate

MOST_PROBLEMS = 20
"""So many problems are followed at most, evenly over their sizes."""

LEAST_PROBLEMS, MOST_STATES = 4, 20_000
"""Fewer problems where these would have policies look at more states, but not fewer than four."""

PATIENCE, GRACE = 4, 20
"""A policy gives up after 4 V* + 20 steps."""


@dataclass(frozen=True)
class Coverage:
    """What a policy did on some problems.

    solved    how many it solved
    problems  of how many
    length    of its plans over that of optimal ones, all together; None where it solved none, or no optimum is known
    failures  how it ended on each of the others, by their files, the smallest first
    """

    solved: int
    problems: int
    length: float | None
    failures: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        plans = "" if self.length is None else f", plans {self.length:.2f} × optimal"
        return f"{self.solved} of {self.problems} solved{plans}"


@dataclass(frozen=True)
class Track:
    """A problem in whose space policies are followed: one that holds all states."""

    path: Path
    space: StateSpace

    @property
    def optimum(self) -> int:
        """V* of the initial state."""
        return int(self.space.distances[self.space.initial])

    @property
    def limit(self) -> int:
        """The steps after which a policy gives up."""
        return PATIENCE * self.optimum + GRACE

    def cost(self, has_actions: bool) -> float:
        """About how many states a policy looks at, one that is neither good nor lost: half of the limit, or, by values,
        all their successors.
        """
        return self.limit / 2 * (1.0 if has_actions else len(self.space.applicable) / max(self.space.listed, 1))

    @cached_property
    def places(self) -> Integers:
        """(actions,) the place of each ground action in the order of their texts, in which policies see them."""
        table, objects = self.space.actions, self.space.objects
        texts = []
        for schema, arguments in zip(table.schema.tolist(), table.arguments.tolist(), strict=True):
            name, arity = table.schemas[schema]
            texts.append(f"({' '.join([name, *(objects[argument] for argument in arguments[:arity])])})")
        places = np.empty(len(texts), np.int64)
        places[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
        return places


def lay_tracks(
    problems: Sequence[Labelled], has_actions: bool, most: int = MOST_PROBLEMS, most_states: float = MOST_STATES
) -> list[Track]:
    """The problems to follow policies on: of those whose space is whole at most so many, evenly over their sizes."""
    spaces = [(item.path, item.space) for item in problems if item.space is not None]
    whole = [Track(path, space) for path, space in spaces if space.listed == space.states]
    ordered = sorted(whole, key=lambda track: (track.space.states, str(track.path)))
    for count in range(min(most, len(ordered)), 0, -1):
        chosen = [ordered[round(place)] for place in np.linspace(0, len(ordered) - 1, count)]
        if count <= LEAST_PROBLEMS or sum(track.cost(has_actions) for track in chosen) <= most_states:
            return chosen
    return []


def follow(model: Model, tracks: Sequence[Track]) -> Coverage:
    """Follow the best policy that a model has on all problems: by scores of actions, or else by values.

    Its choices are those of ``planning.follow_scores`` and ``planning.follow_unvisited``. It ends early where it is in
    a dead end, or has taken too many steps.
    """
    walks = [_Walk(track) for track in tracks]
    step = _step_by_scores if model.config.has_actions else _step_by_values
    while going := [walk for walk in walks if walk.goes_on()]:
        step(model, going)
    solved = [walk for walk in walks if walk.distance == 0]
    optimum = sum(walk.track.optimum for walk in solved)
    length = sum(walk.steps for walk in solved) / optimum if optimum else 1.0
    failures = {str(walk.track.path): walk.failure for walk in walks if walk.distance != 0}
    return Coverage(len(solved), len(walks), length if solved else None, failures)


class _Walk:
    """A policy's way through a space.

    actions, successors  that lead on from where it is to states that it has not visited, in the order of their texts
    """

    def __init__(self, track: Track) -> None:
        self.track, self.space = track, track.space
        self.steps, self.visited = 0, set[int]()
        self.enter(self.space.initial)

    @property
    def distance(self) -> int:
        """V* of where it is, -1 in a dead end."""
        return int(self.space.distances[self.state])

    def goes_on(self) -> bool:
        """Whether it takes another step."""
        return self.distance > 0 and self.steps < self.track.limit and len(self.actions) > 0

    @property
    def failure(self) -> str:
        """How a walk ended that did not reach a goal."""
        return "dead end" if self.distance < 0 else Outcome.STEP_LIMIT if self.actions.size else Outcome.STUCK

    def enter(self, state: int) -> None:
        """Go to a state."""
        self.state = state
        self.visited.add(state)
        row = slice(*self.space.action_offsets[state : state + 2])
        actions, successors = self.space.applicable[row].astype(np.int64), self.space.successors[row]
        order = np.argsort(self.track.places[actions])
        unvisited = [i for i in order.tolist() if int(successors[i]) not in self.visited]
        self.actions, self.successors = actions[unvisited], successors[unvisited].tolist()

    def take(self, costs: Sequence[float]) -> None:
        """Take the step of the least cost; what is no number comes last."""
        self.steps += 1
        self.enter(self.successors[choose([math.inf if math.isnan(cost) else cost for cost in costs])])


def _step_by_scores(model: Model, walks: Sequence[_Walk]) -> None:
    """Take the best-scored action of each walk."""
    asked: list[Structures] = []
    for walk in walks:
        state = walk.space.part(np.array([walk.state]))
        asked.append(walk.space.actions.add_queries(state, np.array([len(walk.actions)]), walk.actions))
    _, found = model.read_each(concatenate(asked))
    start = 0
    for walk in walks:
        own = np.array(found[start : start + len(walk.actions)])
        start += len(own)
        costs = np.empty(len(own))
        costs[np.argsort(walk.space.actions.schema[walk.actions], kind="stable")] = -own
        walk.take(costs.tolist())


def _step_by_values(model: Model, walks: Sequence[_Walk]) -> None:
    """Go to the successor with the least V in each walk; where several actions lead to one, the first does."""
    for walk in walks:
        walk.successors = list(dict.fromkeys(walk.successors))
    found, _ = model.read_each(concatenate([walk.space.part(np.array(walk.successors)) for walk in walks]))
    start = 0
    for walk in walks:
        end = start + len(walk.successors)
        walk.take(found[start:end])
        start = end

"""Search by how much of the goal is missing, over packed states: what `Greedy` does by `goal_counts`, and quicker."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trifold.outcomes import Outcome
from trifold.planning.goal_counts import BATCH
from trifold.planning.policy import Step, Trajectory

if TYPE_CHECKING:
    from trifold.pddl import PackedCounts


@dataclass
class Counted:
    """A greedy best-first search by goal counts that goes on batch by batch."""

    packed: PackedCounts
    steps: int = 0

    def __post_init__(self) -> None:
        self.last = Step(0, None, math.nan)

    @property
    def size(self) -> int:
        """How many states are known."""
        return len(self.packed)

    @property
    def outcome(self) -> Outcome | None:
        """How the search has ended: a goal was met, or there is none to be met; None: it goes on."""
        if self.packed.goal is not None:
            return Outcome.SOLVED
        return None if self.packed.queues else Outcome.UNSOLVABLE

    def expand_batch(self) -> None:
        """Expand the next states, and keep the first of them as the last step."""
        batch = self.packed.expand(BATCH)
        self.steps += len(batch)
        first = int(batch[0])
        self.last = Step(self.steps, self.packed.ways.action_to(first), float(self.packed.ways.worth[first]))

    def trajectory(self, outcome: Outcome, steps: int) -> Trajectory:
        """What a search returns that ends so: the way to the goal if there is one."""
        states, actions = self.packed.ways.way(self.packed.goal or 0)
        values = tuple(map(float, self.packed.ways.worth[states].tolist()))
        return Trajectory(outcome, tuple(actions), values, steps, known=self.size)

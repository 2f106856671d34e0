"""What a search knows, packed: tens of bytes for each state, where `AnyKnown` has hundreds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trifold.outcomes import Outcome
from trifold.pddl import PackedTask, PackedWays
from trifold.planning.known import estimate
from trifold.planning.policy import Scores, Trajectory

if TYPE_CHECKING:
    from trifold.pddl import Integers, State


class PackedKnown:
    """Known states of a grounded problem: what `AnyKnown` is, number for number.

    Those that are evaluated, or looked at, are the problem's own states for as long as that takes.
    """

    def __init__(self, task: PackedTask, scores: Scores[State]) -> None:
        self.task, self.scores = task, scores
        self.ways = PackedWays(task, np.float64)  # worth: V
        self.ways.worth[0] = math.nan
        self.goal = None if task.count_unmet(task.initial)[0] else 0

    def __len__(self) -> int:
        """How many states are known."""
        return len(self.ways)

    def expand(self, states: Sequence[int]) -> tuple[Sequence[int], Sequence[float]]:
        """The new states that some states lead to, in the order in which they are met, and an estimate of V of each."""
        numbers = np.array(states, np.int64)
        return self._by_values(numbers) if self.scores.looks is None else self._by_looks(numbers)

    def action_to(self, state: int) -> str | None:
        """The action that led to a state; None for the initial one."""
        return self.ways.action_to(state)

    def value(self, state: int) -> float:
        """V of a state that was evaluated, or looked at; NaN for others."""
        return float(self.ways.worth[state])

    def trajectory(self, outcome: Outcome, steps: int) -> Trajectory:
        """What a search returns that ends so: the way to the goal if there is one."""
        states, actions = self.ways.way(self.goal or 0)
        return Trajectory(outcome, tuple(actions), tuple(self.ways.worth[states].tolist()), steps, known=len(self))

    def _by_values(self, states: Integers) -> tuple[Sequence[int], Sequence[float]]:
        """V of the new states themselves, by one call."""
        sources, actions, rows = self.task.successors(self.ways.words(states))
        new, first = self.ways.meet(rows, states[sources], actions)
        self._notice(new, rows[:, first])
        found = self.scores.values(self.task.unpack(rows[:, first])) if new.size else []
        self.ways.worth[new] = found
        return new.tolist(), found

    def _by_looks(self, states: Integers) -> tuple[Sequence[int], Sequence[float]]:
        """What looks at the states before tell."""
        words, texts = self.ways.words(states), self.task.texts
        sources, actions, rows = self.task.successors(words)
        ends = np.cumsum(np.bincount(sources, minlength=len(states))).tolist()
        names = [texts[action] for action in actions.tolist()]
        own = [names[start:end] for start, end in pairwise([0, *ends])]
        looked = self.scores.look_each(self.task.unpack(words), own)
        self.ways.worth[states] = values = [value for value, _ in looked]
        scores = np.array([score for _, found in looked for score in found])
        # Best first: of several actions to one state, and of equal estimates, the best-scored one counts.
        order = np.lexsort((-scores, sources))
        new, first = self.ways.meet(rows[:, order], states[sources[order]], actions[order])
        chosen = order[first]
        self._notice(new, rows[:, chosen])
        self.ways.worth[new] = math.nan
        pairs = zip(sources[chosen].tolist(), scores[chosen].tolist(), strict=True)
        return new.tolist(), [estimate(values[source], score) for source, score in pairs]

    def _notice(self, states: Integers, rows: NDArray[np.uint64]) -> None:
        """See whether new states (words, n) are goals."""
        if self.goal is None and (met := states[self.task.count_unmet(rows) == 0]).size:
            self.goal = int(met[0])

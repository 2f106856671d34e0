"""Greedy search by how much of the goal is missing, over packed states: tens of bytes for each, many at a time."""

from __future__ import annotations

from collections import deque

import numpy as np

from trifold.pddl.atoms import Integers
from trifold.pddl.packed import Words
from trifold.pddl.packed_task import PackedTask, PackedWays


class PackedCounts:
    """Greedy best-first search by goal counts.

    ways  the states that are known, and how many literals of the goal do not hold in each
    goal  the first goal that was met; None: none yet

    Of states with equal counts, what was met first is expanded first; those that a state leads to are met in the order
    of their actions' texts.
    """

    def __init__(self, task: PackedTask) -> None:
        self.task, self.ways = task, PackedWays(task, np.int16)
        self.queues: dict[int, deque[int]] = {}
        self.goal: int | None = None
        self._enqueue(np.zeros(1, np.int64), task.initial)

    def __len__(self) -> int:
        """How many states are known."""
        return len(self.ways)

    def expand(self, most: int) -> Integers:
        """Expand the next states, so many at most, and return them; none: all are expanded."""
        batch = list[int]()
        while len(batch) < most and self.queues:
            queue = self.queues[min(self.queues)]
            while queue and len(batch) < most:
                batch.append(queue.popleft())
            if not queue:
                del self.queues[min(self.queues)]
        chosen = np.array(batch, np.int64)
        if batch:
            sources, actions, rows = self.task.successors(self.ways.words(chosen))
            new, first = self.ways.meet(rows, chosen[sources], actions)
            self._enqueue(new, rows[:, first])
        return chosen

    def _enqueue(self, states: Integers, rows: Words) -> None:
        """Give new states (words, n) their counts and places in the queues, in order."""
        self.ways.worth[states] = unmet = self.task.count_unmet(rows)
        for number, count in zip(states.tolist(), unmet.tolist(), strict=True):
            self.queues.setdefault(count, deque()).append(number)
        if self.goal is None and (met := states[unmet == 0]).size:
            self.goal = int(met[0])

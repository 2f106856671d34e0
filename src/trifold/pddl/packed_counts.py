"""Greedy search by how much of the goal is missing, over packed states: tens of bytes for each, many at a time."""

from __future__ import annotations

from collections import deque

import numpy as np

from trifold.pddl.atoms import Integers
from trifold.pddl.grounding import ground
from trifold.pddl.packed import BITS, WORD, PackedStates, Successors, Words, pack, word_count
from trifold.pddl.problem import Problem


class PackedCounts:
    """Greedy best-first search by goal counts; raises a GroundingError where the problem is not STRIPS, or too large.

    goal      the first goal that was met; None: none yet
    before    (states,) the state that each state was reached from, and `actions` by what

    States are numbered as they are met, the initial one 0. Of those with equal counts, what was met first is expanded
    first; those that a state leads to are met in the order of their actions' texts.
    """

    def __init__(self, problem: Problem) -> None:
        grounding = ground(problem)
        self.names = [f"({' '.join([schema, *objects])})" for schema, objects in grounding.names]
        self.called = [min(self.names[index] for index in names) for names in grounding.called]
        atoms = len(grounding.atoms)
        self.successors = Successors(grounding.actions, atoms)
        ranked = sorted(range(len(self.called)), key=self.called.__getitem__)
        self.rank = np.empty(len(ranked), np.int64)
        self.rank[ranked] = np.arange(len(ranked))
        self.wanted, self.unwanted = (np.array(side, np.int64) for side in grounding.goal)
        self.unmet_static = problem.atom_index.unmet_static
        self.states = PackedStates(word_count(atoms))
        self.before, self.actions, self.counts = (np.zeros(1024, kind) for kind in (np.int32, np.int32, np.int16))
        self.queues: dict[int, deque[int]] = {}
        self.goal: int | None = None
        self._meet(pack([grounding.initial], atoms), np.zeros(1, np.int64), np.zeros(1, np.int64))

    def __len__(self) -> int:
        """How many states are known."""
        return self.states.count

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
        for first in range(0, len(chosen), self.successors.block):
            block = chosen[first : first + self.successors.block]
            action, source, rows = self.successors.of(self.states.words[:, block])
            action = self.successors.order[action]
            order = np.lexsort((self.rank[action], source))
            self._meet(rows[:, order], block[source[order]], action[order])
        return chosen

    def way(self, state: int) -> tuple[list[int], list[str]]:
        """The states on the way to a state, the initial one first, and the actions between them."""
        states, actions = [state], list[str]()
        while states[-1]:
            actions.append(self.called[self.actions[states[-1]]])
            states.append(int(self.before[states[-1]]))
        return states[::-1], actions[::-1]

    def _meet(self, rows: Words, sources: Integers, actions: Integers) -> None:
        """Take in states (words, n): what is new gets a way, a count and a place in a queue, in order."""
        known = self.states.count
        numbers = self.states.insert(rows)
        if self.states.count > len(self.before):
            room = 2 * self.states.count
            self.before, self.actions, self.counts = (
                np.resize(one, room) for one in (self.before, self.actions, self.counts)
            )
        new, first = np.unique(numbers, return_index=True)
        first = np.sort(first[new >= known])  # where each new state stands first
        new = numbers[first]
        self.before[new], self.actions[new] = sources[first], actions[first]
        wanted, unwanted = (_bits(rows[:, first], atoms).sum(0) for atoms in (self.wanted, self.unwanted))
        self.counts[new] = unmet = self.unmet_static + len(self.wanted) - wanted + unwanted
        for number, count in zip(new.tolist(), unmet.tolist(), strict=True):
            self.queues.setdefault(count, deque()).append(number)
        if self.goal is None and (met := new[unmet == 0]).size:
            self.goal = int(met[0])


def _bits(states: Words, atoms: Integers) -> Integers:
    """(atoms, states): whether each of the atoms is true in each of the states, as 0 or 1."""
    return (states[atoms // BITS] >> (atoms % BITS).astype(WORD)[:, None] & WORD.type(1)).astype(np.int64)

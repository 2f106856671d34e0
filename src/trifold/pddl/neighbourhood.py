"""The states around plans of a grounded problem, packed, and shortest ways through those that are expanded."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from trifold.pddl.atoms import Integers
from trifold.pddl.grounding import ground
from trifold.pddl.packed import PackedStates, Successors, holds, pack, word_count
from trifold.pddl.problem import Problem

NOT_YET = -1
"""In place of where the edges of a state begin that is not expanded."""


class Neighbourhood:
    """Rings of states around a plan; raises a GroundingError where the problem is not STRIPS, or too large.

    count   how many states are expanded

    States have numbers, the initial one 0. Of an expanded state, `starts` has where its edges begin, and `degrees` how
    many there are; of an edge, `targets` has the state that it leads to, and `actions` the action of the grounding.
    """

    def __init__(self, problem: Problem) -> None:
        self.grounding = ground(problem)
        self.names = [f"({' '.join([schema, *objects])})" for schema, objects in self.grounding.names]
        atoms = len(self.grounding.atoms)
        self.successors = Successors(self.grounding.actions, atoms)
        self.states = PackedStates(word_count(atoms))
        self.states.insert(pack([self.grounding.initial], atoms))
        self.count = self.edges = 0
        self.starts, self.degrees = np.full(1024, NOT_YET, np.int64), np.zeros(1024, np.int32)
        self.targets, self.actions = np.empty(4096, np.int32), np.empty(4096, np.int32)
        self.met = np.zeros(1024, np.bool_)
        self.queue: deque[Integers] = deque()

    def begin(self, plan: Sequence[str]) -> None:
        """Begin with the states of a plan: what is expanded already stays so, and comes at no cost."""
        walk = [0]
        for name in plan:
            self._expand(np.array(walk[-1:]))
            edges = slice(self.starts[walk[-1]], self.starts[walk[-1]] + self.degrees[walk[-1]])
            found = zip(self.actions[edges].tolist(), self.targets[edges].tolist(), strict=True)
            walk.append(next(t for a, t in found if name in {self.names[i] for i in self.grounding.called[a]}))
        self.met[:] = False
        self.queue.clear()
        self._meet(np.array(walk))

    def grow(self) -> bool:
        """Expand the next states, those of a ring before those of the next; whether there were any."""
        if not self.queue:
            return False
        block = self.queue.popleft()
        self._expand(block)
        self._meet(self.targets[self._edges_of(block)])
        return True

    def ways(self) -> tuple[Integers, Integers]:
        """Where the edges of all the states that are expanded begin, ascending, and where they lead."""
        expanded = np.flatnonzero(self.starts[: self.states.count] != NOT_YET)
        return np.repeat(expanded, self.degrees[expanded]), self.targets[self._edges_of(expanded)]

    def shortest(self) -> tuple[str, ...] | None:
        """The actions of a shortest way to a goal through expanded states, by breadth-first search; None: no way."""
        is_goal = holds(self.states.words[:, : self.states.count], *self.grounding.goal)
        before = np.full(self.states.count, NOT_YET, np.int64)  # the edge by which a state was reached first
        before[0], layer = 0, np.zeros(1, np.int64)
        layers = [layer]
        while layer.size and not is_goal[layer].any():
            edges = self._edges_of(layer)
            edges = edges[before[self.targets[edges]] == NOT_YET]
            layer, first = np.unique(self.targets[edges], return_index=True)
            before[layer] = edges[first]
            layers.append(layer)
        if not layer.size:
            return None
        state, plan = int(layer[is_goal[layer]][0]), list[str]()
        sources = np.flatnonzero(self.starts[: self.states.count] != NOT_YET)
        sources = sources[np.argsort(self.starts[sources], kind="stable")]
        sources = sources[self.degrees[sources] > 0]
        for _ in layers[1:]:
            edge = int(before[state])
            plan.append(self.names[self.grounding.called[int(self.actions[edge])][0]])
            state = int(sources[np.searchsorted(self.starts[sources], edge, side="right") - 1])
        return tuple(reversed(plan))

    def _meet(self, states: Integers) -> None:
        """Put the states that are not met yet into the queue, in blocks, each once, in the order of their numbers."""
        self._reserve()
        new = np.unique(states)
        new = new[~self.met[new]]
        self.met[new] = True
        self.queue.extend(np.array_split(new, -(-len(new) // self.successors.block) or 1) if new.size else ())

    def _expand(self, states: Integers) -> None:
        """Give edges to the states, a block at most, that have none yet."""
        new = states[self.starts[states] == NOT_YET]
        if not new.size:
            return
        action, source, rows = self.successors.of(self.states.words[:, new])
        order = np.argsort(source, kind="stable")
        degrees = np.bincount(source, minlength=len(new))
        end = self.edges + len(order)
        if end > len(self.targets):
            self.targets, self.actions = (np.resize(one, 2 * end) for one in (self.targets, self.actions))
        self.targets[self.edges : end] = self.states.insert(rows)[order]
        self.actions[self.edges : end] = self.successors.order[action[order]]
        self._reserve()
        self.starts[new] = self.edges + np.cumsum(degrees) - degrees
        self.degrees[new] = degrees
        self.count, self.edges = self.count + len(new), end

    def _edges_of(self, states: Integers) -> Integers:
        """The edges of all the states that are expanded, state by state."""
        degrees = self.degrees[states].astype(np.int64)
        begins = self.starts[states] - (np.cumsum(degrees) - degrees)
        return np.repeat(begins, degrees) + np.arange(degrees.sum())

    def _reserve(self) -> None:
        """Make room for all states that there are."""
        room, needed = len(self.starts), self.states.count
        if needed > room:
            more = 2 * needed - room
            self.starts = np.concatenate([self.starts, np.full(more, NOT_YET, np.int64)])
            self.degrees = np.concatenate([self.degrees, np.zeros(more, np.int32)])
            self.met = np.concatenate([self.met, np.zeros(more, np.bool_)])

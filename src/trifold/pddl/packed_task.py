"""A grounded problem over packed states: where the actions lead, by their texts, and what is missing of the goal."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from trifold.pddl.atoms import Integers
from trifold.pddl.engine import release_at_exit
from trifold.pddl.grounding import ground
from trifold.pddl.packed import BITS, WORD, PackedStates, Successors, Words, pack, unpack
from trifold.pddl.problem import Problem, State


class PackedTask:
    """What a search needs of a problem; raises a GroundingError where the problem is not STRIPS, or too large.

    initial  (words, 1) the initial state
    texts    what plans call the actions, sorted
    """

    def __init__(self, problem: Problem) -> None:
        grounding = ground(problem)
        self.problem, atoms = problem, len(grounding.atoms)
        self.initial = pack([grounding.initial], atoms)
        self._successors = Successors(grounding.actions, atoms)
        texts = [f"({' '.join([schema, *objects])})" for schema, objects in grounding.names]
        self.texts = sorted(texts)
        place = {text: index for index, text in enumerate(self.texts)}
        called = [[place[texts[name]] for name in grounding.called[action]] for action in self._successors.order]
        self._counts = np.array([len(names) for names in called], np.int64)
        self._starts = np.cumsum(self._counts) - self._counts
        self._names = np.array([name for names in called for name in names], np.int64)
        self._wanted, self._unwanted = (np.array(side, np.int64) for side in grounding.goal)
        self._unmet_static = problem.atom_index.unmet_static
        self._atoms: list[Any] = problem.engine.ground_atoms(grounding.atoms)
        release_at_exit(self)

    def successors(self, states: Words) -> tuple[Integers, Integers, Words]:
        """Where actions lead from states (words, n): the source, by its place among them, the action, and the words.

        Sources ascend and, of each, the actions, each once: it is the order of `Problem.successors`.
        """
        found = []
        for first in range(0, states.shape[1], self._successors.block):
            action, source, rows = self._successors.of(states[:, first : first + self._successors.block])
            many = self._counts[action]
            each = np.repeat(np.arange(len(action)), many)
            within = np.arange(len(each)) - np.repeat(np.cumsum(many) - many, many)
            pairs = source[each] * len(self.texts) + self._names[self._starts[action[each]] + within]
            # Of one name there may be several actions, for several conditions, which all lead to one state.
            pairs, chosen = np.unique(pairs, return_index=True)
            source, name = np.divmod(pairs, max(len(self.texts), 1))
            found.append((source + first, name, rows[:, each[chosen]]))
        sources, names, reached = zip(*found, strict=True)
        return np.concatenate(sources), np.concatenate(names), np.concatenate(reached, axis=1)

    def count_unmet(self, states: Words) -> Integers:
        """(states,) how many literals of the goal do not hold in each: 0 in a goal alone."""
        wanted, unwanted = (_bits(states, atoms).sum(0) for atoms in (self._wanted, self._unwanted))
        return np.asarray(self._unmet_static + len(self._wanted) - wanted + unwanted)

    def unpack(self, states: Words) -> list[State]:
        """The problem's own states that these are."""
        counts, atoms = unpack(states)
        ends, true = np.cumsum(counts).tolist(), [self._atoms[atom] for atom in atoms.tolist()]
        create, state_of = self.problem.engine.repository.get_or_create_state, self.problem.state_of
        return [state_of(create(true[start:end], [])[0]) for start, end in pairwise([0, *ends])]

    def release(self) -> None:
        """Let go of pymimir; no state can be unpacked after that."""
        self._atoms = []


class PackedWays:
    """The states that a search knows, numbered, the initial one 0, and how it came to each: tens of bytes for each.

    before, actions  (capacity,) the state that each state was reached from, and by which of the texts of the task
    worth            (capacity,) what the search writes of each
    """

    def __init__(self, task: PackedTask, worth: DTypeLike) -> None:
        self.task, self.states = task, PackedStates(len(task.initial))
        self.before, self.actions, self.worth = (np.zeros(1024, kind) for kind in (np.int32, np.int32, worth))
        self.states.insert(task.initial)

    def __len__(self) -> int:
        """How many states are known."""
        return self.states.count

    def words(self, states: Integers) -> Words:
        """(words, states) these states."""
        return self.states.words[:, states]

    def meet(self, rows: Words, sources: Integers, actions: Integers) -> tuple[Integers, Integers]:
        """Take in states (words, n): the numbers of the new ones, in their order, and where each stands first."""
        known = self.states.count
        numbers = self.states.insert(rows)
        if self.states.count > len(self.before):
            room = 2 * self.states.count
            self.before, self.actions, self.worth = (
                np.resize(one, room) for one in (self.before, self.actions, self.worth)
            )
        new, first = np.unique(numbers, return_index=True)
        first = np.sort(first[new >= known])
        new = numbers[first]
        self.before[new], self.actions[new] = sources[first], actions[first]
        return new, first

    def action_to(self, state: int) -> str | None:
        """The action that led to a state; None for the initial one."""
        return self.task.texts[self.actions[state]] if state else None

    def way(self, state: int) -> tuple[list[int], list[str]]:
        """The states on the way to a state, the initial one first, and the actions between them."""
        states, actions = [state], list[str]()
        while states[-1]:
            actions.append(self.task.texts[self.actions[states[-1]]])
            states.append(int(self.before[states[-1]]))
        return states[::-1], actions[::-1]


def _bits(states: Words, atoms: Integers) -> NDArray[np.int64]:
    """(atoms, states): whether each of the atoms is true in each of the states, as 0 or 1."""
    return (states[atoms // BITS] >> (atoms % BITS).astype(WORD)[:, None] & WORD.type(1)).astype(np.int64)

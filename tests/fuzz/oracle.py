"""The oracle: a problem's whole state space by naive search, and what differs from it elsewhere."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from trifold.pddl import StateSpace, load_domain, load_problem
from trifold.pddl.atoms import EVERY_OBJECT

Atom = tuple[str, ...]
Atoms = frozenset[Atom]

MAX_STATES = 2100


class Task(Protocol):
    """What can be explored: states are sets of atoms, and ``closure`` adds the derived ones."""

    initial: Atoms

    def applicable(self, state: Atoms) -> list[str]: ...
    def apply(self, state: Atoms, action: str) -> Atoms: ...
    def is_goal(self, state: Atoms) -> bool: ...
    def closure(self, state: Atoms) -> Atoms: ...


@dataclass(frozen=True)
class Truth:
    """A state space as it is: every reachable state is the set of its true atoms, derived ones included.

    successors  state → action → state, nearest states first
    values      V* of the states that have a plan
    """

    initial: Atoms
    successors: dict[Atoms, dict[str, Atoms]]
    goals: frozenset[Atoms]
    values: dict[Atoms, int]


def explore(task: Task, max_states: int = MAX_STATES, seconds: float = float("inf")) -> Truth | None:
    """The whole state space, or None if it has more states or takes longer; the naive way throughout."""
    deadline = time.monotonic() + seconds
    seen = {task.initial: task.closure(task.initial)}
    successors: dict[Atoms, dict[str, Atoms]] = {}
    queue = deque([task.initial])
    while queue:
        state = queue.popleft()
        reached = {action: task.apply(state, action) for action in task.applicable(state)}
        for other in reached.values():
            if other not in seen:
                seen[other] = task.closure(other)
                queue.append(other)
        if len(seen) > max_states or time.monotonic() > deadline:
            return None
        successors[seen[state]] = {action: seen[other] for action, other in reached.items()}
    goals = frozenset(true for state, true in seen.items() if task.is_goal(state))
    return Truth(seen[task.initial], successors, goals, _distances(successors, goals))


def _distances(successors: dict[Atoms, dict[str, Atoms]], goals: Iterable[Atoms]) -> dict[Atoms, int]:
    """The least number of steps to a goal, by breadth-first search backwards."""
    before: dict[Atoms, list[Atoms]] = {state: [] for state in successors}
    for state, reached in successors.items():
        for other in reached.values():
            before[other].append(state)
    values = dict.fromkeys(goals, 0)
    queue = deque(values)
    while queue:
        state = queue.popleft()
        for other in before[state]:
            if other not in values:
                values[other] = values[state] + 1
                queue.append(other)
    return values


def difference(truth: Truth, space: StateSpace) -> str | None:
    """What is wrong about a labelled state space, or None."""
    states = _decode(space)
    expected = truth.successors
    if len(set(states)) != len(states):
        return "a state is there twice"
    for what, left, right in (("missing", set(expected), set(states)), ("unreachable", set(states), set(expected))):
        if extra := left - right:
            return f"{len(extra)} of {len(expected)} states {what}, such as {_text(min(extra, key=_text))}"
    if states[space.initial] != truth.initial:
        return "the initial state is another one"
    for number, state in enumerate(states):
        distance, value = int(space.distances[number]), truth.values.get(state, -1)
        if distance != value:
            return f"V* is {value}, not {distance}, in {_text(state)}"
        targets = space.targets[space.transition_offsets[number] : space.transition_offsets[number + 1]].tolist()
        found = {states[target] for target in targets}
        if found != set(truth.successors[state].values()):
            return f"the successors are others in {_text(state)}"
    return None


def _decode(space: StateSpace) -> list[Atoms]:
    """The atoms of every state, static ones included, types and goals aside."""
    table = space.table
    names = [name for name, _ in table.relations]

    def decode(relation: int, arguments: list[int]) -> Atom:
        if arguments[0] == EVERY_OBJECT:
            return (names[relation],)
        return (names[relation], *(table.objects[index] for index in arguments[: table.relations[relation][1]]))

    static = [
        decode(relation, arguments)
        for relation, arguments in zip(table.static_relation.tolist(), table.static_arguments.tolist(), strict=True)
        if f"{names[relation]}@goal" in names
    ]
    varying = [decode(*pair) for pair in zip(table.relation.tolist(), table.arguments.tolist(), strict=True)]
    return [
        frozenset([*static, *(varying[index] for index in space.indices[start:end].tolist())])
        for start, end in zip(space.offsets, space.offsets[1:], strict=False)
    ]


def difference_of_steps(truth: Truth, domain: str, problem: str, most: int) -> str | None:
    """What is wrong about the successors and goals of a live problem in its first states, or None."""
    live = load_problem(load_domain(domain), problem)
    try:
        pairs = {truth.initial: live.initial_state}
        queue = deque(pairs)
        while queue and most:
            state, most = queue.popleft(), most - 1
            if live.is_goal(pairs[state]) != (state in truth.goals):
                return f"the goal is {'reached' if state in truth.goals else 'not reached'} in {_text(state)}"
            found = {f"({' '.join(action[1:-1].split())})": other for action, other in live.successors(pairs[state])}
            expected = truth.successors[state]
            if found.keys() != expected.keys():
                action = min(found.keys() ^ expected.keys())
                return f"{action} is {'in' if action in found else ''}applicable in {_text(state)}"
            for action, other in expected.items():
                if other not in pairs:
                    pairs[other] = found[action]
                    queue.append(other)
                elif pairs[other] != found[action]:
                    return f"{action} leads to another state from {_text(state)}"
        for state, same in pairs.items():
            if state != {tuple(atom[1:-1].split()) for atom in live.atoms(same)}:
                return f"the atoms are others in {_text(state)}"
    finally:
        live.release()
    return None


def _text(state: Iterable[Atom]) -> str:
    return "{" + " ".join(sorted(f"({' '.join(atom)})" for atom in state)) + "}"

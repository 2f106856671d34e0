"""Plans made shorter: the shortest way through the states around a plan, in rings that grow while there is time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Generic, Protocol

from trifold.planning.policy import Budget, State, Task

GROWTH = 1.5
"""A way through the known states is looked for whenever they are this many times more than the last time."""


class Rings(Protocol):
    """States around a plan, expanded ring by ring; `trifold.pddl.Neighbourhood` is one."""

    count: int
    """How many states are expanded."""

    def begin(self, plan: Sequence[str], /) -> None:
        """Begin with the states of a plan."""

    def grow(self) -> bool:
        """Expand the next states; whether there were any."""
        ...

    def shortest(self) -> tuple[str, ...] | None:
        """The actions of a shortest way to a goal through expanded states; None if there is none."""
        ...


def improve(
    task: Task[State],
    plan: Sequence[str],
    budget: Budget,
    on_shorter: Callable[[tuple[str, ...]], None] = lambda plan: None,
) -> tuple[str, ...]:
    """A plan that is as short or shorter, as far as the budget of seconds and states goes; each shorter one is told.

    The states of the plan are expanded, then those around them, ring by ring: plan neighbourhood graph search (Nakhost
    and Müller, ICAPS 2010). A shorter way through all that is known becomes the plan, around which it begins again; so
    loops are cut, and detours as far as the rings reach. With budget enough for all states that can be reached, the
    plan becomes a shortest one. Problems that can be grounded are expanded packed, many states at a time.
    """
    best, rings = tuple(plan), _rings_of(task)
    if budget.end(0) is not None:
        return best
    rings.begin(best)
    due, last_look = 2 * len(best), 0.0
    has_ended = False
    while not has_ended:
        has_time = budget.seconds is None or budget.elapsed() + GROWTH * last_look < budget.seconds
        has_room = budget.states is None or rings.count < budget.states
        has_ended = not (has_time and has_room and rings.grow())
        if has_ended or rings.count >= due:
            due, began = int(GROWTH * rings.count) + 1, budget.elapsed()
            shorter = rings.shortest()
            last_look = budget.elapsed() - began
            if shorter is not None and len(shorter) < len(best):
                best = shorter
                on_shorter(best)
                rings.begin(best)
    return best


def _rings_of(task: Task[State]) -> Rings:
    from trifold.pddl import GroundingError, Neighbourhood, Problem

    problem: Any = task  # of PDDL, or a toy
    if isinstance(problem, Problem):
        with suppress(GroundingError):
            return Neighbourhood(problem)
    return AnyRings(task)


class AnyRings(Generic[State]):
    """Rings around the plans of any task, one state at a time."""

    def __init__(self, task: Task[State]) -> None:
        self.task, self.count = task, 0
        self.ways: dict[State, Sequence[tuple[str, State]]] = {}
        self.queue: deque[State] = deque()
        self.met: set[State] = set()

    def begin(self, plan: Sequence[str]) -> None:
        """Begin with the states of a plan, the initial one first."""
        states = [self.task.initial_state]
        for action in plan:
            states.append(dict(self.task.successors(states[-1]))[action])
        self.queue, self.met = deque(states), set(states)

    def grow(self) -> bool:
        """Expand the next state."""
        if not self.queue:
            return False
        state = self.queue.popleft()
        if state not in self.ways:
            self.ways[state] = self.task.successors(state)
            self.count += 1
        for _, successor in self.ways[state]:
            if successor not in self.met:
                self.met.add(successor)
                self.queue.append(successor)
        return True

    def shortest(self) -> tuple[str, ...] | None:
        """The actions of a shortest way to a goal through expanded states, by breadth-first search."""
        task = self.task
        before: dict[State, tuple[State, str] | None] = {task.initial_state: None}
        queue = deque([task.initial_state])
        while queue:
            state = queue.popleft()
            if task.is_goal(state):
                actions = []
                while (way := before[state]) is not None:
                    state, action = way
                    actions.append(action)
                return tuple(reversed(actions))
            for action, successor in self.ways.get(state, ()):
                if successor not in before:
                    before[successor] = state, action
                    queue.append(successor)
        return None

"""A policy from outside the package: greedy best-first search over V, which knows all states that it has seen."""

from __future__ import annotations

from collections.abc import Hashable
from heapq import heappop, heappush
from itertools import count
from typing import TypeVar

from trifold.planning import Budget, OnStep, Outcome, Scores, Step, Task, Trajectory

State = TypeVar("State", bound=Hashable)
Way = tuple[tuple[str, ...], tuple[float, ...]]


def best_first(task: Task[State], scores: Scores[State], budget: Budget, on_step: OnStep) -> Trajectory:
    """Expand the state with the least V of all that were seen, until a goal is expanded."""
    start = task.initial_state
    values = {start: scores.values([start])[0]}
    ways: dict[State, Way] = {start: ((), (values[start],))}  # the actions to each state, and V along them
    order, steps = count(), 0  # of equal values, what was seen first comes first
    queue = [(values[start], next(order), start)]
    while queue:
        value, _, state = heappop(queue)
        actions, along = ways[state]
        on_step(Step(steps, actions[-1] if actions else None, value))
        if task.is_goal(state):
            return Trajectory(Outcome.SOLVED, actions, along, steps)
        if outcome := budget.end(steps):
            return Trajectory(outcome, (), (values[start],), steps)
        steps += 1
        fresh = {successor: action for action, successor in reversed(task.successors(state)) if successor not in ways}
        for (successor, action), found in zip(fresh.items(), scores.values(list(fresh)) if fresh else [], strict=True):
            values[successor], ways[successor] = found, ((*actions, action), (*along, found))
            heappush(queue, (found, next(order), successor))
    return Trajectory(Outcome.UNSOLVABLE, (), (values[start],), steps)

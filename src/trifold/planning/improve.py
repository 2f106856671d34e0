"""Plans made shorter: the shortest way through the states around a plan, in rings that grow while there is time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from trifold.planning.policy import Budget, State, Task

GROWTH = 1.3
"""A way through the known states is looked for whenever they are this many times more than the last time."""

Ways = Mapping[State, Sequence[tuple[str, State]]]
"""The actions of each known state, and the states that they lead to."""


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
    plan becomes a shortest one.
    """
    best = tuple(plan)
    ways: dict[State, Sequence[tuple[str, State]]] = {}
    queue = deque(_walk(task, best))
    met, due = set(queue), 2 * len(queue)
    while queue:
        has_ended = budget.end(0) is not None or (budget.states is not None and len(ways) >= budget.states)
        if not has_ended:
            state = queue.popleft()
            if state not in ways:
                ways[state] = task.successors(state)
            for _, successor in ways[state]:
                if successor not in met:
                    met.add(successor)
                    queue.append(successor)
        if has_ended or not queue or len(ways) >= due:
            due = int(GROWTH * len(ways)) + 1
            shorter = _shortest(task, ways)
            if shorter is not None and len(shorter) < len(best):
                best = shorter
                on_shorter(best)
                queue = deque(_walk(task, best))
                met = set(queue)
        if has_ended:
            break
    return best


def _walk(task: Task[State], plan: Sequence[str]) -> list[State]:
    """The states on the way of a plan, the initial one first."""
    states = [task.initial_state]
    for action in plan:
        states.append(dict(task.successors(states[-1]))[action])
    return states


def _shortest(task: Task[State], ways: Ways[State]) -> tuple[str, ...] | None:
    """The actions of a shortest way to a goal through known states, by breadth-first search; None if there is none."""
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
        for action, successor in ways.get(state, ()):
            if successor not in before:
                before[successor] = state, action
                queue.append(successor)
    return None

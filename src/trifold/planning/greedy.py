"""Greedy policies: from a state, go to the successor with the least V; the paper's goes to unvisited ones only."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trifold.outcomes import Outcome
from trifold.planning.policy import Budget, OnStep, Scores, State, Step, Task, Trajectory

TIE = 1e-4
"""How far above the least V a value counts as equal to it, relative to V, or to 1 where V is smaller.

Successors that differ in the names of objects alone have one V, but its sums are rounded in another order: another for
each name, for what is evaluated beside it, and for each device. In the shipped models that is mostly 4e-7 of V or less,
but up to 2e-5 near the goal of a large problem, where large sums cancel to a small V. A successor that is one step
farther from the goal is worse by 1/V, which is far more up to V = 1,000.

Different successors that are equally good have learned values that come as close as one likes, so one of them may lie
at the threshold itself, where rounding still decides. That is rare: errors of 4e-7 changed none of 847 choices that
shipped models made on fresh problems, and 9 % of them without a tie.
"""


def follow_unvisited(task: Task[State], scores: Scores[State], budget: Budget, on_step: OnStep) -> Trajectory:
    """The general policy of the paper: step to the unvisited successor with the least V until a goal is reached.

    Of successors whose V is the least, or more by no more than a tie (`choose`), the first in the order of
    `task.successors` is taken: that of a PDDL problem is by the text of the actions. A goal among them gets no favour.
    The way fails where no unvisited successor is left. All successors of a step are evaluated by one call.
    """
    return _follow(task, scores, budget, on_step, has_memory=True)


def follow_strictly(task: Task[State], scores: Scores[State], budget: Budget, on_step: OnStep) -> Trajectory:
    """The policy without memory: step to the least V of all successors, visited or not.

    It depends on the state alone, so the first state that it would visit twice ends the way as a cycle.
    """
    return _follow(task, scores, budget, on_step, has_memory=False)


def choose(values: Sequence[float], tie: float = TIE) -> int:
    """The index of the first value that is the least, or above it by no more than `tie` · max(1, |V|)."""
    least = min(values)
    return next(i for i, value in enumerate(values) if math.isclose(value, least, rel_tol=tie, abs_tol=tie))


def _follow(
    task: Task[State], scores: Scores[State], budget: Budget, on_step: OnStep, *, has_memory: bool
) -> Trajectory:
    state = task.initial_state
    visited = {state}
    actions: list[str] = []
    along = scores.values([state])

    def end(outcome: Outcome) -> Trajectory:
        return Trajectory(outcome, tuple(actions), tuple(along), len(actions))

    on_step(Step(0, None, along[0]))
    while not task.is_goal(state):
        if outcome := budget.end(len(actions)):
            return end(outcome)
        ways: dict[State, str] = {}  # several actions may lead to one state: it is evaluated once
        for action, successor in task.successors(state):
            if not has_memory or successor not in visited:
                ways.setdefault(successor, action)
        if not ways:
            return end(Outcome.STUCK)
        candidates = list(ways)
        found = scores.values(candidates)
        best = choose(found)
        state = candidates[best]
        if state in visited:
            return end(Outcome.CYCLE)
        visited.add(state)
        actions.append(ways[state])
        along.append(found[best])
        on_step(Step(len(actions), actions[-1], found[best]))
    return end(Outcome.SOLVED)

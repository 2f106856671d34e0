"""The general policy of the paper: from a state, go to the unvisited successor with the least V."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from trifold.errors import TrifoldError
from trifold.planning.outcomes import Outcome

State = TypeVar("State", bound=Hashable)

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


class Task(Protocol[State]):
    """What a policy needs of a problem; `trifold.pddl.Problem` is one, and so is any toy."""

    @property
    def initial_state(self) -> State: ...

    def is_goal(self, state: State, /) -> bool: ...

    def successors(self, state: State, /) -> Sequence[tuple[str, State]]:
        """The applicable actions in a fixed order, each with the state that it leads to."""
        ...


@dataclass(frozen=True)
class Step:
    """One state on the way: its number, the action that led to it (None at the start) and its V."""

    number: int
    action: str | None
    value: float


@dataclass(frozen=True)
class Trajectory:
    """The way that a policy went, and how it ended.

    `actions` is a plan only if `outcome` is solved. `values` has one entry more than `actions`: V of the initial
    state comes first. `evaluated` counts the states whose V was asked for, and `seconds` is the time it all took.
    `failure` says why a plan was not believed.
    """

    outcome: Outcome
    actions: tuple[str, ...]
    values: tuple[float, ...]
    visited: int
    evaluated: int
    seconds: float
    failure: str | None = None

    @property
    def seconds_per_step(self) -> float:
        """Mean time of a step; that of the lone first evaluation if no step was taken."""
        return self.seconds / max(1, len(self.actions))


def follow_policy(
    problem: Task[State],
    values: Callable[[list[State]], Iterable[float]],
    *,
    max_steps: int = 1000,
    strict: bool = False,
    timeout: float | None = None,
    tie: float = TIE,
    on_step: Callable[[Step], None] | None = None,
) -> Trajectory:
    """Step to the unvisited successor with the least V until a goal is reached.

    Of successors whose V is the least, or more by no more than a tie (`choose`), the first in the order of
    `problem.successors` is taken: that of a PDDL problem is by the text of the actions. A goal among them gets no
    favour. The way fails after `max_steps` steps, where no unvisited successor is left, or when `timeout` seconds have
    passed (looked at between steps).

    `strict` is the policy without memory: the least V of all successors, visited or not. It depends on the state
    alone, so the first state that it would visit twice ends the way as a cycle.

    `values` maps a list of states to their V, in order: `Model.values`, V* from a table, or any heuristic. All
    successors of a step are evaluated by one call.
    """
    start = time.monotonic()
    state = problem.initial_state
    visited = {state}
    actions: list[str] = []
    along = _evaluate(values, [state], step=0)
    evaluated = 1

    def end(outcome: Outcome) -> Trajectory:
        seconds = time.monotonic() - start
        return Trajectory(outcome, tuple(actions), tuple(along), len(visited), evaluated, seconds)

    if on_step:
        on_step(Step(0, None, along[0]))
    while not problem.is_goal(state):
        if len(actions) >= max_steps:
            return end(Outcome.STEP_LIMIT)
        if timeout is not None and time.monotonic() - start >= timeout:
            return end(Outcome.TIMEOUT)
        ways: dict[State, str] = {}  # several actions may lead to one state: it is evaluated once
        for action, successor in problem.successors(state):
            if strict or successor not in visited:
                ways.setdefault(successor, action)
        if not ways:
            return end(Outcome.STUCK)
        candidates = list(ways)
        found = _evaluate(values, candidates, step=len(actions) + 1)
        evaluated += len(candidates)
        best = choose(found, tie)
        state = candidates[best]
        if state in visited:
            return end(Outcome.CYCLE)
        visited.add(state)
        actions.append(ways[state])
        along.append(found[best])
        if on_step:
            on_step(Step(len(actions), actions[-1], found[best]))
    return end(Outcome.SOLVED)


def choose(values: Sequence[float], tie: float = TIE) -> int:
    """The index of the first value that is the least, or above it by no more than `tie` · max(1, |V|)."""
    least = min(values)
    return next(i for i, value in enumerate(values) if math.isclose(value, least, rel_tol=tie, abs_tol=tie))


def _evaluate(values: Callable[[list[State]], Iterable[float]], states: list[State], step: int) -> list[float]:
    """V of each state as a plain number, refusing what cannot be compared."""
    found: Any = values(states)
    # A tensor or an array is copied to the host once, not once per number.
    numbers = [float(value) for value in (found.tolist() if hasattr(found, "tolist") else found)]
    if len(numbers) != len(states):
        raise ValueError(f"V gave {len(numbers)} values for {len(states)} states")
    if any(math.isnan(number) for number in numbers):
        raise TrifoldError(
            f"V is not a number (NaN) for a state at step {step}",
            remedy="train the model again, or use an earlier checkpoint: its weights have diverged",
        )
    return numbers

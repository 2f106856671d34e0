"""Solving a problem: follow the policy, and believe its plan only after a replay."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from trifold.planning.outcomes import Outcome
from trifold.planning.plan import replay
from trifold.planning.policy import State, Step, Task, Trajectory, follow_policy


def solve(
    problem: Task[State],
    values: Callable[[list[State]], Iterable[float]],
    *,
    max_steps: int = 1000,
    strict: bool = False,
    timeout: float | None = None,
    on_step: Callable[[Step], None] | None = None,
) -> Trajectory:
    """Follow the policy as `follow_policy` does; its plan is called solved only if it replays to the goal.

    >>> from trifold.model import Model
    >>> from trifold.pddl import load_problem
    >>> model = Model.load("model.safetensors")
    >>> found = solve(load_problem(model.domain, "problem.pddl"), model.values)
    >>> found.outcome.value, len(found.actions)
    ('solved', 5)
    """
    trajectory = follow_policy(problem, values, max_steps=max_steps, strict=strict, timeout=timeout, on_step=on_step)
    if trajectory.outcome is Outcome.SOLVED and not replay(problem, trajectory.actions):
        return replace(trajectory, outcome=Outcome.INVALID_PLAN)
    return trajectory

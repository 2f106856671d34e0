"""Solving a problem: follow the policy, and believe its plan only after a replay by another engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from trifold.pddl.executor import Executor
from trifold.planning.outcomes import Outcome
from trifold.planning.plan import judge, replay
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

    A plan of a PDDL problem is replayed by Trifold's own executor, which shares nothing with pymimir but the parser of
    expressions. If the two disagree, that is an outcome of its own.

    >>> from trifold.model import Model
    >>> from trifold.pddl import load_problem
    >>> model = Model.load("model.safetensors")
    >>> found = solve(load_problem(model.domain, "problem.pddl"), model.values)
    >>> found.outcome.value, len(found.actions)
    ('solved', 5)
    """
    trajectory = follow_policy(problem, values, max_steps=max_steps, strict=strict, timeout=timeout, on_step=on_step)
    if trajectory.outcome is not Outcome.SOLVED:
        return trajectory
    executor: Executor | None = getattr(problem, "executor", None)  # of a PDDL problem; other tasks have none
    verdict = judge(executor, trajectory.actions) if executor else replay(problem, trajectory.actions)
    if verdict:
        return trajectory
    if executor and replay(problem, trajectory.actions):
        failure = f"pymimir takes the plan, Trifold's own executor does not: {verdict.failure}"
        return replace(trajectory, outcome=Outcome.DISAGREEMENT, failure=failure)
    return replace(trajectory, outcome=Outcome.INVALID_PLAN, failure=verdict.failure)

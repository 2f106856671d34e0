"""Solving a problem: follow a policy, and believe its plan only after a replay by another engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from trifold.outcomes import Outcome
from trifold.pddl import Executor
from trifold.planning.plan import judge, replay
from trifold.planning.policies import find_policy
from trifold.planning.policy import Budget, OnStep, Policy, Scores, State, Task, Trajectory


def solve(
    problem: Task[State],
    values: Callable[[list[State]], Iterable[float]] | Scores[State],
    *,
    looks: Callable[[State, list[str]], tuple[float, Iterable[float]]] | None = None,
    policy: str | Policy | None = None,
    max_steps: int = 1000,
    timeout: float | None = None,
    on_step: OnStep | None = None,
) -> Trajectory:
    """Follow a policy; what it returns is called solved only if its plan replays to the goal.

    `values` maps a list of states to their V, in order: `Model.values`, V* from a table, or any heuristic. `looks` maps
    a state and its actions to V and their scores: `Model.look`. `policy` is one of `POLICIES`, a "module:function", or
    the function itself; if it is not given, "actions" where there are `looks`, and else "values". It ends after
    `max_steps` steps, or when `timeout` seconds have passed (looked at between steps). `on_step` is told of each step.

    A plan of a PDDL problem is replayed by Trifold's own executor, which shares nothing with pymimir but the parser of
    expressions. If the two disagree, that is an outcome of its own.

    >>> from trifold.model import Model
    >>> from trifold.pddl import load_problem
    >>> model = Model.load("model.safetensors")
    >>> found = solve(load_problem(model.domain, "problem.pddl"), model.values)
    >>> found.outcome.value, len(found.plan)
    ('solved', 5)
    """
    if isinstance(values, Scores) and looks is not None:
        raise ValueError("scores have looks of their own: give them there")
    scores = values if isinstance(values, Scores) else Scores(values, looks)
    chosen = policy or ("actions" if scores.looks else "values")
    follow = find_policy(chosen) if isinstance(chosen, str) else chosen
    before, budget = scores.evaluated, Budget(max_steps, timeout)
    found = follow(problem, scores, budget, on_step or (lambda step: None))
    found = replace(found, evaluated=scores.evaluated - before, seconds=budget.elapsed())
    if found.plan is None:
        return found
    executor: Executor | None = getattr(problem, "executor", None)  # of a PDDL problem; other tasks have none
    verdict = judge(executor, found.plan) if executor else replay(problem, found.plan)
    if verdict:
        return found
    if executor and replay(problem, found.plan):
        failure = f"pymimir takes the plan, Trifold's own executor does not: {verdict.failure}"
        return replace(found, outcome=Outcome.DISAGREEMENT, failure=failure)
    return replace(found, outcome=Outcome.INVALID_PLAN, failure=verdict.failure)

"""Solving a problem: follow a policy, and believe its plan only after a replay by another engine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from trifold.limits import MAX_STEPS
from trifold.outcomes import Outcome
from trifold.pddl import canonical
from trifold.planning.elimination import eliminate
from trifold.planning.improve import improve as improve_plan
from trifold.planning.patience import Patience
from trifold.planning.plan import judge, replay, states_along
from trifold.planning.policies import find_policy
from trifold.planning.policy import Budget, Memory, OnStep, Policy, Scores, State, Step, Task, Trajectory

if TYPE_CHECKING:
    from trifold.pddl import Executor

PATIENCE = 50
"""Where a search may follow, a policy that has not seen a lesser V for this many steps is taken to be lost."""

ELIMINATION_SECONDS = 0.4
"""About how long actions are looked for that a plan can do without; counted in steps, to be the same everywhere, unless
a limit of time leaves less."""

UNDECIDED = (Outcome.STUCK, Outcome.STEP_LIMIT, Outcome.CYCLE)
"""Ends of a policy that say nothing about whether there is a plan."""


def solve(
    problem: Task[State],
    values: Callable[[list[State]], Iterable[float]] | Scores[State],
    *,
    looks: Callable[[State, list[str]], tuple[float, Iterable[float]]] | None = None,
    policy: str | Policy | None = None,
    search: str | Policy | None = None,
    max_steps: int | None = MAX_STEPS,
    max_states: int | None = None,
    timeout: float | None = None,
    improve: float | None = None,
    on_step: OnStep | None = None,
    on_plan: Callable[[Trajectory], None] = lambda found: None,
) -> Trajectory:
    """Follow a policy, and a search if it ends without a plan; what they find is solved only if it replays to the goal.

    `values` maps a list of states to their V, in order: `Model.values`, V* from a table, or any heuristic. `looks` maps
    a state and its actions to V and their scores: `Model.look`. `policy` is one of `POLICIES`, a "module:function", or
    the function itself; if it is not given, "actions" where there are `looks`, and else "values". It ends after
    `max_steps` steps if that is not None, or when `timeout` seconds have passed (looked at between steps). `on_step` is
    told of each step.

    `search` is one of them, too, such as "turns"; None is no search. It follows a policy that ends without a plan, or
    sees no lesser V for `PATIENCE` steps, and remembers what that has seen. It ends with a plan, with the proof that
    there is none, when it knows more than `max_states` states, or with the time.

    With a `search` or with `improve`, actions that the plan of a PDDL problem can do without are left out of it
    (`trifold.planning.eliminate`). `improve` is for how many seconds it is then made shorter, if it can be
    (`trifold.planning.improve`). `on_plan` is told of what has a plan that replays to the goal, when it is found: first
    of the way, and then of shorter ones.

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
    if search is not None:
        scores = replace(scores, memory=Memory())
    before, budget = scores.evaluated, Budget(max_steps, timeout, max_states)
    chosen = policy or ("actions" if scores.looks else "values")
    found = _attempt(problem, scores, chosen, search, budget, on_step or (lambda step: None))
    found = replace(found, evaluated=scores.evaluated - before, seconds=budget.elapsed())
    if found.plan is not None:
        found = _believe(problem, found)
    if found.plan is not None:
        on_plan(found)
        if search is not None or improve is not None:
            found = _leave_out(problem, found, min(ELIMINATION_SECONDS, budget.left()), on_plan)
        if improve is not None:
            found = _shorten(problem, found, Budget(None, min(improve, budget.left()), max_states), on_plan)
    return replace(found, walk=partial(states_along, problem, found.actions))


def _attempt(
    problem: Task[State],
    scores: Scores[State],
    policy: str | Policy,
    search: str | Policy | None,
    budget: Budget,
    on_step: OnStep,
) -> Trajectory:
    """What the policy returns or, if there is a search and the policy ends without a plan, what that returns."""
    if search is None:
        return _follow(policy, problem, scores, budget, on_step)
    if scores.is_blind:  # a policy would but wander
        return _follow(search, problem, scores, replace(budget, steps=None), on_step)
    patience = Patience(**vars(budget), most=PATIENCE)

    def watch(step: Step) -> None:
        patience.see(step)
        on_step(step)

    found = _follow(policy, problem, scores, patience, watch)
    if found.outcome in UNDECIDED:
        return _follow(search, problem, scores, replace(budget, steps=None), on_step)
    return found


def _leave_out(
    problem: Task[State], found: Trajectory, seconds: float, on_plan: Callable[[Trajectory], None]
) -> Trajectory:
    """The trajectory without the actions that its plan can do without, as far as about so many seconds go.

    Of a task that is not of PDDL it is as it was.
    """
    executor: Executor | None = getattr(problem, "executor", None)
    if executor is None:
        return found
    from trifold.pddl import steps_of

    steps = steps_of(executor, found.actions)
    most = round(max(seconds, 0.0) / steps.seconds)
    kept = eliminate(steps.initial, steps.actions, steps.is_goal, most)
    return _choose_shorter(problem, found, tuple(found.actions[number] for number in kept), on_plan)


def _shorten(
    problem: Task[State], found: Trajectory, budget: Budget, on_plan: Callable[[Trajectory], None]
) -> Trajectory:
    """The trajectory with the shortest plan that could be found within a budget."""
    best = found

    def keep(plan: tuple[str, ...]) -> None:
        nonlocal best
        best = _choose_shorter(problem, best, plan, on_plan)

    improve_plan(problem, found.actions, budget, keep)
    return best


def _choose_shorter(
    problem: Task[State], found: Trajectory, plan: tuple[str, ...], on_plan: Callable[[Trajectory], None]
) -> Trajectory:
    """The trajectory with this plan, if that is shorter and replays to the goal, which is told; or as it was."""
    if len(plan) >= len(found.actions):
        return found
    along = (found.values[0], *(math.nan for _ in plan))  # what it leads through was not evaluated
    before = found.found_length or len(found.actions)
    shorter = _believe(problem, replace(found, actions=plan, values=along, found_length=before))
    if shorter.plan is None:
        return found
    on_plan(shorter)
    return shorter


def _believe(problem: Task[State], found: Trajectory) -> Trajectory:
    """The trajectory as it is if its plan replays to the goal, and else what is wrong with it."""
    assert found.plan is not None
    executor: Executor | None = getattr(problem, "executor", None)  # of a PDDL problem; other tasks have none
    verdict = judge(executor, found.plan) if executor else replay(problem, found.plan)
    if verdict:
        return found
    if executor and replay(problem, found.plan):
        failure = f"pymimir takes the plan, Trifold's own executor does not: {verdict.failure}"
        return replace(found, outcome=Outcome.DISAGREEMENT, failure=failure)
    return replace(found, outcome=Outcome.INVALID_PLAN, failure=verdict.failure)


def _follow(
    policy: str | Policy, problem: Task[State], scores: Scores[State], budget: Budget, on_step: OnStep
) -> Trajectory:
    """What a policy returns, with its name; actions of PDDL are spelled as the problem spells them."""
    name = policy if isinstance(policy, str) else getattr(policy, "__name__", None)
    found = (find_policy(policy) if isinstance(policy, str) else policy)(problem, scores, budget, on_step)
    if getattr(problem, "executor", None):  # it is of PDDL, whose names have no case
        found = replace(found, actions=tuple(map(canonical, found.actions)))
    return replace(found, found_by=name)

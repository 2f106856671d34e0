"""A plan that is given, followed as a policy would be: so that what scores states can say what it thinks of it."""

from __future__ import annotations

from collections.abc import Sequence

from trifold.errors import TrifoldError
from trifold.outcomes import Outcome
from trifold.pddl import canonical
from trifold.planning.policy import Budget, OnStep, Policy, Scores, State, Step, Task, Trajectory


def follow_plan(plan: Sequence[str]) -> Policy:
    """The policy that takes the actions of a plan one after another, and raises where one is not applicable.

    A plan that ends in no goal is an invalid one. V along it is not asked for: NaN.
    """

    def follow(task: Task[State], scores: Scores[State], budget: Budget, on_step: OnStep) -> Trajectory:
        state, outcome = task.initial_state, None
        taken: list[str] = []
        for action in map(canonical, plan):
            on_step(Step(len(taken), taken[-1] if taken else None, float("nan")))
            if (outcome := budget.end(len(taken))) is not None:
                break
            after = {canonical(name): successor for name, successor in task.successors(state)}.get(action)
            if after is None:
                raise TrifoldError(
                    f"step {len(taken) + 1} of the plan, {action}, is not applicable",
                    remedy="give a plan of this very problem",
                )
            taken.append(action)
            state = after
        if outcome is None:
            outcome = Outcome.SOLVED if task.is_goal(state) else Outcome.INVALID_PLAN
        return Trajectory(outcome, tuple(taken), tuple(float("nan") for _ in range(len(taken) + 1)), len(taken))

    return follow

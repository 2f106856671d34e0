"""The policy that scores actions: from a state, one look, one move."""

from __future__ import annotations

from trifold.outcomes import Outcome
from trifold.planning.greedy import choose
from trifold.planning.policy import Budget, OnStep, Scores, State, Step, Task, Trajectory


def follow_scores(task: Task[State], scores: Scores[State], budget: Budget, on_step: OnStep) -> Trajectory:
    """Take the best-scored action whose successor was not visited, until a goal is reached.

    A step looks at one state, whatever the number of its successors: `scores.look` gives its V and the score of each of
    its actions. Of scores that differ by no more than a tie (`choose`) the first in the order of `task.successors` is
    taken: that of a PDDL problem is by the text of the actions. The way fails where no unvisited successor is left.
    """
    state = task.initial_state
    visited = {state}
    actions: list[str] = []
    along: list[float] = []
    while True:
        ways = task.successors(state)
        value, found = scores.look(state, [action for action, _ in ways])
        along.append(value)
        on_step(Step(len(actions), actions[-1] if actions else None, value))
        outcome = Outcome.SOLVED if task.is_goal(state) else budget.end(len(actions))
        left = [i for i, (_, successor) in enumerate(ways) if successor not in visited]
        if outcome is None and not left:
            outcome = Outcome.STUCK
        if outcome is not None:
            return Trajectory(outcome, tuple(actions), tuple(along), len(actions))
        action, state = ways[left[choose([-found[i] for i in left])]]
        visited.add(state)
        actions.append(action)

"""Plans that get shorter, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trifold.pddl import Problem, State
from trifold.planning import Budget, improve, judge


class ShorterPlans:
    """An iterator over plans of a problem, each shorter than the one before, and the first than the one given.

    budget       of all of them together: seconds, and states around the plans
    is_shortest  whether the last one was found to be a shortest of all, after the iterator has ended
    """

    def __init__(self, problem: Problem, plan: Sequence[str], budget: Budget) -> None:
        self.task, self.plan, self.budget = _Remembered(problem), tuple(plan), budget
        self.is_shortest = False

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        while True:
            try:
                improve(self.task, self.plan, self.budget, _interrupt)
            except _Shorter as found:
                if not judge(self.task.problem.executor, found.plan):
                    return
                self.plan = found.plan
            else:
                self.is_shortest = self.budget.end(0) is None and len(self.task.ways) < (self.budget.states or 0)
                return
            yield self.plan  # what is raised above must not be alive meanwhile: it holds states


class _Shorter(Exception):
    """Ends an improvement as soon as there is something to tell: the next goes on with what this one has expanded."""

    def __init__(self, plan: tuple[str, ...]) -> None:
        super().__init__(plan)
        self.plan = plan


def _interrupt(plan: tuple[str, ...]) -> None:
    raise _Shorter(plan)


class _Remembered:
    """A problem that expands each state once."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.initial_state, self.is_goal = problem, problem.initial_state, problem.is_goal
        self.ways: dict[State, list[tuple[str, State]]] = {}

    def successors(self, state: State) -> list[tuple[str, State]]:
        if state not in self.ways:
            self.ways[state] = self.problem.successors(state)
        return self.ways[state]

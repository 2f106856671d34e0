"""Search by what a model says: complete on finite spaces, where a policy may be stuck.

A search knows every state that it has met, and how it came there. What orders its open list is an estimate of V of each
state: V itself where a model has values alone, and where it scores actions what a look at the state before it tells.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, Protocol

from trifold.outcomes import Outcome
from trifold.planning.counted import Counted
from trifold.planning.goal_counts import BATCH, goal_counts
from trifold.planning.policy import Budget, OnStep, Scores, State, Step, Task, Trajectory
from trifold.planning.relaxed_plans import relaxed_plans

if TYPE_CHECKING:
    from trifold.pddl import Problem

COUNTED, RELAXED = 4096, 512
"""States that are expanded by how much of the goal is missing, and by relaxed plans, for each batch that a model looks
at: about a tenth of a second each."""


def search_greedily(task: Task[State], scores: Scores[State], budget: Budget, on_step: OnStep) -> Trajectory:
    """Greedy best-first search: expand the states with the least estimates of V of all that are known, again and again.

    As many as `scores.batch` are expanded at once. A goal is noticed when it is met, not when it is expanded. Where
    nothing is left to expand, there is no plan.
    """
    model = Greedy(task, scores)
    return _search_in_turns([(model, 1)], model, budget, on_step)


def search_in_turns(task: Task[State], scores: Scores[State], budget: Budget, on_step: OnStep) -> Trajectory:
    """Greedy searches in turns: by the model, by relaxed plans, and by what is missing of the goal.

    The first that ends is right: it has a plan, or the proof that there is none.
    The last knows nothing, but expands thousands of states in the time that a network takes for a few. The model is
    left out where it does not see the goal, relaxed plans where the problem is not STRIPS or too large, and both of
    what needs no model where the task is not of PDDL.
    """
    from trifold.pddl import GroundingError, Problem

    problem: Any = task  # of PDDL, or a toy
    if not isinstance(problem, Problem):
        return search_greedily(task, scores, budget, on_step)
    searches: list[tuple[Turn, int]] = [(_counted(problem), COUNTED // BATCH)]
    model = None if scores.is_blind else Greedy(task, scores)
    with suppress(GroundingError):
        relaxed: Scores[Any] = relaxed_plans(problem)
        searches.insert(0, (Greedy(task, relaxed), RELAXED // relaxed.batch))
    if model is not None:
        searches.insert(0, (model, 1))
    return _search_in_turns(searches, model, budget, on_step)


class Turn(Protocol):
    """A search that goes on batch by batch, so that it can take turns with others."""

    steps: int
    last: Step

    @property
    def size(self) -> int:
        """How many states are known."""
        ...

    @property
    def outcome(self) -> Outcome | None:
        """How it has ended; None: it goes on."""
        ...

    def expand_batch(self) -> None:
        """Expand the next states."""

    def trajectory(self, outcome: Outcome, steps: int, /) -> Trajectory:
        """What a search returns that ends so."""
        ...


def _counted(problem: Problem) -> Turn:
    """The search by goal counts: packed, or by pymimir's states where the problem is not STRIPS, or too large."""
    from trifold.pddl import GroundingError, PackedCounts

    try:
        return Counted(PackedCounts(problem))
    except GroundingError:
        return Greedy(problem, goal_counts(problem))


def _search_in_turns(
    searches: Sequence[tuple[Turn, int]], model: Turn | None, budget: Budget, on_step: OnStep
) -> Trajectory:
    """Let each search expand its number of batches in turn, until one of them ends; a step is told after each turn.

    What states are worth is V for the one that goes by the model; of the others it is not told.
    """
    while True:
        for search, batches in searches:
            for _ in range(batches):
                steps = sum(search.steps for search, _ in searches)
                known = sum(search.size for search, _ in searches)
                outcome = search.outcome or budget.end(steps) or _too_many(known, budget)
                if outcome is not None:
                    found = replace(search.trajectory(outcome, steps), known=known)
                    unknown = (math.nan,) * len(found.values)
                    return found if search is model else replace(found, values=unknown)
                search.expand_batch()
            value = search.last.value if search is model else math.nan
            on_step(replace(search.last, number=sum(search.steps for search, _ in searches), value=value))


@dataclass
class Greedy(Generic[State]):
    """A greedy best-first search that goes on batch by batch."""

    task: Task[State]
    scores: Scores[State]
    steps: int = 0

    def __post_init__(self) -> None:
        self.known, self.order = Known(self.task), count()  # of equal estimates, what was met first comes first
        self.queue = [(0.0, next(self.order), self.task.initial_state)]
        self.last = Step(0, None, math.nan)

    @property
    def size(self) -> int:
        """How many states are known."""
        return len(self.known.ways)

    @property
    def outcome(self) -> Outcome | None:
        """How the search has ended: a goal was met, or there is none to be met; None: it goes on."""
        if self.known.goal is not None:
            return Outcome.SOLVED
        return None if self.queue else Outcome.UNSOLVABLE

    def expand_batch(self) -> None:
        """Expand the next states, and keep the first of them as the last step."""
        batch = [heappop(self.queue)[2] for _ in range(min(self.scores.batch, len(self.queue)))]
        for met in expand(self.known, self.scores, batch):
            heappush(self.queue, (met.estimate, next(self.order), met.state))
        self.steps += len(batch)
        self.last = Step(self.steps, self.known.action_to(batch[0]), self.known.values.get(batch[0], math.nan))

    def trajectory(self, outcome: Outcome, steps: int) -> Trajectory:
        """What a search returns that ends so: the way to the goal if there is one."""
        return self.known.trajectory(outcome, steps)


def search_by_beam(task: Task[State], scores: Scores[State], budget: Budget, on_step: OnStep) -> Trajectory:
    """Beam search: level by level, expand the states with the least estimates of V, one of them at first.

    With one state at a level it goes the way of a policy. Where nothing is left, it begins again with twice as many,
    until there is a plan, or no state had to be left out: then there is none.
    """
    width, steps = 1, 0
    while True:
        known, level, has_pruned = Known(task), [task.initial_state], False
        while level and known.goal is None:
            if outcome := budget.end(steps) or _too_many(len(known.ways), budget):
                return known.trajectory(outcome, steps)
            met = sorted(expand(known, scores, level), key=lambda one: one.estimate)  # stable: what was met first
            steps += len(level)
            on_step(Step(steps, known.action_to(level[0]), known.values.get(level[0], math.nan)))
            has_pruned |= len(met) > width
            level = [one.state for one in met[:width]]
        if known.goal is not None or not has_pruned:
            return known.trajectory(Outcome.UNSOLVABLE if known.goal is None else Outcome.SOLVED, steps)
        width *= 2


@dataclass(frozen=True)
class Met(Generic[State]):
    """A state that was met, and an estimate of its V."""

    state: State
    estimate: float


@dataclass
class Known(Generic[State]):
    """The states that a search knows.

    ways    the state before each state, and the action from there; None for the initial one
    values  V of those that were evaluated, or looked at
    goal    the first goal that was met
    """

    task: Task[State]
    ways: dict[State, tuple[State, str] | None] = field(init=False)
    values: dict[State, float] = field(default_factory=dict)
    goal: State | None = field(init=False)

    def __post_init__(self) -> None:
        start = self.task.initial_state
        self.ways = {start: None}
        self.goal = start if self.task.is_goal(start) else None

    def add(self, state: State, before: State, action: str) -> bool:
        """Add a state, unless it is known."""
        if state in self.ways:
            return False
        self.ways[state] = before, action
        if self.goal is None and self.task.is_goal(state):
            self.goal = state
        return True

    def action_to(self, state: State) -> str | None:
        """The action that led to a state; None for the initial one."""
        way = self.ways[state]
        return None if way is None else way[1]

    def trajectory(self, outcome: Outcome, steps: int) -> Trajectory:
        """What a search returns that ends so: the way to the goal if there is one."""
        states: list[State] = [self.task.initial_state] if self.goal is None else [self.goal]
        actions: list[str] = []
        while (way := self.ways[states[-1]]) is not None:
            states.append(way[0])
            actions.append(way[1])
        values = (self.values.get(state, math.nan) for state in reversed(states))
        return Trajectory(outcome, tuple(reversed(actions)), tuple(values), steps, known=len(self.ways))


def expand(known: Known[State], scores: Scores[State], states: Sequence[State]) -> Iterable[Met[State]]:
    """The new states that some states lead to, in order, each with an estimate of its V."""
    ways = list(map(known.task.successors, states))
    if scores.looks is None:
        return _by_values(known, scores, states, ways)
    return _by_looks(known, scores, states, ways)


def _by_values(
    known: Known[State], scores: Scores[State], states: Sequence[State], ways: Sequence[Sequence[tuple[str, State]]]
) -> list[Met[State]]:
    """V of the new states themselves, by one call."""
    new = [
        successor
        for state, own in zip(states, ways, strict=True)
        for action, successor in own
        if known.add(successor, state, action)
    ]
    found = scores.values(new) if new else []
    known.values.update(zip(new, found, strict=True))
    return [Met(state, value) for state, value in zip(new, found, strict=True)]


def _by_looks(
    known: Known[State], scores: Scores[State], states: Sequence[State], ways: Sequence[Sequence[tuple[str, State]]]
) -> list[Met[State]]:
    """What looks at the states themselves tell: an optimal action leads to V − 1, any other to V + 1 at most.

    σ(q) is the probability that an action is optimal, so V + 1 − 2σ(q) is expected, or less.
    """
    looked = scores.look_each(list(states), [[action for action, _ in own] for own in ways])
    met = []
    for state, own, (value, found) in zip(states, ways, looked, strict=True):
        known.values[state] = value
        base = 0.0 if math.isnan(value) else value + 1
        # Best first: of several actions to one state, and of equal estimates, the best-scored one counts.
        for index in sorted(range(len(own)), key=lambda index: -found[index]):
            action, successor = own[index]
            if known.add(successor, state, action):
                met.append(Met(successor, base - 2 * _sigmoid(found[index])))
    return met


def _too_many(known: int, budget: Budget) -> Outcome | None:
    """How a search ends that knows too many states; None: it may go on."""
    return Outcome.STATE_LIMIT if budget.states is not None and known > budget.states else None


def _sigmoid(number: float) -> float:
    """1 / (1 + exp(−x)), for any x, infinite ones too."""
    return 1 / (1 + math.exp(-number)) if number > 0 else math.exp(number) / (1 + math.exp(number))

"""Search by what a model says: complete on finite spaces, where a policy may be stuck.

A search knows every state that it has met, and how it came there. What orders its open list is an estimate of V of each
state: V itself where a model has values alone, and where it scores actions what a look at the state before it tells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from trifold.outcomes import Outcome
from trifold.planning.counted import Counted
from trifold.planning.goal_counts import BATCH, goal_counts
from trifold.planning.known import AnyKnown, Known
from trifold.planning.open_list import OpenList
from trifold.planning.policy import Budget, OnStep, Scores, State, Step, Task, Trajectory
from trifold.planning.relaxed_plans import relaxed_plans

if TYPE_CHECKING:
    from trifold.pddl import PackedTask, Problem

COUNTED, RELAXED = 4096, 512
"""States that are expanded by how much of the goal is missing, and by relaxed plans, for each batch that a model looks
at: about a tenth of a second each."""

PACK_FROM = 8
"""States expanded at once from which on what is known is packed: for one alone arrays take longer than pymimir."""


def search_greedily(task: Task[State], scores: Scores[State], budget: Budget, on_step: OnStep) -> Trajectory:
    """Greedy best-first search: expand the states with the least estimates of V of all that are known, again and again.

    As many as `scores.batch` are expanded at once. A goal is noticed when it is met, not when it is expanded. Where
    nothing is left to expand, there is no plan.
    """
    model = Greedy(knowledge(task, scores, _packed(task, scores.batch)), scores.batch)
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
    packed = _packed(task, BATCH)
    searches: list[tuple[Turn, int]] = [(_counted(problem, packed), COUNTED // BATCH)]
    model = None if scores.is_blind else Greedy(knowledge(task, scores, packed), scores.batch)
    with suppress(GroundingError):
        relaxed: Scores[Any] = relaxed_plans(problem)
        searches.insert(0, (Greedy(knowledge(task, relaxed, packed), relaxed.batch), RELAXED // relaxed.batch))
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


def _packed(task: Task[State], batch: int) -> PackedTask | None:
    """The task with packed states; None where it is no STRIPS problem of PDDL, or too large, or not worth it."""
    from trifold.pddl import GroundingError, PackedTask, Problem

    problem: Any = task  # of PDDL, or a toy
    if batch >= PACK_FROM and isinstance(problem, Problem):
        with suppress(GroundingError):
            return PackedTask(problem)
    return None


def knowledge(task: Task[State], scores: Scores[State], packed: PackedTask | None) -> Known:
    """What a search by these scores knows at first: the initial state, packed where states can be, and are many."""
    if packed is None or scores.batch < PACK_FROM:
        return AnyKnown(task, scores)
    from trifold.planning.packed_known import PackedKnown

    some: Scores[Any] = scores  # of the states of the problem
    return PackedKnown(packed, some)


def _counted(problem: Problem, packed: PackedTask | None) -> Turn:
    """The search by goal counts, over packed states or those of the problem."""
    from trifold.pddl import PackedCounts

    if packed is not None:
        return Counted(PackedCounts(packed))
    scores = goal_counts(problem)
    return Greedy(AnyKnown(problem, scores), scores.batch)


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


class Greedy:
    """A greedy best-first search that goes on batch by batch, from what is known at first."""

    def __init__(self, known: Known, batch: int) -> None:
        self.known, self.batch, self.steps = known, batch, 0
        self.open = OpenList()
        self.open.add([0], [0.0])
        self.last = Step(0, None, math.nan)

    @property
    def size(self) -> int:
        """How many states are known."""
        return len(self.known)

    @property
    def outcome(self) -> Outcome | None:
        """How the search has ended: a goal was met, or there is none to be met; None: it goes on."""
        if self.known.goal is not None:
            return Outcome.SOLVED
        return None if self.open else Outcome.UNSOLVABLE

    def expand_batch(self) -> None:
        """Expand the next states, and keep the first of them as the last step."""
        batch = [self.open.pop() for _ in range(min(self.batch, len(self.open)))]
        self.open.add(*self.known.expand(batch))
        self.steps += len(batch)
        self.last = Step(self.steps, self.known.action_to(batch[0]), self.known.value(batch[0]))

    def trajectory(self, outcome: Outcome, steps: int) -> Trajectory:
        """What a search returns that ends so: the way to the goal if there is one."""
        return self.known.trajectory(outcome, steps)


def search_by_beam(task: Task[State], scores: Scores[State], budget: Budget, on_step: OnStep) -> Trajectory:
    """Beam search: level by level, expand the states with the least estimates of V, one of them at first.

    With one state at a level it goes the way of a policy. Where nothing is left, it begins again with twice as many,
    until there is a plan, or no state had to be left out: then there is none.
    """
    width, steps, packed = 1, 0, _packed(task, scores.batch)
    while True:
        known, level, has_pruned = knowledge(task, scores, packed), [0], False
        while level and known.goal is None:
            if outcome := budget.end(steps) or _too_many(len(known), budget):
                return known.trajectory(outcome, steps)
            met, estimates = known.expand(level)
            order = sorted(range(len(met)), key=estimates.__getitem__)  # stable: what was met first
            steps += len(level)
            on_step(Step(steps, known.action_to(level[0]), known.value(level[0])))
            has_pruned |= len(met) > width
            level = [met[i] for i in order[:width]]
        if known.goal is not None or not has_pruned:
            return known.trajectory(Outcome.UNSOLVABLE if known.goal is None else Outcome.SOLVED, steps)
        width *= 2


def _too_many(known: int, budget: Budget) -> Outcome | None:
    """How a search ends that knows too many states; None: it may go on."""
    return Outcome.STATE_LIMIT if budget.states is not None and known > budget.states else None

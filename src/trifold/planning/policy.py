"""What a policy is: a plain function from a problem, and what scores its states, to a trajectory.

A policy of one's own is such a function; `trifold.planning.policies` says how it gets a name.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from trifold.errors import TrifoldError
from trifold.outcomes import Outcome

if TYPE_CHECKING:
    from trifold.pddl import Problem
    from trifold.pddl import State as ProblemState

State = TypeVar("State", bound=Hashable)


class Task(Protocol[State]):
    """What a policy needs of a problem; `trifold.pddl.Problem` is one, and so is any toy."""

    @property
    def initial_state(self) -> State:
        """Where every plan begins."""
        ...

    def is_goal(self, state: State, /) -> bool:
        """Whether a plan may end here."""
        ...

    def successors(self, state: State, /) -> Sequence[tuple[str, State]]:
        """The applicable actions in a fixed order, each with the state that it leads to."""
        ...


class Scorer(Protocol):
    """What scores states of PDDL problems: `trifold.model.Model` is one."""

    @property
    def batch(self) -> int:
        """How many states are worth looking at together."""
        ...

    @property
    def scores_actions(self) -> bool:
        """Whether actions have scores."""
        ...

    def is_blind(self, problem: Problem, /) -> bool:
        """Whether part of the goal is nothing that it has learned to see."""
        ...

    def values(self, states: Sequence[ProblemState], /) -> Iterable[float]:
        """V of each state."""
        ...

    def look(self, state: ProblemState, actions: Sequence[str], /) -> tuple[float, list[float]]:
        """V of a state, and the score of each of its actions."""
        ...

    def look_each(
        self, states: Sequence[ProblemState], actions: Sequence[Sequence[str]], /
    ) -> list[tuple[float, list[float]]]:
        """What `look` gives for each of several states."""
        ...


REMEMBERED = 100_000
"""States that are remembered at most: far more than a policy sees, and little beside what a search knows."""


@dataclass
class Memory(Generic[State]):
    """V of states, and what looks at them gave."""

    values: dict[State, float] = field(default_factory=dict)
    looks: dict[State, tuple[float, list[float]]] = field(default_factory=dict)


@dataclass
class Scores(Generic[State]):
    """What scores the states of a problem and their actions, each number checked, and states counted in `evaluated`.

    function  maps a list of states to their V, in order: `Model.values`, V* from a table, or any heuristic
    looks     maps a state and its actions to its V, NaN if unknown, and the score of each, more being better:
              `Model.look`; None if actions have no scores
    together  maps several states and the actions of each to what `looks` gives for each: `Model.look_each`; None is
              one look after the other
    batch     how many states are worth looking at together: what a search expands at once
    is_blind  whether part of the goal is nothing that it has learned to see
    memory    what was seen of states, if it is to be remembered: who comes later does not compute it again
    """

    function: Callable[[list[State]], Iterable[float]]
    looks: Callable[[State, list[str]], tuple[float, Iterable[float]]] | None = None
    together: Callable[[list[State], list[list[str]]], Iterable[tuple[float, Iterable[float]]]] | None = None
    batch: int = 1
    is_blind: bool = False
    memory: Memory[State] | None = None
    evaluated: int = field(default=0, init=False)
    calls: int = field(default=0, init=False)

    @classmethod
    def of(cls, model: Scorer, problem: Problem) -> Scores[ProblemState]:
        """What a model says of a problem's states and of their actions."""
        blind = model.is_blind(problem)
        if not model.scores_actions:
            return Scores(model.values, batch=model.batch, is_blind=blind)
        return Scores(model.values, model.look, model.look_each, model.batch, blind)

    def values(self, states: list[State]) -> list[float]:
        """V of each state as a plain number, by one call, refusing what cannot be compared."""
        if self.memory is None:
            return self._evaluate(states)
        known = self.memory.values
        new = [state for state in states if state not in known]
        found = dict(zip(new, self._evaluate(new), strict=True)) if new else {}
        if len(known) < REMEMBERED:
            known.update(found)
        return [found[state] if state in found else known[state] for state in states]

    def _evaluate(self, states: list[State]) -> list[float]:
        found: Any = self.function(states)
        # A tensor or an array is copied to the host once, not once per number.
        numbers = [float(value) for value in (found.tolist() if hasattr(found, "tolist") else found)]
        if len(numbers) != len(states):
            raise ValueError(f"V gave {len(numbers)} values for {len(states)} states")
        if any(math.isnan(number) for number in numbers):
            raise TrifoldError(
                f"V is not a number (NaN) for a state at step {self.calls}",  # a step asks once
                remedy="train the model again, or use an earlier checkpoint: its weights have diverged",
            )
        self.evaluated += len(states)
        self.calls += 1
        return numbers

    def look(self, state: State, actions: list[str]) -> tuple[float, list[float]]:
        """V of a state, or NaN, and the score of each of its actions, refusing what cannot be compared."""
        return self.look_each([state], [actions])[0]

    def look_each(self, states: list[State], actions: list[list[str]]) -> list[tuple[float, list[float]]]:
        """What `look` gives for each of several different states, by one call where that can be."""
        if self.memory is None:
            return self._look(states, actions)
        known = self.memory.looks
        new = [i for i, state in enumerate(states) if state not in known]
        answers = self._look([states[i] for i in new], [actions[i] for i in new])
        found = {states[i]: answer for i, answer in zip(new, answers, strict=True)}
        if len(known) < REMEMBERED:
            known.update(found)
        return [found[state] if state in found else known[state] for state in states]

    def _look(self, states: list[State], actions: list[list[str]]) -> list[tuple[float, list[float]]]:
        if self.looks is None:
            raise TrifoldError("nothing scores the actions", remedy="use --policy values, or a model that does")
        if self.together is not None and len(states) > 1:
            found = self.together(states, actions)
        else:
            found = map(self.looks, states, actions)
        return [self._check(own, *answer) for own, answer in zip(actions, found, strict=True)]

    def _check(self, actions: list[str], value: float, found: Iterable[float]) -> tuple[float, list[float]]:
        numbers = [float(score) for score in found]
        if len(numbers) != len(actions):
            raise ValueError(f"there are {len(numbers)} scores for {len(actions)} actions")
        if any(math.isnan(number) for number in numbers):
            raise TrifoldError(
                f"the score of an action is not a number (NaN) at step {self.calls}",
                remedy="train the model again, or use an earlier checkpoint: its weights have diverged",
            )
        self.evaluated += 1
        self.calls += 1
        return float(value), numbers


@dataclass(frozen=True)
class Budget:
    """What a policy may use: steps, seconds since it was made, and of a search states to know; None is no limit.

    >>> Budget(steps=3).end(2), Budget(steps=3).end(3)
    (None, <Outcome.STEP_LIMIT: 'step limit'>)
    """

    steps: int | None = 1000
    seconds: float | None = None
    states: int | None = None
    start: float = field(default_factory=lambda: time.monotonic())

    def end(self, steps: int) -> Outcome | None:
        """How an attempt ends that has taken this many steps and wants another one; None: it may."""
        if self.steps is not None and steps >= self.steps:
            return Outcome.STEP_LIMIT
        if self.seconds is not None and self.elapsed() >= self.seconds:
            return Outcome.TIMEOUT
        return None

    def elapsed(self) -> float:
        """Seconds since the budget was made."""
        return time.monotonic() - self.start

    def left(self) -> float:
        """Seconds until it ends."""
        return math.inf if self.seconds is None else self.seconds - self.elapsed()


@dataclass(frozen=True)
class Step:
    """What a policy tells while it works: how many steps it took, the last action (None at the start) and V there."""

    number: int
    action: str | None
    value: float


@dataclass(frozen=True)
class Trajectory:
    """What a policy returns: how it ended, and a way from the initial state.

    outcome    solved if the way ends in a goal
    actions    of the way: the plan if solved, and otherwise as far as the policy went. A search returns the way that it
               found, not the order in which it looked at states, and no actions if it found none
    values     V of the states on the way, the initial one first, NaN where it is unknown: one entry more than actions
    steps      that the policy took: states that it moved to, or that a search expanded
    evaluated  states that were evaluated or looked at, and `seconds` the time that it all took: filled in by who calls
    found_by   the policy or the search that it is of, by its name
    known      how many states a search knew in the end: what its memory grows with
    found_length  how long the plan was before it was made shorter, if it was
    failure    why a plan was not believed
    walk       takes the way again: filled in by `solve`, and in no JSON
    """

    outcome: Outcome
    actions: tuple[str, ...]
    values: tuple[float, ...]
    steps: int
    evaluated: int | None = None
    seconds: float | None = None
    found_by: str | None = None
    known: int | None = None
    found_length: int | None = None
    failure: str | None = None
    walk: Callable[[], tuple[Any, ...]] = field(default=tuple, compare=False, repr=False)

    @property
    def plan(self) -> tuple[str, ...] | None:
        """The actions that lead to a goal; None if the problem is not solved."""
        return self.actions if self.outcome is Outcome.SOLVED else None

    @cached_property
    def states(self) -> tuple[Any, ...]:
        """The states on the way, the initial one first, one more than actions; they belong to their problem."""
        return self.walk()

    @property
    def seconds_per_step(self) -> float | None:
        """Mean time of a step; that of the lone first evaluation if no step was taken."""
        return None if self.seconds is None else self.seconds / max(1, self.steps)

    def to_json(self) -> dict[str, Any]:
        """The trajectory as JSON, without its states."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "walk"}

    @classmethod
    def from_json(cls, facts: dict[str, Any]) -> Trajectory:
        """The trajectory that `to_json` made these facts of."""
        actions, values = tuple(facts["actions"]), tuple(facts["values"])
        return cls(**facts | {"outcome": Outcome(facts["outcome"]), "actions": actions, "values": values})


OnStep = Callable[[Step], None]
Policy = Callable[[Task[Any], Scores[Any], Budget, OnStep], Trajectory]
"""A policy asks `scores` for V or for scores of actions, ends where `budget.end` says so, and tells each step to the
last of its arguments."""

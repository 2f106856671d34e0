"""What a search knows: the states that it has met, how it came to each, and V of those that were evaluated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Generic, Protocol

from trifold.outcomes import Outcome
from trifold.planning.policy import Scores, State, Task, Trajectory


class Known(Protocol):
    """The states that a search knows: they have numbers, the initial one 0. `PackedKnown` packs them."""

    @property
    def goal(self) -> int | None:
        """The first goal that was met; None: none yet."""
        ...

    def __len__(self) -> int:
        """How many states are known."""
        ...

    def expand(self, states: Sequence[int], /) -> tuple[Sequence[int], Sequence[float]]:
        """The new states that some states lead to, in the order in which they are met, and an estimate of V of each."""
        ...

    def action_to(self, state: int, /) -> str | None:
        """The action that led to a state; None for the initial one."""
        ...

    def value(self, state: int, /) -> float:
        """V of a state that was evaluated, or looked at; NaN for others."""
        ...

    def trajectory(self, outcome: Outcome, steps: int, /) -> Trajectory:
        """What a search returns that ends so: the way to the goal if there is one."""
        ...


def estimate(value: float, score: float) -> float:
    """An estimate of V where an action leads, from V of the state before, or NaN, and the score q of the action.

    An optimal action leads to V − 1, any other to V + 1 at most. σ(q) is the probability that an action is optimal, so
    V + 1 − 2σ(q) is expected, or less.
    """
    return (0.0 if math.isnan(value) else value + 1) - 2 * _sigmoid(score)


class AnyKnown(Generic[State]):
    """Known states of any task, as they are."""

    def __init__(self, task: Task[State], scores: Scores[State]) -> None:
        self.task, self.scores = task, scores
        self.states, self.values = [task.initial_state], [math.nan]
        self.numbers = {task.initial_state: 0}
        self.ways: list[tuple[int, str] | None] = [None]  # the state before each state, and the action from there
        self.goal = 0 if task.is_goal(task.initial_state) else None

    def __len__(self) -> int:
        """How many states are known."""
        return len(self.states)

    def expand(self, states: Sequence[int]) -> tuple[Sequence[int], Sequence[float]]:
        """The new states that some states lead to, in the order in which they are met, and an estimate of V of each."""
        ways = [self.task.successors(self.states[number]) for number in states]
        return self._by_values(states, ways) if self.scores.looks is None else self._by_looks(states, ways)

    def action_to(self, state: int) -> str | None:
        """The action that led to a state; None for the initial one."""
        way = self.ways[state]
        return None if way is None else way[1]

    def value(self, state: int) -> float:
        """V of a state that was evaluated, or looked at; NaN for others."""
        return self.values[state]

    def trajectory(self, outcome: Outcome, steps: int) -> Trajectory:
        """What a search returns that ends so: the way to the goal if there is one."""
        states, actions = [self.goal or 0], list[str]()
        while (way := self.ways[states[-1]]) is not None:
            states.append(way[0])
            actions.append(way[1])
        values = tuple(self.values[state] for state in reversed(states))
        return Trajectory(outcome, tuple(reversed(actions)), values, steps, known=len(self))

    def _by_values(
        self, states: Sequence[int], ways: Sequence[Sequence[tuple[str, State]]]
    ) -> tuple[Sequence[int], Sequence[float]]:
        """V of the new states themselves, by one call."""
        first = len(self)
        for number, own in zip(states, ways, strict=True):
            for action, successor in own:
                self._add(successor, number, action)
        found = self.scores.values(self.states[first:]) if len(self) > first else []
        self.values[first:] = found
        return range(first, len(self)), found

    def _by_looks(
        self, states: Sequence[int], ways: Sequence[Sequence[tuple[str, State]]]
    ) -> tuple[Sequence[int], Sequence[float]]:
        """What looks at the states before tell."""
        actions = [[action for action, _ in own] for own in ways]
        looked = self.scores.look_each([self.states[number] for number in states], actions)
        first, estimates = len(self), []
        for number, own, (value, found) in zip(states, ways, looked, strict=True):
            self.values[number] = value
            # Best first: of several actions to one state, and of equal estimates, the best-scored one counts.
            for index in sorted(range(len(own)), key=lambda index: -found[index]):
                action, successor = own[index]
                if self._add(successor, number, action):
                    estimates.append(estimate(value, found[index]))
        return range(first, len(self)), estimates

    def _add(self, state: State, before: int, action: str) -> bool:
        """Add a state, unless it is known."""
        if state in self.numbers:
            return False
        self.numbers[state] = len(self)
        if self.goal is None and self.task.is_goal(state):
            self.goal = len(self)
        self.states.append(state)
        self.values.append(math.nan)
        self.ways.append((before, action))
        return True


def _sigmoid(number: float) -> float:
    """1 / (1 + exp(−x)), for any x, infinite ones too."""
    return 1 / (1 + math.exp(-number)) if number > 0 else math.exp(number) / (1 + math.exp(number))

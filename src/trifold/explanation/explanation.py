"""What an explanation says: the way of a policy, step by step, beside what would have been best."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from trifold.outcomes import Outcome

if TYPE_CHECKING:
    from trifold.pddl import Executor


@dataclass(frozen=True)
class Choice:
    """An applicable action of a state on the way.

    score       q of the action, more being better; None where the policy goes by V
    value       V of the state that it leads to; None where nobody asked for it
    distance    V* of that state, infinite for a dead end; None where it is not known
    is_visited  whether the way had been in that state before
    is_chosen   whether the way goes on with this action
    """

    action: str
    score: float | None
    value: float | None
    distance: float | None = None
    is_visited: bool = False
    is_chosen: bool = False

    @property
    def rank(self) -> float:
        """What the policy goes by, as a number of which less is better."""
        return -self.score if self.score is not None else math.inf if self.value is None else self.value


@dataclass(frozen=True)
class ExplainedStep:
    """A state on the way, and what could be done there.

    number    how many actions came before
    value     V of the state; None where the model has none
    distance  V* of the state, infinite for a dead end; None where it is not known
    choices   all applicable actions, the best for the policy first
    is_tie    whether the text decided: another action, to another state, was as good as the chosen one
    """

    number: int
    value: float | None
    choices: tuple[Choice, ...]
    distance: float | None = None
    is_tie: bool = False

    @property
    def chosen(self) -> Choice | None:
        """The action that the way goes on with; None in its last state."""
        return next((choice for choice in self.choices if choice.is_chosen), None)

    def is_optimal(self, choice: Choice) -> bool | None:
        """Whether an action leads one step nearer to a goal; None where V* is not known."""
        if self.distance is None or choice.distance is None:
            return None
        return math.isfinite(self.distance) and choice.distance == self.distance - 1

    @property
    def loss(self) -> float | None:
        """By how many steps the chosen action makes the way longer: V*(S') + 1 − V*(S); infinite into a dead end."""
        chosen = self.chosen
        if chosen is None or self.distance is None or chosen.distance is None:
            return None
        return chosen.distance + 1 - self.distance if math.isfinite(self.distance) else 0.0

    @property
    def is_departure(self) -> bool:
        """Whether the chosen action is known not to be optimal, where there was an optimal one."""
        return bool(self.loss)


@dataclass(frozen=True)
class Labels:
    """Whether V* is known, and how many states the problem has."""

    outcome: Outcome
    message: str = ""
    states: int | None = None


@dataclass(frozen=True)
class Training:
    """What a model's file says of what it was trained on; None is what it does not say.

    steps     of the training that it was kept after
    objects   of the largest problem
    value     the largest V*
    dead_ends how many states had no plan
    """

    problems: int | None = None
    states: int | None = None
    steps: int | None = None
    objects: int | None = None
    value: int | None = None
    dead_ends: int | None = None


@dataclass(frozen=True)
class Blur:
    """What colours say of the states on the way and their successors: those that the architecture cannot tell apart.

    states       that were coloured
    conflicting  how many of them it cannot tell from one with another V*
    least_error  the least mean |V* − V| that the architecture can reach on them
    """

    states: int
    conflicting: int
    least_error: float


@dataclass(frozen=True)
class Hump:
    """Where V rises most along a plan that a search found, of where the policy turned away from it if it did.

    length         of the plan
    number         how many of its actions come before this one
    before, after  V before and after the action
    is_met         whether the policy was in the state before it, and not in the one after
    """

    length: int
    number: int
    action: str
    before: float
    after: float
    is_met: bool


@dataclass(frozen=True, repr=False)
class Explanation:
    """The way of a policy through a problem, beside the optimal one.

    model       the architecture's name
    t           which pairs it composes, if it is an R-GNN[t]; else None
    model_file, problem_file, plan_file
                as the user gave them; None if they were no files, and no plan was followed
    objects     how many the problem has
    policy      its name
    outcome     how the way ended
    max_steps   that it could have taken
    steps       its states, the initial one first: one more than actions
    labels      whether V* is known
    training    what the model was trained on
    unseen      relations with atoms on the way, and schemas of actions, in parentheses, that training never had
    blur        what the architecture cannot tell apart; None where V* is not known, or nothing is known of its colours
    hump        of a plan that a search found, where the policy found none, V* is not known, and V rises along it
    seconds     that it all took
    executor    the problem itself, whose states a page draws: filled in by `explain`, and in no JSON

    >>> step = ExplainedStep(0, 2.5, (Choice("(fall)", 3.0, None, math.inf, False, True),), 2.0)
    >>> step.is_departure, step.loss
    (True, inf)
    """

    model: str
    domain: str
    problem: str
    objects: int
    policy: str
    outcome: Outcome
    max_steps: int
    steps: tuple[ExplainedStep, ...]
    labels: Labels
    training: Training = Training()
    unseen: tuple[str, ...] = ()
    blur: Blur | None = None
    hump: Hump | None = None
    t: float | None = None
    model_file: str | None = None
    problem_file: str | None = None
    plan_file: str | None = None
    seconds: float = 0.0
    executor: Executor | None = field(default=None, compare=False, repr=False)

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions of the way."""
        return tuple(step.chosen.action for step in self.steps if step.chosen)

    @property
    def is_labelled(self) -> bool:
        """Whether V* is known."""
        return self.steps[0].distance is not None

    @cached_property
    def departures(self) -> tuple[ExplainedStep, ...]:
        """The steps at which the way leaves the optimal one, as far as that is known."""
        return tuple(step for step in self.steps if step.is_departure)

    @cached_property
    def dead_end(self) -> ExplainedStep | None:
        """The step at which the way goes into a dead end."""
        return next((step for step in self.departures if step.loss == math.inf), None)

    @cached_property
    def rises(self) -> tuple[ExplainedStep, ...]:
        """The steps after which V is more than before: by its own measure, the policy went away from the goal."""
        return tuple(
            step
            for step, after in pairwise(self.steps)
            if step.value is not None and after.value is not None and after.value > step.value
        )

    @cached_property
    def plateau(self) -> int:
        """How many steps the way took after the least V that it saw; 0 where V is not known."""
        known = [(step.value, step.number) for step in self.steps if step.value is not None]
        return self.steps[-1].number - min(known)[1] if known else 0

    @property
    def ties(self) -> tuple[ExplainedStep, ...]:
        """The steps at which the text of the actions decided."""
        return tuple(step for step in self.steps if step.is_tie)

    def valued(self) -> Iterator[tuple[float, float]]:
        """V and V* of each state on the way that has both, V* being finite."""
        for step in self.steps:
            if step.value is not None and step.distance is not None and math.isfinite(step.distance):
                yield step.value, step.distance

    def __repr__(self) -> str:
        return f"Explanation({self.problem}: {self.outcome.value} after {self.steps[-1].number} steps)"

    def __str__(self) -> str:
        from trifold.explanation.text import explanation_text

        return explanation_text(self)

    def to_json(self) -> dict[str, Any]:
        """The explanation as JSON, in which an infinite V* is "inf"."""
        found: dict[str, Any] = _plain(asdict(replace(self, executor=None)))
        del found["executor"]
        return found

    @classmethod
    def from_json(cls, facts: dict[str, Any]) -> Explanation:
        """The explanation that `to_json` made these facts of."""
        return cls(
            **facts
            | {
                "outcome": Outcome(facts["outcome"]),
                "steps": tuple(map(_step, facts["steps"])),
                "labels": Labels(**facts["labels"] | {"outcome": Outcome(facts["labels"]["outcome"])}),
                "training": Training(**facts["training"]),
                "unseen": tuple(facts["unseen"]),
                "blur": facts["blur"] and Blur(**facts["blur"]),
                "hump": facts["hump"] and Hump(**facts["hump"]),
                "t": math.inf if facts.get("t") == "inf" else facts.get("t"),
            }
        )


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {name: _plain(item) for name, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case float() if value == math.inf:
            return "inf"
    return value


def _step(facts: dict[str, Any]) -> ExplainedStep:
    choices = tuple(Choice(**_numbers(choice)) for choice in facts["choices"])
    return ExplainedStep(**_numbers(facts) | {"choices": choices})


def _numbers(facts: dict[str, Any]) -> dict[str, Any]:
    return facts | {name: math.inf for name in ("score", "value", "distance") if facts.get(name) == "inf"}

"""The engine of Unified Planning that chooses an action in each state, while somebody else executes it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any
from warnings import warn

from unified_planning.engines import Engine, mixins
from unified_planning.exceptions import UPException, UPUnsupportedProblemTypeError, UPUsageError
from unified_planning.plans import ActionInstance

from trifold.errors import TrifoldError
from trifold.limits import KNOWN_STATES
from trifold.pddl import Problem, State
from trifold.planning import Budget, Scores, find_policy
from trifold.up.guide import Guide
from trifold.up.kind import Readable
from trifold.up.translation import Translation

ActionSelectorMixin: Any = getattr(mixins, "ActionSelectorMixin", object)
"""Unified Planning has this operation mode since versions after 1.3; in older ones the engine is made by its class."""


class ActionSelector(Readable, Engine, ActionSelectorMixin):  # type: ignore[misc]
    """Chooses the action that the policy takes in the current state, and never one to a state where it has been.

    `get_action` gives the action, `update` says that it was executed, with values of fluents that were observed: if
    they are others than expected, it goes on from there, and forgets where it has been. Where the policy is stuck, and
    where there is none, the search finds a plan, which is followed as long as all goes as expected.

    The parameters are those of `Planner`.
    """

    _translation: Translation
    _scores: Scores[State]
    _state: State
    _visited: set[State]

    def __init__(
        self,
        problem: Any,
        error_on_failed_checks: bool = True,
        *,
        model: str | None = None,
        policy: str | None = None,
        search: str | None = "turns",
        max_states: int = KNOWN_STATES,
        device: str = "auto",
    ) -> None:
        Engine.__init__(self)
        self._error_on_failed_checks = error_on_failed_checks
        if not self.supports(problem.kind):
            message = f"We cannot establish whether {self.name} is able to handle this problem!"
            if error_on_failed_checks:
                raise UPUsageError(message)
            warn(message, stacklevel=2)
        self._guide = Guide.find(model, policy, search, 1, max_states, device)
        self._next: str | None = None
        self._plan: deque[str] = deque()
        try:
            self._begin(Translation(problem))
        except TrifoldError as error:
            raise UPUnsupportedProblemTypeError(str(error)) from error

    @property
    def name(self) -> str:
        """The name in messages."""
        return "Trifold"

    @staticmethod
    def is_action_selector() -> bool:
        """It is one."""
        return True

    def is_goal(self) -> bool:
        """Whether the goal holds in the current state, as far as is known."""
        return self._translation.problem.is_goal(self._state)

    def get_action(self) -> ActionInstance:
        """The next action; until `update` is called, it stays the same.

        Raises a `UPUsageError` where the goal holds, and a `UPException` if no action was found.
        """
        if self._next is None:
            with self._guide.few_threads():
                self._next = self._choose()
        return self._translation.action(self._next)

    def update(self, observation: Mapping[Any, Any]) -> None:
        """Go on from the state that the action of `get_action`, if it was asked for, has led to.

        `observation` maps ground fluents to the values that were observed; it may be empty.
        """
        if self._next is not None:
            self._state = dict(self._translation.problem.successors(self._state))[self._next]
            self._visited.add(self._state)
            self._next = None
        if self._translation.contradicts(self._state, observation):
            self._begin(self._translation.restart(self._state, observation))

    def destroy(self) -> None:
        """Let go of the problem."""
        self._translation.problem.release()

    def _begin(self, translation: Translation) -> None:
        """Go on from the initial state of a problem."""
        scores = self._guide.scores(translation.problem)
        self._translation, self._scores = translation, _remember_last_look(scores)
        self._state = translation.problem.initial_state
        self._visited = {self._state}
        self._plan.clear()

    def _choose(self) -> str:
        problem = self._translation.problem
        if problem.is_goal(self._state):
            raise UPUsageError("the goal holds: there is no action to choose")
        if not self._plan and self._guide.policy is not None:
            rest = _Rest(problem, self._state, self._visited)
            found = find_policy(self._guide.policy)(rest, self._scores, Budget(1), lambda step: None)
            if found.actions:
                return found.actions[0]
        if not self._plan and self._guide.search is not None:
            budget = Budget(None, None, self._guide.max_states)
            search = find_policy(self._guide.search)
            found = search(_Rest(problem, self._state, set()), self._scores, budget, lambda step: None)
            if found.plan is None:
                raise UPException(f"no action leads to the goal, as far as the search has found: {found.outcome.value}")
            self._plan.extend(found.plan)
        if not self._plan:
            raise UPException("the policy is stuck: give a search, such as greedy")
        return self._plan.popleft()


class _Rest:
    """A problem from a state on, without some states."""

    def __init__(self, problem: Problem, state: State, without: set[State]) -> None:
        self.problem, self.initial_state, self.is_goal, self.without = problem, state, problem.is_goal, without

    def successors(self, state: State) -> list[tuple[str, State]]:
        return [way for way in self.problem.successors(state) if way[1] not in self.without]


def _remember_last_look(scores: Scores[State]) -> Scores[State]:
    """The same scores, where a look at a state that was looked at last costs nothing.

    A policy of one step looks at the state that it comes to, where the next begins, with some actions less.
    """
    look = scores.looks
    if look is None:
        return scores
    last: dict[State, tuple[float, dict[str, float]]] = {}

    def look_once(state: State, actions: list[str]) -> tuple[float, Iterable[float]]:
        if state not in last or not last[state][1].keys() >= set(actions):
            value, found = look(state, actions)
            last.clear()
            last[state] = value, dict(zip(actions, found, strict=True))
        value, known = last[state]
        return value, [known[action] for action in actions]

    return Scores(scores.function, look_once, scores.together, scores.batch)

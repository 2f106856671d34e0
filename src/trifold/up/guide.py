"""What an engine acts by: a model or goal counting, a policy, and a search that follows it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unified_planning.exceptions import UPUsageError

from trifold.errors import TrifoldError
from trifold.pddl import Problem, State
from trifold.planning import OnStep, Scores, Trajectory, find_policy, goal_counts, solve

if TYPE_CHECKING:
    from trifold.model import Model


@dataclass(frozen=True)
class Guide:
    """What an engine was asked to act by.

    model       None: states are scored by goal counting
    policy      its name, or None: a search alone
    search      what follows a policy that ends without a plan, or None
    max_steps   of the policy
    max_states  that a search may know
    """

    model: Model | None
    policy: str | None
    search: str | None
    max_steps: int
    max_states: int

    @classmethod
    def find(
        cls, model: str | None, policy: str | None, search: str | None, max_steps: int, max_states: int, device: str
    ) -> Guide:
        """The guide of these names, as parameters of an engine give them; what is wrong with one is a `UPUsageError`.

        `model` is a file or the name of a shipped model. If there is no `policy`, it is the best that the model has,
        and without a model none: the search alone. `search` "none" is None.
        """
        try:
            search = None if search == "none" else search
            for name in filter(None, (policy, search)):
                find_policy(name)
            loaded = None if model is None else _load(model, device)
            has_scores = loaded is not None and loaded.config.has_actions
            if policy == "actions" and not has_scores:
                raise TrifoldError("nothing scores the actions", remedy="use the policy values, or a model that does")
            if loaded is not None and policy is None:
                policy = "actions" if has_scores else "values"
            if policy is None and search is None:
                raise TrifoldError(
                    "there is no model, no policy and no search", remedy="give one, such as the search greedy"
                )
        except TrifoldError as error:
            raise UPUsageError(str(error)) from error
        return cls(loaded, policy, search, max_steps, max_states)

    @contextmanager
    def few_threads(self) -> Iterator[None]:
        """Let torch compute in one thread meanwhile: its threads wait for each other by spinning, where cores are busy.

        A step of a policy is small. Two threads on two cores of which one is taken made it 350 times slower.
        """
        if self.model is None or self.model.device.type != "cpu":
            yield
            return
        import torch

        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(before)

    def scores(self, problem: Problem) -> Scores[State]:
        """What scores the states of a problem; raises a `TrifoldError` if the model is of another domain."""
        if self.model is None:
            return goal_counts(problem)
        try:
            self.model.check_domain(problem.domain)
        except TrifoldError as error:
            remedy = "give a model of this domain, or none: then goals are counted"
            raise TrifoldError(error.message, remedy=remedy) from error
        return Scores.of(self.model, problem)

    def notes(self, problem: Problem) -> list[str]:
        """What a user should know of how a problem is read, and of the model that is used on it."""
        return [*problem.notes, *(self.model.check(problem) if self.model else [])]

    def solve(self, problem: Problem, scores: Scores[State], timeout: float | None, on_step: OnStep) -> Trajectory:
        """Follow the policy, and then the search."""
        with self.few_threads():
            return solve(
                problem,
                scores,
                policy=self.policy or self.search,
                search=self.search if self.policy else None,
                max_steps=self.max_steps if self.policy else None,
                max_states=self.max_states,
                timeout=timeout,
                on_step=on_step,
            )


def _load(model: str, device: str) -> Model:
    from trifold.model import Model, choose_device
    from trifold.shipped import find_model

    return Model.load(find_model(model), choose_device(device))

"""Problems of Unified Planning as Trifold's, by way of PDDL, and actions on their way back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from unified_planning.exceptions import UPException
from unified_planning.io import PDDLWriter
from unified_planning.model import Fluent, InstantaneousAction, Problem
from unified_planning.plans import ActionInstance, SequentialPlan

from trifold.errors import TrifoldError
from trifold.pddl import DisjunctiveGoal, State, load_domain, load_problem


class Translation:
    """A problem of Unified Planning, and what Trifold reads of it.

    original  the problem as Unified Planning has it
    problem   the same as Trifold's; raises a `TrifoldError` if it cannot be that
    """

    def __init__(self, original: Any) -> None:
        if not isinstance(original, Problem):
            raise TrifoldError(
                f"this is no classical problem but a {type(original).__name__}", remedy="use another engine"
            )
        self.original = original
        self.writer = PDDLWriter(original, rewrite_bool_assignments=True)
        try:
            domain, problem = self.writer.get_domain(), self.writer.get_problem()
        except (UPException, NotImplementedError) as error:  # the latter is what the writer says of metrics
            raise TrifoldError(
                f"Unified Planning cannot write this problem as PDDL: {error}",
                remedy="simplify it, for example by a Compiler of Unified Planning",
            ) from error
        self.problem = load_problem(load_domain(domain), problem)

    @staticmethod
    def with_any_goal(original: Any) -> Translation:
        """The translation of a problem, also of one whose goal leaves several ways to make it true."""
        try:
            return Translation(original)
        except DisjunctiveGoal:
            return _Arrival(original)

    def action(self, text: str) -> ActionInstance:
        """The action that a text such as ``(pick ball1 rooma left)`` stands for."""
        name, *arguments = text.strip("()").split()
        create = self.original.environment.expression_manager.ObjectExp
        objects = (create(self.writer.get_item_named(argument)) for argument in arguments)
        return ActionInstance(self.writer.get_item_named(name), tuple(objects))

    def plan(self, actions: Iterable[str]) -> SequentialPlan:
        """A plan of Trifold's as one of Unified Planning."""
        return SequentialPlan(list(map(self.action, actions)), self.original.environment)

    def contradicts(self, state: State, observed: Mapping[Any, Any]) -> bool:
        """Whether values of fluents were observed that are others in the state."""
        true = set(self.problem.atoms(state))
        return any((self._atom(fluent) in true) != value.is_true() for fluent, value in observed.items())

    def restart(self, state: State, observed: Mapping[Any, Any]) -> Translation:
        """The problem from a state on in which the values that were observed hold."""
        true, other = set(self.problem.atoms(state)), self.original.clone()
        for fluent in self.original.initial_values:
            if fluent.type.is_bool_type():
                other.set_initial_value(fluent, self._atom(fluent) in true)
        for fluent, value in observed.items():
            other.set_initial_value(fluent, value)
        return Translation(other)

    def _atom(self, fluent: Any) -> str:
        """The text of a ground fluent."""
        arguments = (self.writer.get_pddl_name(argument.object()) for argument in fluent.args)
        return f"({' '.join((self.writer.get_pddl_name(fluent.fluent()), *arguments))})"


class _Arrival(Translation):
    """A problem whose goal is the condition of one more action, without arguments, that no plan shows.

    What it makes true is all that is asked for, so it is the last action of every plan. No model knows it.
    """

    def __init__(self, original: Problem) -> None:
        environment, other = original.environment, original.clone()
        arrived = Fluent(_unused("arrived", original), environment=environment)
        arrive = InstantaneousAction(_unused("arrive", original), _env=environment)
        for goal in original.goals:
            arrive.add_precondition(goal)
        arrive.add_effect(arrived, True)
        other.add_fluent(arrived, default_initial_value=False)
        other.add_action(arrive)
        other.clear_goals()
        other.add_goal(arrived)
        super().__init__(other)
        self.last = f"({self.writer.get_pddl_name(arrive)})"

    def plan(self, actions: Iterable[str]) -> SequentialPlan:
        """A plan of Trifold's as one of Unified Planning, without its last action."""
        return super().plan(action for action in actions if action != self.last)


def _unused(name: str, problem: Problem) -> str:
    while problem.has_name(name):
        name += "-"
    return name

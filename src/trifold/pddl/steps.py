"""The actions of a plan as functions of states, for who applies each of them again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from trifold.pddl.executor import Binding, Executor, Fact, Facts, ground_atom
from trifold.pddl.formulas import TRUE, And, Atom, Formula, Not

Step = Callable[[Facts], Facts | None]
"""From a state to the next one; None where the action is not applicable."""

QUICK, SLOW = 2e-6, 1e-4
"""About how many seconds a step takes: one of few literals, and one that the executor takes."""


@dataclass(frozen=True)
class Steps:
    """A way of a problem: where it begins, its actions, what a goal is, and about how many seconds a step takes."""

    initial: Facts
    actions: list[Step]
    is_goal: Callable[[Facts], bool]
    seconds: float


def steps_of(executor: Executor, plan: Sequence[str]) -> Steps:
    """The steps of a plan, as the executor takes them.

    Where all conditions are of literals, and nothing is derived, a state is the atoms that can change, and a step two
    operations on sets.
    """
    changing = {
        atom.predicate
        for action in executor.actions.values()
        for effect in action.effects
        for atom, _ in effect.literals
    }
    fixed = Facts(fact for fact in executor.initial if fact[0] not in changing)
    goal = _literals(executor.problem.formula, {}, changing, fixed)
    actions = [_literal_step(executor, action, changing, fixed) for action in plan]
    known = [action for action in actions if action is not None]
    if executor.domain.derivations or goal is None or len(known) < len(plan):
        slow: list[Step] = [partial(_successor, executor, action) for action in plan]
        return Steps(executor.initial, slow, executor.is_goal, SLOW)
    return Steps(executor.initial - fixed, known, partial(_holds, *goal), QUICK)


def _literal_step(executor: Executor, text: str, changing: set[str], fixed: Facts) -> Step | None:
    """An action as four sets of atoms: those that must hold, and must not, those that it deletes and adds."""
    bound = executor.bind(text)
    if bound is None or any(effect.variables or effect.condition != TRUE for effect in bound[0].effects):
        return None
    action, binding = bound
    needs = _literals(action.condition, binding, changing, fixed)
    if needs is None:
        return None
    changes = [(ground_atom(atom, binding), added) for effect in action.effects for atom, added in effect.literals]
    added, deleted = (Facts(fact for fact, is_added in changes if is_added is wanted) for wanted in (True, False))
    return partial(_take, *needs, deleted - added, added)


def _literals(formula: Formula, binding: Binding, changing: set[str], fixed: Facts) -> tuple[Facts, Facts] | None:
    """The changing atoms that a conjunction of literals needs, and those that it forbids; None if it is no such, or
    what never changes makes it false."""
    needed, forbidden = set[Fact](), set[Fact]()
    for part in formula.parts if isinstance(formula, And) else (formula,):
        atom = part.part if isinstance(part, Not) else part
        if not isinstance(atom, Atom):
            return None
        fact = ground_atom(atom, binding)
        if fact[0] in changing:
            (forbidden if isinstance(part, Not) else needed).add(fact)
        elif (fact[1] == fact[2] if fact[0] == "=" else fact in fixed) is isinstance(part, Not):
            return None
    return Facts(needed), Facts(forbidden)


def _holds(needed: Facts, forbidden: Facts, state: Facts) -> bool:
    return needed <= state and forbidden.isdisjoint(state)


def _take(needed: Facts, forbidden: Facts, deleted: Facts, added: Facts, state: Facts) -> Facts | None:
    return (state - deleted) | added if _holds(needed, forbidden, state) else None


def _successor(executor: Executor, action: str, state: Facts) -> Facts | None:
    return executor.successor(state, action)

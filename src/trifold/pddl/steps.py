"""The actions of a plan as functions of states, for who applies each of them again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from trifold.pddl.executor import Binding, Executor, Fact, Facts, ground_atom
from trifold.pddl.formulas import TRUE, And, Atom, Formula, Not

Step = Callable[[Any], Any]
"""From a state to the next one; None where the action is not applicable."""

QUICK, PER_BIT = 5e-7, 3e-10
"""About how many seconds a step of literals takes, and how many more for each bit of a state."""

SLOW, PER_ATOM, PER_DERIVED = 1e-4, 1e-6, 3e-5
"""About how many seconds a step of the executor takes, and how many more for each atom of a state: of one that is as it
is, and of one to which derived atoms are added."""


@dataclass(frozen=True)
class Steps:
    """A way of a problem: where it begins, its actions, what a goal is, and about how many seconds a step takes.

    numbers  of atoms, where a state is a number whose bits say which of them hold; else it is one of the executor's
    """

    initial: Any
    actions: list[Step]
    is_goal: Callable[[Any], bool]
    seconds: float
    numbers: dict[Fact, int] = field(default_factory=dict)


def steps_of(executor: Executor, plan: Sequence[str]) -> Steps:
    """The steps of a plan, as the executor takes them.

    Where all conditions are of literals, and nothing is derived, a state is a number with a bit for each atom that can
    change, and a step a few operations on it: its copies take little, however large the problem is.
    """
    changing = {
        atom.predicate
        for action in executor.actions.values()
        for effect in action.effects
        for atom, _ in effect.literals
    }
    fixed = Facts(fact for fact in executor.initial if fact[0] not in changing)
    goal = _literals(executor.problem.formula, {}, changing, fixed)
    numbers: dict[Fact, int] = {}
    initial = _bits(executor.initial - fixed, numbers)
    actions = [_literal_step(executor, action, changing, fixed, numbers) for action in plan]
    known = [action for action in actions if action is not None]
    if executor.domain.derivations or goal is None or len(known) < len(plan):
        return _slow_steps(executor, plan)
    is_goal = partial(_holds, *(_bits(facts, numbers) for facts in goal))
    return Steps(initial, known, is_goal, QUICK + PER_BIT * len(numbers), numbers)


def _slow_steps(executor: Executor, plan: Sequence[str]) -> Steps:
    each = PER_DERIVED if executor.domain.derivations else PER_ATOM
    seconds = SLOW + each * len(executor.closure(executor.initial))
    return Steps(
        executor.initial, [partial(_successor, executor, action) for action in plan], executor.is_goal, seconds
    )


def _bits(facts: Iterable[Fact], numbers: dict[Fact, int]) -> int:
    """The number whose bits are those of the atoms, of which new ones are numbered."""
    found = 0
    for fact in facts:
        found |= 1 << numbers.setdefault(fact, len(numbers))
    return found


def _literal_step(
    executor: Executor, text: str, changing: set[str], fixed: Facts, numbers: dict[Fact, int]
) -> Step | None:
    """An action as four sets of atoms: those that must hold, and must not, those that it deletes and adds."""
    bound = executor.bind(text)
    if bound is None or any(effect.variables or effect.condition != TRUE for effect in bound[0].effects):
        return None
    action, binding = bound
    needs = _literals(action.condition, binding, changing, fixed)
    if needs is None:
        return None
    changes = [(ground_atom(atom, binding), added) for effect in action.effects for atom, added in effect.literals]
    deleted, added = ([fact for fact, is_added in changes if is_added is wanted] for wanted in (False, True))
    return partial(_take, *(_bits(facts, numbers) for facts in (*needs, deleted, added)))


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


def _holds(needed: int, forbidden: int, state: int) -> bool:
    return state & needed == needed and not state & forbidden


def _take(needed: int, forbidden: int, deleted: int, added: int, state: int) -> int | None:
    """What is both deleted and added is added."""
    return (state | deleted) ^ deleted | added if state & needed == needed and not state & forbidden else None


def _successor(executor: Executor, action: str, state: Facts) -> Facts | None:
    return executor.successor(state, action)

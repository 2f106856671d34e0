"""The executor: what PDDL means, read off the definition, without pymimir. Every plan is replayed by it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from pathlib import Path

from trifold.expressions import Source, open_source
from trifold.pddl.description import DomainDescription, describe_domain
from trifold.pddl.formulas import And, Atom, Exists, ForAll, Formula, Not, Or, Variable, occurrences
from trifold.pddl.problem_description import ProblemDescription, describe_problem
from trifold.pddl.rules import Action, Derivation
from trifold.pddl.strata import stratify

Fact = tuple[str, ...]
"""A ground atom: the predicate, then its objects."""

Facts = frozenset[Fact]
"""The atoms that are true in a state: static and fluent ones. Derived ones follow from them."""

Binding = Mapping[str, str]
"""What variables stand for."""

NOTHING: Binding = {}


class Executor:
    """A problem's initial state, actions and goal.

    >>> task = Executor.load("gripper/domain.pddl", "problem.pddl")
    >>> task.applicable(task.initial)
    ['(move rooma rooma)', ..., '(pick ball1 rooma left)', ...]
    >>> task.is_goal(task.apply(task.initial, "(move rooma roomb)"))
    False
    """

    def __init__(self, domain: DomainDescription, problem: ProblemDescription) -> None:
        self.domain, self.problem = domain, problem
        self.actions = {action.name: action for action in domain.actions}
        self._above = {name: frozenset(domain.types_above(types)) for name, types in problem.objects.items()}
        self._members: dict[tuple[str, ...], dict[str, None]] = {}
        self._closed: tuple[Facts | None, Facts] = (None, frozenset())
        self._indexed: tuple[Facts, dict[str, list[Fact]]] = (frozenset(), defaultdict(list))
        self.initial: Facts = frozenset((literal.predicate, *literal.arguments) for literal in problem.initial)

    @classmethod
    def load(cls, domain: str | Path | Source, problem: str | Path | Source) -> Executor:
        """Read a problem and its domain from paths, or from PDDL texts."""
        described = describe_domain(open_source(domain, "domain"))
        return cls(described, describe_problem(open_source(problem, "problem"), described))

    def applicable(self, state: Facts) -> list[str]:
        """The applicable actions, such as ``(pick-up a)``, sorted."""
        facts = self.closure(state)
        return sorted(
            f"({' '.join((action.name, *objects))})"
            for action in self.domain.actions
            for objects in self._instances(action.parameters, action.condition, facts)
        )

    def successor(self, state: Facts, action: str) -> Facts | None:
        """The state that an action leads to, or None if the text names none that is applicable.

        Effects look at the state before, and what is both deleted and added is added.
        """
        found, facts = self.bind(action), self.closure(state)
        if found is None or not self._holds(found[0].condition, found[1], facts):
            return None
        schema, parameters = found
        added: set[Fact] = set()
        deleted: set[Fact] = set()
        for effect in schema.effects:
            names = [variable.name for variable in effect.variables]
            for objects in self._instances(effect.variables, effect.condition, facts, parameters):
                binding = parameters | dict(zip(names, objects, strict=True))
                for atom, positive in effect.literals:
                    (added if positive else deleted).add(ground_atom(atom, binding))
        return (state - deleted) | added

    def is_applicable(self, state: Facts, action: str) -> bool:
        """Whether the text names an action with objects of the right types whose condition holds."""
        return self.successor(state, action) is not None

    def apply(self, state: Facts, action: str) -> Facts:
        """The state that an applicable action leads to."""
        after = self.successor(state, action)
        if after is None:
            raise ValueError(f"{action} is not applicable")
        return after

    def is_goal(self, state: Facts) -> bool:
        """Whether the goal holds, as it is written."""
        return self._holds(self.problem.formula, NOTHING, self.closure(state))

    def closure(self, state: Facts) -> Facts:
        """The state with its derived atoms: the least fixed point of the rules, stratum by stratum."""
        if self._closed[0] is state:
            return self._closed[1]
        facts = state
        for rules in self._strata:
            while True:
                new = {
                    (rule.predicate, *objects)
                    for rule in rules
                    for objects in self._instances(rule.parameters, rule.condition, facts)
                }
                if new <= facts:
                    break
                facts |= new
        self._closed = state, facts  # the last one is often asked for again
        return facts

    @cached_property
    def _strata(self) -> list[list[Derivation]]:
        derivations = self.domain.derivations
        dependencies = [
            (rule.predicate, predicate, positive)
            for rule in derivations
            for predicate, positive in occurrences(rule.condition)
        ]
        strata = stratify(dependencies, self.domain.derived, self.domain.name)
        return [
            [rule for rule in derivations if strata[rule.predicate] == level] for level in sorted(set(strata.values()))
        ]

    def bind(self, text: str) -> tuple[Action, dict[str, str]] | None:
        """The action of a text such as ``(stack a b)``, and what its parameters stand for."""
        name, *arguments = text.strip().removeprefix("(").removesuffix(")").lower().split() or [""]
        action = self.actions.get(name)
        if action is None or len(arguments) != len(action.parameters):
            return None
        pairs = list(zip(action.parameters, arguments, strict=True))
        if not all(argument in self._fitting(variable) for variable, argument in pairs):
            return None
        return action, {variable.name: argument for variable, argument in pairs}

    def _fitting(self, variable: Variable) -> Collection[str]:
        """The objects that a variable can stand for: those that have one of its types."""
        members = self._members.get(variable.types)
        if members is None:
            fit = (name for name, above in self._above.items() if not above.isdisjoint(variable.types))
            members = dict.fromkeys(fit)  # in order, and quick to ask
            self._members[variable.types] = members
        return members

    def _holds(self, formula: Formula, binding: Binding, facts: Facts) -> bool:
        """Whether a formula is true of the facts when its free variables stand for these objects."""
        match formula:
            case Atom("=", (left, right)):
                return binding.get(left, left) == binding.get(right, right)
            case Atom():
                return ground_atom(formula, binding) in facts
            case Not(part):
                return not self._holds(part, binding, facts)
            case And(parts):
                return all(self._holds(part, binding, facts) for part in parts)
            case Or(parts):
                return any(self._holds(part, binding, facts) for part in parts)
            case Exists(variables, part):
                return any(self._holds(part, inner, facts) for inner in self._bindings(variables, binding))
            case ForAll(variables, part):
                return all(self._holds(part, inner, facts) for inner in self._bindings(variables, binding))

    def _instances(
        self, variables: Sequence[Variable], condition: Formula, facts: Facts, binding: Binding = NOTHING
    ) -> set[tuple[str, ...]]:
        """The objects that the variables can stand for so that the condition holds.

        The condition decides; the positive atoms that it needs only bring up the objects that are worth a try.
        """
        match condition:
            case Or(parts):
                return set[tuple[str, ...]]().union(
                    *(self._instances(variables, part, facts, binding) for part in parts)
                )
            case Exists(inner, part):
                found = self._instances((*variables, *inner), part, facts, binding)
                return {objects[: len(variables)] for objects in found}
        parts = condition.parts if isinstance(condition, And) else (condition,)
        fitting = {variable.name: self._fitting(variable) for variable in variables}
        bindings: list[Binding] = [binding]
        for guard in parts:
            if isinstance(guard, Atom) and guard.predicate != "=" and bindings:
                bindings = [grown for start in bindings for grown in self._match(guard, start, fitting, facts)]
        return {
            tuple(full[variable.name] for variable in variables)
            for start in bindings
            for full in self._bindings([variable for variable in variables if variable.name not in start], start)
            if self._holds(condition, full, facts)
        }

    def _match(
        self, atom: Atom, binding: Binding, fitting: Mapping[str, Collection[str]], facts: Facts
    ) -> Iterator[Binding]:
        """The ways to extend a binding so that the atom is a fact."""
        if all(term in binding or not term.startswith("?") for term in atom.terms):
            if ground_atom(atom, binding) in facts:
                yield binding
            return
        for fact in self._by_predicate(facts)[atom.predicate]:
            grown = dict(binding)
            if all(
                grown.setdefault(term, name) == name and (term in binding or name in fitting[term])
                if term.startswith("?")
                else term == name
                for term, name in zip(atom.terms, fact[1:], strict=True)
            ):
                yield grown

    def _by_predicate(self, facts: Facts) -> dict[str, list[Fact]]:
        """The facts of each predicate; those of the last state are kept."""
        if self._indexed[0] is not facts:
            index: dict[str, list[Fact]] = defaultdict(list)
            for fact in facts:
                index[fact[0]].append(fact)
            self._indexed = facts, index
        return self._indexed[1]

    def _bindings(self, variables: Sequence[Variable], binding: Binding) -> Iterator[Binding]:
        """All ways to let the variables stand for objects of their types."""
        names = [variable.name for variable in variables]
        for objects in product(*map(self._fitting, variables)):
            yield {**binding, **dict(zip(names, objects, strict=True))}


def ground_atom(atom: Atom, binding: Binding) -> Fact:
    """The atom with what its variables stand for."""
    return (atom.predicate, *(binding.get(term, term) for term in atom.terms))

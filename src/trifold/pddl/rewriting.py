"""Rewriting: a domain and a problem in the form that pymimir translates rightly.

pymimir 0.13 mistranslates conjunctions of disjunctions, reads ``(either a b)`` of a variable as both, and forgets that
a derived predicate needs the negation of another if a later rule needs that other itself. What it gets is therefore
written anew from what was read: conditions are conjunctions of literals under one ``exists``, and

- a disjunction makes several actions of one name, several effects, or several rules of a derived predicate;
- where that would be too many, and for ``forall``, a predicate is invented and derived: ∀x φ is ¬q with q ← ∃x ¬φ;
- ``(either a b)`` of a variable becomes a type above a and b;
- a derived predicate that needs both q and ¬q gets another name for the latter: q′ ← q.

States never show what is invented here: see ``AtomIndex``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, product
from typing import NamedTuple

from trifold.errors import TrifoldError
from trifold.pddl.description import ROOT, DomainDescription, Literal
from trifold.pddl.formulas import And, Atom, Exists, ForAll, Formula, Names, Not, Or, Variable, free_variables
from trifold.pddl.problem_description import ProblemDescription
from trifold.pddl.rules import Action, Derivation, Effect
from trifold.pddl.strata import stratify

MAX_DISJUNCTS = 32
"""What would have more disjuncts gets derived predicates instead."""

MAX_LITERALS = 200_000
"""A domain that needs more literals without its disjunctions is refused."""

REQUIREMENTS = ":strips :typing :equality :negative-preconditions :existential-preconditions :conditional-effects :adl"


@dataclass(frozen=True)
class Conjunction:
    """Literals that hold together for some objects that the variables stand for."""

    variables: tuple[Variable, ...] = ()
    literals: tuple[tuple[Atom, bool], ...] = ()


class Rule(NamedTuple):
    """The predicate is true of what the parameters stand for where the body holds."""

    predicate: str
    parameters: tuple[Variable, ...]
    body: Conjunction


def write_domain(domain: DomainDescription) -> str:
    """The domain as pymimir takes it; rules that it cannot have are refused."""
    rewriting = _Rewriting(domain)
    actions = [text for action in domain.actions for text in rewriting.write_action(action)]
    for derivation in domain.derivations:
        rewriting.add_rules(derivation)
    rules = rewriting.write_rules()
    predicates = [
        f"({name} {' '.join(f'?x{i}' for i in range(len(parameters)))})"  # rules may have other types than declared
        for name, parameters in domain.predicates.items()
    ]
    constants = (f"{name} - {_either(map(rewriting.type_name, kinds))}" for name, kinds in domain.constants.items())
    # Last, for what comes before invents some.
    types = [f"{name} - {_either(above)}" for name, above in sorted(rewriting.supertypes.items())]
    return "\n".join(
        [
            "(define (domain rewritten)",  # any word may be a name, and pymimir takes fewer
            f"(:requirements {REQUIREMENTS} {':derived-predicates' if rules else ''})",
            f"(:types {' '.join(types)})",
            f"(:constants {' '.join(constants)})",
            f"(:predicates {' '.join([*predicates, *rewriting.invented.values()])})",
            *rules,
            *actions,
            ")",
        ]
    )


def write_problem(domain: DomainDescription, problem: ProblemDescription) -> str:
    """The problem as pymimir takes it."""
    names = _Rewriting(domain)
    objects = (
        f"{name} - {_either(map(names.type_name, kinds))}"
        for name, kinds in problem.objects.items()
        if name not in domain.constants
    )
    return "\n".join(
        [
            "(define (problem rewritten) (:domain rewritten)",
            f"(:objects {' '.join(objects)})",
            f"(:init {' '.join(map(str, problem.initial))})",
            f"(:goal (and {' '.join(map(str, problem.goal))})))",
        ]
    )


@dataclass
class _Rewriting:
    """What is invented on the way: types for ``either``, predicates with their declarations, and rules."""

    domain: DomainDescription
    supertypes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    invented: dict[str, str] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.names = Names([*self.domain.predicates, *self.domain.types])
        self.literals = 0
        # pymimir takes a type for a predicate of its name, and number is a type of its own.
        clashes = self.domain.types & {*self.domain.predicates, "number"}
        self.renamed = {kind: self.names.take(f"{kind}-type") for kind in sorted(clashes - {ROOT})}
        self.either: dict[frozenset[str], str] = {}
        for kind in sorted(self.domain.types - {ROOT}):
            above = self.domain.supertypes.get(kind, (ROOT,))
            self.supertypes[self.type_name(kind)] = tuple(map(self.type_name, above))

    def type_name(self, kind: str) -> str:
        return self.renamed.get(kind, kind)

    def parameters(self, variables: Iterable[Variable]) -> str:
        """A typed list; of a variable that may have one of several types, the type above them."""
        return " ".join(f"{variable.name} - {self._one_type(variable.types)}" for variable in variables)

    def _one_type(self, types: tuple[str, ...]) -> str:
        kinds = frozenset(map(self.type_name, types))
        if ROOT in kinds or len(kinds) == 1:
            return ROOT if ROOT in kinds else next(iter(kinds))
        if kinds not in self.either:
            self.either[kinds] = above = self.names.take("either-type")
            self.supertypes[above] = (ROOT,)
            for kind in kinds:
                self.supertypes[kind] = (*self.supertypes[kind], above)
        return self.either[kinds]

    def write_action(self, action: Action) -> Iterator[str]:
        """An action for each disjunct of the condition, all of one name."""
        scope = {variable.name: variable for variable in action.parameters}
        effects = " ".join(chain.from_iterable(self.write_effect(effect, scope) for effect in action.effects))
        for condition in self._few_disjuncts(action.condition, scope):
            yield (
                f"(:action {action.name} :parameters ({self.parameters(action.parameters)}) "
                f":precondition {self.write_condition(condition)} :effect (and {effects}))"
            )

    def write_effect(self, effect: Effect, scope: dict[str, Variable]) -> Iterator[str]:
        """An effect for each disjunct of the condition; what exists for it is quantified over all."""
        inner = scope | {variable.name: variable for variable in effect.variables}
        for condition in self._few_disjuncts(effect.condition, inner):
            text = _conjunction(effect.literals)
            if condition.literals:
                text = f"(when {_conjunction(condition.literals)} {text})"
            if variables := effect.variables + condition.variables:
                text = f"(forall ({self.parameters(variables)}) {text})"
            yield text

    def add_rules(self, derivation: Derivation) -> None:
        """A rule for each disjunct of the condition."""
        scope = {variable.name: variable for variable in derivation.parameters}
        for body in self.disjuncts(derivation.condition, scope, True):
            self.rules.append(Rule(derivation.predicate, derivation.parameters, body))

    def write_rules(self) -> list[str]:
        """All rules; one of a predicate that depends on its own negation is refused."""
        self._name_negations()
        dependencies = (
            (rule.predicate, atom.predicate, sign) for rule in self.rules for atom, sign in rule.body.literals
        )
        stratify(dependencies, self.domain.derived, self.domain.name, self.invented)
        return [
            f"(:derived ({rule.predicate} {self.parameters(rule.parameters)}) {self.write_condition(rule.body)})"
            for rule in self.rules
        ]

    def _name_negations(self) -> None:
        """Where a predicate needs both q and ¬q of a derived q, let it need ¬q′ instead of ¬q, with q′ ← q."""
        derived = {rule.predicate for rule in self.rules}
        needed: dict[str, set[str]] = defaultdict(set)
        for rule in self.rules:
            needed[rule.predicate] |= {atom.predicate for atom, sign in rule.body.literals if sign}
        other_names: dict[str, str] = {}

        def renamed(atom: Atom) -> Atom:
            if atom.predicate not in other_names:
                variables = tuple(Variable(f"?x{i}", (ROOT,)) for i in range(len(atom.terms)))
                other_names[atom.predicate] = self._declare(variables)
                same = Atom(atom.predicate, tuple(variable.name for variable in variables))
                self.rules.append(Rule(other_names[atom.predicate], variables, Conjunction((), ((same, True),))))
            return Atom(other_names[atom.predicate], atom.terms)

        for i, rule in enumerate(self.rules):
            both = needed[rule.predicate] & derived
            literals = (
                (renamed(atom) if not sign and atom.predicate in both else atom, sign)
                for atom, sign in rule.body.literals
            )
            self.rules[i] = rule._replace(body=replace(rule.body, literals=tuple(literals)))

    def write_condition(self, condition: Conjunction) -> str:
        text = _conjunction(condition.literals)
        return f"(exists ({self.parameters(condition.variables)}) {text})" if condition.variables else text

    def _declare(self, variables: Sequence[Variable]) -> str:
        """An invented predicate over these variables."""
        name = self.names.take("invented")
        self.invented[name] = f"({name} {self.parameters(variables)})"
        return name

    def _derive(self, formula: Formula, bodies: Sequence[Conjunction], scope: dict[str, Variable]) -> Atom:
        """An invented atom over the formula's free variables that holds where one of the bodies does."""
        variables = tuple(scope[variable] for variable in sorted(free_variables(formula)))
        name = self._declare(variables)
        self.rules += [Rule(name, variables, body) for body in bodies]
        return Atom(name, tuple(variable.name for variable in variables))

    def disjuncts(self, formula: Formula, scope: dict[str, Variable], positive: bool) -> list[Conjunction]:
        """Conjunctions of which one holds iff the formula does, or if not positive, iff it does not."""
        match formula:
            case Atom("=", (left, right)) if left == right:
                return [Conjunction()] if positive else []
            case Atom("=", (left, right)) if not left.startswith("?") and not right.startswith("?"):
                return [] if positive else [Conjunction()]
            case Atom():
                return [Conjunction((), ((formula, positive),))]
            case Not(part):
                return self.disjuncts(part, scope, not positive)
            case And(parts) | Or(parts):
                choices = [self.disjuncts(part, scope, positive) for part in parts]
                if isinstance(formula, Or) is positive:
                    return list(dict.fromkeys(chain.from_iterable(choices)))
                return self._conjoin(parts, choices, scope)
            case Exists(variables, part) | ForAll(variables, part):
                inner = scope | {variable.name: variable for variable in variables}
                if isinstance(formula, Exists) is positive:
                    found = self.disjuncts(part, inner, positive)
                    return [Conjunction(variables + each.variables, each.literals) for each in found]
                # ∀x φ is ¬∃x ¬φ, and ¬∃x φ has the form already.
                exception = Exists(variables, part)
                bodies = self.disjuncts(part, inner, not positive)
                quantified = [Conjunction(variables + each.variables, each.literals) for each in bodies]
                return [Conjunction((), ((self._derive(exception, quantified, scope), False),))]

    def _few_disjuncts(self, formula: Formula, scope: dict[str, Variable]) -> list[Conjunction]:
        """The disjuncts of what stands before effects, which each of them repeats: where they are many, an atom."""
        found = self.disjuncts(formula, scope, True)
        if len(found) <= MAX_DISJUNCTS:
            return found
        return [Conjunction((), ((self._derive(formula, found, scope), True),))]

    def _conjoin(
        self, parts: Sequence[Formula], choices: list[list[Conjunction]], scope: dict[str, Variable]
    ) -> list[Conjunction]:
        """One disjunct of each part, in all ways; where these are too many, the parts with most are derived."""
        ways = 1
        for i in sorted(range(len(choices)), key=lambda i: len(choices[i])):
            if ways * len(choices[i]) > MAX_DISJUNCTS:
                atom = self._derive(parts[i], choices[i], scope)
                choices[i] = [Conjunction((), ((atom, True),))]
            ways *= len(choices[i])
        found: dict[Conjunction, None] = {}
        for choice in product(*choices):
            if (joined := _join(choice)) is not None:
                found[joined] = None
                self._count(joined)
        return list(found)

    def _count(self, conjunction: Conjunction) -> None:
        self.literals += len(conjunction.literals)
        if self.literals > MAX_LITERALS:
            raise TrifoldError(
                f"without disjunctions the conditions would have more than {MAX_LITERALS:,} literals",
                place=f"the domain {self.domain.name}",
                remedy="write them with fewer disjunctions, or name some by derived predicates",
            )


def _join(parts: Sequence[Conjunction]) -> Conjunction | None:
    """All of them together, each literal once; None if they contradict each other."""
    literals: dict[Atom, bool] = {}
    for part in parts:
        for atom, positive in part.literals:
            if literals.setdefault(atom, positive) is not positive:
                return None
    return Conjunction(tuple(chain.from_iterable(part.variables for part in parts)), tuple(literals.items()))


def _either(types: Iterable[str]) -> str:
    """The types of an object, or of a type, all of which it has."""
    names = list(types)
    return names[0] if len(names) == 1 else f"(either {' '.join(names)})"


def _conjunction(literals: Iterable[tuple[Atom, bool]]) -> str:
    return f"(and {' '.join(str(Literal(atom.predicate, atom.terms, positive)) for atom, positive in literals)})"

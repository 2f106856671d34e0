"""Formulas: the conditions of actions, effects and derived predicates, as PDDL writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from trifold.errors import TrifoldError
from trifold.expressions import Expression, Source
from trifold.pddl.syntax import NAME, read_typed

CONNECTIVES = frozenset({"and", "or", "not", "imply", "exists", "forall", "when", "either"})
"""Words that are no names of predicates."""

NUMERIC = frozenset({"<", ">", "<=", ">=", "increase", "decrease", "assign", "scale-up", "scale-down"})


class Variable(NamedTuple):
    """A variable, and the types of which an object needs one to stand for it."""

    name: str
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Atom:
    """p(t₁ … t_m): terms are variables, which start with ``?``, and constants. ``=`` is a predicate, too."""

    predicate: str
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: Formula


@dataclass(frozen=True, slots=True)
class And:
    """All of the parts hold."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """One of the parts holds, or several."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Exists:
    """The part holds for some objects."""

    variables: tuple[Variable, ...]
    part: Formula


@dataclass(frozen=True, slots=True)
class ForAll:
    """The part holds for all objects."""

    variables: tuple[Variable, ...]
    part: Formula


Formula = Atom | Not | And | Or | Exists | ForAll

TRUE = And(())


def free_variables(formula: Formula) -> set[str]:
    """The variables that a formula leaves to be bound."""
    match formula:
        case Atom(_, terms):
            return {term for term in terms if term.startswith("?")}
        case Not(part):
            return free_variables(part)
        case And(parts) | Or(parts):
            return set[str]().union(*map(free_variables, parts))
        case Exists(variables, part) | ForAll(variables, part):
            return free_variables(part) - {variable.name for variable in variables}


def named_objects(formula: Formula) -> Iterator[str]:
    """The objects that a formula names: each term that is no variable."""
    match formula:
        case Atom(_, terms):
            yield from (term for term in terms if not term.startswith("?"))
        case Not(part) | Exists(_, part) | ForAll(_, part):
            yield from named_objects(part)
        case And(parts) | Or(parts):
            for inner in parts:
                yield from named_objects(inner)


def occurrences(formula: Formula, positive: bool = True) -> Iterator[tuple[str, bool]]:
    """The predicates of a formula, each with whether it occurs under an even number of negations."""
    match formula:
        case Atom(predicate, _):
            yield predicate, positive
        case Not(part):
            yield from occurrences(part, not positive)
        case And(parts) | Or(parts):
            for inner in parts:
                yield from occurrences(inner, positive)
        case Exists(_, part) | ForAll(_, part):
            yield from occurrences(part, positive)


class Names:
    """Names that are taken, and new ones that are not."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._numbers = dict.fromkeys(taken, 1)

    def take(self, wish: str) -> str:
        """The name itself if nothing else has it, else one with a number.

        >>> names = Names(["x"])
        >>> names.take("x"), names.take("x"), names.take("y")
        ('x-2', 'x-3', 'y')
        """
        name = wish
        while name in self._numbers:
            self._numbers[wish] += 1
            name = f"{wish}-{self._numbers[wish]}"
        self._numbers[name] = 1
        return name


@dataclass
class Scope:
    """What names mean where a formula is read: the domain's declarations, and the variables bound so far.

    Every variable of one action or rule gets a name of its own: an inner ``?x`` that hides an outer one is renamed, and
    so is one that has no name by PDDL's rules.
    """

    source: Source
    predicates: Mapping[str, tuple[tuple[str, ...], ...]]
    types: frozenset[str]
    constants: Mapping[str, tuple[str, ...]]
    derived: frozenset[str]
    declared_in: str = "(:constants …) of the domain"
    bound: dict[str, str] = field(default_factory=dict)
    names: Names = field(default_factory=Names)

    def bind(self, items: Sequence[Expression]) -> tuple[Scope, tuple[Variable, ...]]:
        """The scope inside a list of typed variables, and these variables."""
        bound, variables = dict(self.bound), []
        fresh: set[str] = set()
        for name, types, entry in read_typed(items, self.source):
            if not name.startswith("?") or len(name) < 2:
                raise self.error(entry, f"{name} is not a variable", "variables start with a question mark: ?x")
            if name in fresh:
                raise self.error(entry, f"the variable {name} is declared twice", "give each variable its own name")
            fresh.add(name)
            for kind in types:
                if kind not in self.types:
                    raise self.error(entry, f"the type {kind} is not declared", "declare it in (:types …)")
            bound[name] = own = self.names.take(name if NAME.fullmatch(name[1:]) else "?v")
            variables.append(Variable(own, types))
        return replace(self, bound=bound), tuple(variables)

    def term(self, item: Expression) -> str:
        """A variable by its own name, or a constant."""
        if item.is_list:
            raise self.error(item, "a term is a variable or a constant, not a list", "write numbers and functions out")
        if item.word.startswith("?"):
            if item.word not in self.bound:
                raise self.error(
                    item, f"the variable {item.word} is not declared", "declare it among the parameters, or quantify it"
                )
            return self.bound[item.word]
        if item.word not in self.constants:
            raise self.error(item, f"the name {item.word} is not declared", f"declare it in {self.declared_in}")
        return item.word

    def check_predicate(self, entry: Expression, count: int) -> None:
        """Refuse a predicate that is not declared, or not with so many parameters."""
        if not entry.head:
            raise self.error(entry, "this is not an atom", "an atom is written (predicate ?x ?y)")
        is_equation = entry.head == "=" and any(item.is_list for item in entry.items)
        if (entry.head in NUMERIC and entry.head not in self.predicates) or is_equation:
            raise self.error(entry, "numeric fluents are not supported", "use atoms alone, without numbers")
        if entry.head not in self.predicates:
            raise self.error(
                entry, f"the predicate {entry.head} is not declared", "declare it in (:predicates …), or mend its name"
            )
        if count != len(self.predicates[entry.head]):
            raise self.error(
                entry,
                f"{entry.head} takes {len(self.predicates[entry.head])} arguments, not {count}",
                "mend the atom, or the predicate's declaration",
            )

    def atom(self, entry: Expression) -> Atom:
        """An atom whose predicate is declared and takes so many terms; ``=`` is always there."""
        if entry.head != "=" or len(entry.items) != 3 or any(item.is_list for item in entry.items):
            self.check_predicate(entry, len(entry.items) - 1)
        return Atom(entry.head, tuple(map(self.term, entry.items[1:])))

    def formula(self, entry: Expression) -> Formula:
        """A condition."""
        parts = entry.items[1:]
        match entry.head:
            case "and" | "or":
                inner = tuple(map(self.formula, parts))
                return And(inner) if entry.head == "and" else Or(inner)
            case "not" if len(parts) == 1:
                return Not(self.formula(parts[0]))
            case "imply" if len(parts) == 2:
                return Or((Not(self.formula(parts[0])), self.formula(parts[1])))
            case "exists" | "forall" if len(parts) == 2 and parts[0].is_list:
                scope, variables = self.bind(parts[0].items)
                body = scope.formula(parts[1])
                return Exists(variables, body) if entry.head == "exists" else ForAll(variables, body)
            case "not" | "imply" | "exists" | "forall":
                raise self.error(entry, f"'{entry.head}' is used wrongly", _USAGE[entry.head])
            case "preference" | "when" | "either" if entry.head not in self.predicates:
                raise self.error(entry, f"'{entry.head}' is not supported in a condition", "leave it out")
        if entry.is_list and not entry.items:
            return TRUE
        return self.atom(entry)

    def error(self, entry: Expression, message: str, remedy: str) -> TrifoldError:
        """An error about an expression, with its place."""
        return TrifoldError(f"PDDL error: {message}", place=self.source.place(entry.line, entry), remedy=remedy)


_USAGE = {
    "not": "write (not formula)",
    "imply": "write (imply formula formula)",
    "exists": "write (exists (?x - type) formula)",
    "forall": "write (forall (?x - type) formula)",
}

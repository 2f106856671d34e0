"""What domain and problem texts declare: types, objects, predicates, initial atoms and the goal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from trifold.errors import TrifoldError
from trifold.pddl.text import Expression, Source, parse

ROOT_TYPES = frozenset({"object", "number"})
"""Types that are no relations: every object has the first, and the second is pymimir's own."""


class Literal(NamedTuple):
    """A ground atom or its negation."""

    predicate: str
    arguments: tuple[str, ...]
    positive: bool = True

    def __str__(self) -> str:
        atom = f"({' '.join((self.predicate, *self.arguments))})"
        return atom if self.positive else f"(not {atom})"


@dataclass(frozen=True)
class DomainDescription:
    """A domain's declarations.

    supertypes  type → the types directly above it
    constants   name → its types
    predicates  name → the types of each parameter
    notes       what a user should know about how the domain is read
    """

    name: str
    supertypes: dict[str, tuple[str, ...]]
    constants: dict[str, tuple[str, ...]]
    predicates: dict[str, tuple[tuple[str, ...], ...]]
    notes: tuple[str, ...]

    def types_above(self, types: Sequence[str]) -> set[str]:
        """These types and all above them, up to ``object``."""
        found, pending = {"object"}, list(types)
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending.extend(self.supertypes.get(name, ()))
        return found

    @cached_property
    def type_relations(self) -> dict[str, str]:
        """Type → its relation; they differ only where a predicate has the type's name."""
        names = {name for pair in self.supertypes.items() for name in (pair[0], *pair[1])} - ROOT_TYPES
        return {name: f"{name}@type" if name in self.predicates else name for name in sorted(names)}

    @cached_property
    def relations(self) -> tuple[tuple[str, int], ...]:
        """(name, arity) of every relation, sorted by name: predicates, types, and both goal relations of each
        predicate. A nullary predicate is a unary relation that holds of every object."""
        arities = dict.fromkeys(self.type_relations.values(), 1)
        for name, parameters in self.predicates.items():
            for relation in (name, f"{name}@goal", f"{name}@goal-not"):
                arities[relation] = max(len(parameters), 1)
        return tuple(sorted(arities.items()))


@dataclass(frozen=True)
class ProblemDescription:
    """A problem's declarations: objects with their types (domain constants first), initial atoms, goal literals."""

    name: str
    objects: dict[str, tuple[str, ...]]
    initial: tuple[Literal, ...]
    goal: tuple[Literal, ...]
    notes: tuple[str, ...]


def describe_domain(source: Source) -> DomainDescription:
    """Read a domain's declarations, or refuse what Trifold does not support."""
    define = parse_definition(source, "domain")
    functions = [entry for section in define.find(":functions") for entry in section.items if entry.is_list]
    for function in functions:
        if function.head != "total-cost":
            raise TrifoldError(
                f"numeric fluents are not supported: {function}",
                place=source.place(function.line, function),
                remedy="remove every function but total-cost, which is ignored",
            )
    supertypes: dict[str, tuple[str, ...]] = {}
    for name, types, _ in typed_list(define, ":types"):
        supertypes[name] = (*supertypes.get(name, ()), *types)
    predicates: dict[str, tuple[tuple[str, ...], ...]] = {}
    for section in define.find(":predicates"):
        for entry in section.items[1:]:
            if not entry.head:
                raise syntax_error(source, entry, "a predicate is declared as (name ?x ?y)")
            predicates[entry.head] = tuple(types for _, types, _ in read_typed(entry.items[1:]))
    constants = {name: types for name, types, _ in typed_list(define, ":constants")}
    notes = ("total-cost is ignored: plans are counted in steps",) if functions else ()
    return DomainDescription(definition_name(define), supertypes, constants, predicates, notes)


def describe_problem(source: Source, domain: DomainDescription) -> ProblemDescription:
    """Read a problem's declarations and check them against its domain."""
    define = parse_definition(source, "problem")
    for section in define.find(":domain"):
        named = str(section.items[1]) if len(section.items) > 1 else ""
        if named != domain.name:
            raise TrifoldError(
                f"this is a problem of another domain: of {named}, not of {domain.name}",
                place=source.place(section.line, section),
                remedy="give it with its own domain file",
            )
    objects = dict(domain.constants)
    objects.update((name, types) for name, types, _ in typed_list(define, ":objects"))
    if not objects:
        raise TrifoldError("the problem has no objects", place=source.name, remedy="declare some in (:objects …)")
    initial = []
    for section in define.find(":init"):
        for entry in section.items[1:]:
            if entry.head == "not":
                raise TrifoldError(
                    "a negated atom in the initial state is not supported",
                    place=source.place(entry.line, entry),
                    remedy="remove it: what is not listed is false",
                )
            if entry.head != "=":
                initial.append(check_atom(entry, domain, objects, source))
    goal = [literal for section in define.find(":goal") for part in section.items[1:]
            for literal in goal_literals(part, domain, objects, source)]  # fmt: skip
    if not goal:
        line = next((section.line for section in define.find(":goal")), define.line)
        raise TrifoldError(
            "the problem has no goal", place=source.place(line), remedy="add (:goal (and …)) with at least one atom"
        )
    return ProblemDescription(
        definition_name(define), objects, tuple(dict.fromkeys(initial)), tuple(dict.fromkeys(goal)), domain.notes
    )


def goal_literals(
    part: Expression, domain: DomainDescription, objects: dict[str, tuple[str, ...]], source: Source
) -> list[Literal]:
    """The literals of a goal; anything but a conjunction of literals is refused."""
    if part.head == "and":
        return [literal for inner in part.items[1:] for literal in goal_literals(inner, domain, objects, source)]
    if part.head == "not" and len(part.items) == 2 and part.items[1].head in domain.predicates:
        return [check_atom(part.items[1], domain, objects, source)._replace(positive=False)]
    constructs = ("not", "or", "imply", "forall", "exists", "preference", "=", "<", ">", "<=", ">=")
    if part.head in constructs and part.head not in domain.predicates:
        inner = part.items[1].head if part.head == "not" and len(part.items) == 2 else ""
        if inner and inner not in constructs and inner != "and":
            check_atom(part.items[1], domain, objects, source)
        construct = f"{part.head} {inner}".strip()
        raise TrifoldError(
            f"the goal is not a conjunction of literals: it uses '{construct}'",
            place=source.place(part.line, part),
            remedy="write the goal as (and …) of atoms and negated atoms",
        )
    return [check_atom(part, domain, objects, source)] if part.items or part.word else []


def check_atom(
    entry: Expression, domain: DomainDescription, objects: dict[str, tuple[str, ...]], source: Source
) -> Literal:
    """A ground atom whose predicate and objects are declared and fit together."""
    place = source.place(entry.line, entry)
    if not entry.head or any(item.is_list for item in entry.items):
        raise syntax_error(source, entry, "an atom is written (predicate object object)")
    parameters = domain.predicates.get(entry.head)
    if parameters is None:
        raise TrifoldError(
            f"the predicate {entry.head} is not declared",
            place=place,
            remedy=f"use a predicate of the domain {domain.name}: {', '.join(sorted(domain.predicates)) or 'none'}",
        )
    arguments = tuple(item.word for item in entry.items[1:])
    if len(arguments) != len(parameters):
        raise TrifoldError(
            f"{entry.head} takes {len(parameters)} arguments, not {len(arguments)}",
            place=place,
            remedy="mend the atom, or the predicate's declaration in the domain",
        )
    for name, types in zip(arguments, parameters, strict=True):
        if name not in objects:
            raise TrifoldError(
                f"the object {name} is not declared", place=place, remedy="declare it in (:objects …), or mend its name"
            )
        if not domain.types_above(objects[name]) & set(types or ("object",)):
            raise TrifoldError(
                f"the object {name} is of type {' or '.join(objects[name])}, not {' or '.join(types)}",
                place=place,
                remedy=f"give {entry.head} objects of the types that the domain declares",
            )
    return Literal(entry.head, arguments)


def parse_definition(source: Source, kind: str) -> Expression:
    """The (define (kind name) …) of a text; a domain given as a problem, or the other way round, is refused."""
    define = parse(source.text, source.name)
    title = define.items[1] if len(define.items) > 1 else define
    if title.head not in ("domain", "problem") or len(title.items) != 2:
        raise syntax_error(source, title, "a definition starts with (define (domain name) or (define (problem name)")
    if title.head != kind:
        raise TrifoldError(
            f"this is a {title.head}, and a {kind} is needed",
            place=source.place(title.line, title),
            remedy=f"give the {kind} file here",
        )
    return define


def definition_name(define: Expression) -> str:
    return str(define.items[1].items[1])


def typed_list(define: Expression, head: str) -> list[tuple[str, tuple[str, ...], int]]:
    """All entries of the sections with this head, such as (:objects a b - block)."""
    return [entry for section in define.find(head) for entry in read_typed(section.items[1:])]


def read_typed(items: Sequence[Expression]) -> list[tuple[str, tuple[str, ...], int]]:
    """(name, types, line) of the names in a list such as ``a b - block c - (either x y) d``."""
    entries: list[tuple[str, tuple[str, ...], int]] = []
    names: list[Expression] = []
    rest = iter(items)
    for item in rest:
        if item.word != "-":
            names.append(item)
            continue
        kind = next(rest, None)
        if kind is not None:
            types = tuple(part.word for part in kind.items[1:]) if kind.is_list else (kind.word,)
            entries.extend((name.word, types, name.line) for name in names)
            names = []
    entries.extend((name.word, ("object",), name.line) for name in names)
    return entries


def syntax_error(source: Source, entry: Expression, remedy: str) -> TrifoldError:
    return TrifoldError("PDDL syntax error", place=source.place(entry.line, entry), remedy=remedy)

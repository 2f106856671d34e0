"""What a domain's text says: types, constants, predicates and rules, all checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from trifold.errors import TrifoldError
from trifold.expressions import Expression, Source, normalise
from trifold.pddl.formulas import CONNECTIVES, Scope, named_objects
from trifold.pddl.rules import Action, Derivation, Effect, read_actions, read_derivations
from trifold.pddl.syntax import (
    check_name,
    check_sections,
    definition_name,
    parse_definition,
    read_typed,
    refuse,
    syntax_error,
    typed_list,
)
from trifold.structures import CONSTANT

ROOT = "object"
"""The type of every object, which is no relation."""

REQUIREMENTS = frozenset(
    f":{name}"
    for name in (
        *("strips", "typing", "negative-preconditions", "disjunctive-preconditions", "equality", "adl"),
        *("existential-preconditions", "universal-preconditions", "quantified-preconditions", "conditional-effects"),
        *("derived-predicates", "domain-axioms", "action-costs", "fluents", "numeric-fluents"),
    )
)
"""What a domain may say that it needs. What it then uses is checked where it stands."""

DOMAIN_SECTIONS = (":requirements", ":types", ":constants", ":predicates", ":functions", ":action", ":derived")

MAX_LENGTH = 2**20
"""Longer domains are refused. The longest of the planning competitions has 140 KB."""


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
    """A domain's declarations and rules.

    supertypes   type → the types directly above it
    constants    name → its types
    predicates   name → the types of each parameter
    actions      in the order of the text
    derivations  the rules of derived predicates, in the order of the text
    notes        what a user should know about how the domain is read
    is_ground    whether nothing in it has a variable, so that objects do not matter
    """

    name: str
    supertypes: dict[str, tuple[str, ...]]
    constants: dict[str, tuple[str, ...]]
    predicates: dict[str, tuple[tuple[str, ...], ...]]
    actions: tuple[Action, ...]
    derivations: tuple[Derivation, ...]
    notes: tuple[str, ...]
    is_ground: bool

    @cached_property
    def types(self) -> frozenset[str]:
        """All types."""
        return frozenset({ROOT}).union(self.supertypes, *self.supertypes.values())

    @cached_property
    def derived(self) -> frozenset[str]:
        """The derived predicates."""
        return frozenset(derivation.predicate for derivation in self.derivations)

    @cached_property
    def changing(self) -> frozenset[str]:
        """The predicates that actions change, and the derived ones: all others hold of the same objects for ever."""
        effects = (effect for action in self.actions for effect in action.effects)
        return self.derived.union(atom.predicate for effect in effects for atom, _ in effect.literals)

    @cached_property
    def named_constants(self) -> tuple[str, ...]:
        """The constants that actions and rules name, sorted: V* may depend on which object they are.

        That of the others does not: whatever else has their atoms can stand for them.
        """
        effects = [effect for action in self.actions for effect in action.effects]
        rules: list[Action | Derivation | Effect] = [*self.actions, *self.derivations, *effects]
        formulas = [rule.condition for rule in rules]
        formulas += [atom for effect in effects for atom, _ in effect.literals]
        return tuple(sorted({name for formula in formulas for name in named_objects(formula)}))

    def types_above(self, types: Sequence[str]) -> set[str]:
        """These types and all above them, up to ``object``."""
        found, pending = {ROOT}, list(types)
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending.extend(self.supertypes.get(name, ()))
        return found

    @cached_property
    def type_relations(self) -> dict[str, str]:
        """Type → its relation; they differ only where a predicate has the type's name."""
        names = sorted(self.types - {ROOT})
        return {name: f"{name}@type" if name in self.predicates else name for name in names}

    @cached_property
    def relations(self) -> tuple[tuple[str, int], ...]:
        """(name, arity) of every relation, sorted by name: predicates, types, one for each named constant, and both
        goal relations of each predicate. A nullary predicate is a unary relation that holds of every object."""
        arities = dict.fromkeys(self.type_relations.values(), 1)
        arities |= dict.fromkeys((CONSTANT + name for name in self.named_constants), 1)
        for name, parameters in self.predicates.items():
            for relation in (name, f"{name}@goal", f"{name}@goal-not"):
                arities[relation] = max(len(parameters), 1)
        return tuple(sorted(arities.items()))


def describe_domain(source: Source) -> DomainDescription:
    """Read a domain's declarations and rules, or refuse what Trifold does not support.

    This is code of ours whose time is bounded by the length of the text, so it may run outside of any limits.
    """
    if len(source.text) > MAX_LENGTH:
        raise TrifoldError(
            f"the domain has more than {MAX_LENGTH:,} characters", place=source.name, remedy="give a domain file"
        )
    define = parse_definition(source, "domain")
    check_sections(define, source, DOMAIN_SECTIONS)
    for section in define.find(":requirements"):
        for entry in section.items[1:]:
            if str(entry) not in REQUIREMENTS:
                raise refuse(str(entry), source, section, REQUIREMENTS)
    supertypes = _read_types(define, source)
    types = frozenset({ROOT}).union(supertypes, *supertypes.values())
    constants = read_objects(define, ":constants", types, source)
    predicates = _read_predicates(define, types, source)
    derived = frozenset(section.items[1].head for section in define.find(":derived") if len(section.items) > 1)
    scope = Scope(source, predicates, types, constants, derived)
    notes = ("costs are ignored: plans are counted in steps",) if any(define.find(":functions")) else ()
    name = definition_name(define)
    actions, derivations = read_actions(define, scope), read_derivations(define, scope)
    is_ground = "?" not in normalise(source.text)
    return DomainDescription(name, supertypes, constants, predicates, actions, derivations, notes, is_ground)


def _read_types(define: Expression, source: Source) -> dict[str, tuple[str, ...]]:
    """Type → the types directly above it; a type that would be above itself is refused."""
    supertypes: dict[str, tuple[str, ...]] = {}
    for name, above, entry in typed_list(define, ":types", source):
        for kind in (name, *above):
            check_name(kind, entry, source)
        if name != ROOT:
            supertypes[name] = tuple(dict.fromkeys((*supertypes.get(name, ()), *above)))
        elif set(above) - {ROOT}:
            raise _declaration_error(source, entry, f"nothing is above the type {name}")
    try:
        TopologicalSorter(supertypes).prepare()
    except CycleError as error:
        entry = next(define.find(":types"))
        raise _declaration_error(
            source, entry, f"the type {min(error.args[1])} is declared to be above itself"
        ) from None
    return supertypes


def _read_predicates(
    define: Expression, types: Iterable[str], source: Source
) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Name → the types of each parameter."""
    predicates: dict[str, tuple[tuple[str, ...], ...]] = {}
    for section in define.find(":predicates"):
        for entry in section.items[1:]:
            if not entry.head:
                raise syntax_error(source, entry, "a predicate is declared as (name ?x ?y)")
            check_name(entry.head, entry, source)
            if entry.head in CONNECTIVES or entry.head == ROOT:
                raise _declaration_error(source, entry, f"{entry.head} is a word of PDDL, not a name")
            parameters = read_typed(entry.items[1:], source)
            for _, kinds, where in parameters:
                check_types(kinds, types, where, source)
            if predicates.setdefault(entry.head, found := tuple(kinds for _, kinds, _ in parameters)) != found:
                raise _declaration_error(source, entry, f"the predicate {entry.head} is declared twice")
    return predicates


def read_objects(define: Expression, head: str, types: Iterable[str], source: Source) -> dict[str, tuple[str, ...]]:
    """Name → its types; a name given twice must have the same ones."""
    objects: dict[str, tuple[str, ...]] = {}
    for name, kinds, entry in typed_list(define, head, source):
        check_name(name, entry, source)
        check_types(kinds, types, entry, source)
        if name in objects:
            raise _declaration_error(source, entry, f"the object {name} is declared twice")
        objects[name] = kinds
    return objects


def check_types(kinds: Sequence[str], types: Iterable[str], entry: Expression, source: Source) -> None:
    """Refuse a type that is not declared."""
    for kind in kinds:
        if kind not in types:
            raise TrifoldError(
                f"the type {kind} is not declared",
                place=source.place(entry.line),
                remedy="declare it in (:types …) of the domain",
            )


def _declaration_error(source: Source, entry: Expression, message: str) -> TrifoldError:
    return TrifoldError(message, place=source.place(entry.line, entry), remedy="mend the declaration")


def check_atom(
    entry: Expression, domain: DomainDescription, objects: Mapping[str, tuple[str, ...]], source: Source
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
        if not domain.types_above(objects[name]) & set(types or (ROOT,)):
            raise TrifoldError(
                f"the object {name} is of type {' or '.join(objects[name])}, not {' or '.join(types)}",
                place=place,
                remedy=f"give {entry.head} objects of the types that the domain declares",
            )
    return Literal(entry.head, arguments)

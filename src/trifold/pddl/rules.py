"""The rules of a domain: its actions with their effects, and how derived atoms come to be true."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from trifold.expressions import Expression
from trifold.pddl.formulas import TRUE, And, Atom, Formula, Names, Scope, Variable
from trifold.pddl.syntax import check_name

IGNORED_EFFECTS = frozenset({"increase", "decrease", "assign"})
"""Of total-cost, the only function that is not refused: plans are counted in steps."""


@dataclass(frozen=True)
class Effect:
    """For all objects that the variables can stand for: where the condition holds, each atom becomes true, or false."""

    variables: tuple[Variable, ...]
    condition: Formula
    literals: tuple[tuple[Atom, bool], ...]


@dataclass(frozen=True)
class Action:
    """An action schema. An atom that an action both deletes and adds is added."""

    name: str
    parameters: tuple[Variable, ...]
    condition: Formula
    effects: tuple[Effect, ...]


@dataclass(frozen=True)
class Derivation:
    """A rule: an atom of the predicate is true where the condition holds of its arguments, and only by such rules."""

    predicate: str
    parameters: tuple[Variable, ...]
    condition: Formula


def read_actions(define: Expression, scope: Scope) -> tuple[Action, ...]:
    """The (:action …) of a domain."""
    actions: dict[str, Action] = {}
    for section in define.find(":action"):
        name, parts = _read_parts(section, scope)
        check_name(name, section, scope.source)
        if name in actions:
            raise scope.error(section.items[1], f"two actions are called {name}", "give each action a name of its own")
        parameters = parts.get(":parameters", Expression(section.line, ""))
        if not parameters.is_list:
            raise scope.error(parameters, "parameters are a list", "write :parameters (?x - type ?y - type)")
        own, variables = replace(scope, names=Names()).bind(parameters.items)
        condition = own.formula(parts[":precondition"]) if ":precondition" in parts else TRUE
        changes = _read_changes(parts[":effect"], own, (), TRUE) if ":effect" in parts else ()
        effects = tuple(
            Effect(under[0], under[1], tuple(literal for _, literal in group))
            for under, group in groupby(changes, lambda change: change[0])
        )
        actions[name] = Action(name, variables, condition, effects)
    return tuple(actions.values())


def read_derivations(define: Expression, scope: Scope) -> tuple[Derivation, ...]:
    """The (:derived …) of a domain."""
    derivations = []
    for section in define.find(":derived"):
        if len(section.items) != 3 or not section.items[1].head:
            raise scope.error(section, "this is no rule", "write (:derived (predicate ?x) formula)")
        head, condition = section.items[1:]
        own, variables = replace(scope, names=Names()).bind(head.items[1:])
        own.check_predicate(head, len(variables))
        derivations.append(Derivation(head.head, variables, own.formula(condition)))
    return tuple(derivations)


def _read_parts(section: Expression, scope: Scope) -> tuple[str, dict[str, Expression]]:
    """The name of an action, and what stands behind each of its keywords."""
    known = (":parameters", ":precondition", ":effect")
    if len(section.items) < 2 or section.items[1].is_list or section.items[1].word.startswith(":"):
        raise scope.error(section, "an action has no name", "write (:action name :parameters (…) …)")
    parts: dict[str, Expression] = {}
    rest = iter(section.items[2:])
    for keyword in rest:
        value = next(rest, None)
        if keyword.word not in known or keyword.word in parts or value is None:
            raise scope.error(
                keyword,
                f"the action {section.items[1].word} cannot be read",
                "an action has :parameters (…), :precondition formula and :effect formula, each once",
            )
        parts[keyword.word] = value
    return section.items[1].word, parts


Change = tuple[tuple[tuple[Variable, ...], Formula], tuple[Atom, bool]]
"""Under which quantifiers and condition which literal comes to hold."""


def _read_changes(
    entry: Expression, scope: Scope, variables: tuple[Variable, ...], condition: Formula
) -> Iterator[Change]:
    """The changes of an effect."""
    parts = entry.items[1:]
    match entry.head:
        case "and":
            for part in parts:
                yield from _read_changes(part, scope, variables, condition)
        case "forall" if len(parts) == 2 and parts[0].is_list:
            inner, more = scope.bind(parts[0].items)
            yield from _read_changes(parts[1], inner, variables + more, condition)
        case "when" if len(parts) == 2:
            both = conjunction((condition, scope.formula(parts[0])))
            yield from _read_changes(parts[1], scope, variables, both)
        case "not" if len(parts) == 1:
            yield (variables, condition), (_changed(parts[0], scope), False)
        case "forall" | "when" | "not" | "or" | "imply" | "exists" | "either" | "=":
            raise scope.error(
                entry,
                f"'{entry.head}' cannot stand in an effect like this",
                "an effect is (and …) of atoms, (not atom), (when formula effect) and (forall (?x - type) effect)",
            )
        case head if head in IGNORED_EFFECTS and parts and parts[0].head == "total-cost":
            return
        case _:
            if entry.items or entry.word:  # () is no effect
                yield (variables, condition), (_changed(entry, scope), True)


def _changed(entry: Expression, scope: Scope) -> Atom:
    atom = scope.atom(entry)
    if atom.predicate == "=" or atom.predicate in scope.derived:
        raise scope.error(entry, f"an effect on {atom.predicate} is not possible", "derived atoms follow from others")
    return atom


def conjunction(parts: Sequence[Formula]) -> Formula:
    """And, without nested ones and without trivial ones."""
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, And) else (part,))]
    return flat[0] if len(flat) == 1 else And(tuple(flat))

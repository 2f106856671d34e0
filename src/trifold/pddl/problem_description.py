"""What a problem's text says: objects, initial atoms and the goal, all checked against the domain."""

from __future__ import annotations

from dataclasses import dataclass

from trifold.errors import TrifoldError
from trifold.expressions import Source
from trifold.pddl.description import ROOT, DomainDescription, Literal, check_atom, read_objects
from trifold.pddl.formulas import Formula
from trifold.pddl.goals import read_goal
from trifold.pddl.syntax import check_sections, definition_name, parse_definition, refuse

PROBLEM_SECTIONS = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric", ":length")

NOTHING = "nothing"
"""An object for a problem that has none, so that a network can read its atoms; without variables none can tell."""


@dataclass(frozen=True)
class ProblemDescription:
    """A problem's declarations.

    objects  name → its types, domain constants first
    initial  the initial atoms
    goal     the literals that the goal comes to
    formula  the goal as it is written, for who does not want to trust that
    notes    what a user should know about how it is read
    """

    name: str
    objects: dict[str, tuple[str, ...]]
    initial: tuple[Literal, ...]
    goal: tuple[Literal, ...]
    formula: Formula
    notes: tuple[str, ...]


def describe_problem(source: Source, domain: DomainDescription) -> ProblemDescription:
    """Read a problem's declarations and check them against its domain."""
    define = parse_definition(source, "problem")
    check_sections(define, source, PROBLEM_SECTIONS)
    for section in define.find(":domain"):
        named = str(section.items[1]) if len(section.items) > 1 else ""
        if named != domain.name:
            raise TrifoldError(
                f"this is a problem of another domain: of {named}, not of {domain.name}",
                place=source.place(section.line, section),
                remedy=f"use a model, a domain file or a folder of {named or 'its domain'} (`trifold models` lists the "
                "models in the box), or mend its (:domain …)",
            )
    own = read_objects(define, ":objects", domain.types, source)
    for shared in own.keys() & domain.constants.keys():
        if own[shared] != domain.constants[shared]:
            raise TrifoldError(
                f"the object {shared} is a constant of the domain, of another type",
                place=source.name,
                remedy="remove it from (:objects …)",
            )
    objects = domain.constants | own
    if not objects and domain.is_ground:
        objects = {NOTHING: (ROOT,)}
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
            if entry.head in domain.derived:
                raise TrifoldError(
                    f"{entry.head} is derived, so it cannot be given in the initial state",
                    place=source.place(entry.line, entry),
                    remedy="remove it: it is true where its rules say so",
                )
            if entry.head == "at" and len(entry.items) == 3 and entry.items[2].is_list:
                raise refuse(":timed-initial-literals", source, entry, PROBLEM_SECTIONS)
            if entry.head != "=":
                initial.append(check_atom(entry, domain, objects, source))
    parts = [part for section in define.find(":goal") for part in section.items[1:]]
    formula, goal = read_goal(parts, domain, objects, initial, source)
    if not goal:
        line = next((section.line for section in define.find(":goal")), define.line)
        raise TrifoldError(
            "the problem has no goal, or one that holds in every state",
            place=source.place(line),
            remedy="add (:goal (and …)) with at least one atom",
        )
    return ProblemDescription(
        definition_name(define), objects, tuple(dict.fromkeys(initial)), goal, formula, domain.notes
    )

"""When two problems are the same but for the names of their objects, or share states: certificates by refinement.

A problem is a relational structure: its objects, and its initial and goal atoms. Isomorphic problems have equal
certificates. The converse holds for all that colour refinement (1-WL) tells apart, so different certificates prove
that two problems differ, and equal ones may, rarely, be of two that are only alike.

The base of a problem is what all its states have: the objects, the static atoms and the goal. Problems whose bases are
not isomorphic have no state in common.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container
from dataclasses import dataclass
from itertools import pairwise

from trifold.expressions import Expression, parse

Atom = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Structure:
    """The objects and atoms of a problem; relations are named ``init p``, ``goal p``, ``goal not p`` and ``type t``."""

    objects: tuple[str, ...]
    atoms: tuple[Atom, ...]


def read_structure(problem: str) -> Structure:
    """Read the text of a problem whose goal is a conjunction of literals, as ``problem_text`` writes it.

    >>> structure = read_structure("(define (problem p) (:objects a b - t) (:init (q a)) (:goal (and (not (q b)))))")
    >>> structure.objects, structure.atoms
    (('a', 'b'), (('type t', ('a',)), ('type t', ('b',)), ('init q', ('a',)), ('goal not q', ('b',))))
    """
    sections = {part.head: part.items[1:] for part in parse(problem, "the problem").items[1:]}
    objects: list[str] = []
    atoms: list[Atom] = []
    words, untyped = iter(sections[":objects"]), 0
    for item in words:
        if item.word == "-":
            kind = str(next(words))  # a word, or (either …)
            atoms += [(f"type {kind}", (name,)) for name in objects[untyped:]]
            untyped = len(objects)
        else:
            objects.append(item.word)
    atoms += [(f"init {atom.head}", atom.words) for atom in sections[":init"] if atom.head != "="]  # costs are no atoms
    (goal,) = sections[":goal"]
    for literal in goal.items[1:] if goal.head == "and" else [goal]:
        negated = literal.head == "not"
        atom = literal.items[1] if negated else literal
        atoms.append((f"goal {'not ' if negated else ''}{atom.head}", atom.words))
    return Structure(tuple(objects), tuple(atoms))


def certificate(structure: Structure) -> str:
    """Give the same text for isomorphic structures: a digest of the stable colouring and of the coloured atoms.

    A round gives each object the rank, among all, of its colour together with the colours in the atoms around it;
    ranks of sorted values do not depend on names. Names that are no objects are the domain's constants: each has its
    own colour. This is ``wl``'s refinement again, without hashes: problems are made with the standard library alone.
    """
    constants = sorted({name for _, arguments in structure.atoms for name in arguments} - set(structure.objects))
    atoms = [*structure.atoms, *((f"constant {name}", (name,)) for name in constants)]
    colours = dict.fromkeys([*structure.objects, *constants], 0)
    classes = 0
    while (found := len(set(colours.values()))) > classes:
        classes = found
        around: dict[str, list[tuple[str, int, tuple[int, ...]]]] = {name: [] for name in colours}
        for relation, arguments in atoms:
            row = tuple([colours[name] for name in arguments])
            for position, name in enumerate(arguments):
                around[name].append((relation, position, row))
        signatures = {name: (colours[name], tuple(sorted(around[name]))) for name in colours}
        ranks = {signature: rank for rank, signature in enumerate(sorted(set(signatures.values())))}
        colours = {name: ranks[signature] for name, signature in signatures.items()}
    coloured = sorted((relation, tuple([colours[name] for name in arguments])) for relation, arguments in atoms)
    return hashlib.sha256(repr((sorted(colours.values()), coloured)).encode()).hexdigest()


def base(structure: Structure, varying: Container[str]) -> Structure:
    """A problem without its state: the initial atoms of the predicates that vary are left out."""
    initial = "init "
    kept = [
        (relation, arguments)
        for relation, arguments in structure.atoms
        if not (relation.startswith(initial) and relation.removeprefix(initial) in varying)
    ]
    return Structure(structure.objects, tuple(kept))


def varying_predicates(domain: str) -> frozenset[str]:
    """The predicates in the effects of a domain's actions, those of conditional and universal effects among them.

    >>> text = "(define (domain d) (:action a :effect (and (p ?x) (forall (?y) (when (r ?y) (not (q ?y)))))))"
    >>> sorted(varying_predicates(text))
    ['p', 'q']
    """
    found: set[str] = set()
    for action in parse(domain, "the domain").find(":action"):
        for keyword, effect in pairwise(action.items):
            if keyword.word == ":effect":
                found |= _changed(effect)
    return frozenset(found)


def _changed(effect: Expression) -> set[str]:
    match effect.head:
        case "and":
            return {name for part in effect.items[1:] for name in _changed(part)}
        case "when" | "forall":
            return _changed(effect.items[2])
        case "not":
            return _changed(effect.items[1])
        case name:
            return {name} if name else set()

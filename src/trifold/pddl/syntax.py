"""What the parts of PDDL definitions have in common: titles, sections and typed lists of names."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from trifold.errors import TrifoldError
from trifold.expressions import Expression, Source, parse

Typed = tuple[str, tuple[str, ...], Expression]
"""A name, its types, and where it stands."""

NAME = re.compile(r"[a-z][a-z0-9_-]*")
"""What PDDL calls a name, in lower case."""


BEYOND = {
    "durative actions": (":durative-action", ":durative-actions", ":duration-inequalities"),
    "changes over time": (":continuous-effects", ":time", ":process", ":event"),
    "timed initial literals": (":timed-initial-literals", ":timed-effects"),
    "preferences": (":preferences", ":goal-utilities"),
    "constraints on the way to the goal": (":constraints",),
    "fluents whose values are objects": (":object-fluents",),
    "hierarchical tasks": (":hierarchy", ":htn", ":htn-method", ":method", ":methods", ":task", ":tasks"),
    "effects by chance": (":probabilistic-effects", ":rewards", ":mdp", ":non-deterministic"),
    "what is not known": (":partial-observability", ":contingent", ":observe", ":unknown"),
    "several agents": (":multi-agent", ":factored-privacy", ":unfactored-privacy"),
}
"""What classical planning does not have, and the words by which PDDL asks for it."""


def refuse(word: str, source: Source, entry: Expression, known: Collection[str]) -> TrifoldError:
    """The error that a requirement or a section is not supported, named as what it is."""
    what = next((what for what, words in BEYOND.items() if word in words), None)
    remedy = f"leave it out; supported are {' '.join(sorted(known))}"
    if what is not None:
        word = f"{what} ({word})"
        remedy = "give a problem of classical planning: atoms alone, and actions that take one step each"
    return TrifoldError(
        f"{word} {'is' if what is None else 'are'} not supported", place=source.place(entry.line, entry), remedy=remedy
    )


def parse_definition(source: Source, kind: str) -> Expression:
    """The (define (kind name) …) of a text; a domain given as a problem, or the other way round, is refused."""
    define = parse(source.text, source.name)
    title = define.items[1] if len(define.items) > 1 else define
    if title.head not in ("domain", "problem") or len(title.items) != 2 or title.items[1].is_list:
        raise syntax_error(source, title, "a definition starts with (define (domain name) or (define (problem name)")
    if title.head != kind:
        raise TrifoldError(
            f"this is a {title.head}, and a {kind} is needed",
            place=source.place(title.line, title),
            remedy=f"give the {kind} file here",
        )
    return define


def definition_name(define: Expression) -> str:
    """The name of the domain or problem that is defined."""
    return define.items[1].items[1].word


def check_sections(define: Expression, source: Source, known: Collection[str]) -> None:
    """Refuse what is no section, and sections that Trifold does not know, for they would change what a plan is."""
    for section in define.items[2:]:
        if not section.head.startswith(":"):
            raise syntax_error(source, section, f"a section starts with one of {' '.join(sorted(known))}")
        if section.head not in known:
            raise refuse(section.head, source, section, known)


def check_name(name: str, entry: Expression, source: Source) -> str:
    """The name, if it is one."""
    if not NAME.fullmatch(name):
        raise TrifoldError(
            f"{name!r} is not a name",
            place=source.place(entry.line, entry),
            remedy="names start with a letter and go on with letters, digits, - and _",
        )
    return name


def typed_list(define: Expression, head: str, source: Source) -> list[Typed]:
    """All entries of the sections with this head, such as (:objects a b - block)."""
    return [entry for section in define.find(head) for entry in read_typed(section.items[1:], source)]


def read_typed(items: Sequence[Expression], source: Source) -> list[Typed]:
    """(name, types, where) of the names in a list such as ``a b - block c - (either x y) d``."""
    entries: list[Typed] = []
    names: list[Expression] = []
    rest = iter(items)
    for item in rest:
        if item.is_list:
            raise syntax_error(source, item, "a list of names is written a b - type")
        if item.word != "-":
            names.append(item)
            continue
        kind = next(rest, None)
        if kind is None or not names:
            raise syntax_error(source, item, "names, a dash and their type: a b - type")
        entries.extend((name.word, _types(kind, source), name) for name in names)
        names = []
    entries.extend((name.word, ("object",), name) for name in names)
    return entries


def _types(kind: Expression, source: Source) -> tuple[str, ...]:
    """The types of ``block`` or ``(either block table)``, each once."""
    if not kind.is_list:
        return (kind.word,)
    if kind.head != "either" or len(kind.items) < 2 or any(part.is_list for part in kind.items):
        raise syntax_error(source, kind, "a type is a name, or (either name name)")
    return tuple(dict.fromkeys(part.word for part in kind.items[1:]))


def syntax_error(source: Source, entry: Expression, remedy: str) -> TrifoldError:
    """An error that says where PDDL is not well formed, and how it is written."""
    return TrifoldError("PDDL syntax error", place=source.place(entry.line, entry), remedy=remedy)

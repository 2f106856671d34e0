"""Reading relational joins from text, as the printer and the paper write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from trifold.errors import TrifoldError
from trifold.logic.formulas import Atom, Conjunction, Disjunction, Formula, Join

PLAIN = {"&": "∧", "|": "∨", "~": "¬", "exists": "∃"}
"""What can be typed on any keyboard for the symbols of logic."""

TOKEN = re.compile(r"[\w@][\w@-]*|[∃¬∧∨&|~()\[\],]|\S")


def parse(text: str, variables: tuple[str, str] = ("x", "y")) -> Formula:
    """The relational join that a text says, with these free variables, in this order.

    ¬ binds more than ∧, and ∧ more than ∨; ``~ & | exists`` may stand for ``¬ ∧ ∨ ∃``. The conjuncts of ∃z[…] may come
    in any order: each speaks of z and of one free variable. Bound variables may have any names.

    >>> print(parse("exists s[key(k,s) & lock(l,s)]", ("k", "l")))
    ∃z[key(x,z) ∧ lock(y,z)]
    >>> print(parse("∃z[near(z,y) ∧ adj(x,z)] ∨ near(x,y) ∧ ¬far(y,x)"))
    ∃z[adj(x,z) ∧ near(z,y)] ∨ (near(x,y) ∧ ¬far(y,x))
    """
    reader = _Reader(text)
    syntax = reader.chain("∨")
    if reader.position < len(reader.tokens):
        reader.fail("the formula should end here")
    return _resolve(syntax, *variables, text)


@dataclass(frozen=True)
class _Syntax:
    """A piece of text understood, its variables still as written: an atom, ¬, ∧, ∨ or ∃.

    words     the atom's relation and its two variables, or the variable that ∃ binds
    """

    kind: str
    words: tuple[str, ...]
    parts: tuple[_Syntax, ...]

    @property
    def free(self) -> set[str]:
        if self.kind == "atom":
            return set(self.words[1:])
        return set().union(*(part.free for part in self.parts)) - set(self.words)


class _Reader:
    """Recursive descent over the tokens of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [match.start() for match in TOKEN.finditer(text)]
        self.tokens: list[str] = [PLAIN.get(token, token) for token in TOKEN.findall(text)]
        self.position = 0

    @property
    def token(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def chain(self, operator: str) -> _Syntax:
        """One or more parts between ∨, each one or more parts between ∧."""
        parts = [self.link(operator)]
        while self.token == operator:
            self.position += 1
            parts.append(self.link(operator))
        return _Syntax(operator, (), tuple(parts)) if len(parts) > 1 else parts[0]

    def link(self, operator: str) -> _Syntax:
        return self.chain("∧") if operator == "∨" else self.unit()

    def unit(self) -> _Syntax:
        if self.token == "(":
            return self.enclosed("(", ")")
        if self.token == "¬":
            self.position += 1
            return _Syntax("¬", (), (self.unit(),))
        if self.token == "∃":
            self.position += 1
            variable = self.name("a variable")
            return _Syntax("∃", (variable,), (self.enclosed("[", "]"),))
        relation = self.name("an atom, ¬, ∃ or a bracket")
        self.expect("(")
        first = self.name("a variable")
        self.expect(",")
        second = self.name("a variable")
        self.expect(")")
        return _Syntax("atom", (relation, first, second), ())

    def enclosed(self, opening: str, closing: str) -> _Syntax:
        self.expect(opening)
        inner = self.chain("∨")
        self.expect(closing)
        return inner

    def name(self, wanted: str) -> str:
        if not re.match(r"[\w@]", self.token):
            self.fail(f"{wanted} should stand here")
        self.position += 1
        return self.tokens[self.position - 1]

    def expect(self, symbol: str) -> None:
        if self.token != symbol:
            self.fail(f"{symbol!r} should stand here")
        self.position += 1

    def fail(self, message: str) -> NoReturn:
        start = self.starts[self.position] if self.position < len(self.starts) else len(self.text)
        raise TrifoldError(f"this is no formula: {message}", place=f"{self.text[:start]} ⟶ {self.text[start:]}")


def _resolve(syntax: _Syntax, first: str, second: str, text: str) -> Formula:
    """The formula φ(x,y) such that the syntax is φ(first, second)."""

    def refuse(reason: str) -> NoReturn:
        raise TrifoldError(f"this is no formula of J₃: {reason}", place=text)

    def all_of(parts: Sequence[_Syntax], one: str, other: str) -> Formula:
        operands = tuple(_resolve(part, one, other, text) for part in parts)
        return Conjunction(operands) if len(operands) > 1 else operands[0]

    match syntax.kind:
        case "atom":
            relation, *arguments = syntax.words
            if sorted(arguments) != sorted([first, second]):
                refuse(f"{relation}({','.join(arguments)}) should have the variables {first} and {second}, once each")
            return Atom(relation, "xy" if arguments[0] == first else "yx")
        case "¬":
            if syntax.parts[0].kind != "atom":
                refuse("only an atom can be negated")
            return ~_resolve(syntax.parts[0], first, second, text)
        case "∨":
            return Disjunction(tuple(_resolve(part, first, second, text) for part in syntax.parts))
        case "∧":
            return all_of(syntax.parts, first, second)
        case _:
            (bound,), (body,) = syntax.words, syntax.parts
            if bound in (first, second):
                refuse(f"∃{bound} binds a variable that is free around it")
            conjuncts = body.parts if body.kind == "∧" else (body,)
            left = [part for part in conjuncts if part.free == {first, bound}]
            right = [part for part in conjuncts if part.free == {second, bound}]
            if not left or not right or len(left) + len(right) < len(conjuncts):
                refuse(
                    f"∃{bound}[…] should be a conjunction in which each conjunct has the variables {first} and {bound}"
                    f" or {second} and {bound}, and both kinds occur"
                )
            return Join(all_of(left, first, bound), all_of(right, second, bound))

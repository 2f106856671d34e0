"""PDDL text: read it, normalise it, and see it as nested expressions that know their lines.

The one reader, for all of Trifold: it needs the standard library alone, for problems are also made with no more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from trifold.errors import TrifoldError
from trifold.files import read_text

TOKEN = re.compile(r"[()]|\??[^\s()?]+|\?|\n")  # a variable may follow a name without a space: (on?x ?y)
COMMENT = re.compile(r";[^\n]*")

MAX_DEPTH = 200
"""How deep expressions may be nested: deeper ones overflow the stacks of those who read them."""


class Expression(NamedTuple):
    """A word, or a list in parentheses, and the line where it starts.

    >>> on = parse("(define (on a b))", "a text").items[1]
    >>> on.head, str(on), on.line
    ('on', '(on a b)', 1)
    """

    line: int
    word: str
    items: tuple[Expression, ...] = ()

    @property
    def is_list(self) -> bool:
        """Whether it is a list in parentheses, and no word."""
        return not self.word

    @property
    def head(self) -> str:
        """The word that a list starts with, or nothing."""
        return self.items[0].word if self.items else ""

    @property
    def words(self) -> tuple[str, ...]:
        """The words of a list after its head: the arguments of an atom."""
        return tuple([item.word for item in self.items[1:]])

    def find(self, head: str) -> Iterator[Expression]:
        """The lists directly inside this one that start with the word."""
        return (item for item in self.items if item.head == head)

    def __str__(self) -> str:
        return self.word or f"({' '.join(map(str, self.items))})"


class Source(NamedTuple):
    """A text and what to call it in errors: its path, or words such as "the problem text"."""

    text: str
    name: str

    def place(self, line: int, excerpt: object = None) -> str:
        """The place of an error: the source, the line, and the offending words of it."""
        if excerpt is None:
            lines = self.text.splitlines()
            excerpt = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        words = " ".join(str(excerpt).split())
        words = words if len(words) <= 80 else words[:79] + "…"
        return f"{self.name}, line {line}" + (f": {words}" if words else "")


def open_source(text_or_path: str | Path | Source, kind: str) -> Source:
    """PDDL as given: a string with a parenthesis is text, another one is a path. The kind is for errors."""
    if isinstance(text_or_path, Source):
        return text_or_path
    if isinstance(text_or_path, str) and "(" in text_or_path:
        return Source(text_or_path, f"the {kind} text")
    return Source(read_text(text_or_path), str(text_or_path))


def normalise(text: str) -> str:
    """The text without what does not matter: comments are spaces, names are lower case, lines keep their numbers.

    >>> normalise("; blocks\\n(ON A b) ; done")
    '        \\n(on a b)       '
    """
    return COMMENT.sub(lambda comment: " " * len(comment[0]), text.removeprefix("\ufeff")).lower()


def parse(text: str, name: str) -> Expression:
    """The one (define …) of a PDDL text; the name is what errors call the text."""
    source = Source(text, name)
    remedy = "the file must hold one (define (domain …) …) or one (define (problem …) …)"
    line, opened = 1, []
    stack: list[list[Expression]] = [[]]
    for token in TOKEN.findall(normalise(text)):
        if token == "\n":
            line += 1
        elif token == "(":
            stack.append([])
            opened.append(line)
            if len(opened) > MAX_DEPTH:
                raise TrifoldError(
                    f"parentheses are nested more than {MAX_DEPTH} deep",
                    place=source.place(line),
                    remedy="flatten the expression: (and (and a b) c) is (and a b c)",
                )
        elif token != ")":
            stack[-1].append(Expression(line, token))
        elif not opened:
            raise TrifoldError(
                "a parenthesis is closed that was never opened", place=source.place(line), remedy="remove it"
            )
        else:
            items = tuple(stack.pop())
            stack[-1].append(Expression(opened.pop(), "", items))
    if opened:
        raise TrifoldError(
            "a parenthesis is never closed",
            place=source.place(opened[-1]),
            remedy="close it, or look for one closed too few after that line",
        )
    if not stack[0]:
        raise TrifoldError("there is no PDDL in it: it is empty", place=name, remedy=remedy)
    define = stack[0][0]
    if define.head != "define":
        raise TrifoldError("this is not PDDL", place=source.place(define.line), remedy=remedy)
    if len(stack[0]) > 1:
        raise TrifoldError("there is text after the definition", place=source.place(stack[0][1].line), remedy=remedy)
    return define

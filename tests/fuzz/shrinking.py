"""Shrinking: the least PDDL text that still fails, by leaving out expressions while it does."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

Tree = Any  # a word, or a list of trees


def parse(text: str) -> list[Tree]:
    """The text's expressions; comments are left out."""
    stack: list[list[Tree]] = [[]]
    for token in re.findall(r"[()]|\??[^\s()?]+|\?", re.sub(r";[^\n]*", "", text)):
        if token == "(":
            stack.append([])
        elif token == ")" and len(stack) > 1:
            last = stack.pop()
            stack[-1].append(last)
        elif token != ")":
            stack[-1].append(token)
    return stack[0]


def render(trees: list[Tree], between: str = " ") -> str:
    return between.join(tree if isinstance(tree, str) else f"({render(tree)})" for tree in trees)


def smaller(trees: list[Tree]) -> Iterator[list[Tree]]:
    """The same with one expression less: left out, or replaced by one of its parts."""
    for place, tree in enumerate(trees):
        yield trees[:place] + trees[place + 1 :]
        if isinstance(tree, list):
            for part in tree:
                if isinstance(part, list):
                    yield [*trees[:place], part, *trees[place + 1 :]]
    for place, tree in enumerate(trees):
        if isinstance(tree, list):
            for less in smaller(tree):
                yield [*trees[:place], less, *trees[place + 1 :]]


def shrink(pair: tuple[str, str], fails: Callable[[str, str], bool], seconds: float = 20.0) -> tuple[str, str]:
    """The smallest pair of texts found that still fails."""
    deadline = time.monotonic() + seconds
    found = [render(parse(text)) for text in pair]
    if not fails(*found):
        return pair
    is_changed = True
    while is_changed:
        is_changed = False
        for which in (0, 1):
            is_smaller = True
            while is_smaller and time.monotonic() < deadline:
                is_smaller = False
                for candidate in smaller(parse(found[which])):
                    texts = list(found)
                    texts[which] = render(candidate)
                    if time.monotonic() > deadline:
                        break
                    if fails(*texts):
                        found, is_smaller, is_changed = texts, True, True
                        break
    return found[0], found[1]

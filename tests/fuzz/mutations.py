"""Mutations: what goes wrong with PDDL files in the hands of people and programs, and much that should not matter."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from fuzz.shrinking import Tree, parse, render

WEIRD = [
    "\x00",
    "\ufeff",
    "é",
    "日本",
    "\t",
    "\r\n",
    '"',
    "'",
    "\\",
    "%s",
    "{0}",
    "[bold]",
    "\u2028",
    ";",
    "#|",
    "\x1b[31m",
]
WORDS = ["and", "not", "object", "either", "?x", "-", "=", "define", "domain", ":init", "forall", "0", "@goal",
         "on@goal", "()", "(", ")", "(and)", "(or)", "(not)", "number", "total-cost", "increase", "1e9"]  # fmt: skip
REQUIREMENTS = [":strips", ":nonsense", ":fluents", ":durative-actions", ":preferences", "typing", ":adl :adl", ""]


def tokens(text: str) -> list[str]:
    return re.findall(r"[()]|[^\s()]+|\s+", text)


def delete_token(rng: random.Random, text: str) -> str:
    found = tokens(text)
    del found[rng.randrange(len(found))]
    return "".join(found)


def repeat_token(rng: random.Random, text: str) -> str:
    found = tokens(text)
    place = rng.randrange(len(found))
    return "".join([*found[:place], found[place], " ", *found[place:]])


def swap_tokens(rng: random.Random, text: str) -> str:
    found = tokens(text)
    one, other = (rng.randrange(len(found)) for _ in range(2))
    found[one], found[other] = found[other], found[one]
    return "".join(found)


def replace_token(rng: random.Random, text: str) -> str:
    found = tokens(text)
    found[rng.randrange(len(found))] = rng.choice([*WORDS, rng.choice(found)])
    return "".join(found)


def insert_token(rng: random.Random, text: str) -> str:
    found = tokens(text)
    place = rng.randrange(len(found))
    return "".join([*found[:place], f" {rng.choice([*WORDS, rng.choice(found)])} ", *found[place:]])


def truncate(rng: random.Random, text: str) -> str:
    return text[: rng.randrange(len(text))]


def insert_weird(rng: random.Random, text: str) -> str:
    place = rng.randrange(len(text))
    return text[:place] + rng.choice(WEIRD) + text[place:]


def change_case(rng: random.Random, text: str) -> str:
    found = tokens(text)
    place = rng.randrange(len(found))
    found[place] = found[place].upper()
    return rng.choice(["".join(found), text.upper(), text.title()])


def rename_once(rng: random.Random, text: str) -> str:
    found = tokens(text)
    places = [place for place, token in enumerate(found) if token[0].isalpha()]
    if places:
        found[rng.choice(places)] += rng.choice(["x", "-2", "s"])
    return "".join(found)


def rename_all(rng: random.Random, text: str) -> str:
    names = sorted({token for token in tokens(text) if token[0].isalpha()})
    name = rng.choice(names)
    new = rng.choice(
        [f"{name}-new", "and", "object", "a" * 5000, rng.choice(names), "number", "=", "invented", "either-type"]
    )
    return "".join(new if token == name else token for token in tokens(text))


def comment_last_line(rng: random.Random, text: str) -> str:
    return text.rstrip() + " ; the end"


def windows_lines(rng: random.Random, text: str) -> str:
    return text.replace("\n", "\r\n")


def nest_deeply(rng: random.Random, text: str) -> str:
    """An expression in many more parentheses."""
    start = rng.choice([place for place, letter in enumerate(text) if letter == "("])
    depth, end = 0, start
    for end in range(start, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if not depth:
            break
    word, times = rng.choice(["(and ", "(not ", "(or "]), rng.choice([2, 10, 90, 250, 100_000])
    return text[:start] + word * times + text[start : end + 1] + ")" * times + text[end + 1 :]


def lists(tree: list[Tree]) -> Iterator[list[Tree]]:
    """All lists inside, however deep."""
    for part in tree:
        if isinstance(part, list):
            yield part
            yield from lists(part)


def of_tree(change: Callable[[random.Random, list[Tree], list[Tree]], None]) -> Callable[[random.Random, str], str]:
    """A mutation that changes one list of the text: it gets the whole and the list."""

    def mutate(rng: random.Random, text: str) -> str:
        trees = parse(text)
        found = list(lists(trees))
        if found:
            change(rng, trees, rng.choice(found))
        return render(trees, "\n")

    mutate.__name__ = change.__name__
    return mutate


def conditions(trees: list[Tree]) -> list[list[Tree]]:
    """The conditions of actions, rules and goals, and their parts."""

    def inside(condition: Tree) -> Iterator[list[Tree]]:
        if isinstance(condition, list):
            yield condition
            if condition[:1] and condition[0] in ("and", "or", "not", "imply", "exists", "forall"):
                for part in condition[-1:] if condition[0] in ("exists", "forall") else condition[1:]:
                    yield from inside(part)

    found: list[list[Tree]] = []
    for tree in lists(trees):
        for before, part in itertools.pairwise(tree):
            if before in (":precondition", ":goal") or (tree[0] == "when" and before == "when"):
                found += inside(part)
    return found


@of_tree
def drop_part(rng: random.Random, trees: list[Tree], tree: list[Tree]) -> None:
    if tree:
        del tree[rng.randrange(len(tree))]


@of_tree
def repeat_part(rng: random.Random, trees: list[Tree], tree: list[Tree]) -> None:
    if tree:
        tree.append(rng.choice(tree))


@of_tree
def drop_section(rng: random.Random, trees: list[Tree], tree: list[Tree]) -> None:
    if len(trees[0]) > 2:
        del trees[0][rng.randrange(1, len(trees[0]))]


@of_tree
def repeat_section(rng: random.Random, trees: list[Tree], tree: list[Tree]) -> None:
    trees[0].insert(rng.randrange(len(trees[0]) + 1), rng.choice(trees[0]))


@of_tree
def shuffle_sections(rng: random.Random, trees: list[Tree], tree: list[Tree]) -> None:
    rest = trees[0][2:]
    rng.shuffle(rest)
    trees[0][2:] = rest


@of_tree
def change_requirements(rng: random.Random, trees: list[Tree], tree: list[Tree]) -> None:
    trees[0].insert(2, [":requirements", rng.choice(REQUIREMENTS)])


@of_tree
def move_part(rng: random.Random, trees: list[Tree], tree: list[Tree]) -> None:
    if tree:
        rng.choice(list(lists(trees))).append(tree.pop(rng.randrange(len(tree))))


@of_tree
def wrap_condition(rng: random.Random, trees: list[Tree], tree: list[Tree]) -> None:
    """A condition becomes part of a larger one that means the same, the opposite, or something else."""
    found = conditions(trees)
    if not found:
        return
    target = rng.choice(found)
    old, other = deepcopy(target), deepcopy(rng.choice(found))
    shapes: list[list[Any]] = [
        ["or", old, other],
        ["or", old, ["not", old]],
        ["and", old, ["or", old, other]],
        ["and", ["or", old, other], ["or", other, ["not", old]]],
        ["imply", old, other],
        ["not", ["not", old]],
        ["forall", ["?w"], old],
        ["exists", ["?w", "?x", "-", "object"], old],
        ["exists", ["?w", "-", ["either", "object", "object"]], ["and", old, ["=", "?w", "?w"]]],
        ["forall", ["?w", "-", ["either", "nothing", "object"]], old],
        ["exists", [], old],
        ["when", old, other],
        ["preference", "p1", old],
        ["=", old, other],
    ]
    target[:] = rng.choice(shapes)


@of_tree
def many_disjunctions(rng: random.Random, trees: list[Tree], tree: list[Tree]) -> None:
    """A conjunction of disjunctions, which has exponentially many disjuncts."""
    found = conditions(trees)
    if found:
        target, parts = rng.choice(found), deepcopy(found)
        old = deepcopy(target)
        target[:] = ["and", *(["or", old, rng.choice(parts)] for _ in range(rng.choice([3, 8, 25])))]


@of_tree
def make_either(rng: random.Random, trees: list[Tree], tree: list[Tree]) -> None:
    """A type somewhere becomes an either."""
    found = [(part, place + 1) for part in lists(trees) for place in range(len(part) - 1) if part[place] == "-"]
    if found:
        part, place = rng.choice(found)
        other = rng.choice(found)
        part[place] = ["either", *([part[place], other[0][other[1]]][: rng.choice([2, 2, 2, 1, 0])])]


@of_tree
def change_arity(rng: random.Random, trees: list[Tree], tree: list[Tree]) -> None:
    atoms = [part for part in lists(trees) if len(part) > 1 and all(isinstance(word, str) for word in part)]
    if atoms:
        atom = rng.choice(atoms)
        change: Callable[[], object] = rng.choice([lambda: atom.append(atom[-1]), lambda: atom.pop()])
        change()


@of_tree
def add_entry(rng: random.Random, trees: list[Tree], tree: list[Tree]) -> None:
    """Something odd that a section may or may not hold."""
    additions: list[list[Any]] = [
        [":functions", ["total-cost"], ["fuel", "?x"]],
        [":functions", ["total-cost"], "-", "number"],
        [":metric", "minimize", ["total-cost"]],
        [":init", ["not", ["p"]]],
        [":init", ["=", ["total-cost"], "9" * 400]],
        [":init", ["at", "5", ["p"]]],
        [":types", "a", "-", "b", "b", "-", "a"],
        [":types", "object", "-", "thing"],
        [":constants", "c", "-", "nothing"],
        [":objects", *(f"extra{number}" for number in range(rng.choice([1, 40])))],
        [":goal", ["and"]],
        [":goal", []],
        [":constraints", ["always", ["p"]]],
        [":durative-action", "d", ":parameters", []],
        [":derived", ["p"], ["not", ["p"]]],
        [":derived", ["new", "?x"], ["and"]],
        [":action", "odd", ":parameters", ["?x", "-", "?y"], ":effect", ["and"]],
        [":action", "odd", ":parameters", [], ":precondition", [], ":effect", []],
        [":action", "odd", ":effect", ["increase", ["total-cost"], "1e999"]],
        [":action", "odd"],
    ]
    trees[0].insert(rng.randrange(2, len(trees[0]) + 1), rng.choice(additions))


@of_tree
def many_parameters(rng: random.Random, trees: list[Tree], tree: list[Tree]) -> None:
    """An action with more parameters than can be tried."""
    count = rng.choice([1, 3, 8, 14])
    for section in trees[0]:
        if isinstance(section, list) and section[:1] == [":action"] and ":parameters" in section[:-1]:
            parameters = section[section.index(":parameters") + 1]
            if isinstance(parameters, list):
                parameters[:0] = [f"?more{number}" for number in range(count)] + ["-", "object"] * bool(parameters)
            break


MUTATIONS: list[Callable[[random.Random, str], str]] = [
    delete_token, repeat_token, swap_tokens, replace_token, insert_token, truncate, insert_weird, change_case,
    rename_once, rename_all, comment_last_line, windows_lines, drop_part, repeat_part, drop_section, repeat_section,
    shuffle_sections, change_requirements, move_part, wrap_condition, wrap_condition, wrap_condition, nest_deeply,
    many_disjunctions, make_either, change_arity, add_entry, many_parameters,
]  # fmt: skip


def mutate(rng: random.Random, text: str) -> tuple[bytes, list[str]]:
    """The text after a few mutations, as bytes, and their names."""
    names = []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        mutation = rng.choice(MUTATIONS)
        try:
            text = mutation(rng, text)
        except (AttributeError, IndexError, ValueError, TypeError, RecursionError):  # an earlier one took it away
            continue
        names.append(mutation.__name__)
    content = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.02:
        names.append("not_utf8")
        place = rng.randrange(len(content) + 1)
        content = content[:place] + b"\xff\xfe" + content[place:]
    return content, names

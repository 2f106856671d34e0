"""Navig-xy: there is just one free path, with robot and goal at its ends, and the paper's two grids are as printed."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from unified_planning.io import PDDLReader

from trifold.domains import SPLITS
from trifold.domains.navig_xy import FIGURES, generate, suite
from trifold.domains.visitall import Cell, neighbours
from trifold.pddl import expand

DOMAIN = files("trifold.domains").joinpath("navig-xy.pddl").read_text(encoding="utf-8")


def draw(split: str) -> list[str]:
    return [generate(random.Random(f"{split}/{index}"), **options) for index, options in enumerate(suite(split))]


def cells_of(predicate: str, text: str) -> set[Cell]:
    return {(int(x), int(y)) for x, y in re.findall(rf"\({predicate} x(\d+) y(\d+)\)", text)}


def follow(text: str) -> list[Cell]:
    """Follow the only free path from the robot to the goal; fails where it branches."""
    init, goal = text.split("(:goal")
    free = cells_of("cell", init) - cells_of("blocked", init)
    path = list(cells_of("at", init))
    assert len(path) == len(cells_of("at", goal)) == 1
    while ahead := free.intersection(neighbours(path[-1])).difference(path[-2:]):
        (cell,) = ahead
        path.append(cell)
    assert {path[-1]} == cells_of("at", goal)
    return path


def test_the_domain_has_the_relations_of_the_paper() -> None:
    assert DOMAIN.startswith("(define (domain navig-xy)\n")
    domain = PDDLReader().parse_problem_string(DOMAIN)
    relations = {"succ-x": 2, "succ-y": 2, "cell": 2, "blocked": 2, "at": 2}
    assert {fluent.name: fluent.arity for fluent in domain.fluents} == relations
    assert [action.name for action in domain.actions] == ["move-right", "move-left", "move-up", "move-down"]


def test_the_second_parser_finds_the_same_sizes() -> None:
    text = generate(random.Random(0), width=6, height=4, moves=7)
    problem = PDDLReader().parse_problem_string(DOMAIN, text)
    assert len(problem.all_objects) == 6 + 4 and len(problem.goals) == 1
    assert [text.count(f"({name} ") for name in ("cell", "succ-x", "succ-y")] == [24, 5, 3]


@pytest.mark.parametrize("split", SPLITS)
def test_every_problem_has_one_path_of_the_length_asked_for(split: str) -> None:
    for text, options in zip(draw(split), suite(split), strict=True):
        moves = len(follow(text)) - 1
        assert moves == options.get("moves", moves) > 0


@pytest.mark.parametrize("split", ["train", "test"])
def test_a_space_is_its_path(split: str) -> None:
    for text in draw(split)[:: 6 if split == "train" else 1]:
        moves = len(follow(text)) - 1
        space = expand(DOMAIN, text, 1_000)
        assert sorted(space.distances) == list(range(moves + 1))
        assert space.distances[space.initial] == moves
        assert np.all(np.diff(space.transition_offsets) <= 2)


def test_the_suite_has_the_sizes_of_the_paper() -> None:
    texts = {split: draw(split) for split in SPLITS}
    cells = {split: [text.count("(cell ") for text in texts[split]] for split in SPLITS}
    assert [len(texts[split]) for split in SPLITS] == [630, 30, 72]
    assert max(cells["train"]) == max(cells["validation"]) == 28
    assert max(cells["test"]) == 32
    bodies = {split: [text.split("\n", 1)[1] for text in texts[split]] for split in SPLITS}
    held_out = set(bodies["validation"]) | set(bodies["test"])
    assert len(held_out) == 30 + 72 and held_out.isdisjoint(bodies["train"])


def test_the_figures_are_tests_by_name() -> None:
    left, right = draw("test")[:2]
    assert left.startswith("(define (problem navig-xy-figure-left)\n")
    assert right.startswith("(define (problem navig-xy-figure-right)\n")
    assert follow(left) == [(2, 3), (2, 2), (1, 2), (1, 1)]
    right_path = [
        (1, 3),
        (2, 3),
        (3, 3),
        (3, 4),
        (4, 4),
        (5, 4),
        (6, 4),
        (7, 4),
        (7, 3),
        (7, 2),
        (7, 1),
        (6, 1),
        (5, 1),
    ]
    assert follow(right) == [*right_path, (5, 2), (4, 2)]
    for text, rows in zip((left, right), FIGURES.values(), strict=True):
        assert [len(row) for row in rows] == [8] * 4
        assert text.count("(blocked ") == sum(row.count("#") for row in rows) == 16


def test_training_covers_directions_detours_and_useless_cells() -> None:
    directions, moves, detours, useless = set(), set(), 0, 0
    for text in draw("train"):
        path = follow(text)
        (x, y), goal = path[0], path[-1]
        directions |= {(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(path)}
        moves.add(len(path) - 1)
        detours += len(path) - 1 > abs(goal[0] - x) + abs(goal[1] - y)
        useless += text.count("(cell ") - text.count("(blocked ") > len(path)
    assert directions == {(1, 0), (-1, 0), (0, 1), (0, -1)}
    assert moves == set(range(1, 17))
    assert detours > 20 and useless > 20
    assert max(len(follow(text)) - 1 for text in draw("test")) <= max(moves)


def test_other_processes_draw_the_same_problems_and_other_seeds_others() -> None:
    script = (
        "import random; from trifold.domains.navig_xy import generate\n"
        "print(generate(random.Random('a'), width=6, height=5, moves=9), end='')"
    )
    texts = [
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    here = generate(random.Random("a"), width=6, height=5, moves=9)
    assert texts == [here, here]
    assert here != generate(random.Random("b"), width=6, height=5, moves=9)


@pytest.mark.parametrize(
    "options", [{"width": 0}, {"moves": 0}, {"width": 3, "height": 1, "moves": 3}, {"grid": "left"}]
)
def test_impossible_options_are_refused(options: dict[str, int | str]) -> None:
    with pytest.raises(ValueError, match=r"not|no free path"):
        generate(random.Random(0), **options)

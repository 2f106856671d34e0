"""Visitall: problems are as large as asked, unsolved, solvable, and cover what large grids need."""

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
from trifold.domains.visitall import Cell, generate, grid_cells, neighbours, suite
from trifold.pddl import expand, load_domain, load_problem

DOMAIN = files("trifold.domains").joinpath("visitall.pddl").read_text(encoding="utf-8")


def draw(split: str) -> list[str]:
    return [generate(random.Random(f"{split}/{index}"), **options) for index, options in enumerate(suite(split))]


def read(text: str) -> tuple[Cell, set[Cell], set[Cell]]:
    """Read the robot's cell, the visited cells and the cells of the goal from the text of a problem."""
    init, goal = text.split("(:goal")
    (robot,) = cells_of("at-robot", init)
    return robot, cells_of("visited", init), cells_of("visited", goal)


def cells_of(predicate: str, text: str) -> set[Cell]:
    return {(int(x), int(y)) for x, y in re.findall(rf"\({predicate} loc-x(\d+)-y(\d+)\)", text)}


def count_states(cells: list[Cell], visited: set[Cell]) -> int:
    """Count the connected sets around the visited cells, times the robot's places in each; a set is a number's bits."""
    bit = {cell: 1 << number for number, cell in enumerate(cells)}
    beside = {bit[cell]: sum(bit[near] for near in neighbours(cell) if near in bit) for cell in cells}
    start = sum(bit[cell] for cell in visited)
    found, stack = {start}, [start]
    while stack:
        region = stack.pop()
        grown = {region | one for one, near in beside.items() if near & region} - found
        found |= grown
        stack += grown
    return sum(region.bit_count() for region in found)


def test_the_domain_has_the_names_and_arities_of_the_public_file() -> None:
    assert DOMAIN.startswith("(define (domain grid-visit-all)\n")
    domain = PDDLReader().parse_problem_string(DOMAIN)
    assert {fluent.name: fluent.arity for fluent in domain.fluents} == {"connected": 2, "at-robot": 1, "visited": 1}
    assert {action.name: len(action.parameters) for action in domain.actions} == {"move": 2}
    assert [kind.name for kind in domain.user_types] == ["place"]


def test_two_parsers_read_a_problem_alike() -> None:
    text = generate(random.Random(0), width=4, height=3, share=50)
    first, second = load_problem(load_domain(DOMAIN), text), PDDLReader().parse_problem_string(DOMAIN, text)
    assert set(first.objects) == {item.name for item in second.all_objects} and len(first.objects) == 12
    assert text.count("(connected ") == 2 * (3 * 3 + 4 * 2)
    assert len(first.goal) == len(second.goals[0].args)


def test_small_spaces_hold_every_connected_set_around_the_start() -> None:
    for width, height, share, visited in [(2, 1, 50, 1), (5, 1, 100, 1), (3, 2, 50, 1), (3, 3, 25, 1), (4, 3, 50, 4)]:
        text = generate(random.Random(1), width=width, height=height, share=share, visited=visited)
        space = expand(DOMAIN, text, 10_000)
        assert len(space) == count_states(grid_cells(width, height), read(text)[1])
        assert space.distances[space.initial] > 0 and np.all(space.distances >= 0)


def test_large_problems_are_solved_by_walking_through_all_cells() -> None:
    for index, options in enumerate(suite("test")):
        text = generate(random.Random(index), **options)
        problem = load_problem(load_domain(DOMAIN), text)
        state = problem.initial_state
        assert not problem.is_goal(state)
        for (x, y), (next_x, next_y) in pairwise(walk(read(text)[0], int(options["width"]), int(options["height"]))):
            state = dict(problem.successors(state))[f"(move loc-x{x}-y{y} loc-x{next_x}-y{next_y})"]
        assert problem.is_goal(state)


def walk(robot: Cell, width: int, height: int) -> list[Cell]:
    """Walk to the corner, and from there through all cells, row by row and back."""
    x, y = robot
    to_corner = [(column, y) for column in range(x, 0, -1)] + [(0, row) for row in range(y, 0, -1)]
    return to_corner + [(x if y % 2 == 0 else width - 1 - x, y) for y in range(height) for x in range(width)]


def test_the_suite_has_the_sizes_of_the_paper() -> None:
    cells = {split: [int(options["width"]) * int(options["height"]) for options in suite(split)] for split in SPLITS}
    assert [len(cells[split]) for split in SPLITS] == [40, 13, 22]
    assert max(cells["train"]) == max(cells["validation"]) == 21
    assert min(cells["test"]) > 21 and max(cells["test"]) == 100
    for split in SPLITS:
        texts = draw(split)
        assert len(set(texts)) == len(texts)
        for text, count in zip(texts, cells[split], strict=True):
            _, visited, goal = read(text)
            assert len(load_problem(load_domain(DOMAIN), text).objects) == count
            assert len(visited) < count and not goal <= visited


def test_training_covers_starts_goals_and_cells_left_behind() -> None:
    starts, shares, far = set(), set(), 0
    for text, options in zip(draw("train"), suite("train"), strict=True):
        cells = grid_cells(int(options["width"]), int(options["height"]))
        robot, visited, goal = read(text)
        if min(int(options["width"]), int(options["height"])) > 1:
            starts.add(sum(cell in cells for cell in neighbours(robot)))
        shares.add(len(goal) * 4 // len(cells))
        far = max(far, *[abs(x - robot[0]) + abs(y - robot[1]) for x, y in goal - visited])
    assert starts == {2, 3, 4}  # in a corner, at a border, inside
    assert shares >= {0, 1, 2, 4}
    assert far > 10


def test_training_spaces_can_be_expanded() -> None:
    for split in ("train", "validation"):
        sizes = [
            count_states(grid_cells(int(options["width"]), int(options["height"])), read(text)[1])
            for text, options in zip(draw(split), suite(split), strict=True)
        ]
        assert max(sizes) < 300_000 and 10_000 < sum(sizes) < 1_500_000


def test_other_processes_draw_the_same_problems_and_other_seeds_others() -> None:
    script = (
        "import random; from trifold.domains.visitall import generate\n"
        "print(generate(random.Random('a'), width=6, height=5, share=50, visited=9), end='')"
    )
    texts = [
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    here = generate(random.Random("a"), width=6, height=5, share=50, visited=9)
    assert texts == [here, here]
    assert here != generate(random.Random("b"), width=6, height=5, share=50, visited=9)


@pytest.mark.parametrize(
    "options", [{"width": 0}, {"share": 0}, {"share": 101}, {"visited": 0}, {"width": 2, "height": 2, "visited": 4}]
)
def test_impossible_options_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="not"):
        generate(random.Random(0), **options)

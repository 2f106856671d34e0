"""Navig-xy: a robot must reach a cell of a grid with blocked cells, where cells are pairs of coordinates.

As in the paper's instances, the free cells that the robot can reach form one path without branches that starts at the
robot and ends at the goal; other free cells are out of reach. Its figure shows two test instances, here with R for the
robot, G for the goal and # for blocked cells:

    figure-left     figure-right

    ##..##.#        ##.....#
    #R##.###        R..###.#
    ..##.#..        ###G.#.#
    G#..#...        .###...#

The Manhattan distance guides the robot on the left and misleads it on the right. A training set must cover paths in
all four directions, straight ones and ones that lead away from the goal first, from one move to the longest that tests
have, lying and standing grids, and free cells beside the path that are of no use. A state is a cell of the path, so a
space has at most 17 states: a training split of 105 problems has 834, and a network learns those by heart (training
error 0.01, validation 0.77), so each size is drawn six times.
"""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Literal

from trifold.domains.problem import problem_text
from trifold.domains.visitall import Cell, grid_cells, neighbours

DESCRIPTION = "reach a cell of a grid with obstacles that is given by coordinates"
PICTURE = """\
 y4  # # . . . . . #
 y3  R . . # # # . #    R  the robot
 y2  # # # G . # . #    G  the goal
 y1  . # # # . . . #    #  blocked
     1 2 3 4 5 6 7 8 x"""

FIGURES = {
    "figure-left": ["##..##.#", "#R##.###", "..##.#..", "G#..#..."],
    "figure-right": ["##.....#", "R..###.#", "###G.#.#", ".###...#"],
}
"""The two grids of the paper's figure, row by row from the top, that is from the greatest y."""

DRAWS = 20_000


def generate(
    rng: random.Random,
    *,
    width: int = 6,
    height: int = 4,
    moves: int = 4,
    grid: Literal["random", "figure-left", "figure-right"] = "random",
) -> str:
    """Generate a problem with just one free path to the goal.

    grid="random"      a random path of so many moves, and random blocked cells around it
    grid="figure-..."  a grid of the paper's figure; rng and the other options are not used
    """
    if grid == "random":
        rows = draw_rows(rng, width, height, moves)
        name = f"navig-xy-{width}x{height}-{moves}"
    elif grid in FIGURES:
        rows = FIGURES[grid]
        name = f"navig-xy-{grid}"
    else:
        raise ValueError(f'grid must be "random", "figure-left" or "figure-right", not {grid!r}')
    columns = [f"x{number}" for number in range(1, len(rows[0]) + 1)]
    lines = [f"y{number}" for number in range(1, len(rows) + 1)]
    marks = {
        f"{x} {y}": mark
        for y, row in zip(lines, reversed(rows), strict=True)
        for x, mark in zip(columns, row, strict=True)
    }
    return problem_text(
        name,
        domain="navig-xy",
        objects=[*columns, *lines],
        init=[
            *[f"succ-x {x} {after}" for x, after in pairwise(columns)],
            *[f"succ-y {y} {after}" for y, after in pairwise(lines)],
            *[f"cell {cell}" for cell in marks],
            *[f"blocked {cell}" for cell, mark in marks.items() if mark == "#"],
            *[f"at {cell}" for cell, mark in marks.items() if mark == "R"],
        ],
        goal=[f"at {cell}" for cell, mark in marks.items() if mark == "G"],
    )


def suite(split: Literal["train", "validation", "test"]) -> list[dict[str, int | str]]:
    """List the options of each problem of a split: 630 for training, 30 for validation and 72 tests."""
    figures: list[dict[str, int | str]] = [{"grid": figure} for figure in FIGURES] if split == "test" else []
    grids, percentages = SUITE[split]
    return figures + [
        {"width": width, "height": height, "moves": -(-width * height * percentage // 100)}
        for grid in grids
        for width, height in dict.fromkeys([grid, grid[::-1]])
        for percentage in percentages
    ]


def draw_rows(rng: random.Random, width: int, height: int, moves: int) -> list[str]:
    """Draw a grid in text, from the top: its path, cells beside it blocked, and each other cell blocked or free."""
    if min(width, height) < 1:
        raise ValueError(f"a grid needs a positive width and height, not {width} × {height}")
    if moves < 1:
        raise ValueError(f"the path needs at least 1 move, not {moves}")
    path = draw_path(rng, width, height, moves)
    marks = dict.fromkeys(path, ".") | {path[0]: "R", path[-1]: "G"}
    for cell in grid_cells(width, height):
        if cell not in marks:
            marks[cell] = "#" if not set(path).isdisjoint(neighbours(cell)) else rng.choice("#.")
    return ["".join(marks[x, y] for x in range(width)) for y in reversed(range(height))]


def draw_path(rng: random.Random, width: int, height: int, moves: int) -> list[Cell]:
    """Draw random walks that never come beside where they have been, until one has so many moves."""
    cells = grid_cells(width, height)
    for _ in range(DRAWS):
        path = [rng.choice(cells)]
        while len(path) <= moves:
            *before, robot = path
            steps = [cell for cell in neighbours(robot) if cell in cells]
            steps = [cell for cell in steps if set(before).isdisjoint([cell, *neighbours(cell)])]
            if not steps:
                break
            path.append(rng.choice(steps))
        else:
            return path
    raise ValueError(f"no free path of {moves} moves was found on a grid of {width} × {height}: ask for a shorter one")


# Lying grids, each also there standing, and the moves of their paths in percent of the cells, rounded up.
SUITE: dict[str, tuple[list[Cell], list[int]]] = {
    "train": (
        [(3, 3), (4, 3), (5, 3), (4, 4), (6, 3), (7, 3), (5, 4), (8, 3), (6, 4), (5, 5), (9, 3), (7, 4)],
        [10, 20, 32, 44, 55] * 6,
    ),
    "validation": ([(5, 4), (8, 3), (6, 4), (9, 3), (7, 4)], [20, 36, 52]),
    "test": ([(8, 3), (6, 4), (9, 3), (7, 4), (6, 5), (10, 3), (8, 4)], [12, 20, 30, 40, 48]),
}

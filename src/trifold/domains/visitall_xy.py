"""Visitall-xy: as Visitall, a robot must visit some or all cells of a grid, but cells are pairs of coordinates.

The n + m objects are the values x1 … xn and y1 … ym of the coordinates, so a cell's neighbour is two relations away
and C₂ does not suffice. A training set must cover what that of Visitall does: many and few cells to visit, starts
everywhere, cells left behind, and a robot far from all that is left. As ``succ-x`` and ``succ-y`` are two relations,
each with a direction, it must also hold every grid lying and standing. The state spaces are those of Visitall: up to
80,000 states for 4 × 4, and some tens of thousands for 7 × 3 with 8 cells visited before. A few of 20 and 21 cells are
whole, 1.4 million states for 7 × 3: else the largest values would be known from strips alone.
"""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Literal

from trifold.domains.problem import problem_text
from trifold.domains.visitall import Cell, draw_tour, grid_cells

DESCRIPTION = "visit some or all cells of a grid that is given by coordinates"
PICTURE = """\
     x1  x2  x3  x4
    +---+---+---+---+
 y3 | * | * |   | * |    R  the robot
    +---+---+---+---+    *  to visit
 y2 | # | R | * |   |    #  visited
    +---+---+---+---+
 y1 | # | # | * | * |
    +---+---+---+---+"""


def generate(rng: random.Random, *, width: int = 4, height: int = 4, share: int = 100, visited: int = 1) -> str:
    """Generate a problem that is solvable and not solved at the start.

    share    the chance in percent of each cell to be in the goal: 100 asks for all cells
    visited  how many cells a random walk has visited: 1 is the robot's own alone
    """
    tour = draw_tour(rng, width, height, share, visited)
    columns = [f"x{number}" for number in range(1, width + 1)]
    rows = [f"y{number}" for number in range(1, height + 1)]
    names = {(x, y): f"{columns[x]} {rows[y]}" for x, y in grid_cells(width, height)}
    return problem_text(
        f"visitall-xy-{width}x{height}-{share}",
        domain="visitall-xy",
        objects=[*columns, *rows],
        init=[
            *[f"succ-x {x} {after}" for x, after in pairwise(columns)],
            *[f"succ-y {y} {after}" for y, after in pairwise(rows)],
            *[f"cell {name}" for name in names.values()],
            f"at {names[tour.robot]}",
            *[f"visited {names[cell]}" for cell in tour.visited],
        ],
        goal=[f"visited {names[cell]}" for cell in tour.goal],
    )


def suite(split: Literal["train", "validation", "test"]) -> list[dict[str, int | str]]:
    """List the options of each problem of a split; validation is as large as training, tests are all larger."""
    return [
        {"width": width, "height": height, "share": share, "visited": visited}
        for (share, visited), grids in SUITE[split].items()
        for grid in grids
        for width, height in dict.fromkeys([grid, grid[::-1]])
    ]


TEST_GRIDS = [(5, 5), (8, 4), (6, 6), (7, 7), (10, 5), (8, 8), (9, 9), (10, 10)]

# Lying grids by the share of cells to visit and the cells visited before; each is also there standing.
SUITE: dict[str, dict[tuple[int, int], list[Cell]]] = {
    "train": {
        (100, 1): [
            *[
                (2, 1),
                (11, 1),
                (21, 1),
                (2, 2),
                (3, 2),
                (5, 2),
                (7, 2),
                (10, 2),
                (3, 3),
                (5, 3),
                (6, 3),
                (7, 3),
                (4, 4),
            ],
            *[(5, 4)] * 2,
        ],
        (75, 1): [*[(6, 2), (4, 3), (5, 3), (4, 4)] * 2, (7, 3), (5, 4)],
        (50, 1): [(4, 2), (8, 2), (3, 3), (4, 3), (5, 3), (4, 4)] * 4,
        (25, 1): [(16, 1), (10, 2), (5, 3), (4, 4)] * 4,
        (100, 5): [(6, 3)] * 2,
        (50, 5): [(10, 2), (6, 3)] * 3,
        (100, 8): [(5, 4), (7, 3)] * 3,
        (50, 8): [(5, 4), (7, 3)] * 4,
        (25, 8): [(5, 4), (7, 3)] * 2,
    },
    "validation": {
        (75, 1): [(7, 2), (5, 3)],
        (50, 1): [(4, 3), (4, 4)],
        (75, 5): [(10, 2)],
        (100, 1): [(9, 2)],
        (50, 8): [(7, 3)],
    },
    "test": {(100, 1): TEST_GRIDS, (50, 1): TEST_GRIDS},
}

"""Visitall: a robot must visit some or all cells of a grid without obstacles.

Each cell is an object. What a policy meets on a large grid, and a training set of up to 21 cells must cover: all
cells to visit, half of them or a few; a start in a corner, at a border or inside; cells left behind that cost a long
way back over visited ones; and a robot far from all that is left, as on a grid of 21 × 1. A state is a connected set
of visited cells and the robot in it, and every cell can be visited whatever the goal, so the space of one problem
holds all of these for its grid: 21 × 1 has up to 1,331 states, 4 × 4 up to 80,000, 6 × 3 up to 240,000, 7 × 3 over a
million. So the largest grids start with some cells visited by a random walk, which leaves some tens of thousands of
states, all of which the robot could also have reached from an untouched grid.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

from trifold.domains.problem import problem_text

DESCRIPTION = "visit some or all cells of a grid"
PICTURE = """\
+---+---+---+---+
| * | * |   | * |    R  the robot
+---+---+---+---+    *  to visit
| # | R | * |   |    #  visited
+---+---+---+---+
| # | # | * | * |
+---+---+---+---+"""

Cell = tuple[int, int]
"""The coordinates x and y of a cell."""


@dataclass(frozen=True)
class Tour:
    """Where the robot is, the cells it has visited, its own among them, and the cells that the goal names."""

    robot: Cell
    visited: list[Cell]
    goal: list[Cell]


def generate(rng: random.Random, *, width: int = 4, height: int = 4, share: int = 100, visited: int = 1) -> str:
    """Generate a problem that is solvable and not solved at the start.

    share    the chance in percent of each cell to be in the goal: 100 asks for all cells
    visited  how many cells a random walk has visited: 1 is the robot's own alone, as in the public files
    """
    tour = draw_tour(rng, width, height, share, visited)
    names = {cell: f"loc-x{cell[0]}-y{cell[1]}" for cell in grid_cells(width, height)}
    return problem_text(
        f"visitall-{width}x{height}-{share}",
        domain="grid-visit-all",
        objects=[*names.values(), "- place"],
        init=[
            f"at-robot {names[tour.robot]}",
            *[f"visited {names[cell]}" for cell in tour.visited],
            *[f"connected {names[cell]} {names[near]}" for cell in names for near in neighbours(cell) if near in names],
        ],
        goal=[f"visited {names[cell]}" for cell in tour.goal],
    )


def suite(split: Literal["train", "validation", "test"]) -> list[dict[str, int | str]]:
    """List the options of each problem of a split; validation is as large as training, tests are all larger."""
    return [
        {"width": width, "height": height, "share": share, "visited": visited}
        for (share, visited), grids in SUITE[split].items()
        for width, height in grids
    ]


def draw_tour(rng: random.Random, width: int, height: int, share: int, visited: int) -> Tour:
    """Draw a random walk until it has visited some cells, and a goal with a cell that it has not visited."""
    if min(width, height) < 1:
        raise ValueError(f"a grid needs a positive width and height, not {width} × {height}")
    if not 1 <= visited < width * height:
        raise ValueError(f"visited must be from 1 to {width * height - 1}, so that a cell is left, not {visited}")
    if not 1 <= share <= 100:
        raise ValueError(f"share is a percentage from 1 to 100, not {share}")
    cells = grid_cells(width, height)
    robot = rng.choice(cells)
    seen = {robot}
    while len(seen) < visited:
        robot = rng.choice([near for near in neighbours(robot) if near in cells])
        seen.add(robot)
    goal: list[Cell] = []
    while seen.issuperset(goal):
        goal = [cell for cell in cells if rng.randrange(100) < share]
    return Tour(robot, sorted(seen), goal)


def grid_cells(width: int, height: int) -> list[Cell]:
    """List the cells of a grid, column by column."""
    return [(x, y) for x in range(width) for y in range(height)]


def neighbours(cell: Cell) -> list[Cell]:
    """List the four cells beside a cell, in the grid or not."""
    x, y = cell
    return [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]


TEST_GRIDS = [(5, 5), (8, 4), (6, 6), (9, 4), (7, 7), (10, 5), (11, 5), (8, 8), (12, 6), (9, 9), (10, 10)]

# Grids by the share of cells to visit and the cells visited before. Where few problems differ, as when all cells are to
# be visited, no two entries agree, so that no problem is there twice; where all cells are, training and validation have
# different grids, so that they share no states.
SUITE: dict[str, dict[tuple[int, int], list[Cell]]] = {
    "train": {
        (100, 1): [
            *[(2, 1), (3, 1), (11, 1), (21, 1), (2, 2), (3, 2), (4, 2), (5, 2), (6, 2), (7, 2), (8, 2)],
            *[(3, 3), (4, 3), (5, 3), (4, 4), (6, 3)],
        ],
        (50, 1): [(16, 1), (5, 2), (7, 2), (9, 2), (3, 3), (4, 3), (5, 3), (4, 4)],
        (25, 1): [(21, 1), (8, 2), (5, 3), (4, 4)],
        (100, 5): [(10, 2), (6, 3)],
        (50, 5): [(10, 2), (6, 3)],
        (100, 7): [(5, 4)],
        (100, 8): [(5, 4), (7, 3)],
        (100, 9): [(7, 3)],
        (50, 8): [(5, 4), (5, 4), (7, 3), (7, 3)],
    },
    "validation": {
        (75, 1): [(7, 2), (5, 3)],
        (50, 1): [(8, 2), (4, 3), (4, 4)],
        (25, 1): [(9, 2), (5, 3)],
        (75, 5): [(10, 2), (6, 3)],
        (100, 1): [(9, 2)],
        (75, 10): [(7, 3)],
        (50, 8): [(5, 4), (7, 3)],
    },
    "test": {(100, 1): TEST_GRIDS, (50, 1): TEST_GRIDS},
}

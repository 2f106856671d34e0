"""Vacuum: robots drive between locations, each by its own map, and one of them must clean the dirty location.

The locations are the cells of a floor plan that grows around its middle, which is dirty. A robot's map is a connected
part of the plan: a random tree of neighbouring cells and some of the other doors between them, so of two neighbours
one robot may pass the door and another must go round or cannot go at all. A training set must cover robots that
cannot reach the dirt, one, several or all that can; the nearest robot on the plan that is not the nearest by its map;
locations and doors shared by several robots and those of one only; maps with and without rings; a robot at the dirt;
and one robot alone. The number of robots that can reach the dirt is drawn, their maps are drawn independently over the
same plan, and every location is on some map. Where a robot starts matters only when a problem is solved: its state
space holds all places.

A robot can be anywhere on its map, and the dirt is there or not: 2 · reachʳ states with r robots. So where there are
many robots their maps are small: six robots have at most 7 locations each, 235,298 states. There are no dead ends.
"""

from __future__ import annotations

import random
from collections.abc import Set
from typing import Literal

from trifold.domains.problem import problem_text

DESCRIPTION = "clean the dirty location with a robot whose own map leads there"
PICTURE = """\
l4 === l7 --- l2      === r1 and r2 can pass
 :      |      |      --- only r1     ... only r2
l1 ... l9* .. l3
 :             |      * dirty
l6            l8
r2            r1      r2 needs 2 steps to it, r1 needs 4"""

Cell = tuple[int, int]
Door = tuple[Cell, Cell]
Map = tuple[list[Cell], list[Door]]
"""The cells of a robot's map by their distance from where it grew, and its doors."""

MIDDLE: Cell = (0, 0)
WINDING = 0.7
"""How often a map grows on from its newest cell, as corridors do."""
EXTRA_DOORS = 0.2
"""How often a robot can pass between two neighbouring cells of its map that its tree does not join."""
ATTEMPTS = 2_000


def generate(rng: random.Random, *, locations: int = 12, robots: int = 2, reach: int = 8) -> str:
    """Generate a problem in which each of the robots has a map of ``reach`` locations.

    Every location is on a map, and the dirty one on at least one. A robot that can reach it starts in the farthest
    third of its map. Names are drawn, so they tell nothing.
    """
    if robots < 1 or not 2 <= reach <= locations:
        raise ValueError(
            "Vacuum needs a robot, and a reach between 2 and the locations: "
            f"not {robots} robots with a reach of {reach} of {locations} locations"
        )
    if robots * reach < locations:
        raise ValueError(f"{robots} maps of {reach} locations cannot cover {locations}: raise reach or robots")
    plan, maps = _draw_maps(rng, locations, robots, reach)
    names = dict(zip(rng.sample(plan, locations), (f"l{number}" for number in range(1, locations + 1)), strict=True))
    at, adjacent = [], []
    for number, (cells, doors) in enumerate(rng.sample(maps, robots), start=1):
        at.append(f"at r{number} {names[rng.choice(cells[reach * 2 // 3 :])]}")
        ways = [(names[a], names[b]) for a, b in doors]
        adjacent += [f"adjacent r{number} {a} {b}" for a, b in sorted([*ways, *((b, a) for a, b in ways)])]
    return problem_text(
        f"vacuum-{locations}-{robots}",
        domain="robot-vacuum",
        objects=[*(f"r{number}" for number in range(1, robots + 1)), *names.values()],
        init=[*at, f"dirty {names[MIDDLE]}", *adjacent],
        goal=[f"not (dirty {names[MIDDLE]})"],
    )


def suite(split: Literal["train", "validation", "test"]) -> list[dict[str, int | str]]:
    """The sizes of the suite: each locations, robots, reach; 8–38 locations and 1–6 robots, then 40–93 and 6–10."""
    match split:
        case "train":
            sizes = SMALL
        case "validation":
            sizes = SMALL[1::3]
        case "test":
            sizes = [(40 + 53 * i // 19, 6 + 4 * i // 19, 15 + 15 * i // 19) for i in range(20)]
        case _:
            raise ValueError(f'a split is "train", "validation" or "test", not {split!r}')
    return [{"locations": locations, "robots": robots, "reach": reach} for locations, robots, reach in sizes]


SMALL = [
    *[(locations, 1, locations) for locations in (8, 12, 16, 20, 26, 32, 38)],
    *[(8, 2, 6), (12, 2, 8), (16, 2, 10), (20, 2, 14), (26, 2, 18), (32, 2, 20), (38, 2, 26)],
    *[(8, 3, 4), (12, 3, 6), (16, 3, 8), (20, 3, 9), (26, 3, 12), (32, 3, 14), (38, 3, 18)],
    *[(8, 4, 4), (12, 4, 5), (16, 4, 6), (20, 4, 7), (26, 4, 9), (32, 4, 11), (38, 4, 13)],
    *[(10, 5, 4), (14, 5, 5), (18, 5, 5), (22, 5, 6), (28, 5, 8), (38, 5, 10)],
    *[(8, 6, 3), (10, 6, 4), (14, 6, 4), (18, 6, 5), (24, 6, 6), (32, 6, 7), (38, 6, 7)],
]


def _draw_maps(rng: random.Random, locations: int, robots: int, reach: int) -> tuple[list[Cell], list[Map]]:
    """Draw the cells of a floor plan, and maps that together cover it."""
    for _ in range(ATTEMPTS):
        plan = list(_grow(rng, MIDDLE, locations))
        able = rng.randint(1, robots)
        uncovered, maps = set(plan), list[Map]()
        for robot in range(robots):
            floor = set(plan) if robot < able else set(plan) - {MIDDLE}
            seeds = [MIDDLE] if robot < able else sorted(uncovered - {MIDDLE}) or sorted(floor)
            tree = _grow(rng, rng.choice(seeds), reach, winding=WINDING, floor=floor, wanted=uncovered)
            if len(tree) < reach:  # the plan without its middle may fall apart
                break
            uncovered -= tree.keys()
            doors = _doors(rng, tree)
            maps.append((_outwards(next(iter(tree)), doors), doors))
        if not uncovered and len(maps) == robots:
            return plan, maps
    raise ValueError(
        f"found no {robots} maps of {reach} that cover {locations} locations: raise reach, or ask for fewer locations"
    )


def _grow(
    rng: random.Random,
    start: Cell,
    size: int,
    *,
    winding: float = 0.0,
    floor: Set[Cell] | None = None,
    wanted: Set[Cell] = frozenset(),
) -> dict[Cell, Cell | None]:
    """Grow a tree cell by cell to a size, on the floor if there is one, wanted cells first: each cell's parent.

    The tree is smaller than asked where the floor has no more.
    """
    tree: dict[Cell, Cell | None] = {start: None}
    while len(tree) < size:
        free = [
            (cell, near)
            for cell in tree
            for near in _neighbours(cell)
            if near not in tree and (floor is None or near in floor)
        ]
        if not free:
            break
        edges = [edge for edge in free if edge[1] in wanted] or free
        newest = [edge for edge in edges if edge[0] == edges[-1][0]]
        parent, cell = rng.choice(newest if rng.random() < winding else edges)
        tree[cell] = parent
    return tree


def _doors(rng: random.Random, tree: dict[Cell, Cell | None]) -> list[Door]:
    """The doors of a tree, and some others between its cells."""
    pairs = [(cell, near) for cell in tree for near in _neighbours(cell) if near in tree and cell < near]
    return [(a, b) for a, b in pairs if tree[a] == b or tree[b] == a or rng.random() < EXTRA_DOORS]


def _outwards(start: Cell, doors: list[Door]) -> list[Cell]:
    """The cells that doors lead to, by their distance from the start."""
    found = [start]
    for cell in found:
        near = [a if b == cell else b for a, b in doors if cell in (a, b)]
        found += [other for other in near if other not in found]
    return found


def _neighbours(cell: Cell) -> list[Cell]:
    x, y = cell
    return [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]

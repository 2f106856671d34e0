"""Grid: a robot fetches keys, one at a time, and unlocks doors to reach a cell.

Rooms lie in rows and columns, with walls between them and a door in some walls: enough to connect all rooms, and more
where asked for loops. Rooms of one cell make a maze. Some doors are locked, and a key opens every lock of its shape. A
training set must cover goals that need no key and ones that need several; a key behind the door of another key, so
that the robot swaps keys; one key for two doors; two keys of one shape; keys that are of no use; keys that lie in a
locked door; open doors beside locked ones; loops, where one of two doors will do; and few and many rooms, small and
large. Only unlocking cannot be undone, so a space holds all placements of the keys within reach, and no dead end: with
c cells and k keys within reach there are c · (cᵏ + k · cᵏ⁻¹) states for each set of doors that can be unlocked. So
training has few keys where the grid is large and many where it is small. Of grids as large as those of tests, with as
many locks, it has those where most cells, or most keys, stay out of reach. A layout is one graph to a network, which
learns hundreds of them by heart, so there are thousands. Tests have other layouts, and mostly larger spaces: many keys
within reach on many cells.
"""

from __future__ import annotations

import random
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Literal

from trifold.domains.grid_sizes import HELD_OUT, TESTS, TRAINING
from trifold.domains.problem import problem_text
from trifold.domains.visitall import Cell, grid_cells, neighbours

DESCRIPTION = "fetch keys and unlock doors to reach a cell"
PICTURE = """\
+-----+-----+-----+
| a . | . . | . . |    R    the robot
| R . A . . B . G |    G    the goal
+-----+-.---+-----+    a b  keys
      | . . |          A B  doors that they unlock
      | . b |          .    places, also open doors
      +-----+"""

DRAWS, BOUNDED_DRAWS = 20_000, 100_000
"""How often a grid is drawn until it is as asked for; with a bound on its states as few as one of 7,000 is."""


@dataclass(frozen=True)
class Instance:
    """Cells, the shape of each locked one, the place and shape of each key, and where the robot is and must go."""

    cells: list[Cell]
    locks: dict[Cell, int]
    keys: list[tuple[Cell, int]]
    robot: Cell
    goal: Cell


def generate(
    rng: random.Random,
    *,
    rows: int = 1,
    columns: int = 3,
    side: int = 2,
    loops: int = 0,
    locks: int = 2,
    keys: int = 3,
    shapes: int = 3,
    unlocks: int = 1,
    max_states: int = 0,
) -> str:
    """Generate a problem that is solvable and not solved at the start.

    rows, columns, side  rooms of side × side cells
    loops                doors beyond those that connect all rooms
    locks                how many doors are locked, each with the shape of a key
    keys, shapes         each shape has a key, and some several where there are more keys
    unlocks              the least number of doors that a plan unlocks
    max_states           redraw the problem until it has no more states than this; 0 sets no limit
    """
    if min(rows, columns, side) < 1:
        raise ValueError(f"rows, columns and side must be positive, not {rows}, {columns} and {side}")
    if max_states < 0:
        raise ValueError(f"max_states must be 0 or more, not {max_states}")
    if not 1 <= shapes <= keys:
        raise ValueError(f"shapes must be from 1 to the {keys} keys, so that each has one, not {shapes}")
    if not 0 <= unlocks <= locks:
        raise ValueError(f"unlocks must be from 0 to the {locks} locks, not {unlocks}")
    rooms = room_cells(rows, columns, side)
    for _ in range(BOUNDED_DRAWS if max_states else DRAWS):
        doors = draw_doors(rng, rows, columns, side, loops)
        instance = draw_instance(rng, [*rooms, *doors], doors, locks, keys, shapes)
        if least_unlocks(instance) == unlocks and (not max_states or has_at_most(instance, max_states)):
            return write_problem(f"grid-{rows}x{columns}-{side}-{keys}keys-{locks}locks-{unlocks}", instance, shapes)
    few = f" and at most {max_states} states" if max_states else ""
    raise ValueError(f"no such grid with {unlocks} of {locks} doors to unlock{few} was found: change these numbers")


def suite(split: Literal["train", "validation", "test"]) -> list[dict[str, int | str]]:
    """List the options of each problem of a split; validation has each size of training once, or one near it.

    A layout with its locks, keys and goal is a base, and of some small sizes training has all: see ``HELD_OUT``.
    """
    groups = {
        "train": TRAINING,
        "validation": [(1, states, [HELD_OUT.get(size, size) for size in sizes]) for _, states, sizes in TRAINING],
        "test": [(1, 0, TESTS)],
    }
    options = ("rows", "columns", "side", "loops", "locks", "keys", "shapes", "unlocks", "max_states")
    return [
        dict(zip(options, (*size, states), strict=True))
        for copies, states, sizes in groups[split]
        for size in sizes
        for _ in range(copies)
    ]


def room_cells(rows: int, columns: int, side: int) -> list[Cell]:
    """List the cells of all rooms as (x, y); those with x or y ≡ side modulo side + 1 are walls."""
    width, height = (count * (side + 1) - 1 for count in (columns, rows))
    return [(x, y) for x, y in grid_cells(width, height) if side not in (x % (side + 1), y % (side + 1))]


def draw_doors(rng: random.Random, rows: int, columns: int, side: int, loops: int) -> list[Cell]:
    """Draw walls that get a door, so that the doors connect all rooms and make some loops, and a cell in each wall."""
    step = side + 1
    walls = [((x, y), (x + 1, y)) for x in range(columns - 1) for y in range(rows)]
    walls += [((x, y), (x, y + 1)) for x in range(columns) for y in range(rows - 1)]
    spare = len(walls) - rows * columns + 1
    if not 0 <= loops <= spare:
        raise ValueError(f"{rows} × {columns} rooms can have 0 to {spare} loops, not {loops}")
    rng.shuffle(walls)
    group = {room: {room} for room in grid_cells(columns, rows)}
    doors = []
    for first, second in walls:
        if group[first] is group[second]:
            if loops == 0:
                continue
            loops -= 1
        else:
            group[first] |= group[second]
            for room in group[second]:
                group[room] = group[first]
        (x, y), along = first, rng.randrange(side)
        is_beside = second == (x + 1, y)
        doors.append((x * step + side, y * step + along) if is_beside else (x * step + along, y * step + side))
    return doors


def draw_instance(
    rng: random.Random, cells: list[Cell], doors: list[Cell], locks: int, keys: int, shapes: int
) -> Instance:
    """Draw which doors are locked, the shapes, where keys lie, locked doors included, and start and goal outside."""
    if locks > len(doors):
        raise ValueError(f"there are {len(doors)} doors, too few for {locks} locks")
    if len(cells) - locks < 2:
        raise ValueError("one cell is too few for a robot and its goal")
    locked = {door: rng.randrange(shapes) for door in rng.sample(doors, locks)}
    key_shapes = [*range(shapes), *rng.choices(range(shapes), k=keys - shapes)]
    rng.shuffle(key_shapes)
    robot, goal = rng.sample([cell for cell in cells if cell not in locked], 2)
    return Instance(sorted(cells), locked, [(rng.choice(cells), shape) for shape in key_shapes], robot, goal)


def least_unlocks(instance: Instance) -> int | None:
    """Count the doors that every plan must unlock; None if there is no plan."""
    for unlocked, region in unlockable(instance):
        if instance.goal in region:
            return len(unlocked)
    return None


def has_at_most(instance: Instance, most: int) -> bool:
    """Whether the problem has at most so many states: a key within reach can be put down wherever the robot can be."""
    count = 0
    for _, region in unlockable(instance):
        cells, keys = len(region), sum(place in region for place, _ in instance.keys)
        count += cells ** (keys + 1) + keys * cells**keys  # no key is held, or one of them
        if count > most:
            return False
    return True


def unlockable(instance: Instance) -> Iterator[tuple[frozenset[Cell], set[Cell]]]:
    """Search the sets of doors that can be unlocked, the smallest first, each with the cells that are then in reach.

    A key within reach can be taken to any door within reach, whatever was done before, so what can be unlocked next
    depends only on what is unlocked.
    """
    free = set(instance.cells) - instance.locks.keys()
    opened: dict[Cell, set[Cell]] = {}  # a door, and what it leads to through free cells
    layer = {frozenset[Cell](): reach(instance.robot, free)}
    while layer:
        after = {}
        for unlocked, region in layer.items():
            yield unlocked, region
            shapes = {shape for place, shape in instance.keys if place in region}
            for door, shape in instance.locks.items():
                if shape in shapes and door not in unlocked and not region.isdisjoint(neighbours(door)):
                    if door not in opened:
                        opened[door] = reach(door, free)
                    after[unlocked | {door}] = region | opened[door]
        layer = after


def reach(start: Cell, free: Container[Cell]) -> set[Cell]:
    """Collect the cells to which free cells lead from the start."""
    region, stack = {start}, [start]
    while stack:
        for cell in neighbours(stack.pop()):
            if cell in free and cell not in region:
                region.add(cell)
                stack.append(cell)
    return region


def write_problem(name: str, instance: Instance, shapes: int) -> str:
    """Write the problem with the names of the public files."""
    place = {cell: f"p{number}" for number, cell in enumerate(instance.cells)}
    shape = [f"shape{number}" for number in range(shapes)]
    key = [f"key{number}" for number in range(len(instance.keys))]
    return problem_text(
        name,
        domain="grid",
        objects=[*place.values(), *shape, *key],
        init=[
            *[f"place {p}" for p in place.values()],
            *[f"shape {s}" for s in shape],
            *[f"key {k}" for k in key],
            *[f"{'locked' if cell in instance.locks else 'open'} {p}" for cell, p in place.items()],
            *[f"conn {p} {place[near]}" for cell, p in place.items() for near in neighbours(cell) if near in place],
            *[f"lock-shape {place[door]} {shape[fits]}" for door, fits in sorted(instance.locks.items())],
            *[f"key-shape {k} {shape[fits]}" for k, (_, fits) in zip(key, instance.keys, strict=True)],
            *[f"at {k} {place[cell]}" for k, (cell, _) in zip(key, instance.keys, strict=True)],
            f"at-robot {place[instance.robot]}",
            "arm-empty",
        ],
        goal=[f"at-robot {place[instance.goal]}"],
    )

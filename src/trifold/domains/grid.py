"""Grid: a robot fetches keys, one at a time, and unlocks doors to reach a cell, or to bring a key there.

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
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

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


class Door(NamedTuple):
    """A cell in a wall, and the numbers of the rooms on its two sides."""

    cell: Cell
    first: int
    second: int


@dataclass(frozen=True)
class Rooms:
    """What all grids of a size share: the room of each cell, and for each wall the doors that it may have."""

    cells: dict[Cell, int]
    walls: list[list[Door]]
    count: int


class Instance(NamedTuple):
    """Cells, doors, the shape of each locked one, the place and shape of each key, and where the robot is and goes."""

    cells: list[Cell]
    doors: list[Door]
    locks: dict[Cell, int]
    keys: list[tuple[Cell, int]]
    robot: Cell
    goal: Cell


Goal = Literal["robot", "key"]


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
    goal: Goal = "robot",
) -> str:
    """Generate a problem that is solvable and not solved at the start.

    rows, columns, side  rooms of side × side cells
    loops                doors beyond those that connect all rooms
    locks                how many doors are locked, each with the shape of a key
    keys, shapes         each shape has a key, and some several where there are more keys
    unlocks              the least number of doors that a plan unlocks
    max_states           redraw the problem until it has no more states than this; 0 sets no limit
    goal                 what is to be at the goal's cell: the robot, or the first key
    """
    if min(rows, columns, side) < 1:
        raise ValueError(f"rows, columns and side must be positive, not {rows}, {columns} and {side}")
    if max_states < 0:
        raise ValueError(f"max_states must be 0 or more, not {max_states}")
    if not 1 <= shapes <= keys:
        raise ValueError(f"shapes must be from 1 to the {keys} keys, so that each has one, not {shapes}")
    if not 0 <= unlocks <= locks:
        raise ValueError(f"unlocks must be from 0 to the {locks} locks, not {unlocks}")
    rooms = lay_out(rows, columns, side)
    for _ in range(BOUNDED_DRAWS if max_states else DRAWS):
        instance = draw_instance(rng, rooms, draw_doors(rng, rooms, loops), locks, keys, shapes)
        if goal == "key" and instance.keys[0][0] == instance.goal:
            continue
        regions = Regions(rooms, instance, goal)
        if regions.least_unlocks() == unlocks and (not max_states or regions.has_at_most(max_states)):
            name = f"grid-{rows}x{columns}-{side}-{keys}keys-{locks}locks-{unlocks}"
            return write_problem(name if goal == "robot" else f"{name}-{goal}", instance, shapes, goal)
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


def lay_out(rows: int, columns: int, side: int) -> Rooms:
    """Number rooms of side × side cells column by column; cells with x or y ≡ side modulo side + 1 are walls."""
    step = side + 1
    cells = {
        (x, y): x // step * rows + y // step
        for x, y in grid_cells(columns * step - 1, rows * step - 1)
        if side not in (x % step, y % step)
    }
    number = {room: number for number, room in enumerate(grid_cells(columns, rows))}
    beside = [
        [Door((x * step + side, y * step + along), number[x, y], number[x + 1, y]) for along in range(side)]
        for x, y in grid_cells(columns - 1, rows)
    ]
    above = [
        [Door((x * step + along, y * step + side), number[x, y], number[x, y + 1]) for along in range(side)]
        for x, y in grid_cells(columns, rows - 1)
    ]
    return Rooms(cells, beside + above, rows * columns)


def draw_doors(rng: random.Random, rooms: Rooms, loops: int) -> list[Door]:
    """Draw walls that get a door, so that the doors connect all rooms and make some loops, and a cell in each wall."""
    spare = len(rooms.walls) - rooms.count + 1
    if not 0 <= loops <= spare:
        raise ValueError(f"{rooms.count} rooms with {len(rooms.walls)} walls can have 0 to {spare} loops, not {loops}")
    missing = rooms.count - 1 + loops
    walls = rooms.walls.copy()
    rng.shuffle(walls)
    joined = Joined(rooms.count)
    doors: list[Door] = []
    for wall in walls:
        if len(doors) == missing:
            break
        if not joined.join(wall[0].first, wall[0].second):
            if loops == 0:
                continue
            loops -= 1
        doors.append(rng.choice(wall))
    return doors


class Joined:
    """Which rooms are joined by doors: joined rooms have the same number."""

    def __init__(self, rooms: int) -> None:
        self.number = list(range(rooms))
        self.rooms = [[room] for room in range(rooms)]  # of each number

    def join(self, first: int, second: int) -> bool:
        """Join two rooms, and all that are joined with either; whether they were not joined before."""
        number, other = self.number[first], self.number[second]
        if number == other:
            return False
        for room in self.rooms[other]:
            self.number[room] = number
        self.rooms[number] += self.rooms[other]
        return True


def draw_instance(rng: random.Random, rooms: Rooms, doors: list[Door], locks: int, keys: int, shapes: int) -> Instance:
    """Draw which doors are locked, the shapes, where keys lie, locked doors included, and start and goal outside."""
    if locks > len(doors):
        raise ValueError(f"there are {len(doors)} doors, too few for {locks} locks")
    if len(rooms.cells) + len(doors) - locks < 2:
        raise ValueError("one cell is too few for a robot and its goal")
    locked = {door.cell: rng.randrange(shapes) for door in rng.sample(doors, locks)}
    key_shapes = [*range(shapes), *rng.choices(range(shapes), k=keys - shapes)]
    rng.shuffle(key_shapes)
    robot, goal = rng.sample([*rooms.cells, *[door.cell for door in doors if door.cell not in locked]], 2)
    cells = [*rooms.cells, *[door.cell for door in doors]]
    return Instance(cells, doors, locked, [(rng.choice(cells), shape) for shape in key_shapes], robot, goal)


class Regions:
    """The parts of a grid between its locked doors: a set of parts and of doors is a number with a bit for each.

    A part is the rooms that open doors join, and these doors; its bit is that of one of the rooms.
    """

    def __init__(self, rooms: Rooms, instance: Instance, goal: Goal = "robot") -> None:
        joined = Joined(rooms.count)
        self.room = rooms.cells.copy()
        locked = []
        for door in instance.doors:
            cell, first, second = door
            if cell in instance.locks:
                locked.append(door)
            else:
                self.room[cell] = first
                joined.join(first, second)
        self.bits = [1 << number for number in joined.number]
        self.locks = {
            cell: (1 << number, instance.locks[cell], self.bits[first] | self.bits[second])
            for number, (cell, first, second) in enumerate(locked, start=rooms.count)
        }
        self.start, self.goal = self.bit(instance.robot), self.bit(instance.goal)
        if goal == "key":
            self.goal |= self.bit(instance.keys[0][0])
        self.keys = [(self.bit(cell), shape) for cell, shape in instance.keys]

    def bit(self, cell: Cell) -> int:
        """The bit of the part that a cell is in, or of the locked door that it is."""
        return self.bits[self.room[cell]] if cell in self.room else self.locks[cell][0]

    def unlockable(self) -> Iterator[tuple[int, int]]:
        """Search the sets of doors that can be unlocked, the smallest first: their size, and what is then in reach.

        A key within reach can be taken to any door within reach, whatever was done before, so what can be unlocked next
        depends only on what is unlocked.
        """
        layer, unlocked = {self.start}, 0
        while layer:
            after = set()
            for region in layer:
                yield unlocked, region
                shapes = {shape for bit, shape in self.keys if bit & region}
                for bit, shape, sides in self.locks.values():
                    if shape in shapes and sides & region and not bit & region:
                        after.add(region | bit | sides)
            layer, unlocked = after, unlocked + 1

    def least_unlocks(self) -> int | None:
        """Count the doors that every plan must unlock; None if there is no plan."""
        return next((unlocked for unlocked, region in self.unlockable() if not self.goal & ~region), None)

    def has_at_most(self, most: int) -> bool:
        """Whether there are at most so many states: a key within reach can be put down wherever the robot can be."""
        sizes = Counter(map(self.bit, [*self.room, *self.locks]))
        count = 0
        for _, region in self.unlockable():
            cells = sum(size for bit, size in sizes.items() if bit & region)
            keys = sum(bool(bit & region) for bit, _ in self.keys)
            count += cells ** (keys + 1) + keys * cells**keys  # no key is held, or one of them
            if count > most:
                return False
        return True


def write_problem(name: str, instance: Instance, shapes: int, goal: Goal = "robot") -> str:
    """Write the problem with the names of the public files."""
    place = {cell: f"p{number}" for number, cell in enumerate(sorted(instance.cells))}
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
        goal=[f"{'at-robot' if goal == 'robot' else f'at {key[0]}'} {place[instance.goal]}"],
    )

"""Gripper: a robot with two grippers carries balls from one room to another.

The goal is always that every ball is in ``roomb``; only the number of balls grows. A training set must cover what
a policy meets on the way: few and many balls left, the last odd ball, none, one or two balls held, and the robot
in either room. Every action can be undone, so the state space of one problem holds all of these, whatever its
start: to train on whole state spaces, one problem of each size is enough, odd sizes and even ones. The start
matters where a problem is solved from it.

n balls have 2 · (2ⁿ + 2n · 2ⁿ⁻¹ + n(n−1) · 2ⁿ⁻²) states: 376,832 for 12 balls and 1,982,464 for 14, the most that the
suite trains on. A size is a state space, so no two splits share one: validation has 15 balls, 4,489,216 states, as with
16 there are more than 10 million. There is one classic start of each size, which the tests have; of random starts there
are about 6n up to the names of the balls.
"""

from __future__ import annotations

import random
from typing import Literal

from trifold.domains.problem import problem_text

DESCRIPTION = "carry balls to another room with two grippers"
PICTURE = """\
+--------- rooma ---------+--- roomb ---+
| ball1   the robot:      |             |
| ball2     left  [ball4] |    ball3    |
| ball5     right [     ] |             |
+-------------------------+-------------+
  goal: all balls in roomb"""

ROOMS = ["rooma", "roomb"]
GRIPPERS = ["left", "right"]


def generate(rng: random.Random, *, balls: int = 4, start: Literal["random", "classic"] = "random") -> str:
    """Generate a problem that is solvable and not solved at the start.

    start="random"   the robot is in either room and holds up to two balls; the other balls are in either room
    start="classic"  the robot and all balls are in ``rooma``, as in the benchmark's files; rng is not used
    """
    if balls < 1:
        raise ValueError(f"Gripper needs at least 1 ball, not {balls}")
    names = [f"ball{number}" for number in range(1, balls + 1)]
    goal = [f"at {ball} roomb" for ball in names]
    match start:
        case "classic":
            fluents = [
                "at-robby rooma",
                *[f"free {hand}" for hand in GRIPPERS],
                *[f"at {ball} rooma" for ball in names],
            ]
        case "random":
            fluents = _draw_state(rng, names)
            while set(goal) <= set(fluents):
                fluents = _draw_state(rng, names)
        case _:
            raise ValueError(f'start must be "random" or "classic", not {start!r}')
    kinds = {"room": ROOMS, "gripper": GRIPPERS, "ball": names}
    static = [f"{kind} {name}" for kind, members in kinds.items() for name in members]
    return problem_text(
        f"gripper-{balls}",
        domain="gripper-strips",
        objects=[*ROOMS, *GRIPPERS, *names],
        init=[*static, *fluents],
        goal=goal,
    )


def suite(split: Literal["train", "validation", "test"]) -> list[dict[str, int | str]]:
    """The options of each problem of the suite ``paper``; the tests are those of the public files."""
    match split:
        case "train":
            return [{"balls": balls, "start": "random"} for balls in [*range(1, 11), *range(1, 15)]]
        case "validation":
            return [{"balls": balls, "start": "random"} for balls in [15]]
        case "test":
            return [{"balls": balls, "start": "classic"} for balls in range(16, 51, 2)]
        case _:
            raise ValueError(f'a split is "train", "validation" or "test", not {split!r}')


def _draw_state(rng: random.Random, balls: list[str]) -> list[str]:
    """Draw the room of the robot, how many balls it holds and which, and the rooms of the others."""
    held = rng.sample(balls, rng.randint(0, min(len(GRIPPERS), len(balls))))
    hands = rng.sample(GRIPPERS, len(held))
    return [
        f"at-robby {rng.choice(ROOMS)}",
        *[f"free {hand}" for hand in GRIPPERS if hand not in hands],
        *[f"carry {ball} {hand}" for ball, hand in zip(held, hands, strict=True)],
        *[f"at {ball} {rng.choice(ROOMS)}" for ball in balls if ball not in held],
    ]

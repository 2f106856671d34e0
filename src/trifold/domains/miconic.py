"""Miconic: a lift takes passengers from their origin to their destination; it can go from any floor to any other.

A training set must cover trips up and down, floors where several passengers wait or get off, floors where some get
off and others wait (serving one passenger then spares or costs a stop for another), floors that nobody needs, and
lifts with few and with many passengers on board. All states in which passengers wait, ride or are served are
reachable from the start, so what must vary are floors, passengers and trips: as many floors as passengers' trips
have ends, as in the benchmark's files; many floors for few passengers, where most floors are of no use; and few
floors for many passengers, where origins and destinations coincide.

A passenger can board again at the origin after being served, so p passengers have 4^p states: f floors and p
passengers have exactly f · 4^p. The training set goes up to 10 passengers on 2 floors, 2.1 million states, 8 on 4, and
6 on 20.
"""

from __future__ import annotations

import random
from itertools import combinations
from typing import Literal

from trifold.domains.problem import problem_text

DESCRIPTION = "take passengers to their floors with a lift"
PICTURE = """\
f3 |     |  p0 waits, to f2
f2 |     |
f1 |     |  p1 waits, to f3
f0 | [ ] |  the lift"""

PUBLIC_SIZES = [(2 * passengers, passengers) for passengers in range(1, 8)]
MANY_FLOORS = [(20, 1), (20, 2), (13, 2), (20, 3), (17, 3), (20, 4), (15, 4), (20, 5), (16, 5), (20, 6)]
FEW_FLOORS = [(2, 2), (3, 3), (2, 4), (3, 4), (4, 4), (3, 5), (5, 5), (3, 6), (4, 6), (6, 6), (3, 7), (4, 7), (5, 7)]
LARGEST = [(3, 8), (4, 8), (3, 9), (2, 10)]


def generate(rng: random.Random, *, floors: int = 4, passengers: int = 2) -> str:
    """Generate a problem whose passengers wait at random floors for others, with the lift at the lowest floor f0."""
    if floors < 2:
        raise ValueError(f"Miconic needs at least 2 floors, not {floors}")
    if passengers < 1:
        raise ValueError(f"Miconic needs at least 1 passenger, not {passengers}")
    levels = [f"f{number}" for number in range(floors)]
    people = [f"p{number}" for number in range(passengers)]
    trips = [(person, *rng.sample(levels, 2)) for person in people]
    return problem_text(
        f"miconic-f{floors}-p{passengers}",
        domain="miconic",
        objects=[*people, *levels],
        init=[
            *[f"passenger {person}" for person in people],
            *[f"floor {level}" for level in levels],
            *[f"above {lower} {upper}" for lower, upper in combinations(levels, 2)],
            *[f"origin {person} {origin}" for person, origin, _ in trips],
            *[f"destin {person} {destination}" for person, _, destination in trips],
            "lift-at f0",
        ],
        goal=[f"served {person}" for person in people],
    )


def suite(split: Literal["train", "validation", "test"]) -> list[dict[str, int | str]]:
    """The options of each problem of the suite ``paper``.

    Validation leaves out sizes of which there are so few problems that two splits would share one.
    """
    match split:
        case "train":
            sizes = [*PUBLIC_SIZES, *PUBLIC_SIZES[1:6], *PUBLIC_SIZES[2:5], *MANY_FLOORS, *FEW_FLOORS, *LARGEST]
        case "validation":
            sizes = [*PUBLIC_SIZES[2:], (20, 2), (20, 3), (20, 4), (20, 6), (5, 5), (6, 6), (5, 7), (4, 8), (2, 10)]
        case "test":
            sizes = [(2 * passengers, passengers) for passengers in range(11, 31)]
        case _:
            raise ValueError(f'a split is "train", "validation" or "test", not {split!r}')
    return [{"floors": floors, "passengers": passengers} for floors, passengers in sizes]

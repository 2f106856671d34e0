"""Logistics: packages go by truck within cities, each of which has one truck and one airport, and by airplane between.

A training set must cover several packages in one city, with the same goal and with different ones; packages that are
at their goal already; trucks and airplane away from their packages; packages inside trucks and inside the airplane;
cities without packages; more cities than packages and fewer; goals in the package's own city and in others, at
airports and elsewhere; and cities with one location (where the truck is of no use) and with several.

Every action can be undone, so the state space of one problem holds all placements of packages, trucks and airplane,
whatever its start. What a training set must vary is the map, the number of packages, and the goal; the options
``settled`` and ``loaded`` see to it that the starts, too, contain each situation. If the c cities have s₁ … s_c
locations, s in all, p packages have exactly c · s₁ ⋯ s_c · (s + c + 1)^p states: the airplane's place, the trucks', and
for each package all locations, trucks and the airplane. Five cities with two locations each and three packages have
655,360 already, so the training set joins many cities with few packages, and the other way round, and in most of the
large maps some cities have their airport alone.

Tests have more packages than any of these, so several trucks with several packages each for the same place. With goals
at random places that is rare in small maps: a network trained on such alone overrates, by one step, a second package
in a truck while others are loaded, and its policy stops there. So in the dense shapes few places are destinations.
"""

from __future__ import annotations

import random
from typing import Literal

from trifold.domains.problem import problem_text

DESCRIPTION = "deliver packages with one truck in each city and an airplane between them"
PICTURE = """\
      city c0                 city c1
+------------------+    +------------------+
| l0-1        l0-0 |    | l1-0        l1-1 |
|  p0 --- t0  [a0] | ~~ | p1  ------- t1   |
+------------------+    +------------------+
 p0 goes to l1-1          p1 goes to l0-0"""

# cities, packages, locations per city, of which so many cities have one alone
SMALL = [
    (2, 3, 2, 0),  # 2,744 states
    (2, 3, 3, 1),  # 2,058
    (2, 4, 2, 0),  # 19,208
    (2, 4, 3, 1),  # 14,406
    (2, 5, 2, 1),  # 31,104
    (3, 3, 2, 0),  # 24,000
    (3, 3, 2, 1),  # 8,748
    (3, 4, 2, 2),  # 24,576
    (4, 3, 2, 2),  # 21,296
    (4, 3, 2, 3),  # 8,000
    (4, 4, 1, 0),  # 26,244
    (5, 3, 1, 0),  # 6,655
    (5, 3, 2, 3),  # 43,940
]
LARGE = [
    (2, 3, 3, 0),  # 13,122
    (2, 5, 2, 0),  # 134,456
    (3, 4, 2, 0),  # 240,000
    (3, 4, 2, 1),  # 78,732
    (3, 5, 1, 0),  # 50,421
    (4, 3, 2, 0),  # 140,608
    (4, 3, 2, 1),  # 55,296
    (5, 3, 2, 1),  # 270,000
]
# And how many places are destinations.
DENSE = [
    (2, 6, 2, 0, 2),  # 941,192
    (3, 5, 2, 0, 2),  # 2,400,000
    (3, 5, 2, 1, 2),  # 708,588
    (4, 4, 2, 0, 2),  # 1,827,904
    (4, 4, 2, 0, 3),  # 1,827,904
    (4, 4, 2, 1, 2),  # 663,552
    (4, 4, 2, 2, 2),  # 234,256
    (5, 3, 2, 0, 1),  # 655,360
]


def generate(
    rng: random.Random,
    *,
    cities: int = 3,
    packages: int = 3,
    locations: int = 2,
    single: int = 0,
    destinations: int = 0,
    settled: int = 0,
    loaded: int = 0,
) -> str:
    """Generate a problem that is solvable, as everything can go everywhere, and not solved at the start.

    locations     of each city, of which the first is its airport
    single        how many cities, the last ones, have their airport alone
    destinations  how many places are goals, in other cities and away from airports as far as there are; 0: any
    settled       how many packages, at least, start at their goal
    loaded        how many packages start in a truck or the airplane

    Trucks, airplane, other packages and goals are at random places, as in the benchmark's files.
    """
    _check(cities, packages, locations, single, destinations, settled, loaded)
    names = [f"p{number}" for number in range(packages)]
    city_names = [f"c{number}" for number in range(cities)]
    trucks = [f"t{number}" for number in range(cities)]
    sizes = [locations] * (cities - single) + [1] * single
    places = [[f"l{city}-{number}" for number in range(size)] for city, size in enumerate(sizes)]
    airports = [local[0] for local in places]
    everywhere = [place for local in places for place in local]
    most = cities - single or cities

    start: list[str] = []
    goal: list[str] = []
    while set(goal) <= set(start):
        ends = everywhere
        if destinations:
            ends = [rng.choice(local[1:] or local) for local in rng.sample(places[:most], destinations)]
        goal = [f"at {name} {rng.choice(ends)}" for name in names]
        start = _place_packages(rng, names, goal, [*trucks, "a0"], everywhere, settled, loaded)
    return problem_text(
        f"logistics-c{cities}-s{locations}-p{packages}-a1",
        domain="logistics-strips",
        objects=["a0", *city_names, *trucks, *everywhere, *names],
        init=[
            "airplane a0",
            *[f"city {city}" for city in city_names],
            *[f"truck {truck}" for truck in trucks],
            *[f"location {place}" for place in everywhere],
            *[f"in-city {place} {city}" for city, local in zip(city_names, places, strict=True) for place in local],
            *[f"airport {airport}" for airport in airports],
            *[f"package {name}" for name in names],
            *[f"at {truck} {rng.choice(local)}" for truck, local in zip(trucks, places, strict=True)],
            f"at a0 {rng.choice(airports)}",
            *sorted(start),
        ],
        goal=goal,
    )


def _check(
    cities: int, packages: int, locations: int, single: int, destinations: int, settled: int, loaded: int
) -> None:
    """Raise if there is no such problem."""
    if cities < 1 or packages < 1 or locations < 1:
        raise ValueError("Logistics needs at least 1 city, 1 package and 1 location in each city")
    if not 0 <= single <= cities:
        raise ValueError(f"from 0 to {cities} cities can have a single location, not {single}")
    if settled < 0 or loaded < 0 or settled + loaded > packages or settled == packages:
        raise ValueError(
            f"of {packages} packages, {settled} cannot be settled and {loaded} loaded in an unsolved problem"
        )
    most = cities - single or cities
    if not 0 <= destinations <= most:
        raise ValueError(f"from 0 to {most} places can be destinations, not {destinations}")
    if cities == 1 and (single or locations == 1) and not loaded:
        raise ValueError("with one location in all, a package must be loaded for the problem to be unsolved")


def _place_packages(
    rng: random.Random,
    names: list[str],
    goal: list[str],
    vehicles: list[str],
    everywhere: list[str],
    settled: int,
    loaded: int,
) -> list[str]:
    """Where packages start: some at their goal, some in vehicles, the others anywhere."""
    order = rng.sample(range(len(names)), len(names))
    return [
        *[goal[package] for package in order[:settled]],
        *[f"in {names[package]} {rng.choice(vehicles)}" for package in order[settled : settled + loaded]],
        *[f"at {names[package]} {rng.choice(everywhere)}" for package in order[settled + loaded :]],
    ]


def suite(split: Literal["train", "validation", "test"]) -> list[dict[str, int | str]]:
    """The options of each problem of the suite ``paper``."""
    match split:
        case "train":
            shapes, dense = [*SMALL, *SMALL, *LARGE], DENSE
        case "validation":
            shapes, dense = [*SMALL, (2, 5, 2, 0), (3, 4, 2, 1), (4, 3, 2, 0), (5, 3, 2, 1)], DENSE[-3:-1]
        case "test":
            shapes, dense = [(cities, packages, 2, 0) for cities in range(15, 20) for packages in range(8, 12)], []
        case _:
            raise ValueError(f'a split is "train", "validation" or "test", not {split!r}')
    sparse: list[dict[str, int | str]] = [
        {
            "cities": cities,
            "packages": packages,
            "locations": locations,
            "single": single,
            # Of each three training problems, one starts as the benchmark's files do.
            "settled": int(split != "test" and index % 3 == 1),
            "loaded": index % 3 if split != "test" else 0,
        }
        for index, (cities, packages, locations, single) in enumerate(shapes)
    ]
    names = ("cities", "packages", "locations", "single", "destinations")
    return sparse + [dict(zip(names, shape, strict=True)) for shape in dense]

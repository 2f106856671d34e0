"""Logistics problems are well-formed, as large as their suite says, unsolved at the start, and solvable."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass
from importlib.resources import files

import pytest
from unified_planning.io import PDDLReader

from trifold.domains.logistics import generate, suite
from trifold.pddl import Problem, expand, load_domain, load_problem

DOMAIN = files("trifold.domains").joinpath("logistics.pddl").read_text(encoding="utf-8")
TRAIN, VALIDATION, TEST = suite("train"), suite("validation"), suite("test")


def problems(options: list[dict[str, int | str]], seed: int = 0) -> list[str]:
    return [generate(random.Random(f"{seed}/{index}"), **option) for index, option in enumerate(options)]


@dataclass(frozen=True)
class Places:
    """Where things are in a problem's text: packages, trucks and airplane at a location, or packages in a vehicle."""

    start: dict[str, str]
    goal: dict[str, str]
    city: dict[str, str]

    @classmethod
    def read(cls, text: str) -> Places:
        init, goal = text.split("(:goal")
        return cls(
            dict(re.findall(r"\((?:at|in) (\S+) ([^\s)]+)\)", init)),
            dict(re.findall(r"\(at (\S+) ([^\s)]+)\)", goal)),
            dict(re.findall(r"\(in-city (\S+) ([^\s)]+)\)", init)),
        )


def situations(text: str) -> set[str]:
    """The situations of the generator's docstring that a problem starts in."""
    places = Places.read(text)
    airports = set(re.findall(r"\(airport (\S+)\)", text))
    cities = {city: [place for place in places.city if places.city[place] == city] for city in places.city.values()}
    packages = {name: places.start[name] for name in places.goal}
    trucks = {place for name, place in places.start.items() if name.startswith("t")}
    located = {name: place for name, place in packages.items() if place in places.city}
    crowd = Counter(places.city[place] for place in located.values())
    open_packages = {name: place for name, place in located.items() if places.goal[name] != place}
    tests = {
        "several packages in a city": max(crowd.values(), default=0) > 1,
        "one goal for several packages": len(set(places.goal.values())) < len(places.goal),
        "package at its goal": len(open_packages) < len(located),
        "truck with its package": any(place in trucks for place in open_packages.values()),
        "truck away from its package": any(place not in trucks for place in open_packages.values()),
        "airplane away": any(place in airports - {places.start["a0"]} for place in open_packages.values()),
        "package in a truck": any(place.startswith("t") for place in packages.values()),
        "package in the airplane": "a0" in packages.values(),
        "city without packages": len(crowd) < len(cities) and len(located) == len(packages),
        "more cities than packages": len(cities) > len(packages),
        "fewer cities than packages": len(cities) < len(packages),
        "goal in its own city": any(places.city[p] == places.city[places.goal[n]] for n, p in open_packages.items()),
        "goal in another city": any(places.city[p] != places.city[places.goal[n]] for n, p in open_packages.items()),
        "goal at an airport": any(place in airports for place in places.goal.values()),
        "goal elsewhere": any(place not in airports for place in places.goal.values()),
        "city with one location": min(map(len, cities.values())) == 1,
        "city with several locations": max(map(len, cities.values())) > 1,
        "cities of both kinds": len(set(map(len, cities.values()))) > 1,
    }
    return {name for name, holds in tests.items() if holds}


def states(option: dict[str, int | str]) -> int:
    """The airplane's and the trucks' places, and all locations, trucks and the airplane for each package."""
    cities, packages, locations, single = (int(option[key]) for key in ("cities", "packages", "locations", "single"))
    everywhere = locations * (cities - single) + single
    return int(cities * locations ** (cities - single) * (everywhere + cities + 1) ** packages)


def test_the_domain_has_the_names_and_arities_of_the_public_files() -> None:
    domain = PDDLReader().parse_problem_string(DOMAIN)
    assert DOMAIN.startswith("(define (domain logistics-strips)\n")
    assert {fluent.name: fluent.arity for fluent in domain.fluents} == {
        "package": 1, "truck": 1, "location": 1, "airplane": 1, "city": 1, "airport": 1, "at": 2, "in": 2, "in-city": 2,
    }  # fmt: skip
    assert {action.name: len(action.parameters) for action in domain.actions} == {
        "load-truck": 3, "load-airplane": 3, "unload-truck": 3, "unload-airplane": 3, "drive-truck": 4,
        "fly-airplane": 3,
    }  # fmt: skip


def test_sizes_are_those_of_the_paper_and_training_spaces_are_small() -> None:
    assert [(option["cities"], option["packages"]) for option in TEST] == [
        (cities, packages) for cities in range(15, 20) for packages in range(8, 12)
    ]
    assert all(option["locations"] == 2 and not option["single"] for option in TEST)
    for options, packages, all_states in ((TRAIN, {3, 4, 5, 6}, 11_000_000), (VALIDATION, {3, 4, 5}, 2_000_000)):
        assert {option["cities"] for option in options} == {2, 3, 4, 5}
        assert {option["packages"] for option in options} == packages
        assert 10_000 < sum(map(states, options)) < all_states
        assert max(map(states, options)) <= 2_400_000
    assert set(map(states, VALIDATION)) <= set(map(states, TRAIN))


def test_every_problem_is_of_its_size_and_unsolved() -> None:
    domain = load_domain(DOMAIN)
    for options in (TRAIN, VALIDATION, TEST):
        for option, text in zip(options, problems(options), strict=True):
            cities, packages, locations, single = (
                int(option[key]) for key in ("cities", "packages", "locations", "single")
            )
            problem = load_problem(domain, text)
            objects = 1 + 2 * cities + locations * (cities - single) + single + packages
            assert len(problem.objects) == objects
            assert len(problem.goal) == packages
            assert not problem.is_goal(problem.initial_state)
            places = Places.read(text)
            assert len(places.start) == 1 + cities + packages
            assert all(places.city[places.start[f"t{city}"]] == f"c{city}" for city in range(cities))
            assert f"(airport {places.start['a0']})" in text and text.count("(airport ") == cities
            assert sum(places.start[name] not in places.city for name in places.goal) == option.get("loaded", 0)
            assert sum(places.start[name] == places.goal[name] for name in places.goal) >= int(option.get("settled", 0))
            if "destinations" in option:
                assert len(set(places.goal.values())) <= int(option["destinations"])
                assert not any(f"(airport {place})" in text for place in places.goal.values())


def test_destinations_are_in_cities_with_somewhere_to_go() -> None:
    text = generate(random.Random(0), cities=3, packages=9, locations=2, single=1, destinations=2)
    goals = set(Places.read(text).goal.values())
    assert goals == {"l0-1", "l1-1"}
    with pytest.raises(ValueError, match="from 0 to 2 places can be destinations, not 3"):
        generate(random.Random(0), cities=3, single=1, destinations=3)


def test_a_second_parser_reads_problems_of_each_kind() -> None:
    domain = load_domain(DOMAIN)
    for text in (*problems(TRAIN)[:3], problems(TEST)[0]):
        second = PDDLReader().parse_problem_string(DOMAIN, text)
        assert {item.name for item in second.all_objects} == set(load_problem(domain, text).objects)
        assert len(second.goals[0].args) == text.split("(:goal")[1].count("(at ")


@pytest.mark.parametrize(
    ("cities", "packages", "locations", "single"),
    [(1, 2, 3, 0), (2, 3, 2, 0), (2, 3, 3, 1), (3, 2, 2, 1), (5, 2, 1, 0)],
)
def test_the_state_space_holds_all_placements(cities: int, packages: int, locations: int, single: int) -> None:
    option: dict[str, int | str] = {"cities": cities, "packages": packages, "locations": locations, "single": single}
    for loaded in range(2):
        space = expand(DOMAIN, generate(random.Random(7), **option, loaded=loaded), 100_000)
        assert len(space) == states(option)
        assert space.distances.min() == 0 < space.distances[space.initial]


def deliver(problem: Problem, places: Places) -> bool:
    """Deliver one package after the other, each by truck, airplane and truck; say whether that reaches the goal."""
    state, at = problem.initial_state, dict(places.start)
    for package, goal in places.goal.items():
        here, there = places.city[at[package]][1:], places.city[goal][1:]
        legs = [(f"t{here}", f"l{here}-0", "truck"), ("a0", f"l{there}-0", "airplane"), (f"t{there}", goal, "truck")]
        for vehicle, target, kind in legs if here != there else [(f"t{here}", goal, "truck")]:
            if at[package] == target:
                continue
            loading = [("go", at[package]), ("load", at[package]), ("go", target), ("unload", target)]
            for step, place in loading:
                if step == "go" and at[vehicle] == place:
                    continue
                if step == "go":
                    city = f" {places.city[place]}" if kind == "truck" else ""
                    verb = "drive-truck" if kind == "truck" else "fly-airplane"
                    action = f"({verb} {vehicle} {at[vehicle]} {place}{city})"
                    at[vehicle] = place
                else:
                    action = f"({step}-{kind} {package} {vehicle} {place})"
                state = dict(problem.successors(state))[action]
            at[package] = target
    return problem.is_goal(state)


def test_delivering_one_package_after_the_other_solves_the_largest_problems() -> None:
    domain = load_domain(DOMAIN)
    for text in problems(TEST)[::6]:
        assert deliver(load_problem(domain, text), Places.read(text))


@pytest.mark.parametrize("seed", range(3))
def test_the_training_split_contains_every_situation(seed: int) -> None:
    found = Counter(situation for text in problems(TRAIN, seed) for situation in situations(text))
    assert len(found) == 18 and min(found.values()) >= 3, found


def test_problems_are_seeded_and_wrong_sizes_are_refused() -> None:
    assert problems(TRAIN) == problems(TRAIN) != problems(TRAIN, seed=1)
    rng = random.Random(0)
    wrong: list[dict[str, int]] = [
        {"cities": 0}, {"packages": 0}, {"locations": 0}, {"single": 4}, {"settled": 3}, {"settled": 2, "loaded": 2},
        {"loaded": -1}, {"cities": 1, "locations": 1},
    ]  # fmt: skip
    for option in wrong:
        with pytest.raises(ValueError):
            generate(rng, **option)
    assert "(in p0 " in generate(rng, cities=1, locations=1, packages=1, loaded=1)
    with pytest.raises(ValueError, match="split"):
        suite("trial")

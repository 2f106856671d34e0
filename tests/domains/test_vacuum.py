"""Vacuum: every robot has a connected map of its own, all maps cover the plan, and a robot reaches the dirt."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from unified_planning.io import PDDLReader

from trifold.domains import DOMAINS, domain_text
from trifold.domains.isomorphism import read_structure
from trifold.domains.vacuum import generate, suite
from trifold.pddl import expand, load_domain, load_problem


@dataclass(frozen=True)
class Instance:
    """A problem as its atoms say it: doors (robot, location, location), and where the robots and the dirt are."""

    robots: dict[str, str]
    locations: set[str]
    doors: set[tuple[str, str, str]]
    dirty: str

    def distances(self, robot: str, doors: set[tuple[str, str]] | None = None) -> dict[str, int]:
        """Distances of a robot to what it can reach, by its own doors or by given ones."""
        doors = {(a, b) for r, a, b in self.doors if r == robot} if doors is None else doors
        found, layer = {self.robots[robot]: 0}, [self.robots[robot]]
        for place in layer:
            for a, b in doors:
                if a == place and b not in found:
                    found[b] = found[place] + 1
                    layer.append(b)
        return found

    @property
    def ways(self) -> list[int | None]:
        """How far each robot is from the dirt; None where it cannot reach it."""
        return [self.distances(robot).get(self.dirty) for robot in self.robots]


def read(text: str) -> Instance:
    structure = read_structure(text)
    atoms = {name: [args for relation, args in structure.atoms if relation == name] for name, _ in structure.atoms}
    ((dirty,),) = atoms["init dirty"]
    assert atoms["goal not dirty"] == [(dirty,)]
    robots: dict[str, str] = dict(atoms["init at"])
    doors = {(robot, a, b) for robot, a, b in atoms["init adjacent"]}
    assert len(doors) == len(atoms["init adjacent"])
    return Instance(robots, set(structure.objects) - robots.keys(), doors, dirty)


@cache
def split(name: str) -> list[Instance]:
    return [read(generate(random.Random(f"{name}/{i}"), **options)) for i, options in enumerate(suite(name))]


def test_the_domain_is_that_of_the_public_files() -> None:
    assert domain_text("vacuum").startswith("(define (domain robot-vacuum)\n")
    domain = PDDLReader().parse_problem_string(domain_text("vacuum"))
    assert {fluent.name: fluent.arity for fluent in domain.fluents} == {"at": 2, "dirty": 1, "adjacent": 3}
    assert {action.name: len(action.parameters) for action in domain.actions} == {"drive": 3, "clean": 2}


@pytest.mark.parametrize(("name", "problems"), [("train", 41), ("validation", 14), ("test", 20)])
def test_sizes_are_those_of_the_paper(name: str, problems: int) -> None:
    options = suite(name)
    least, most = ((40, 6), (93, 10)) if name == "test" else ((8, 1), (38, 6))
    sizes = [(len(instance.locations), len(instance.robots)) for instance in split(name)]
    assert sizes == [(option["locations"], option["robots"]) for option in options] and len(sizes) == problems
    assert tuple(map(min, zip(*sizes, strict=True))) == least and tuple(map(max, zip(*sizes, strict=True))) == most
    if name != "test":
        states = [2 * option["reach"] ** option["robots"] for option in options]
        assert max(states) < 300_000 and 10_000 < sum(states) < 1_500_000


@pytest.mark.parametrize("name", ["train", "validation", "test"])
def test_maps_are_connected_cover_the_plan_and_one_has_the_dirt(name: str) -> None:
    for instance, options in zip(split(name), suite(name), strict=True):
        assert all((robot, b, a) in instance.doors and a != b for robot, a, b in instance.doors)
        maps = {robot: instance.distances(robot).keys() for robot in instance.robots}
        assert all(len(reached) == options["reach"] for reached in maps.values())
        assert all({a for r, a, _ in instance.doors if r == robot} == maps[robot] for robot in maps)
        assert set().union(*maps.values()) == instance.locations
        assert any(instance.dirty in reached for reached in maps.values())  # so there is a plan: drive there, clean


def test_the_training_split_has_what_large_problems_need() -> None:
    def situations(instances: list[Instance]) -> set[str]:
        found: set[str] = set()
        for instance in instances:
            ways = instance.ways
            able = [way for way in ways if way is not None]
            shared = {(a, b) for _, a, b in instance.doors}
            found.add("alone" if len(ways) == 1 else "all can" if len(able) == len(ways) else "some cannot")
            found.add("one can" if len(able) == 1 else "several can")
            users = [sum((robot, a, b) in instance.doors for robot in instance.robots) for a, b in shared]
            found |= {"shared door"} if max(users) > 1 else set()
            found |= {"own door"} if min(users) == 1 and len(ways) > 1 else set()
            straight: list[Any] = [instance.distances(robot, shared).get(instance.dirty) for robot in instance.robots]
            nearest = [straight[i] for i, way in enumerate(ways) if way == min(able)]
            found |= {"nearest on the plan is not nearest"} if min(s for s in straight if s) < min(nearest) else set()
            rings = len(instance.doors) // 2 > sum(len(instance.distances(robot)) - 1 for robot in instance.robots)
            found.add("rings" if rings else "trees")
            found |= {"long way"} if min(able) >= 6 else set()
        return found

    assert situations(split("train")) >= situations(split("test")) | {"alone", "all can", "one can", "trees"}
    assert "nearest on the plan is not nearest" in situations(split("test"))


@pytest.mark.parametrize(("locations", "robots", "reach"), [(8, 1, 8), (8, 2, 6), (12, 3, 6), (10, 4, 5), (14, 6, 4)])
def test_state_spaces_have_the_size_that_the_docstring_says(locations: int, robots: int, reach: int) -> None:
    text = generate(random.Random(1), locations=locations, robots=robots, reach=reach)
    space = expand(domain_text("vacuum"), text, 100_000)
    assert len(space) == 2 * reach**robots
    assert space.distances.min() == 0 and space.distances[space.initial] == 1 + min(
        way for way in read(text).ways if way is not None
    )


def test_two_parsers_read_small_and_large_problems() -> None:
    domain = load_domain(domain_text("vacuum"))
    for options in [suite("train")[0], suite("train")[-1], suite("test")[-1]]:
        text = generate(random.Random(0), **options)
        problem = load_problem(domain, text)
        second = PDDLReader().parse_problem_string(domain_text("vacuum"), text)
        assert len(problem.objects) == len(second.all_objects) == options["locations"] + options["robots"]
        assert not problem.is_goal(problem.initial_state)


def test_a_seed_gives_one_text_and_names_tell_nothing() -> None:
    texts = [generate(random.Random(seed)) for seed in (*range(30), *range(30))]
    assert texts[:30] == texts[30:] and len(set(texts)) == 30
    assert len({read(text).dirty for text in texts}) > 6
    assert {read(text).ways[0] is None for text in texts} == {True, False}


@pytest.mark.parametrize("options", [{"robots": 0}, {"reach": 1}, {"reach": 13}, {"locations": 40, "reach": 8}])
def test_impossible_sizes_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="locations"):
        generate(random.Random(0), **options)


def test_maps_that_are_not_found_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trifold.domains.vacuum.ATTEMPTS", 5)
    with pytest.raises(ValueError, match="raise reach"):
        generate(random.Random(0), locations=40, robots=20, reach=2)
    assert DOMAINS["vacuum"].generate is generate

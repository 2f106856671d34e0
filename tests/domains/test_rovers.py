"""Rovers problems are well-formed, as large as their suite says, unsolved at the start, and solvable."""

from __future__ import annotations

import random
import re
from collections import Counter, deque
from importlib.resources import files

import pytest
from unified_planning.io import PDDLReader

from trifold.domains.rovers import COPIES, generate, suite
from trifold.pddl import Problem, StateSpace, expand, load_domain, load_problem

DOMAIN = files("trifold.domains").joinpath("rovers.pddl").read_text(encoding="utf-8")
TRAIN, VALIDATION, TEST = suite("train")[::COPIES], suite("validation"), suite("test")  # every size of training once
Atom = tuple[str, ...]


def problems(options: list[dict[str, int | str]], seed: int = 0) -> list[str]:
    return [generate(random.Random(f"{seed}/{index}"), **option) for index, option in enumerate(options)]


class Facts:
    """The initial atoms and the goal atoms of a problem's text, by predicate."""

    def __init__(self, text: str) -> None:
        self.init, self.goal = (self._read(part) for part in text.split("(:goal"))
        self.lander = self.init["at_lander"][0][1]
        self.start: dict[str, str] = dict(self.init["at"])
        self.visible = set(self.init["visible"])
        self.seen_from = set(self.init["visible_from"])
        self.reach = {rover: set(self.routes(rover, place)) for rover, place in self.start.items()}

    @staticmethod
    def _read(text: str) -> dict[str, list[Atom]]:
        found: dict[str, list[Atom]] = {}
        for atom in re.findall(r"\((\w+ [\w ]+)\)", text):
            name, *arguments = atom.split()
            found.setdefault(name, []).append(tuple(arguments))
        names = "visible at_soil_sample at_rock_sample visible_from supports on_board calibration_target can_traverse"
        equipped = [f"equipped_for_{ability}" for ability in ("soil_analysis", "rock_analysis", "imaging")]
        goals = [f"communicated_{kind}_data" for kind in ("soil", "rock", "image")]
        return {name: [] for name in [*names.split(), *equipped, *goals]} | found

    def routes(self, rover: str, start: str) -> dict[str, list[str]]:
        """A shortest way, without its start, from the start to each waypoint that the rover can reach."""
        ways: dict[str, list[str]] = {start: []}
        queue = deque([start])
        while queue:
            here = queue.popleft()
            for other, near, far in self.init["can_traverse"]:
                if (other, near) == (rover, here) and far not in ways and (near, far) in self.visible:
                    ways[far] = [*ways[near], far]
                    queue.append(far)
        return ways

    def hears(self, place: str) -> bool:
        """Whether the lander is seen from there."""
        return (place, self.lander) in self.visible

    def able(self, kind: str, place: str) -> list[str]:
        """The rovers that can analyse this kind of sample there."""
        return [rover for (rover,) in self.init[f"equipped_for_{kind}_analysis"] if place in self.reach[rover]]

    def cameras(self, objective: str, mode: str) -> list[tuple[str, str, str]]:
        """The cameras that can take this image, with their rovers and calibration targets."""
        targets: dict[str, str] = dict(self.init["calibration_target"])
        return [
            (camera, rover, targets[camera])
            for camera, rover in self.init["on_board"]
            if (camera, mode) in self.init["supports"]
            and any((targets[camera], place) in self.seen_from for place in self.reach[rover])
            and any((objective, place) in self.seen_from for place in self.reach[rover])
        ]


def test_the_domain_has_the_names_and_arities_of_the_public_files() -> None:
    domain = PDDLReader().parse_problem_string(DOMAIN)
    assert DOMAIN.startswith("(define (domain rover)\n")
    assert {kind.name for kind in domain.user_types} == {
        "rover", "waypoint", "store", "camera", "mode", "lander", "objective",
    }  # fmt: skip
    assert {fluent.name: fluent.arity for fluent in domain.fluents} == {
        "at": 2, "at_lander": 2, "can_traverse": 3, "equipped_for_soil_analysis": 1, "equipped_for_rock_analysis": 1,
        "equipped_for_imaging": 1, "empty": 1, "have_rock_analysis": 2, "have_soil_analysis": 2, "full": 1,
        "calibrated": 2, "supports": 2, "available": 1, "visible": 2, "have_image": 3, "communicated_soil_data": 1,
        "communicated_rock_data": 1, "communicated_image_data": 2, "at_soil_sample": 1, "at_rock_sample": 1,
        "visible_from": 2, "store_of": 2, "calibration_target": 2, "on_board": 2, "channel_free": 1,
    }  # fmt: skip
    assert {action.name: len(action.parameters) for action in domain.actions} == {
        "navigate": 3, "sample_soil": 3, "sample_rock": 3, "drop": 2, "calibrate": 4, "take_image": 5,
        "communicate_soil_data": 5, "communicate_rock_data": 5, "communicate_image_data": 6,
    }  # fmt: skip


def test_sizes_are_those_of_the_paper_and_training_spaces_are_small() -> None:
    assert len(TEST) == 20 and all(option["rovers"] == 3 for option in TEST)
    assert {option["waypoints"] for option in TEST} == set(range(21, 40))
    for options in (TRAIN, VALIDATION):
        assert {option["rovers"] for option in options} == {2, 3}
        assert {option["waypoints"] for option in options} <= set(range(3, 9))
        assert all(0 < int(option["max_states"]) <= 400_000 for option in options)
        assert sum(int(option["max_states"]) for option in options) < 12_000_000
    assert {option["waypoints"] for option in TRAIN} == set(range(3, 9))
    assert max(int(option["max_states"]) for option in VALIDATION) == max(int(option["max_states"]) for option in TRAIN)
    assert all(option in TRAIN for option in VALIDATION)


def test_every_problem_is_of_its_size_and_unsolved() -> None:
    domain = load_domain(DOMAIN)
    for options in (TRAIN, VALIDATION, TEST):
        for option, text in zip(options, problems(options), strict=True):
            problem, facts = load_problem(domain, text), Facts(text)
            fixed = 1 + 3  # the lander and the modes
            counts = {key: int(value) for key, value in option.items()}
            objects = 2 * counts["rovers"] + counts["waypoints"] + counts["cameras"] + counts["objectives"]
            assert len(problem.objects) == fixed + objects
            assert not problem.is_goal(problem.initial_state)
            assert not any(
                name.startswith(("have_", "communicated_", "calibrated")) for name, atoms in facts.init.items() if atoms
            )
            for kind, key in (("soil", "soil"), ("rock", "rock"), ("image", "images")):
                assert len(set(facts.goal[f"communicated_{kind}_data"])) == counts[key]
            samples = len(facts.init["at_soil_sample"]) + len(facts.init["at_rock_sample"])
            assert samples == counts["soil"] + counts["rock"] + counts["spare"]


def test_a_second_parser_reads_small_and_large_problems() -> None:
    domain = load_domain(DOMAIN)
    for text in (*problems(TRAIN)[:3], problems(TEST)[0]):
        second = PDDLReader().parse_problem_string(DOMAIN, text)
        assert {item.name for item in second.all_objects} == set(load_problem(domain, text).objects)
        assert text.split("(:goal")[1].count("(communicated_") == max(1, len(second.goals[0].args))


@pytest.mark.parametrize("seed", range(2))
def test_maps_are_trees_of_visible_pairs_from_which_each_rover_can_report(seed: int) -> None:
    for text in (*problems(TRAIN, seed), *problems(TEST, seed)):
        facts = Facts(text)
        assert all((far, near) in facts.visible for near, far in facts.visible)
        for rover, reach in facts.reach.items():
            roads = {(near, far) for other, near, far in facts.init["can_traverse"] if other == rover}
            assert roads <= facts.visible and {(far, near) for near, far in roads} == roads
            assert len(reach) == len(roads) // 2 + 1 > 1
            assert any(map(facts.hears, reach))


@pytest.mark.parametrize("option", [option for option in TRAIN if int(option["max_states"]) <= 10_000][::2])
def test_small_spaces_are_within_their_bound_without_dead_ends(option: dict[str, int | str]) -> None:
    for seed in range(2):
        space = expand(DOMAIN, generate(random.Random(seed), **option), int(option["max_states"]))
        assert space.distances.min() == 0 < space.distances[space.initial]


def test_the_bound_is_the_number_of_states_where_no_sample_can_be_taken() -> None:
    """Only images: then no store can be full, and the number of states is the product that the generator bounds."""

    def expand_within(limit: int) -> StateSpace:
        option = {"waypoints": 4, "soil": 0, "rock": 0, "images": 2, "cameras": 2, "max_states": limit}
        return expand(DOMAIN, generate(random.Random(3), **option), limit)

    states = len(expand_within(5_000))
    assert len(expand_within(states)) == states
    assert len(expand_within(states - 1)) < states


class Plan:
    """A plan in the making: where each rover is, and the state that the plan's actions lead to."""

    def __init__(self, problem: Problem, facts: Facts) -> None:
        self.problem, self.facts = problem, facts
        self.state, self.place = problem.initial_state, dict(facts.start)

    def act(self, *words: str) -> None:
        self.state = dict(self.problem.successors(self.state))[f"({' '.join(words)})"]

    def go(self, rover: str, goals: set[str]) -> str:
        """Go to the nearest of some waypoints."""
        routes = self.facts.routes(rover, self.place[rover])
        for step in min((routes[place] for place in sorted(goals) if place in routes), key=len):
            self.act("navigate", rover, self.place[rover], step)
            self.place[rover] = step
        return self.place[rover]

    def report(self, rover: str, kind: str, *what: str) -> None:
        place = self.go(rover, {place for place in self.facts.reach[rover] if self.facts.hears(place)})
        self.act(f"communicate_{kind}_data", rover, "general", *what, place, self.facts.lander)

    def see(self, rover: str, objective: str) -> str:
        return self.go(rover, {place for seen, place in self.facts.seen_from if seen == objective})


def test_achieving_one_goal_after_the_other_solves_the_largest_problems() -> None:
    domain = load_domain(DOMAIN)
    for text in problems(TEST)[::3]:
        plan = Plan(load_problem(domain, text), Facts(text))
        for kind in ("soil", "rock"):
            for (place,) in plan.facts.goal[f"communicated_{kind}_data"]:
                rover = plan.facts.able(kind, place)[0]
                plan.go(rover, {place})
                plan.act(f"sample_{kind}", rover, f"{rover}store", place)
                plan.act("drop", rover, f"{rover}store")
                plan.report(rover, kind, place)
        for objective, mode in plan.facts.goal["communicated_image_data"]:
            camera, rover, target = plan.facts.cameras(objective, mode)[0]
            plan.act("calibrate", rover, camera, target, plan.see(rover, target))
            plan.act("take_image", rover, plan.see(rover, objective), objective, camera, mode)
            plan.report(rover, "image", objective, mode)
        assert plan.problem.is_goal(plan.state)


def situations(text: str) -> set[str]:
    """The situations of the generator's docstring that a problem contains."""
    facts = Facts(text)
    samples = {kind: [place for (place,) in facts.goal[f"communicated_{kind}_data"]] for kind in ("soil", "rock")}
    images = facts.goal["communicated_image_data"]
    able = [facts.able(kind, place) for kind, places in samples.items() for place in places]
    sole = Counter(rovers[0] for rovers in able if len(rovers) == 1)
    able += [[rover for _, rover, _ in facts.cameras(*image)] for image in images]
    kinds = [kind for kind, wanted in (*samples.items(), ("image", images)) if wanted]
    roads = set(facts.init["can_traverse"])
    tests = {
        **{f"only {kind}": kinds == [kind] for kind in ("soil", "rock", "image")},
        "all kinds": len(kinds) == 3,
        "waypoint seen but not entered": any(
            near in reach and far not in reach for reach in facts.reach.values() for near, far in facts.visible
        ),
        "way around": any(
            near in reach and far in reach and (rover, near, far) not in roads
            for rover, reach in facts.reach.items()
            for near, far in facts.visible
        ),
        "maps differ": len({frozenset(road[1:] for road in roads if road[0] == rover) for rover in facts.reach}) > 1,
        "goal for one rover": any(len(set(rovers)) == 1 for rovers in able),
        "goal for several rovers": any(len(set(rovers)) > 1 for rovers in able),
        "rover without a goal": any(all(rover not in rovers for rovers in able) for rover in facts.start),
        "soil and rock at one waypoint": not set(samples["soil"]).isdisjoint(samples["rock"]),
        "several samples for one store": max(sole.values(), default=0) > 1,
        "spare sample": len(facts.init["at_soil_sample"]) > len(samples["soil"])
        or len(facts.init["at_rock_sample"]) > len(samples["rock"]),
        "lander seen": any(map(facts.hears, facts.start.values())),
        "lander not seen": not all(map(facts.hears, facts.start.values())),
        "calibration elsewhere": any(
            not any({(target, place), (objective, place)} <= facts.seen_from for place in facts.reach[rover])
            for objective, mode in images
            for _, rover, target in facts.cameras(objective, mode)
        ),
        "second image": len(images) > 1,
        "image for several rovers": any(len({rover for _, rover, _ in facts.cameras(*image)}) > 1 for image in images),
        "mode of one camera": any(len(facts.cameras(*image)) == 1 < len(facts.init["on_board"]) for image in images),
    }
    return {name for name, holds in tests.items() if holds}


@pytest.mark.parametrize("seed", range(3))
def test_the_training_split_contains_every_situation(seed: int) -> None:
    found = Counter(situation for text in problems(TRAIN, seed) for situation in situations(text))
    assert len(found) == 19, found


def test_problems_are_seeded_and_wrong_sizes_are_refused() -> None:
    assert problems(TRAIN) == problems(TRAIN) != problems(TRAIN, seed=1)
    rng = random.Random(0)
    wrong: list[dict[str, int]] = [
        {"rovers": 0}, {"waypoints": 1}, {"soil": 0, "rock": 0, "images": 0}, {"soil": 5}, {"spare": 7}, {"spare": -1},
        {"images": 4}, {"cameras": 0}, {"objectives": 0}, {"max_states": 3},
    ]  # fmt: skip
    for option in wrong:
        with pytest.raises(ValueError):
            generate(rng, **option)
    with pytest.raises(ValueError, match="split"):
        suite("trial")

"""Miconic problems are well-formed, as large as their suite says, unsolved at the start, and solvable."""

from __future__ import annotations

import random
import re
from importlib.resources import files
from itertools import combinations

import pytest
from unified_planning.io import PDDLReader

from trifold.domains.miconic import generate, suite
from trifold.pddl import expand, load_domain, load_problem

DOMAIN = files("trifold.domains").joinpath("miconic.pddl").read_text(encoding="utf-8")
TRAIN, VALIDATION, TEST = suite("train"), suite("validation"), suite("test")


def problems(options: list[dict[str, int | str]], seed: int = 0) -> list[str]:
    return [generate(random.Random(f"{seed}/{index}"), **option) for index, option in enumerate(options)]


def trips(text: str) -> list[tuple[int, int]]:
    """Origin and destination of each passenger, as numbers of floors."""
    origins, destinations = (dict(re.findall(rf"\({word} (p\d+) f(\d+)\)", text)) for word in ("origin", "destin"))
    assert origins.keys() == destinations.keys()
    return [(int(origins[person]), int(destinations[person])) for person in origins]


def states(option: dict[str, int | str]) -> int:
    return int(option["floors"]) * 4 ** int(option["passengers"])


def test_the_domain_has_the_names_and_arities_of_the_public_files() -> None:
    domain = PDDLReader().parse_problem_string(DOMAIN)
    assert DOMAIN.startswith("(define (domain miconic)\n")
    assert {fluent.name: fluent.arity for fluent in domain.fluents} == {
        "origin": 2, "floor": 1, "passenger": 1, "destin": 2, "above": 2, "boarded": 1, "served": 1, "lift-at": 1,
    }  # fmt: skip
    assert {action.name: len(action.parameters) for action in domain.actions} == {
        "board": 2, "depart": 2, "up": 2, "down": 2,
    }  # fmt: skip


def test_sizes_are_those_of_the_paper_and_training_spaces_are_small() -> None:
    assert [(option["floors"], option["passengers"]) for option in TEST] == [(2 * p, p) for p in range(11, 31)]
    for options in (TRAIN, VALIDATION):
        assert all(2 <= int(option["floors"]) <= 20 and 1 <= int(option["passengers"]) <= 10 for option in options)
        assert 10_000 < sum(map(states, options)) < 6_000_000
        assert max(map(states, options)) < 3_000_000
        assert sum(states(option) > 300_000 for option in options) <= len(options) // 10
    assert {option["floors"] for option in TRAIN} >= {2, 20}
    assert max(map(states, VALIDATION)) == max(map(states, TRAIN))
    assert all(option in TRAIN for option in VALIDATION)


def test_every_problem_is_of_its_size_and_unsolved() -> None:
    domain = load_domain(DOMAIN)
    for options in (TRAIN, VALIDATION, TEST[::9]):
        for option, text in zip(options, problems(options), strict=True):
            floors, passengers = int(option["floors"]), int(option["passengers"])
            problem = load_problem(domain, text)
            assert not problem.is_goal(problem.initial_state)
            atoms = set(problem.atoms(problem.initial_state))
            assert {f"(above f{low} f{high})" for low, high in combinations(range(floors), 2)} <= atoms
            assert sum(atom.startswith("(above ") for atom in atoms) == floors * (floors - 1) // 2
            assert len(problem.goal) == len(trips(text)) == passengers
            assert len(problem.objects) == floors + passengers


def test_a_second_parser_reads_small_and_large_problems() -> None:
    domain = load_domain(DOMAIN)
    for text in (*problems(TRAIN)[:4], problems(TEST)[0]):
        second = PDDLReader().parse_problem_string(DOMAIN, text)
        assert {item.name for item in second.all_objects} == set(load_problem(domain, text).objects)
        assert text.split("(:goal")[1].count("(served ") == max(1, len(second.goals[0].args))


@pytest.mark.parametrize(("floors", "passengers"), [(2, 1), (2, 4), (4, 2), (9, 2), (6, 3), (3, 4)])
def test_the_state_space_holds_all_states_of_lift_and_passengers_and_no_dead_end(floors: int, passengers: int) -> None:
    for seed in range(3):
        space = expand(DOMAIN, generate(random.Random(seed), floors=floors, passengers=passengers), 100_000)
        assert len(space) == floors * 4**passengers
        assert space.distances.min() == 0 < space.distances[space.initial]


def test_taking_one_passenger_after_the_other_solves_the_largest_problems() -> None:
    domain = load_domain(DOMAIN)
    for text in problems(TEST)[::9]:
        problem = load_problem(domain, text)
        state, lift = problem.initial_state, 0
        for person, (origin, destination) in enumerate(trips(text)):
            for floor, action in ((origin, "board"), (destination, "depart")):
                if floor != lift:
                    direction = "up" if floor > lift else "down"
                    state = dict(problem.successors(state))[f"({direction} f{lift} f{floor})"]
                state, lift = dict(problem.successors(state))[f"({action} f{floor} p{person})"], floor
        assert problem.is_goal(state)


@pytest.mark.parametrize("seed", range(3))
def test_the_training_split_contains_every_situation(seed: int) -> None:
    found = dict.fromkeys(("up", "down", "shared origin", "shared destination", "off and on", "unused floor"), 0)
    for option, text in zip(TRAIN, problems(TRAIN, seed), strict=True):
        origins, destinations = zip(*trips(text), strict=True)
        found["up"] += any(origin < destination for origin, destination in trips(text))
        found["down"] += any(origin > destination for origin, destination in trips(text))
        found["shared origin"] += len(set(origins)) < len(origins)
        found["shared destination"] += len(set(destinations)) < len(destinations)
        found["off and on"] += not set(origins).isdisjoint(destinations)
        found["unused floor"] += len({*origins, *destinations}) < int(option["floors"])
    assert all(count >= 10 for count in found.values()), found


def test_problems_are_seeded_and_wrong_sizes_are_refused() -> None:
    assert problems(TRAIN) == problems(TRAIN) != problems(TRAIN, seed=1)
    assert all(origin != destination for text in problems(TEST) for origin, destination in trips(text))
    with pytest.raises(ValueError, match="2 floors"):
        generate(random.Random(0), floors=1)
    with pytest.raises(ValueError, match="1 passenger"):
        generate(random.Random(0), passengers=0)
    with pytest.raises(ValueError, match="split"):
        suite("trial")

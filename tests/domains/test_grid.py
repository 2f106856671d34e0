"""Grid: problems are solvable and need as many keys as asked, and training covers what tests need."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from unified_planning.io import PDDLReader

from trifold.domains import SPLITS, Split
from trifold.domains.grid import Regions, draw_doors, draw_instance, generate, lay_out, suite, write_problem
from trifold.domains.grid_sizes import HELD_OUT
from trifold.pddl import expand, load_domain, load_problem

DOMAIN = files("trifold.domains").joinpath("grid.pddl").read_text(encoding="utf-8")
SIZES = {
    split: [dict(size) for size in dict.fromkeys(tuple(size.items()) for size in suite(split))] for split in SPLITS
}
"""The options of each split, every size once."""


def draw(split: Split) -> list[str]:
    return [generate(random.Random(f"{split}/{index}"), **options) for index, options in enumerate(SIZES[split])]


class Map:
    """What the text of a problem says, and plain routes in it."""

    def __init__(self, text: str) -> None:
        init, goal = text.split("(:goal")
        self.locks = dict(re.findall(r"\(lock-shape (\w+) (\w+)\)", init))
        self.key_shape = dict(re.findall(r"\(key-shape (\w+) (\w+)\)", init))
        self.key_place = dict(re.findall(r"\(at (\w+) (\w+)\)", init))
        self.locked = set(re.findall(r"\(locked (\w+)\)", init))
        self.places = re.findall(r"\(place (\w+)\)", init)
        self.conn = {place: re.findall(rf"\(conn {place} (\w+)\)", init) for place in self.places}
        (self.robot,) = re.findall(r"\(at-robot (\w+)\)", init)
        (self.goal,) = re.findall(r"\(at-robot (\w+)\)", goal)

    def routes(self, start: str) -> dict[str, list[str]]:
        """Shortest routes through cells that are not locked, to every cell within reach."""
        routes, queue = {start: [start]}, [start]
        for place in queue:
            for near in self.conn[place]:
                if near not in self.locked and near not in routes:
                    routes[near] = [*routes[place], near]
                    queue.append(near)
        return routes

    def solve(self) -> list[str]:
        """Unlock whatever can be unlocked until the goal is within reach; return the plan."""
        plan: list[str] = []
        here = self.robot
        while self.goal not in self.routes(here):
            routes = self.routes(here)
            key, door, beside = next(
                (key, door, near)
                for key, shape in sorted(self.key_shape.items())
                if self.key_place[key] in routes
                for door in sorted(self.locked)
                if self.locks[door] == shape
                for near in self.conn[door]
                if near in routes
            )
            at_key = self.key_place[key]
            plan += [*moves(routes[at_key]), f"(pickup {at_key} {key})", *moves(self.routes(at_key)[beside])]
            plan += [f"(unlock {beside} {door} {key} {self.key_shape[key]})", f"(putdown {beside} {key})"]
            self.locked.remove(door)
            self.key_place[key] = here = beside
        return plan + moves(self.routes(here)[self.goal])


def moves(route: list[str]) -> list[str]:
    return [f"(move {place} {near})" for place, near in pairwise(route)]


def test_the_domain_has_the_names_and_arities_of_the_public_file() -> None:
    assert DOMAIN.startswith("(define (domain grid)\n")
    domain = PDDLReader().parse_problem_string(DOMAIN)
    one = dict.fromkeys(["place", "key", "shape", "at-robot", "holding", "locked", "open"], 1)
    two = dict.fromkeys(["conn", "key-shape", "lock-shape", "at"], 2)
    assert {fluent.name: fluent.arity for fluent in domain.fluents} == one | two | {"arm-empty": 0}
    actions = {"move": 2, "pickup": 2, "pickup-and-loose": 3, "putdown": 2, "unlock": 4}
    assert {action.name: len(action.parameters) for action in domain.actions} == actions


def test_two_parsers_read_a_problem_alike() -> None:
    text = generate(random.Random(0), rows=2, columns=2, side=3, loops=1, locks=4, keys=4, shapes=3, unlocks=2)
    first, second = load_problem(load_domain(DOMAIN), text), PDDLReader().parse_problem_string(DOMAIN, text)
    assert set(first.objects) == {item.name for item in second.all_objects}
    assert len(first.objects) == 4 * 9 + 4 + 4 + 3
    assert [text.count(f"({name} ") for name in ("place", "key", "shape", "locked", "open")] == [40, 4, 3, 4, 36]
    assert text.count("(conn ") == 2 * (4 * 12 + 4 * 2)  # within rooms, and through doors


@pytest.mark.parametrize("unlocks", [0, 1, 2])
def test_a_plan_unlocks_as_many_doors_as_asked(unlocks: int) -> None:
    for seed in range(4):
        text = generate(random.Random(seed), columns=4, side=1, locks=2, keys=2, shapes=2, unlocks=unlocks)
        space = expand(DOMAIN, text, 100_000)
        assert space.distances[space.initial] > 0 and np.all(space.distances >= 0)
        assert least_unlocks(text) == unlocks


def least_unlocks(text: str) -> int:
    """Search with unlocking as the only cost: states in the order of unlocked doors."""
    problem = load_problem(load_domain(DOMAIN), text)
    layer, seen, count = {problem.initial_state}, {problem.initial_state}, 0
    while True:
        queue, after = list(layer), set()
        for state in queue:
            if problem.is_goal(state):
                return count
            for action, successor in problem.successors(state):
                if action.startswith("(unlock "):
                    after.add(successor)
                elif successor not in seen:
                    seen.add(successor)
                    queue.append(successor)
        layer, count = after - seen, count + 1
        seen |= layer


@pytest.mark.parametrize("unlocks", [0, 1, 2])
def test_a_key_may_be_what_is_to_be_brought_to_the_goal(unlocks: int) -> None:
    for seed in range(4):
        options: dict[str, int] = {"columns": 4, "side": 1, "locks": 2, "keys": 2, "shapes": 2, "unlocks": unlocks}
        text = generate(random.Random(seed), goal="key", **options)
        assert re.search(r"\(:goal \(and\s+\(at key0 p\d+\)\)\)", text)
        space = expand(DOMAIN, text, 100_000)
        assert space.distances[space.initial] > 0 and least_unlocks(text) == unlocks


@pytest.mark.parametrize("seed", range(8))
def test_states_are_counted_without_expanding_them(seed: int) -> None:
    """With keys and doors out of reach, two keys of a shape, a loop, and keys that lie in a locked door."""
    rng = random.Random(seed)
    rooms = lay_out(2, 3, 1)
    instance = draw_instance(rng, rooms, draw_doors(rng, rooms, loops=1), locks=4, keys=3, shapes=2)
    regions = Regions(rooms, instance)
    count = len(expand(DOMAIN, write_problem("drawn", instance, shapes=2), 1_000_000))
    assert regions.has_at_most(count) and not regions.has_at_most(count - 1)


def test_a_space_is_no_larger_than_asked_and_has_no_dead_end() -> None:
    for text, options in zip(draw("train"), SIZES["train"], strict=True):
        if len(load_problem(load_domain(DOMAIN), text).objects) < 20:
            space = expand(DOMAIN, text, int(options["max_states"]))
            assert space.distances[space.initial] > 0 and np.all(space.distances >= 0)
    with pytest.raises(ValueError, match="no such grid with 1 of 2 doors to unlock and at most 10 states was found"):
        generate(random.Random(0), max_states=10)
    with pytest.raises(ValueError, match="max_states must be 0 or more, not -1"):
        generate(random.Random(0), max_states=-1)


def test_the_rarest_size_is_found_with_any_seed() -> None:
    """Of this one, problem 6574 of seed 11, none of the first 20,000 draws is as asked for."""
    options = suite("train")[6573]
    assert generate(random.Random("grid/11/train/6574/0"), **options).startswith("(define (problem grid-2x5-2-5keys")


@pytest.mark.parametrize("split", SPLITS)
def test_every_problem_is_solved_by_unlocking_whatever_can_be(split: Split) -> None:
    for text, options in zip(draw(split), SIZES[split], strict=True):
        problem = load_problem(load_domain(DOMAIN), text)
        state = problem.initial_state
        assert not problem.is_goal(state)
        plan = Map(text).solve()
        for action in plan:
            state = dict(problem.successors(state))[action]
        assert problem.is_goal(state)
        assert sum(action.startswith("(unlock ") for action in plan) >= int(options["unlocks"])


def layout(options: dict[str, int | str]) -> tuple[int, ...]:
    """Rows, columns and the side of rooms, alike for a layout and the same one turned."""
    rows, columns, side = (int(options[name]) for name in ("rows", "columns", "side"))
    return min(rows, columns), max(rows, columns), side


def test_the_suite_has_the_sizes_asked_for() -> None:
    texts = {split: draw(split) for split in SPLITS}
    assert [len(suite(split)) for split in SPLITS] == [6616, 169, 20]
    assert len(SIZES["validation"]) == len(SIZES["train"]) == 169
    keys = ("keys", "shapes")  # of sizes that training has all of, validation has other keys
    alike = [{name: options[name] for name in options if name not in keys} for options in SIZES["train"]]
    assert alike == [{name: options[name] for name in options if name not in keys} for options in SIZES["validation"]]
    assert HELD_OUT.keys().isdisjoint(HELD_OUT.values())
    for split in SPLITS:
        assert len(set(texts[split])) == len(texts[split])
    assert all(0 < int(options["max_states"]) <= 4_000_000 for options in SIZES["train"])
    layouts = {split: {layout(options) for options in SIZES[split]} for split in SPLITS}
    assert layouts["train"].isdisjoint(layouts["test"])


def test_training_covers_the_situations_of_the_docstring() -> None:
    found: set[str] = set()
    for text, options in zip(draw("train"), SIZES["train"], strict=True):
        drawn = Map(text)
        doors = int(options["rows"]) * int(options["columns"]) - 1 + int(options["loops"])
        key_shapes, lock_shapes = list(drawn.key_shape.values()), list(drawn.locks.values())
        key_places, within = set(drawn.key_place.values()), set(drawn.routes(drawn.robot))
        situations = {
            f"unlocks {options['unlocks']}": True,
            "two keys of a shape": len(set(key_shapes)) < len(key_shapes),
            "two locks of a shape": len(set(lock_shapes)) < len(lock_shapes),
            "useless key": bool(lock_shapes) and not set(key_shapes) <= set(lock_shapes),
            "key in a lock": not key_places.isdisjoint(drawn.locked),
            "key behind a lock": not key_places <= within,
            "open door": 0 < len(drawn.locked) < doors,
            "loop": options["loops"] != 0,
            "several keys": len(set(re.findall(r"\(pickup \w+ (\w+)\)", " ".join(drawn.solve())))) > 1,
        }
        found |= {name for name, holds in situations.items() if holds}
    assert found == {
        *[f"unlocks {count}" for count in range(6)],
        *["two keys of a shape", "two locks of a shape", "useless key", "key in a lock", "open door", "loop"],
        *["key behind a lock", "several keys"],
    }


def test_other_processes_draw_the_same_problems_and_other_seeds_others() -> None:
    script = (
        "import random; from trifold.domains.grid import generate\n"
        "print(generate(random.Random('a'), rows=3, columns=3, locks=6, loops=1, unlocks=3), end='')"
    )
    texts = [
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    here = generate(random.Random("a"), rows=3, columns=3, locks=6, loops=1, unlocks=3)
    assert texts == [here, here]
    assert here != generate(random.Random("b"), rows=3, columns=3, locks=6, loops=1, unlocks=3)


@pytest.mark.parametrize(
    "options",
    [{"side": 0}, {"shapes": 4}, {"loops": 1}, {"unlocks": 3}, {"locks": 3}, {"columns": 1, "side": 1, "locks": 0}],
)
def test_impossible_options_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"not|too few"):
        generate(random.Random(0), **{"unlocks": 0} | options)

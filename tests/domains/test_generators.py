"""Gripper and Blocks: generated problems are well-formed, as large as asked, unsolved at the start, and solvable."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from math import comb, factorial
from pathlib import Path
from typing import Any

import pytest
from unified_planning.io import PDDLReader
from unified_planning.model import Problem as SecondProblem
from unified_planning.shortcuts import SequentialSimulator

from trifold.domains import DOMAINS, SPLITS, domain_text, split_sizes, write_problems
from trifold.domains.blocks import draw_towers
from trifold.pddl import Problem, load_domain, load_problem

# Predicates and actions of the public benchmark files, with their arities: a model trained on one must fit the other.
VOCABULARY = {
    "blocks-m": (
        "blocksworld-4ops",
        {"clear": 1, "on-table": 1, "arm-empty": 0, "holding": 1, "on": 2},
        {"pickup": 1, "putdown": 1, "stack": 2, "unstack": 2},
    ),
    "blocks-s": (
        "BLOCKS",
        {"on": 2, "ontable": 1, "clear": 1, "handempty": 0, "holding": 1},
        {"pick-up": 1, "put-down": 1, "stack": 2, "unstack": 2},
    ),
    "gripper": (
        "gripper-strips",
        {"room": 1, "ball": 1, "gripper": 1, "at-robby": 1, "at": 2, "free": 1, "carry": 2},
        {"move": 2, "pick": 3, "drop": 3},
    ),
}
FIXED_OBJECTS = {"blocks-m": 0, "blocks-s": 0, "gripper": 4}  # two rooms and two grippers


def generate(name: str, size: int, seed: int = 0, **options: str | int) -> str:
    return DOMAINS[name].problem(random.Random(seed), size, **options)


def load(name: str, text: str) -> Problem:
    return load_problem(load_domain(domain_text(name)), text)


def load_second(name: str, text: str) -> SecondProblem:
    return PDDLReader().parse_problem_string(domain_text(name), text)


def expand(problem: Problem) -> tuple[int, int | None]:
    """Count the reachable states by breadth-first search, and give the distance of the nearest goal."""
    layer, seen, depth, distance = [problem.initial_state], {problem.initial_state}, 0, None
    while layer:
        if distance is None and any(problem.is_goal(state) for state in layer):
            distance = depth
        successors = {after for state in layer for _, after in problem.successors(state)}
        layer, depth = list(successors - seen), depth + 1
        seen |= successors
    return len(seen), distance


def placements(blocks: int) -> int:
    return sum(factorial(blocks) * comb(blocks - 1, k - 1) // factorial(k) for k in range(1, blocks + 1))


def blocks_states(blocks: int) -> int:
    """All placements with the arm empty, and those of the others while it holds a block."""
    return placements(blocks) + blocks * placements(blocks - 1)


def gripper_states(balls: int) -> int:
    """The robot's room, and none, one or two balls held while the others are in either room."""
    ways = [1, 2 * balls, balls * (balls - 1)]
    return 2 * sum(ways[held] * 2 ** (balls - held) for held in range(min(2, balls) + 1))


STATES = {"blocks-m": blocks_states, "blocks-s": blocks_states, "gripper": gripper_states}


def test_each_domain_has_the_names_and_arities_of_the_public_files() -> None:
    for name, (domain_name, predicates, actions) in VOCABULARY.items():
        assert DOMAINS[name].name == name
        assert domain_text(name).startswith(f"(define (domain {domain_name})\n")
        domain = PDDLReader().parse_problem_string(domain_text(name))
        assert {fluent.name: fluent.arity for fluent in domain.fluents} == predicates
        assert {action.name: len(action.parameters) for action in domain.actions} == actions


@pytest.mark.parametrize("name", VOCABULARY)
@pytest.mark.parametrize("size", [2, 3, 20])
def test_two_parsers_read_the_text_and_find_the_size(name: str, size: int) -> None:
    for seed in range(3):
        text = generate(name, size, seed)
        assert text.count("(") == text.count(")")
        assert f"(:domain {VOCABULARY[name][0]})" in text
        assert len(load(name, text).objects) == size + FIXED_OBJECTS[name]
        assert len(load_second(name, text).all_objects) == size + FIXED_OBJECTS[name]


@pytest.mark.parametrize("name", VOCABULARY)
@pytest.mark.parametrize("size", [2, 3, 4])
def test_problems_are_unsolved_solvable_and_contain_every_situation(name: str, size: int) -> None:
    for seed in range(5):
        states, distance = expand(load(name, generate(name, size, seed)))
        assert states == STATES[name](size)
        assert distance is not None and distance > 0


@pytest.mark.parametrize("name", VOCABULARY)
def test_the_second_parser_agrees_that_large_problems_are_unsolved(name: str) -> None:
    for seed in range(3):
        problem = load_second(name, generate(name, 12, seed))
        with SequentialSimulator(problem) as simulator:
            assert not simulator.is_goal(simulator.get_initial_state())


@pytest.mark.parametrize("name", VOCABULARY)
def test_the_smallest_problems_are_never_solved_at_the_start(name: str) -> None:
    size = 1 if name == "gripper" else 2
    for seed in range(50):
        problem = load(name, generate(name, size, seed))
        assert not problem.is_goal(problem.initial_state)
    with pytest.raises(ValueError, match="at least"):
        generate(name, size - 1)


def test_gripper_starts_vary() -> None:
    starts = [generate("gripper", 5, seed).split("(:goal")[0] for seed in range(60)]
    assert {text.count("(carry ") for text in starts} == {0, 1, 2}
    assert {text.count("(at-robby rooma)") for text in starts} == {0, 1}
    assert {1, 2, 3, 4} <= {sum(f"(at ball{ball} roomb)" in text for ball in range(1, 6)) for text in starts}


def test_the_classic_gripper_start_is_that_of_the_public_files() -> None:
    text = generate("gripper", 5, start="classic")
    assert text == generate("gripper", 5, seed=1, start="classic")
    init = text.split("(:goal")[0]
    atoms = ["at-robby rooma", "free left", "free right", *[f"at ball{ball} rooma" for ball in range(1, 6)]]
    assert all(f"({atom})" in init for atom in atoms)
    assert "carry" not in init and init.count("roomb") == 2  # its object and its type
    with pytest.raises(ValueError, match="classic"):
        generate("gripper", 5, start="somewhere")


def test_blocks_goals_are_one_tower_or_many() -> None:
    def goal_atoms(text: str) -> int:
        return text.split("(:goal")[1].count("(on ")

    assert {goal_atoms(generate("blocks-s", 5, seed)) for seed in range(30)} == {4}
    assert {goal_atoms(generate("blocks-m", 5, seed)) for seed in range(60)} == {1, 2, 3, 4}


def test_goals_of_blocks_can_be_tall() -> None:
    goals = [generate("blocks-m", 6, seed, tallest=6).split("(:goal")[1] for seed in range(5)]
    assert {goal.count("(on ") for goal in goals} == {5} and len(set(goals)) == 5
    with pytest.raises(ValueError, match="the tallest tower has between 2 and all 4 blocks, not 5"):
        generate("blocks-m", 4, tallest=5)


def test_placements_of_blocks_are_drawn_uniformly() -> None:
    rng = random.Random(0)
    draws = Counter(frozenset(map(tuple, draw_towers(rng, ["a", "b", "c"]))) for _ in range(13_000))
    assert len(draws) == placements(3) == 13
    assert all(850 < count < 1150 for count in draws.values())  # mean 1000, standard deviation 30


@pytest.mark.parametrize("name", VOCABULARY)
def test_a_file_depends_only_on_its_own_seed(name: str, tmp_path: Path) -> None:
    few = write_problems(tmp_path / "few", name, [4], seed=3)
    many = write_problems(tmp_path / "many", name, range(2, 6), 3, per_size=2)
    assert [path.name for path in few] == [f"{name}-04-00.pddl"]
    assert many == sorted((tmp_path / "many" / "train").iterdir()) and len(many) == 8
    assert (tmp_path / "few" / "domain.pddl").read_text(encoding="utf-8") == domain_text(name)

    text = few[0].read_text(encoding="utf-8")
    assert text == (tmp_path / "many" / "train" / few[0].name).read_text(encoding="utf-8")
    others = [
        *write_problems(tmp_path / "seed", name, [4], 4, per_size=4),
        *write_problems(tmp_path / "split", name, [4], 3, per_size=4, split="test"),
    ]
    assert others[-1].parent.name == "test"
    assert len({path.read_text(encoding="utf-8") for path in others} | {text}) > 5


@pytest.mark.parametrize("name", VOCABULARY)
def test_the_suite_has_the_sizes_of_the_paper(name: str) -> None:
    sizes = {split: [next(iter(options.values())) for options in split_sizes(name, split)] for split in SPLITS}
    match name:
        case "gripper":
            assert sizes["test"] == list(range(16, 51, 2)) and len(sizes["test"]) == 18
            assert {options["start"] for options in split_sizes(name, "test")} == {"classic"}
            assert set(sizes["train"]) == set(range(1, 15)) and set(sizes["validation"]) == {15}
        case "blocks-s":
            assert Counter(sizes["test"]) == {10: 3, 11: 3, 12: 2, 13: 2, 14: 2, 15: 2, 16: 2, 17: 1}
            assert set(sizes["train"]) == {4, 5, 6, 7, 8, 9} and set(sizes["validation"]) == {2, 3}
        case "blocks-m":
            assert Counter(sizes["test"]) == dict.fromkeys(range(10, 21), 2)
            assert set(sizes["train"]) == {4, 5, 6, 7, 8, 9} and set(sizes["validation"]) == {6, 7, 8, 9}


@pytest.mark.parametrize("name", VOCABULARY)
def test_the_spaces_of_the_suite_can_be_expanded(name: str) -> None:
    for split, most in (("train", 30_000_000), ("validation", 20_000_000)):
        counts = [STATES[name](next(iter(options.values()))) for options in split_sizes(name, split)]
        assert sum(counts) < most
        assert max(counts) < 10_000_000 and sum(count > 1_000_000 for count in counts) <= max(2, len(counts) // 10)


def test_an_unknown_split_is_refused() -> None:
    no_split: Any = "tests"
    for name in DOMAINS:
        with pytest.raises((ValueError, KeyError)):
            split_sizes(name, no_split)


def test_another_process_generates_the_same_text() -> None:
    script = (
        "import random; from trifold.domains import DOMAINS\n"
        "print(*[domain.generate(random.Random('a/0/1')) for domain in DOMAINS.values()], sep='', end='')"
    )
    texts = [
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    here = "".join(domain.generate(random.Random("a/0/1")) for domain in DOMAINS.values())
    assert texts == [here, here]

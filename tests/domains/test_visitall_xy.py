"""Visitall-xy: problems are as large as asked, unsolved, solvable, and lie and stand in training."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from importlib.resources import files

import pytest
from unified_planning.io import PDDLReader

from trifold.domains import SPLITS, visitall
from trifold.domains.visitall_xy import generate, suite
from trifold.pddl import Problem, State, expand, load_domain, load_problem

DOMAIN = files("trifold.domains").joinpath("visitall-xy.pddl").read_text(encoding="utf-8")
CELLS_DOMAIN = files("trifold.domains").joinpath("visitall.pddl").read_text(encoding="utf-8")


def draw(split: str) -> list[str]:
    return [generate(random.Random(f"{split}/{index}"), **options) for index, options in enumerate(suite(split))]


def test_the_domain_has_the_relations_of_the_paper() -> None:
    assert DOMAIN.startswith("(define (domain visitall-xy)\n")
    domain = PDDLReader().parse_problem_string(DOMAIN)
    relations = {"succ-x": 2, "succ-y": 2, "cell": 2, "at": 2, "visited": 2}
    assert {fluent.name: fluent.arity for fluent in domain.fluents} == relations
    assert [action.name for action in domain.actions] == ["move-right", "move-left", "move-up", "move-down"]


def test_two_parsers_read_a_problem_alike() -> None:
    text = generate(random.Random(0), width=4, height=3, share=50)
    first, second = load_problem(load_domain(DOMAIN), text), PDDLReader().parse_problem_string(DOMAIN, text)
    assert set(first.objects) == {item.name for item in second.all_objects} and len(first.objects) == 4 + 3
    assert [text.count(f"({name} ") for name in ("cell", "succ-x", "succ-y")] == [12, 3, 2]
    assert len(first.goal) == len(second.goals[0].args)


@pytest.mark.parametrize("grid", [(1, 2), (5, 1), (2, 3), (3, 3), (4, 3)])
def test_a_space_is_that_of_the_same_tour_over_cells(grid: tuple[int, int]) -> None:
    width, height = grid
    texts = [module(random.Random(5), width=width, height=height, share=50) for module in (generate, visitall.generate)]
    coordinates, cells = expand(DOMAIN, texts[0], 10_000), expand(CELLS_DOMAIN, texts[1], 10_000)
    assert sorted(coordinates.distances) == sorted(cells.distances)
    assert coordinates.distances[coordinates.initial] == cells.distances[cells.initial] > 0
    assert len(coordinates.targets) == len(cells.targets)


def test_large_problems_are_solved_by_walking_through_all_cells() -> None:
    for text, options in zip(draw("test"), suite("test"), strict=True):
        problem = load_problem(load_domain(DOMAIN), text)
        state = problem.initial_state
        assert not problem.is_goal(state)
        for move in ("left", "down"):
            while (after := step(problem, state, move)) is not None:
                state = after
        for row in range(int(options["height"])):
            while (after := step(problem, state, "left" if row % 2 else "right")) is not None:
                state = after
            state = step(problem, state, "up") or state
        assert problem.is_goal(state)


def step(problem: Problem, state: State, move: str) -> State | None:
    return next((after for action, after in problem.successors(state) if action.startswith(f"(move-{move} ")), None)


def test_the_suite_has_the_sizes_of_the_paper() -> None:
    cells = {split: [int(options["width"]) * int(options["height"]) for options in suite(split)] for split in SPLITS}
    assert [len(cells[split]) for split in SPLITS] == [165, 13, 20]
    assert max(cells["train"]) == max(cells["validation"]) == 21
    assert min(cells["test"]) > 21 and max(cells["test"]) == 100
    for split in SPLITS:
        texts = draw(split)
        assert len(set(texts)) == len(texts)
        for text, count in zip(texts, cells[split], strict=True):
            init, goal = (set(re.findall(r"\(visited .*?\)", part)) for part in text.split("(:goal"))
            assert text.count("(cell ") == count
            assert goal and not goal <= init


def test_training_has_each_grid_lying_and_standing() -> None:
    grids = [tuple(options.values()) for options in suite("train")]
    assert sorted(grids) == sorted((height, width, *rest) for width, height, *rest in grids)
    assert {share for _, _, share, _ in grids} == {100, 75, 50, 25}


def test_training_coordinates_reach_as_far_as_those_of_tests() -> None:
    for side in ("width", "height"):
        train, test = ({int(options[side]) for options in suite(split)} for split in ("train", "test"))
        assert max(train) >= max(test)


def test_other_processes_draw_the_same_problems_and_other_seeds_others() -> None:
    script = (
        "import random; from trifold.domains.visitall_xy import generate\n"
        "print(generate(random.Random('a'), width=6, height=5, share=50, visited=9), end='')"
    )
    texts = [
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    here = generate(random.Random("a"), width=6, height=5, share=50, visited=9)
    assert texts == [here, here]
    assert here != generate(random.Random("b"), width=6, height=5, share=50, visited=9)


@pytest.mark.parametrize("options", [{"height": 0}, {"share": 0}, {"width": 2, "height": 2, "visited": 4}])
def test_impossible_options_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="not"):
        generate(random.Random(0), **options)

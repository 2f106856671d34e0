"""The search for optimal Blocks plans finds the lengths that breadth-first search finds."""

import importlib
import random
from pathlib import Path

import pytest

from trifold.domains import DOMAINS, domain_text
from trifold.pddl import expand, load_domain, load_problem
from trifold.planning import replay

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


@pytest.mark.parametrize("name", ["blocks-s", "blocks-m"])
@pytest.mark.parametrize("seed", range(12))
def test_lengths_are_optimal(name: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXPERIMENTS)
    script = importlib.import_module("blocks_references")
    text = DOMAINS[name].problem(random.Random(seed), 3 + seed % 4)
    (tmp_path / "p.pddl").write_text(text)
    start, goal = script.read_problem(tmp_path / "p.pddl")
    moves = script.solve(start, goal)
    problem = load_problem(load_domain(domain_text(name)), text)
    plan = script.write_plan(moves, start, "-" if "pick-up" in domain_text(name) else "")
    assert replay(problem, plan)
    assert script.estimate(start, goal) <= len(moves)
    space = expand(domain_text(name), text, 100_000)
    assert len(plan) == space.distances[space.initial]

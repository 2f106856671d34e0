"""benchmarks/search.py: the naive loop expands what a greedy search expands, and a run measures all searches."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest

import search
from search import Measured, draw, search_naively, table
from trifold.domains import domain_text
from trifold.model import Model, ModelConfig
from trifold.pddl import State, load_domain, load_problem
from trifold.planning import Scores
from trifold.planning.known import AnyKnown
from trifold.planning.search import Greedy


def test_the_naive_loop_exhausts_what_a_greedy_search_exhausts() -> None:
    task, asked = load_problem(load_domain(domain_text("visitall")), draw("visitall")), list[int]()

    def value(states: list[State]) -> list[float]:
        asked.append(len(states))
        return [0.0 for _ in states]

    greedy = Greedy(AnyKnown(task, scores := Scores(value)), scores.batch)
    while greedy.open:
        greedy.expand_batch()
    asked.clear()
    naive = search_naively(task, value, math.inf)
    assert (naive.expanded, naive.known) == (greedy.steps, greedy.size)
    assert set(asked) == {1}


def test_a_run_measures_every_search_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    domain = load_domain(domain_text("gripper"))
    config = ModelConfig(dim=2, layers=1)
    atoms = {name: 1 for name, _ in config.build_encoder().signature(domain.signature)}
    model = str(tmp_path / "model.safetensors")
    Model.fresh(config, domain.signature, domain.text, atoms, 0).save(model)
    words = ["--domain", "gripper", "--model", model, "--seconds", "0.1", "--batch", "3"]
    monkeypatch.setattr(sys, "argv", ["search.py", *words, "--json"])
    search.main()
    facts = json.loads(capsys.readouterr().out)["domains"]["gripper"]
    assert list(facts) == list(search.SEARCHES) and facts["model"]["batch"] == 3
    assert all(one["known"] > one["expanded"] > 0 for one in facts.values())
    monkeypatch.setattr(sys, "argv", ["search.py", *words, "--unpacked"])
    search.main()
    lines = capsys.readouterr().out.splitlines()
    assert [sum(name in line for line in lines) for name in search.SEARCHES.values()] == [1] * 5


def test_the_table_compares_with_the_naive_loop() -> None:
    naive, other = Measured(10, 40, 2.0, 0, 1), Measured(300, 1000, 3.0, 500_000, 32)
    text = table({"some": {"naive": naive, "goal-counts": other}})
    assert text.splitlines()[-1].split()[-5:] == ["32", "100.0", "20.0", "333", "500"]

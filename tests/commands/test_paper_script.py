"""experiments/paper.sh and its study: options become those of the study, and what it leaves becomes a page."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trifold.domains import PAPER
from trifold.studies import read_study
from trifold.studies.cells import expand
from trifold.studies.problems import find_places

SCRIPT = Path(__file__).parents[2] / "experiments" / "paper.sh"

# Stands for trifold: notes its words, and leaves what a study leaves.
FAKE = """#!/usr/bin/env bash
echo "$*" >> log
[[ $1 == study && -e broken ]] && exit "$(cat broken)"
[[ $1 == study ]] && mkdir -p "$4"/{results,suite,fresh-7}/gripper/test
exit 0
"""


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Any]:
    fake = tmp_path / "fake"
    fake.write_text(FAKE)
    fake.chmod(0o755)

    def run(*words: Any, code: int = 0) -> list[str]:
        (tmp_path / "log").unlink(missing_ok=True)
        environment = os.environ | {"TRIFOLD": str(fake), "PYTHON": str(fake)}
        done = subprocess.run(
            ["bash", str(SCRIPT), *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stderr
        log = tmp_path / "log"
        return [line.replace(f"{SCRIPT.parent}/", "") for line in log.read_text().splitlines()] if log.exists() else []

    return run


def test_the_options_are_those_of_a_study_and_then_comes_the_page(run: Callable[..., Any], tmp_path: Path) -> None:
    words = ("--domain", "navig-xy", "--model", "rgnn", "--minutes", "5", "--seeds", "3", "--", "--set", "batch=64")
    study, page = run(*words)
    options = "--set minutes=5 --set seeds=3 --domain navig-xy --recipe rgnn --set batch=64"
    assert study == f"study runs/paper/paper.toml --out runs/paper {options}"
    assert page.startswith("results_page.py runs/paper/results lama --references references.jsonl --references")


def test_what_is_interrupted_has_no_page_and_what_failed_in_part_has_one(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "broken").write_text("130")
    assert len(run("--domain", "grid", "--out", "out", code=130)) == 1
    (tmp_path / "broken").write_text("2")
    assert len(run("--domain", "grid", "--out", "out", code=2)) == 1
    (tmp_path / "out" / "results").mkdir()
    assert len(run("--domain", "grid", "--out", "out", code=2)) == 2


def test_public_and_fresh_problems_and_lama(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "bench" / "gripper" / "test").mkdir(parents=True)
    stages = run("--shipped", "--domain", "gripper", "--bench", "bench", "--fresh-seed", "7", "--lama")
    assert stages[0].endswith("--domain gripper --recipe shipped --recipe shipped-values")
    sets = {"suite": "runs/paper/suite", "public": "bench", "fresh-7": "runs/paper/fresh-7"}
    for name, folder in sets.items():
        records = f"--records runs/paper/results/{name}/gripper.jsonl"
        assert f"reference {folder}/gripper/test --first --timeout 60 {records}" in stages
    assert "reference runs/paper/fresh-7/gripper/test --timeout 20 --records runs/paper/references.jsonl" in stages
    assert sum(line.startswith("reference") for line in stages) == 4
    study = read_study(tmp_path / "runs" / "paper" / "paper.toml")
    assert [test.name for test in study.tests] == ["suite", "public", "fresh-7"]
    assert (study.tests[1].folder, study.tests[2].seed) == (f"{tmp_path}/bench/{{domain}}/test", 7)


def test_the_study_has_a_cell_for_each_architecture_and_each_model_of_every_domain(tmp_path: Path) -> None:
    study = read_study(SCRIPT.with_name("paper.toml"))
    cells, notes = expand(study, find_places(study, tmp_path))
    assert tuple(domain.name for domain in study.domains) == PAPER and not notes
    labels = [cell.chosen.model.label for cell in cells if cell.chosen and cell.domain == "grid"]
    assert labels == ["R-GNN[1]", "R-GNN[0]", "R-GNN"]
    assert [cell.given for cell in cells if cell.given and cell.domain == "grid"] == ["grid", "grid-values"]
    assert len(cells) == 5 * len(PAPER)


def test_what_is_not_known_is_refused(run: Callable[..., Any]) -> None:
    run("--verbose", code=2)

"""experiments/paper.sh: every stage in order, and what is done is not done again."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "experiments" / "paper.sh"

# Stands for trifold: notes its words, and leaves what a training leaves.
FAKE = """#!/usr/bin/env bash
echo "$*" >> log
[[ $1 == models ]] && echo '[{"name": "gripper"}, {"name": "gripper-values"}, {"name": "grid"}]'
[[ $1 == train && -e broken ]] && { mkdir -p "${4:-$3}"; touch "${4:-$3}/config.json"; exit 130; }
[[ $1 == train && $2 != --resume ]] && mkdir -p "$4"
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


def test_the_stages_in_order_and_once(run: Callable[..., Any], tmp_path: Path) -> None:
    words = ("--domain", "navig-xy", "--model", "rgnn", "--minutes", "5", "--", "--set", "batch=64")
    folder = "runs/paper/runs/navig-xy-rgnn"
    records = "runs/paper/results/suite/navig-xy.jsonl"
    evaluate = f"evaluate {folder}/model.safetensors runs/paper/suite/navig-xy/test --records {records}"
    train = f"train runs/paper/suite/navig-xy --run {folder} --recipe navig-xy-values --device auto --set encoder=plain"
    stages = run(*words)
    assert stages[:-1] == [
        "generate --suite paper --out runs/paper/suite",
        f"{train} --minutes 5 --set batch=64",
        f"select {folder} --device auto",
        f"{evaluate} --device auto",
        f"{evaluate} --device auto --strict",
    ]
    assert stages[-1].startswith("results_page.py runs/paper/results lama --references references.jsonl --references")
    assert [line for line in run(*words) if line.startswith(("train", "select"))] == []


def test_a_training_that_was_broken_off_is_resumed(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "broken").touch()
    words = ("--domain", "grid", "--model", "rgnn1", "--out", "out")
    assert "--recipe grid-values" in run(*words, code=130)[-1]
    (tmp_path / "broken").unlink()
    assert run(*words)[1] == "train --resume out/runs/grid-rgnn1 --device auto"


def test_public_and_fresh_problems_and_lama(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "bench" / "gripper" / "test").mkdir(parents=True)
    stages = run("--shipped", "--domain", "gripper", "--bench", "bench", "--fresh-seed", "7", "--lama")
    assert "generate gripper --split test --seed 7 --out runs/paper/fresh-7/gripper" in stages
    assert not any(line.startswith("train") for line in stages)
    sets = {"suite": "runs/paper/suite", "public": "bench", "fresh-7": "runs/paper/fresh-7"}
    for name, folder in sets.items():
        records = f"--records runs/paper/results/{name}/gripper.jsonl"
        for model in ("gripper", "gripper-values"):
            assert f"evaluate {model} {folder}/gripper/test {records} --device auto" in stages
        assert f"reference {folder}/gripper/test --first --timeout 60 {records}" in stages
    assert sum(line.startswith("evaluate") for line in stages) == 6
    assert sum(line.startswith("evaluate") for line in run("--shipped", "--domain", "grid")) == 1


@pytest.mark.parametrize("words", [["--verbose"], ["--domain", "grid", "--model", "gnn"]])
def test_what_is_not_known_is_refused(run: Callable[..., Any], words: list[str]) -> None:
    run(*words, code=2)

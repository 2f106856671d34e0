"""experiments/paper.sh: every stage in order, and what is done is not done again."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import trifold
from trifold.domains import DOMAINS

SCRIPT = Path(__file__).parents[2] / "experiments" / "paper.sh"

# Stands for trifold: notes its words, and leaves what a training leaves.
FAKE = """#!/usr/bin/env bash
echo "$*" >> log
[[ $1 == train && -e broken ]] && { mkdir -p "${4:-$3}"; touch "${4:-$3}/config.json"; exit 130; }
[[ $1 == train && $2 != --resume ]] && mkdir -p "$4"
exit 0
"""


@pytest.fixture
def run(tmp_path):
    fake = tmp_path / "fake"
    fake.write_text(FAKE)
    fake.chmod(0o755)

    def run(*words, code=0):
        (tmp_path / "log").unlink(missing_ok=True)
        environment = os.environ | {"TRIFOLD": str(fake)}
        done = subprocess.run(
            ["bash", str(SCRIPT), *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stderr
        log = tmp_path / "log"
        return [line.replace(f"{SCRIPT.parent}/", "") for line in log.read_text().splitlines()] if log.exists() else []

    return run


def test_the_stages_in_order_and_once(run, tmp_path):
    words = ("--domain", "navig-xy", "--model", "rgnn", "--minutes", "5", "--", "--batch", "64")
    model = "runs/paper/runs/navig-xy-rgnn/model.safetensors"
    evaluate = f"evaluate {model} runs/paper/suite/navig-xy/test --records runs/paper/results/suite/navig-xy.jsonl"
    train = (
        "train runs/paper/suite/navig-xy --run runs/paper/runs/navig-xy-rgnn --preset fast --keep 10000 --device auto "
        "--encoder plain"
    )
    stages = run(*words)
    assert stages[:-1] == [
        "generate --suite paper --out runs/paper/suite",
        f"{train} --steps 6000 --minutes 5 --batch 64",
        f"{evaluate} --device auto",
        f"{evaluate} --device auto --strict",
    ]
    assert stages[-1].startswith("table runs/paper/results lama --references references.jsonl --references")
    assert [line for line in run(*words) if line.startswith("train")] == []


def test_of_several_seeds_the_one_that_solves_most_is_kept(run):
    stages = run("--domain", "gripper", "--model", "rgnn1", "--seeds", "2")
    drawn = [line for line in stages if line.startswith("generate gripper")]
    assert drawn[0] == "generate gripper --balls 18 --count 2 --seed 4242 --out runs/paper/selection/gripper"
    after = stages.index("select runs/paper/runs/gripper-rgnn1 runs/paper/selection/gripper --device auto")
    assert stages.index(drawn[-1]) < after < next(n for n, line in enumerate(stages) if line.startswith("evaluate"))
    assert not any(line.startswith("select") for line in run("--domain", "gripper", "--out", "one"))


def test_settings_of_a_domain_hold_where_nothing_else_is_said(run):
    words = ("--domain", "blocks-m", "--model", "rgnn1")
    assert any(line.startswith("select") for line in run(*words, "--out", "three"))
    stages = run(*words, "--seeds", "1", "--minutes", "5")
    (train,) = [line for line in stages if line.startswith("train")]
    assert train.endswith("--steps 20000 --clip 20 --seeds 3 --minutes 2.9 --seeds 1 --minutes 5")
    assert not any(line.startswith("select") for line in stages)


def options(words: list[str]) -> dict[str, str]:
    """What follows each option; nothing where another one follows."""
    pairs = zip(words, [*words[1:], "--"], strict=True)
    return {word: "" if value.startswith("--") else value for word, value in pairs if word.startswith("--")}


@pytest.mark.parametrize("name", DOMAINS)
def test_settings_are_those_of_the_model_in_the_box(name):
    """Beside the preset, which some commands spell out, and where the run is."""
    command = options(trifold.pretrained(name).provenance["command"])
    settings = options((SCRIPT.parent / "settings" / f"{name}.txt").read_text().split())
    assert command.items() >= settings.items()
    fast = {"--preset": "fast", "--batch": "64", "--learning-rate": "1e-3", "--schedule": "cosine", "--steps": "25000"}
    usual = fast | {"--keep": "10000", "--seed": "0", "--run": command["--run"]}
    assert usual.items() >= command.items() - settings.items()


def test_a_training_that_was_broken_off_is_resumed(run, tmp_path):
    (tmp_path / "broken").touch()
    words = ("--domain", "grid", "--model", "rgnn1", "--out", "out")
    assert "--t 1" in run(*words, code=130)[-1]
    (tmp_path / "broken").unlink()
    assert run(*words)[1] == "train --resume out/runs/grid-rgnn1 --device auto"


def test_public_and_fresh_problems_and_lama(run, tmp_path):
    (tmp_path / "bench" / "gripper" / "test").mkdir(parents=True)
    stages = run("--shipped", "--domain", "gripper", "--bench", "bench", "--fresh-seed", "7", "--lama")
    assert "generate gripper --split test --seed 7 --out runs/paper/fresh-7/gripper" in stages
    assert not any(line.startswith("train") for line in stages)
    sets = {"suite": "runs/paper/suite", "public": "bench", "fresh-7": "runs/paper/fresh-7"}
    for name, folder in sets.items():
        records = f"--records runs/paper/results/{name}/gripper.jsonl"
        assert f"evaluate gripper {folder}/gripper/test {records} --device auto" in stages
        assert f"reference {folder}/gripper/test --first --timeout 60 {records}" in stages
    assert sum(line.startswith("evaluate") for line in stages) == 3


@pytest.mark.parametrize("words", [["--verbose"], ["--domain", "grid", "--model", "gnn"]])
def test_what_is_not_known_is_refused(run, words):
    run(*words, code=2)

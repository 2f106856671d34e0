"""`trifold train` as a user runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
import typer
from typer.testing import CliRunner, Result

import command_line
from trifold.commands import app
from trifold.domains import write_problems
from trifold.errors import TrifoldError
from trifold.memory import OutOfMemory
from trifold.model import Model
from trifold.training import Settings, read_recipe

TINY = ["--recipe", "small", "--set", "dim=4", "--set", "layers=2", "--set", "batch=8"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gripper")
    write_problems(path, "gripper", [1, 2, 3], 0)
    return path


@pytest.fixture
def trifold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., subprocess.CompletedProcess[str]]:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return partial(command_line.trifold, cwd=tmp_path)


def test_train_and_solve_end_to_end(folder: Path, tmp_path: Path, trifold: Callable[..., Any]) -> None:
    words = [*TINY, "--steps", 6, "--run", "run", "--seeds", 2, "--set", "encoder=plain"]
    done = trifold("train", folder, *words, real=True)
    assert "run/model.safetensors: held-out problems " in done.stdout and "validation loss" in done.stdout
    assert "next: trifold " in done.stderr
    assert "states of 2 problems" in done.stderr and "seed 1  step 6/6" in done.stderr
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["model"]["encoder"] == "plain" and config["settings"]["seeds"] == 2
    solved = trifold("solve", "run", next((folder / "train").iterdir()), "--quiet", real=True)
    assert solved.stdout.endswith("(unit cost)\n")


def test_json_and_quiet_give_the_result_alone(folder: Path, trifold: Callable[..., Any]) -> None:
    done = trifold("train", folder, *TINY, "--steps", 2, "--set", "t=inf", "--json", "--quiet")
    found = json.loads(done.stdout)
    assert found["steps"] == 2 and found["coverage"]["problems"] == 1 and done.stderr == ""


def test_without_a_recipe_a_cpu_gets_one_that_ends(folder: Path, tmp_path: Path, trifold: Callable[..., Any]) -> None:
    """And the paper's is the paper's."""
    done = trifold("train", folder, *TINY[2:], "--steps", 2, "--run", "run", "--device", "cpu")
    assert "recipe laptop, as there is no GPU" in done.stderr and "--recipe paper" in done.stderr
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert (config["preset"], config["settings"]["minutes"], config["settings"]["keep_by"]) == ("laptop", 20, "policy")
    assert read_recipe("paper").settings == Settings()


def test_a_pupil_is_told_of_while_it_practises_and_goes_on_with_its_teacher(
    folder: Path, tmp_path: Path, trifold: Callable[..., Any]
) -> None:
    (large,) = write_problems(tmp_path / "practice", "gripper", [6], 1)
    words = [*TINY, "--teacher", "gripper", "--practice", "practice", "--set", "heads=both", "--run", "run"]
    done = trifold("train", folder, *words, "--steps", 12, "--set", "rounds=2")
    assert "teacher gripper: it says what is good where the policy goes on 1 problem" in done.stderr
    assert "practises, round 1" in done.stderr and " states  practises, round 2" in done.stderr
    longer = trifold("train", "--resume", "run", "--steps", 14, "--json")
    assert json.loads(longer.stdout)["steps"] == 14
    assert Model.load(tmp_path / "run").provenance["teacher"]["name"] == "gripper"
    large.unlink()
    gone = trifold("train", "--resume", "run", "--steps", 16, code=2)
    assert "there are no problems in this folder" in gone.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--teacher", "gripper", "--architecture", "auto"], "a ladder has no teacher"),
        (["--practice", "practice"], "a pupil practises where there is a teacher"),
        (["--teacher", "gripper", "--set", "heads=values"], "try: --set heads=both"),
    ],
)
def test_lessons_that_cannot_be_are_refused(folder: Path, tmp_path: Path, words: list[str], message: str) -> None:
    with pytest.raises(TrifoldError, match=message):
        invoke(folder, *TINY, "--run", tmp_path / "run", *words)


def test_a_detour_trains_on_less(folder: Path, tmp_path: Path, trifold: Callable[..., Any]) -> None:
    for run, words in (("all", []), ("near", ["--set", "detour=0"])):
        trifold("train", folder, *TINY, "--set", "encoder=plain", "--steps", 1, "--run", run, *words)
    everything, near = (json.loads((tmp_path / run / "data.json").read_text()) for run in ("all", "near"))
    assert near["states"] < everything["states"] and near["hash"] == everything["hash"]


def test_an_interrupted_run_says_how_to_go_on(folder: Path, tmp_path: Path, trifold: Callable[..., Any]) -> None:
    command = [sys.executable, "-m", "trifold", "train", str(folder), *TINY, "--steps", "100000", "--run", "run"]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    deadline = time.monotonic() + 60
    while not (tmp_path / "run" / "seed-0" / "last.safetensors").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(child.pid, signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert child.returncode == 130 and "go on with: trifold train --resume run" in errors
    assert "Traceback" not in errors
    assert "run/model.safetensors is the best so far: step " in errors
    assert (tmp_path / "run" / "curves.png").exists()
    assert Model.load(tmp_path / "run" / "model.safetensors").provenance["training"]["seeds"] == [0]
    step = json.loads((tmp_path / "run" / "seed-0" / "metrics.jsonl").read_text().splitlines()[-1])["step"]
    done = trifold("train", "--resume", "run", "--steps", step + 5, "--json", "--quiet")
    assert json.loads(done.stdout)["steps"] >= step + 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train"], "either a folder to learn from or --resume"),
        (["train", "nowhere"], "no such folder"),
        (["train", "nowhere", "--set", "t=half"], "t is a number, not 'half'"),
        (["train", "nowhere", "--set", "t=-1"], "t is 0, 1, 2"),
        (["train", "--resume", "nowhere"], "no such folder"),
        (["train", "--resume", "."], "not the folder of a training run"),
        (["train", "nowhere", "--recipe", "paper", "--device", "abacus"], "no such folder"),
        (["train", "nowhere", "--device", "abacus"], "cannot use the device abacus"),
        (["train", "--resume", "nowhere", "--set", "t=2"], "a resumed run keeps its settings: --set cannot"),
        (["solve", "model", "problem"], "no such file"),
        (["solve", "griper", "problem"], "did you mean gripper?"),
        (["domains", "griper"], "did you mean gripper?"),
        (["generate", "griper", "--out", "x"], "did you mean gripper?"),
        (["generate", "childsnack", "--out", "x"], "in a plugin that TRIFOLD_PLUGINS names"),
        (["train", "nowhere", "--recipe", "lap"], "did you mean laptop?"),
        (["train", "nowhere", "--set", "encodr=plain"], "did you mean encoder?"),
        (["train", "nowhere", "--set", "encoder=plane"], "did you mean plain?"),
    ],
)
def test_bad_input_is_a_short_error(
    trifold: Callable[..., Any], tmp_path: Path, words: list[str], message: str
) -> None:
    done = trifold(*words, code=2)
    assert message in done.stderr and done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_training_that_ran_out_of_memory_goes_on_to_the_same_end(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["train", str(folder), *TINY, "--steps", "60", "--quiet", "--device", "cpu", "--run"]
    assert CliRunner().invoke(app, [*words, "unbroken"]).exit_code == 0
    step, steps = torch.optim.Adam.step, []

    def full(*arguments: Any, **options: Any) -> None:
        steps.append(1)
        if len(steps) > 55:
            raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate …")
        return step(*arguments, **options)

    monkeypatch.setattr(torch.optim.Adam, "step", full)
    broken = CliRunner().invoke(app, [*words, "broken"])
    assert isinstance(broken.exception, OutOfMemory) and "train --resume broken" in str(broken.exception)
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["train", "--resume", "broken", "--quiet"]).exit_code == 0
    first, second = (Model.load(tmp_path / run / "model.safetensors").network for run in ("unbroken", "broken"))
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(first.parameters(), second.parameters(), strict=True))


@pytest.mark.parametrize(
    ("content", "message"), [(b"\xff\xfe(define", "not UTF-8"), (None, "no domain.pddl"), (b"", "is empty")]
)
def test_a_domain_that_cannot_be_read_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_problems(tmp_path, "gripper", [1], 0)
    (tmp_path / "domain.pddl").unlink()
    os.mkfifo(tmp_path / "domain.pddl") if content is None else (tmp_path / "domain.pddl").write_bytes(content)
    error = CliRunner().invoke(app, ["train", ".", "--quiet"]).exception
    assert isinstance(error, TrifoldError) and message in str(error)


def test_problems_that_are_left_out_are_named(folder: Path, tmp_path: Path, trifold: Callable[..., Any]) -> None:
    write_problems(tmp_path / "pddl", "gripper", [1, 2], 0)
    (tmp_path / "pddl" / "train" / "broken.pddl").write_text("(define (problem p) (:domain gripper-strips)")
    done = trifold("train", tmp_path / "pddl", *TINY, "--steps", 2, "--set", "max_states=20")
    assert "left out broken.pddl: bad input" in done.stderr
    assert "left out gripper-02-00.pddl: state limit" in done.stderr


def test_equal_problems_are_named_and_not_held_out(tmp_path: Path, trifold: Callable[..., Any]) -> None:
    write_problems(tmp_path / "pddl", "gripper", [1], 0)
    (first,) = (tmp_path / "pddl" / "train").iterdir()
    for number in range(5):
        (first.parent / f"copy{number}.pddl").write_text(first.read_text())
    done = trifold("train", tmp_path / "pddl", *TINY, "--steps", 2, "--run", "run")
    assert "warning: equal: train/copy0.pddl, train/copy1.pddl" in done.stderr
    assert "warning: no problem can be held out, as all problems share states" in done.stderr
    assert json.loads((tmp_path / "run" / "data.json").read_text())["split"]["rule"] == "shared"

    write_problems(tmp_path / "pddl", "gripper", [1, 2], 1, split="validation")
    done = trifold("train", tmp_path / "pddl", *TINY, "--steps", 2, "--run", "other")
    assert "warning: 1 of 2 validation problems share states with training problems" in done.stderr
    assert "validation/gripper-01-00.pddl" in done.stderr and "no problem can be held out" not in done.stderr


def test_the_version_and_the_help(trifold: Callable[..., Any]) -> None:
    assert trifold("--version").stdout.startswith("trifold 0.")
    assert "R-GNN[t]" in trifold("train", "--help").stdout


def invoke(*words: object) -> Result:
    return CliRunner().invoke(app, ["train", *map(str, words)], catch_exceptions=False)


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        (["--dim", "4"], "--set dim=4"),
        (["--dim=4", "--quiet", "--learning-rate", "1e-3"], "--set dim=4 --set learning_rate=1e-3"),
        (["--encoder", "plain", "--merge", "--no-recover"], "--set encoder=plain --set merge=true --set recover=false"),
        (["--timeout", 5, "--memory=2", "--max-states", 9], "--set seconds=5 --set memory_gib=2 --set max_states=9"),
    ],
)  # fmt: skip
def test_an_option_that_is_a_key_of_recipes_says_what_to_write(words: Any, instead: str) -> None:
    with pytest.raises(TrifoldError, match=f"try: use {instead}$"):
        invoke("nowhere", *words)


def test_another_option_is_none() -> None:
    done = invoke("nowhere", "--dimension", "4")
    assert done.exit_code == 2 and "No such option" in done.stderr


def test_at_most_twenty_options_are_turned_by_hand() -> None:
    command = vars(typer.main.get_command(app))["commands"]["train"]
    assert sum(option.opts[0].startswith("-") for option in command.params) <= 20


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "dim"], "--set takes KEY=VALUE, not 'dim'"),
        (["--set", "dims=4"], "recipes have no key 'dims'"),
        (["--set", "dim=four"], "dim is a whole number, not 'four'"),
        (["--set", "dim=4\nlayers=3"], "dim is a whole number"),
        (["--set", "dim=4", "--set", "model.dim=5"], "dim is given twice"),
        (["--steps", "4", "--set", "steps=5"], "steps is given twice"),
        (["--recipe", "smal"], "there is no recipe 'smal'(.|\n)*small"),
        (["--preset", "nowhere.toml"], "No such file"),
    ],
)
def test_a_change_that_is_none_is_refused(words: Any, message: str) -> None:
    with pytest.raises(TrifoldError, match=message):
        invoke("nowhere", *words)


def test_a_recipe_of_ones_own(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its file says all, and what is set comes on top; the model remembers both."""
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text('base = "small"\n[model]\ndim = 4\nlayers = 2\n[training]\nsteps = 2\nbatch = 8\n')
    done = invoke(folder, "--recipe", "mine.toml", "--set", "t=inf", "--set", "keep=30", "--quiet", "--run", "run")
    assert done.exit_code == 0, done.exception
    config = json.loads(Path("run", "config.json").read_text())
    assert (config["preset"], config["limits"]["keep"], config["selection"]) == ("mine.toml", 30, None)
    recipe = Model.load(Path("run", "model.safetensors")).provenance["recipe"]
    assert (recipe["name"], recipe["model"]["t"], recipe["model"]["dim"]) == ("mine.toml", "inf", 4)
    assert (recipe["training"]["steps"], recipe["data"]["keep"], recipe["training"]["batch"]) == (2, 30, 8)

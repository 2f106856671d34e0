"""`trifold select`: of a run's models, the one whose policy solves most."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner, Result

from trifold.commands import app
from trifold.domains import write_problems
from trifold.errors import TrifoldError
from trifold.evaluation import read_records
from trifold.model import Model
from trifold.training import Progress, Watcher, resume, train


def select(*words: object) -> Result:
    done = CliRunner().invoke(app, ["select", *map(str, words)])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


@pytest.fixture
def run(example_folder: Path, tmp_path: Path) -> Path:
    """Two seeds: the second has learned Gripper, and is given the worse validation loss."""
    folder = tmp_path / "run"
    train(example_folder / "gripper", folder, "small", steps=2, seeds=2, validation_states=20)
    learned = Model.load(example_folder / "model.safetensors")
    learned.provenance["selected"] = {"validation_loss": 9.0, "step": 1, "seconds": 1.0}
    learned.save(folder / "seed-1" / "best.safetensors")
    worse = Model.load(folder / "seed-0" / "best.safetensors")
    with torch.no_grad():
        for weight in worse.network.readout.parameters():
            weight.zero_()  # all states look alike
    worse.save(folder / "seed-0" / "best.safetensors")
    return folder


def test_the_model_that_solves_most_is_kept(run: Path, tmp_path: Path) -> None:
    write_problems(tmp_path / "larger", "gripper", [4, 5], 3)
    before = Model.load(run / "model.safetensors").provenance["training"]
    done = select(run, tmp_path / "larger" / "train", "--quiet", "--workers", 1, "--max-steps", 40, "--json")
    found = json.loads(done.stdout)
    assert found["chosen"] == "seed-1" and len(found["problems"]) == 2
    assert found["models"]["seed-1"]["solved"] > found["models"]["seed-0"]["solved"]
    kept = Model.load(run / "model.safetensors")
    assert kept.provenance["selection"]["models"] == found["models"] and kept.provenance["training"] == before
    learned = Model.load(run / "seed-1" / "best.safetensors").network.state_dict()
    assert all(torch.equal(weight, learned[name]) for name, weight in kept.network.state_dict().items())

    records = len(read_records(run / "selection.jsonl"))
    before_again = {path: path.stat().st_mtime_ns for path in run.rglob("*") if path.is_file()}
    again = select(run, tmp_path / "larger" / "train", "--quiet", "--workers", 1, "--max-steps", 40)
    assert "seed-1: 2 of 2 solved" in again.stdout and again.stdout.count("<- kept") == 1
    assert len(read_records(run / "selection.jsonl")) == records == 4
    assert {path: path.stat().st_mtime_ns for path in run.rglob("*") if path.is_file()} == before_again


def test_without_a_folder_the_problems_are_those_of_the_recipe(run: Path) -> None:
    config = json.loads((run / "config.json").read_text())
    assert "names no problems to select on" in select(run).stderr
    config["selection"] = {"domain": "gripper", "sizes": [{"balls": 2}], "max_steps": 40}
    (run / "config.json").write_text(json.dumps(config))
    found = json.loads(select(run, "--quiet", "--workers", 1, "--json").stdout)
    assert (len(found["models"]), len(found["problems"]), found["max_steps"]) == (2, 2, 40)
    assert {file.name for file in (run / "selection").iterdir()} == {"domain.pddl"} | {
        f"gripper-{number:03d}-balls-2-start-random.pddl" for number in (1, 2)
    }


def test_a_folder_without_a_training_is_refused(tmp_path: Path, example_folder: Path) -> None:
    with pytest.raises(TrifoldError, match="there is no training in this folder"):
        select(tmp_path, example_folder / "problem.pddl")


def test_a_training_that_was_interrupted_is_not_selected_from(example_folder: Path, tmp_path: Path) -> None:
    """Its best so far is a model, but of one seed where two were asked for."""

    class Breaker(Watcher):
        def progress(self, progress: Progress) -> None:
            raise KeyboardInterrupt

    settings = {"steps": 2, "seeds": 2, "validation_states": 20, "validate_every": 1}
    with pytest.raises(KeyboardInterrupt):
        train(example_folder / "gripper", tmp_path / "run", "small", **settings, watcher=Breaker())  # type: ignore[arg-type]
    assert (tmp_path / "run" / "model.safetensors").exists()
    with pytest.raises(TrifoldError, match="is not finished"):
        select(tmp_path / "run", example_folder / "problem.pddl")
    resume(tmp_path / "run")
    assert "seed-1" in select(tmp_path / "run", example_folder / "problem.pddl", "--max-steps", 2).stdout

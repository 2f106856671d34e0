"""`trifold models`, and names of shipped models where other commands take a model file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from trifold import shipped
from trifold.commands import app
from trifold.errors import TrifoldError
from trifold.evaluation import read_records


@pytest.fixture
def box(example_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(example_folder / "model.safetensors", tmp_path / "gripper.safetensors")
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    monkeypatch.chdir(example_folder)
    return tmp_path


def trifold(*words: object) -> Result:
    return CliRunner().invoke(app, list(map(str, words)))


def test_the_models_are_listed(box: Path) -> None:
    heads, _, line = trifold("models").stdout.splitlines()
    assert heads.split()[:4] == ["Name", "Model", "Policy", "k"] and line.startswith("gripper  R-GNN[1]")
    (model,) = json.loads(trifold("models", "--json").stdout)
    assert (model["name"], model["model"], model["seeds"]) == ("gripper", "R-GNN[1]", 1)
    assert model["parameters"] > 1000 and len(model["data"]) == 64


def test_one_model_is_shown_with_its_provenance(box: Path) -> None:
    model = json.loads(trifold("models", "gripper").stdout)
    assert model["config"]["t"] == 1 and model["provenance"]["settings"]["steps"] == 200
    assert list(model)[:2] == ["name", "recipe"] and model["recipe"] == model["provenance"]["recipe"]
    assert (model["recipe"]["name"], model["recipe"]["training"]["steps"]) == ("small", 200)
    with pytest.raises(TrifoldError, match="did you mean gripper"):
        CliRunner().invoke(app, ["models", "griper"], catch_exceptions=False)


def test_a_model_that_is_older_than_recipes_has_that_of_its_name() -> None:
    model = json.loads(trifold("models", "grid-values").stdout)
    assert "recipe" not in model["provenance"]
    assert (model["recipe"]["name"], model["recipe"]["data"]["detour"]) == ("grid-values", 8)


def test_an_empty_box_says_so(box: Path) -> None:
    (box / "gripper.safetensors").unlink()
    done = trifold("models")
    assert (done.exit_code, done.stdout) == (0, "") and "no model is shipped" in done.stderr
    assert trifold("models", "--json").stdout == "[]\n"


def test_a_problem_is_solved_by_the_name_of_a_model(box: Path) -> None:
    done = trifold("solve", "gripper", "problem.pddl", "--quiet")
    assert done.exit_code == 0 and done.stdout.endswith("; cost = 5 (unit cost)\n")


def test_problems_are_evaluated_by_the_name_of_a_model(box: Path, tmp_path: Path) -> None:
    done = trifold("evaluate", "gripper", "problem.pddl", "--records", tmp_path / "r.jsonl", "--quiet")
    assert done.exit_code == 0
    (record,) = read_records(tmp_path / "r.jsonl")
    assert (record["outcome"], record["model_path"]) == ("solved", "gripper")
    assert (record["training_seeds"], record["training_problems"]) == (1, 2)
    assert (
        record["training_seconds"] and record["training_seconds"] > 0 and record["hardware"] and record["training_data"]
    )


def test_the_domain_of_a_model_is_printed_and_nothing_else(box: Path) -> None:
    assert trifold("models", "gripper", "--domain").stdout == (Path("gripper") / "domain.pddl").read_text()
    assert "prints the PDDL of one model" in str(trifold("models", "--domain").exception)

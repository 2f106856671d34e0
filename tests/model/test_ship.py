"""Shipping a run's model: in half precision if that changes no decision, and with its provenance whole."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from trifold.errors import TrifoldError
from trifold.model import Model
from trifold.pddl import State, load_problem
from trifold.provenance import Origin

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(EXPERIMENTS)
    return importlib.import_module("ship")


@pytest.fixture
def run(example_folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(example_folder / "run", tmp_path / "run")
    shutil.copy(example_folder / "model.safetensors", tmp_path / "run" / "model.safetensors")
    return tmp_path / "run"


def ship(script: Any, run: Path, example_folder: Path) -> tuple[str, Model]:
    path = run.parent / "gripper.safetensors"
    dtype = script.ship(script.load_run(run), path, [example_folder / "problem.pddl"], max_steps=50)
    return dtype, Model.load(path)


def test_half_precision_that_changes_no_decision_is_kept(script: Any, run: Path, example_folder: Path) -> None:
    dtype, model = ship(script, run, example_folder)
    assert dtype == "float16"
    storage = model.provenance["storage"]
    assert storage["dtype"] == "float16" and storage["half_precision"]["differences"] == 0
    assert storage["half_precision"]["decisions"] == 5  # the plan has five steps
    assert model.provenance["training"]["seeds"] == [0]
    assert "/" not in model.provenance["command"][0]
    assert Origin.of(model.provenance) == Origin.of(Model.load(run / "model.safetensors").provenance)


def test_weights_stay_in_full_if_a_decision_changes(
    script: Any, run: Path, example_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare = script.compare  # as if half precision turned V upside down
    monkeypatch.setattr(script, "compare", lambda model, half, *rest: compare(model, Opposite(model), *rest))
    dtype, model = ship(script, run, example_folder)
    assert dtype == "float32" and model.provenance["storage"]["half_precision"]["differences"] > 0
    full = Model.load(run / "model.safetensors")
    assert all(map(torch.equal, model.network.parameters(), full.network.parameters()))


class Opposite:
    def __init__(self, model: Any) -> None:
        self.model = model

    def values(self, states: list[State]) -> torch.Tensor:
        return -self.model.values(states)


def test_ties_are_no_differences(script: Any, example_folder: Path) -> None:
    model = Model.load(example_folder / "model.safetensors")

    class Shaken:
        def values(self, states: list[State]) -> torch.Tensor:
            return model.values(states) * (1 + 1e-6 * torch.arange(len(states)))

    problem = load_problem(model.domain, example_folder / "problem.pddl")
    found = script.compare(model, Shaken(), [problem], max_steps=50)
    assert (found.decisions, found.differences) == (5, 0)


def test_a_model_without_provenance_is_not_shipped(script: Any, run: Path) -> None:
    model = Model.load(run / "model.safetensors")
    del model.provenance["data"]
    model.save(run / "model.safetensors")
    with pytest.raises(TrifoldError, match="does not say its data, problems, states"):
        script.load_run(run)

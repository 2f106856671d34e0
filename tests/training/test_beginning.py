"""A training that begins with the weights of another model."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import torch

from trifold.domains import DOMAINS, domain_text, write_problems
from trifold.encoders import ENCODERS
from trifold.errors import TrifoldError
from trifold.model import Model, ModelConfig
from trifold.pddl import expand
from trifold.training import TrainingResult, resume, train
from trifold.training.beginning import Beginning

TINY: dict[str, Any] = {"dim": 4, "layers": 2, "steps": 4, "validate_every": 2, "batch": 8}
STILL = 1e-9
"""A learning rate by which weights stay what they are, nearly."""


def run_tiny(folder: Path, run: Path, **changes: Any) -> TrainingResult:
    return train(folder, run, "small", **TINY | changes)


def weights_of(model: Model) -> dict[str, torch.Tensor]:
    return dict(zip(model.network.names(), model.network.state_dict().values(), strict=True))


@pytest.fixture(scope="module")
def first(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_tiny(folder, tmp_path_factory.mktemp("first") / "run").model_path


def test_it_begins_where_the_other_model_is(folder: Path, first: Path, tmp_path: Path) -> None:
    """But for a head that the other one has not: that is the one of its seed. There may be more layers, or fewer."""
    options: dict[str, Any] = {"learning_rate": STILL, "seed": 7, "heads": "both", "layers": 3}
    begun = run_tiny(folder, tmp_path / "begun", begin=str(first), **options).load()
    anew = run_tiny(folder, tmp_path / "anew", **options).load()
    before, after, without = weights_of(Model.load(first)), weights_of(begun), weights_of(anew)
    for name, weight in after.items():
        assert torch.allclose(weight, before.get(name, without[name]), atol=1e-6, rtol=0)
        assert name.startswith("scores") == (name not in before)
    assert any(not torch.allclose(before[name], without[name], atol=1e-3) for name in before)
    said = begun.provenance["begin"]
    assert said["model"] == str(first) and len(said["sha256"]) == 64
    assert begun.provenance["recipe"]["training"]["begin"] == str(first) and "begin" not in anew.provenance


def test_a_resumed_training_ends_as_an_unbroken_one(folder: Path, first: Path, tmp_path: Path) -> None:
    whole = run_tiny(folder, tmp_path / "whole", begin=str(first)).load()
    run_tiny(folder, tmp_path / "parts", begin=str(first), steps=2)
    parts = resume(tmp_path / "parts", steps=4).load()
    assert all(torch.equal(weight, weights_of(parts)[name]) for name, weight in weights_of(whole).items())


def test_a_model_that_has_changed_is_refused(folder: Path, first: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.safetensors"
    Model.load(first).save(copy)
    run_tiny(folder, tmp_path / "run", begin=str(copy), steps=2)
    model = Model.load(first)
    model.provenance = {"another": True}
    model.save(copy)
    with pytest.raises(TrifoldError, match="the model that this run began with has changed since"):
        resume(tmp_path / "run", steps=4)


def test_another_architecture_is_refused_with_its_settings(folder: Path, first: Path, tmp_path: Path) -> None:
    with pytest.raises(TrifoldError, match=r"R-GNN\[1\] with k = 4, and R-GNN\[0\] with k = 8") as raised:
        run_tiny(folder, tmp_path / "run", begin=str(first), t=0, dim=8)
    assert "--set t=1 --set dim=4 --set sharpness" in str(raised.value)


def test_a_model_of_another_domain_is_refused(first: Path, tmp_path: Path) -> None:
    write_problems(tmp_path / "blocks", "blocks-s", [2, 3], 0)
    with pytest.raises(TrifoldError, match="domain"):
        run_tiny(tmp_path / "blocks", tmp_path / "run", begin=str(first))


@pytest.mark.parametrize("encoder", sorted(ENCODERS))
def test_weights_are_taken_by_the_names_of_relations(encoder: str) -> None:
    """Those of a relation that the other model has not stay as they are, wherever it comes among the others."""
    space = expand(domain_text("gripper"), DOMAINS["gripper"].problem(random.Random(0), 1), 1000)
    config = ModelConfig(encoder=encoder, dim=8, layers=1, heads="both")
    signature, schemas = space.table.signature, space.actions.schemas
    names = {
        name: 1
        for name, _ in [
            *config.build_encoder().signature(signature),
            *((f"{name}@applicable", 0) for name, _ in schemas),
        ]
    }
    lacking = dict.fromkeys(("at", "at@mark", "pick@applicable"), 0)
    small = Model.fresh(config, signature, "", names | lacking, 1, schemas)
    large = Model.fresh(config, signature, "", names, 2, schemas)
    before = {name: weight.clone() for name, weight in weights_of(large).items()}
    Beginning(small, "small", "").give(large)
    given, after = weights_of(small), weights_of(large)
    assert given.keys() < after.keys()
    for name, weight in after.items():
        assert torch.equal(weight, given.get(name, before[name]))

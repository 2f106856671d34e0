"""Shipped models: found by name, stored in half precision, computing in full, and saying where they come from."""

from __future__ import annotations

import shutil
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import trifold
from trifold import shipped
from trifold.errors import TrifoldError
from trifold.model import Model
from trifold.pddl import load_problem
from trifold.provenance import Origin
from trifold.tensor_file import open_tensors

ROOT = Path(__file__).parents[2]


@pytest.fixture
def box(example_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of shipped models with one of them, and another working folder."""
    (tmp_path / "box").mkdir()
    shutil.copy(example_folder / "model.safetensors", tmp_path / "box" / "gripper.safetensors")
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "box")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "box"


def test_a_name_means_the_shipped_model_unless_there_is_such_a_file(box: Path, tmp_path: Path) -> None:
    assert shipped.shipped_models() == {"gripper": box / "gripper.safetensors"}
    assert shipped.find_model("gripper") == box / "gripper.safetensors"
    (tmp_path / "gripper").mkdir()
    assert shipped.find_model("gripper") == box / "gripper.safetensors"  # a folder is no model file
    (tmp_path / "gripper").rmdir()
    (tmp_path / "gripper").touch()
    assert shipped.find_model("gripper") == Path("gripper")


def test_a_run_folder_means_its_model_and_says_what_to_do_without_one(box: Path, tmp_path: Path) -> None:
    """Also one that is called as a shipped model is."""
    for name in ("run", "gripper"):
        run = tmp_path / name
        (run / "seed-0").mkdir(parents=True)
        (run / "config.json").touch()
        with pytest.raises(
            TrifoldError, match=rf"no model in this folder\n  in: {name}\n  try: .*train --resume {name}"
        ):
            shipped.find_model(name)
        (run / "seed-0" / "best.safetensors").touch()
        with pytest.raises(TrifoldError, match=rf"has not ended(.|\n)*--resume {name}.*{name}/seed-0/best.safetensors"):
            shipped.find_model(Path(name))
        (run / "model.safetensors").touch()
        assert shipped.find_model(name) == Path(name, "model.safetensors")
    with pytest.raises(TrifoldError, match=r"no model in this folder(.|\n)*give a model file"):
        shipped.find_model(box)


@pytest.mark.parametrize("path", ["./gripper", "models/gripper", "gripper.safetensors"])
def test_what_is_no_bare_word_is_a_path(box: Path, path: str) -> None:
    assert shipped.find_model(path) == Path(path)


def test_a_wrong_name_tells_the_right_ones(box: Path) -> None:
    for find in (shipped.find_model, trifold.pretrained):
        with pytest.raises(TrifoldError, match=r"griper\n  try: did you mean gripper"):
            find("griper")
    (box / "gripper.safetensors").unlink()
    with pytest.raises(TrifoldError, match="no model is shipped with this version"):
        shipped.find_model("gripper")


def test_a_shipped_model_loads_by_name(box: Path) -> None:
    assert trifold.pretrained("gripper").name == "R-GNN[1]"


def test_half_precision_halves_the_file_and_loads_as_full(example_folder: Path, tmp_path: Path) -> None:
    model = Model.load(example_folder / "model.safetensors")
    model.save(tmp_path / "half.safetensors", torch.float16)
    half = Model.load(tmp_path / "half.safetensors")
    assert {weight.dtype for weight in load_file(tmp_path / "half.safetensors").values()} == {torch.float16}
    assert {weight.dtype for weight in half.network.parameters()} == {torch.float32}
    for ours, theirs in zip(model.network.parameters(), half.network.parameters(), strict=True):
        assert torch.equal(ours.half().float(), theirs)
    assert half.provenance == model.provenance
    problem = load_problem(model.domain, example_folder / "problem.pddl")
    torch.testing.assert_close(
        half.values([problem.initial_state]), model.values([problem.initial_state]), rtol=0.01, atol=0.01
    )


def test_a_trained_model_knows_its_origin(example_folder: Path) -> None:
    origin = Origin.of(Model.load(example_folder / "model.safetensors").provenance)
    assert None not in vars(origin).values()
    assert (origin.seed, origin.seeds) == (0, 1)
    assert origin.steps and origin.seconds and origin.data and origin.versions
    assert 0 < origin.steps <= 200 and origin.seconds > 0 and len(origin.data) == 64
    assert "torch" in origin.versions
    assert set(vars(Origin.of({})).values()) == {None}


def test_model_files_are_package_data() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    (pattern,) = settings["package-data"]["trifold.model"]
    file = (shipped.FOLDER / "logistics.safetensors").relative_to(ROOT / "src" / "trifold" / "model")
    assert fnmatch(str(file), pattern)


@pytest.mark.parametrize("name", shipped.shipped_models())
def test_every_shipped_model_has_its_whole_provenance(name: str) -> None:
    model = trifold.pretrained(name)
    assert None not in vars(Origin.of(model.provenance)).values()
    assert model.provenance["storage"]["half_precision"]["decisions"] > 0
    assert "/" not in model.provenance["command"][0]


@pytest.mark.parametrize("name", shipped.shipped_models())
def test_every_shipped_model_has_a_checksum_and_knows_its_former_one(name: str) -> None:
    """Those that say their recipe are younger than checksums: they never had another."""
    file = shipped.shipped_models()[name]
    with open_tensors(file) as opened:
        assert opened.sealed and opened.header["format"] == 2
    is_younger = "recipe" in trifold.pretrained(name).provenance
    assert (shipped.formerly(file) is None) if is_younger else len(shipped.formerly(file) or "") == 64


def test_grippers_model_takes_balls_to_both_rooms_though_training_asks_for_one(tmp_path: Path) -> None:
    problem = tmp_path / "both.pddl"
    problem.write_text(
        "(define (problem both) (:domain gripper-strips) (:objects rooma roomb b1 b2 b3 left right) (:init (room rooma)"
        " (room roomb) (ball b1) (ball b2) (ball b3) (gripper left) (gripper right) (at-robby roomb) (free right)"
        " (carry b1 left) (at b2 rooma) (at b3 roomb)) (:goal (and (at b1 rooma) (at b2 roomb) (at b3 rooma))))"
    )
    trajectory = trifold.pretrained("gripper").solve(problem, search=None)
    assert trajectory.plan is not None and len(trajectory.plan) == 7

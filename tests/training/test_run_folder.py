"""A damaged file of a run folder is an error that names it; a run folder may be called anything."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from trifold.commands import app
from trifold.data import dataset
from trifold.errors import TrifoldError
from trifold.model import Model, checkpoint
from trifold.training import resume, train
from trifold.training.run import RunFolder

TINY = {"recipe": "small", "dim": 4, "layers": 2, "batch": 8}


@pytest.fixture(scope="module")
def whole(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "run"
    train(folder, path, **TINY, steps=4, validate_every=2, seeds=2)
    return path


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "run")
    return tmp_path / "run"


def change(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def resave(path: Path, kind: str, edit: Callable[..., Any]) -> None:
    """Write a file of tensors anew, with a right checksum, after an edit of its tensors and header."""
    tensors, header = checkpoint.read(path, kind)
    edit(tensors, header)
    checkpoint.write(path, tensors, header)


GARBAGE = [b"", b"[", b"[]", b"{}", b"\xff", b"[" * 100_000, b"{" * 100_000, b"\0" * 100]
CONFIG = [
    {"threads": 10**9}, {"threads": "2"}, {"threads": True}, {"directory": 5}, {"directory": "\0"},
    {"directory": "x" * 5000}, {"directory": "nowhere"}, {"device": []},
    {"model": []}, {"model": {"dim": 10**9}}, {"model": {"dim": []}},
    {"settings": {"steps": "many"}}, {"settings": {"steps": 10**400}}, {"settings": {"seed": -1}}, {"settings": []},
    {"limits": {"keep": "all"}}, {"limits": None}, {"command": "train"}, {"command": [5]}, {"preset": None},
    {"limits": {"keep": 0}}, {"limits": {"seconds": -1}}, {"selection": []}, {"selection": {"domain": "gripper"}},
    {"selection": {"domain": "gripper", "sizes": [{"balls": "many"}]}}, {"settings": {"dead_ends": "bury"}},
]  # fmt: skip


@pytest.mark.parametrize("content", GARBAGE, ids=range(len(GARBAGE)))
@pytest.mark.parametrize("name", ["config.json", "data.json", "seed-0/metrics.jsonl", "seed-0/last.safetensors"])
def test_garbage_is_refused_and_named(run: Path, name: str, content: bytes) -> None:
    (run / name).write_bytes(content + b"\n" if "metrics" in name else content)
    if content in (b"", b"{}") and name == "seed-0/metrics.jsonl":
        (run / name).write_bytes(b'{"step": "2"}\n')
    with pytest.raises(TrifoldError, match=name.rpartition("/")[2]):
        resume(run)


def test_metrics_without_end_are_refused(run: Path) -> None:
    os.truncate(run / "seed-0" / "metrics.jsonl", 2**40)
    with pytest.raises(TrifoldError, match=r"too large(.|\n)*metrics.jsonl"):
        resume(run)


def test_what_a_living_process_writes_stays(run: Path) -> None:
    dead, living, foreign = (run / "seed-0" / f".{name}.part" for name in ("trifold-0", "trifold-1", "mine"))
    for file in (dead, living, foreign):
        file.touch()
    with living.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        resume(run, steps=5)
        assert not dead.exists() and living.exists() and foreign.exists()


def test_the_lock_of_a_run_folder_is_held_until_it_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else one who has just taken it and one who makes it anew would both hold the folder."""
    unlink, gone = Path.unlink, []

    def watch(path: Path, missing_ok: Any = False) -> None:
        with path.open() as file, pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        gone.append(path.name)
        unlink(path, missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", watch)
        with RunFolder(tmp_path / "run").locked():
            pass
    assert gone == [".lock"] and not (tmp_path / "run").exists()


@pytest.mark.parametrize("changes", CONFIG, ids=lambda changes: str(changes)[:30])
def test_a_wrong_config_is_refused(run: Path, changes: dict[str, Any]) -> None:
    change(run / "config.json", **changes)
    with pytest.raises(TrifoldError):
        resume(run)


@pytest.mark.parametrize(
    "edit",
    [
        lambda tensors, header: header.pop("state"),
        lambda tensors, header: header["state"].update(step="4"),
        lambda tensors, header: header["state"].update(more=4),
        lambda tensors, header: header["state"].update(lapses=10**9),
        lambda tensors, header: header["state"].update(seconds=-1.0),
        lambda tensors, header: header.update(state=[]),
        lambda tensors, header: tensors.pop("optimizer.0.step"),
        lambda tensors, header: tensors.update({"optimizer.99.step": tensors["optimizer.0.step"].clone()}),
        lambda tensors, header: tensors.update({"optimizer": tensors["optimizer.0.step"].clone()}),
        lambda tensors, header: tensors.update(
            {"network.readout.mlp.outer.bias": tensors["optimizer.0.exp_avg"].clone()}
        ),
    ],
    ids=range(10),
)
def test_a_save_that_does_not_fit_is_refused(run: Path, edit: Callable[..., Any]) -> None:
    resave(run / "seed-0" / "last.safetensors", "training", edit)
    with pytest.raises(TrifoldError, match=r"damaged.*\n.*last\.safetensors"):
        resume(run)


def test_the_best_model_of_another_training_is_refused(run: Path, example_folder: Path) -> None:
    shutil.copy(example_folder / "model.safetensors", run / "seed-1" / "best.safetensors")
    with pytest.raises(TrifoldError, match=r"of another training\n  in: .*seed-1/best\.safetensors"):
        resume(run)
    (run / "seed-1" / "best.safetensors").unlink()
    with pytest.raises(TrifoldError, match=r"there is no model file here\n  in: .*seed-1/best\.safetensors"):
        resume(run)


def test_a_run_goes_on_where_another_part_of_its_data_fits(
    run: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How often a relation was met is then another number: a model says it, and it makes no other training."""
    monkeypatch.setattr(dataset, "ENCODED_GIB", 1e-9)
    monkeypatch.setattr(dataset, "SAMPLE", 1)
    resume(run, steps=6)
    before, after = (Model.load(path / "seed-1" / "best.safetensors").training_atoms for path in (whole, run))
    assert before.keys() == after.keys()
    assert RunFolder(run).seed(1).saved_state().step == 6


@pytest.mark.parametrize("training", [None, [], {}, {"seeds": 2}, {"seeds": [0], "steps": [], "seconds": [1.0]}])
def test_a_model_that_does_not_say_how_the_run_went_is_refused(
    run: Path, folder: Path, training: dict[str, Any] | dict[str, int] | list[Any] | None
) -> None:
    resave(run / "model.safetensors", "model", lambda tensors, header: header["provenance"].update(training=training))
    with pytest.raises(TrifoldError, match=r"no model of a training run.*\n.*model\.safetensors"):
        resume(run)
    with pytest.raises(TrifoldError, match=r"no model of a training run.*\n.*model\.safetensors"):
        CliRunner().invoke(app, ["select", str(run), str(folder / "train")], catch_exceptions=False)


def test_a_model_without_a_validation_loss_cannot_be_selected(run: Path, folder: Path) -> None:
    file = run / "seed-0" / "best.safetensors"
    resave(file, "model", lambda tensors, header: header["provenance"].update(selected=[]))
    with pytest.raises(TrifoldError, match="does not say its validation loss"):
        CliRunner().invoke(app, ["select", str(run), str(folder / "train")], catch_exceptions=False)


def test_a_run_from_before_there_were_recipes_goes_on(run: Path) -> None:
    content = json.loads((run / "config.json").read_text())
    del content["selection"]
    (run / "config.json").write_text(json.dumps(content))
    assert resume(run, steps=5).steps == 5


def test_a_run_folder_may_have_a_name_that_is_no_unicode(folder: Path, tmp_path: Path) -> None:
    run = tmp_path / os.fsdecode(b"run-\xff")
    train(folder, run, **TINY, steps=2)
    result = resume(run, steps=3)
    assert result.steps == 3 and Model.load(result.model_path).provenance["settings"]["steps"] == 3

"""Headers of model files: checked by type and size before anything is built; each wrong one is refused at once."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from typer.testing import CliRunner

from trifold.commands import app
from trifold.errors import TrifoldError
from trifold.model import Model, checkpoint
from trifold.provenance import Origin


@pytest.fixture
def path(example_folder: Path, tmp_path: Path) -> Path:
    return tmp_path / "m.safetensors"


@pytest.fixture
def write(example_folder: Path, path: Path) -> Callable[..., Any]:
    """Write the example's model with another header, and a checksum that is right."""
    tensors, header = checkpoint.read(example_folder / "model.safetensors", "model")

    def write(**changes: Any) -> Path:
        checkpoint.write(path, tensors, {**header, **changes})
        return path

    return write


def old_format(path: Path, edit: Callable[..., Any] = lambda text: text) -> None:
    """The file as format 1 has it, without a checksum, with its header edited as text."""
    with safe_open(path, framework="pt") as file:
        tensors, header = {name: file.get_tensor(name) for name in file.keys()}, json.loads(file.metadata()["trifold"])  # noqa: SIM118
    del header["sha256"]
    save_file(tensors, path, {"trifold": edit(json.dumps(header | {"format": 1}))})


WRONG: dict[str, Any] = {
    "config": list[Any](
        [None, [], "pairs", {"dim": 10**9}, {"layers": 10**6}, {"dim": "64"}, {"dim": True}, {"dim": 1e300}]
    )
    + [{"t": value} for value in list[Any](("nan", "one", -1, 10**30, [], None, 0.5))]
    + [{"sharpness": 0}, {"encoder": []}, {"encoder": "cubes"}, {"layers": -1}, {"heads": 8}],
    "signature": [None, {}, "on", [["on", 2]] * 2, [["on", 2]] * 20_000]
    + [[value] for value in (["on"], ["on", 2, 3], ["on", "2"], ["on", 0], ["on", 10**9], [1, 2], ["on", True])]
    + [[value] for value in (["o\ud800", 1], ["on", 2], None)],
    "domain": [None, 5, [], "\ud800"],
    "training_atoms": [None, [], "at", {"at": "5"}, {"at": -1}, {"at": 1.5}, {"at": True}, {}],
    "provenance": [[], "none", 5],
    "format": [None, "2", 0, -1, 2.0, True, 10**100],
    "kind": [None, 5, [], "training"],
}


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in WRONG.items() for value in values])
def test_a_wrong_value_is_refused_at_once(write: Callable[..., Any], field: str, value: Any) -> None:
    path, start = write(**{field: value}), time.monotonic()
    with pytest.raises(TrifoldError) as caught:
        Model.load(path)
    assert str(path) in str(caught.value) and time.monotonic() - start < 5


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: "[" * 100_000,
        lambda text: '{"a":' * 100_000,
        lambda text: text[:-1] + ', "more": ' + "[" * 40 + "]" * 40 + "}",
        lambda text: text[:-1] + ', "kind": "model"}',
        lambda text: text[:-1] + ', "more": NaN}',
        lambda text: text[:-1] + ', "more": -Infinity}',
        lambda text: text[:-1] + f', "more": {"9" * 5000}}}',
        lambda text: text[:-1] + ', "more": "' + "x" * 2**24 + '"}',
        lambda text: "[]",
        lambda text: "",
    ],
    ids=["deep", "deep objects", "deeper than ours", "twice", "NaN", "Infinity", "digits", "long", "list", "empty"],
)
def test_json_that_is_not_ours_is_refused(write: Callable[..., Any], edit: Callable[..., Any]) -> None:
    path = write()
    old_format(path, edit)
    with pytest.raises(TrifoldError, match=r"damaged: it (has|does not start)"):
        Model.load(path)


def test_a_file_of_the_first_format_still_loads(write: Callable[..., Any], example_folder: Path) -> None:
    path = write()
    old_format(path)
    old, new = Model.load(path), Model.load(example_folder / "model.safetensors")
    assert all(map(torch.equal, old.network.parameters(), new.network.parameters()))


def test_a_flipped_bit_is_noticed_wherever_it_is(write: Callable[..., Any]) -> None:
    path = write()
    whole = path.read_bytes()
    for place in [*range(0, 4000, 61), *range(4000, len(whole), len(whole) // 60)]:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        with pytest.raises(TrifoldError):
            Model.load(path)


def test_a_checksum_that_is_gone_is_noticed(write: Callable[..., Any]) -> None:
    path = write()
    old_format(path, lambda text: text.replace('"format": 1', '"format": 2'))
    with pytest.raises(TrifoldError, match="damaged: it has no checksum"):
        Model.load(path)


@pytest.mark.parametrize("domain", ["/etc/passwd", "/dev/zero", "domain.pddl"])
def test_the_domain_is_text_and_never_a_path(write: Callable[..., Any], domain: str) -> None:
    model = Model.load(write(domain=domain))
    with pytest.raises(TrifoldError, match="in: the model's domain") as caught:
        _ = model.domain
    assert "root" not in str(caught.value)


def test_a_pipe_a_device_and_a_folder_are_no_model_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", tmp_path):
        with pytest.raises(TrifoldError, match=r"not a regular file|there is no model file here"):
            Model.load(path)


ODD: list[Any] = [None, 5, "text", [], [5], {"a": []}, 10**400, True]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: str(odd)[:10])
def test_odd_provenance_is_not_said_and_can_be_shown(write: Callable[..., Any], odd: Any) -> None:
    groups = ("settings", "environment", "selected", "data", "training")
    facts = ("seed", "seeds", "step", "validation_loss", "hash", "problems", "states", "device", "versions", "seconds")
    for provenance in (
        dict.fromkeys((*groups, "command"), odd),
        {name: dict.fromkeys(facts, odd) for name in groups} | {"command": [odd]},
    ):
        origin = Origin.of(Model.load(write(provenance=provenance)).provenance)
        assert all(value is None or isinstance(value, (int, float, str)) for value in vars(origin).values())
        shown = CliRunner().invoke(app, ["models", str(write(provenance=provenance))])
        assert shown.exit_code == 0 and json.loads(shown.stdout)["provenance"] == provenance


def test_half_characters_of_odd_file_names_can_be_shown(write: Callable[..., Any]) -> None:
    path = write(provenance={"command": ["trifold", "train", "\udcff"]})
    assert "\\udcff" in CliRunner().invoke(app, ["models", str(path)]).stdout

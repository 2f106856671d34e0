"""Files of tensors: what is written is a file of safetensors, read as its library reads it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save

from trifold.sealed import Damaged
from trifold.tensor_file import open_tensors, write_tensors

ARRAYS: dict[str, Any] = {
    "a": np.arange(6, dtype=np.int64).reshape(2, 3),
    "b": np.array(7, np.uint8),
    "c": np.zeros((0, 4), np.float32),
    "d": np.array([1.5, -2.0], np.float16),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_tensors(tmp_path / "file", save, ARRAYS, {"kind": "test"})
    return tmp_path / "file"


def test_the_library_and_we_read_the_same(path: Path) -> None:
    with open_tensors(path) as ours, safe_open(path, framework="np") as theirs:
        assert ours.header == {"kind": "test"} and ours.sealed
        data = ours.read()
        assert set(ours.entries) == set(theirs.keys()) == set(ARRAYS)
        for name, entry in ours.entries.items():
            array = theirs.get_tensor(name)
            assert entry.shape == array.shape == ARRAYS[name].shape
            assert bytes(data[entry.start : entry.stop]) == array.tobytes() == ARRAYS[name].tobytes()


def outline(path: Path, edit: Callable[..., Any]) -> None:
    """Change the outline of a file; its checksum stays what it was."""
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    values = json.loads(content[8:end])
    edit(values)
    text = json.dumps(values).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[end:])


@pytest.mark.parametrize(
    "edit",
    [
        lambda values: values["a"].update(shape=[3, 3]),
        lambda values: values["a"].update(shape=[-2, -3]),
        lambda values: values["a"].update(shape=[2**40, 2**40]),
        lambda values: values["a"].update(shape=[1] * 9 + [2, 3]),
        lambda values: values["a"].update(shape="23"),
        lambda values: values["a"].update(dtype="I65"),
        lambda values: values["a"].update(dtype=[]),
        lambda values: values["a"].update(more=1),
        lambda values: values["a"].update(data_offsets=[0, 10**18]),
        lambda values: values["a"].update(data_offsets=[True, False]),
        lambda values: values.pop("a"),
        lambda values: values.update(more=values["a"]),
        lambda values: values.update(a=None),
        lambda values: values.update(__metadata__={"trifold": 5}),
        lambda values: values.update(__metadata__=[]),
    ],
    ids=range(15),
)
def test_tensors_that_do_not_fill_the_file_are_refused(path: Path, edit: Callable[..., Any]) -> None:
    outline(path, edit)
    with pytest.raises(Damaged), open_tensors(path):
        pass


def test_another_order_or_shape_of_the_same_bytes_is_noticed(path: Path) -> None:
    outline(path, lambda values: values["a"].update(shape=[3, 2]))
    with open_tensors(path) as file, pytest.raises(Damaged, match="checksum"):
        file.read()

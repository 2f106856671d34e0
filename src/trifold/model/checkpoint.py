"""Files of torch tensors with a header: written whole or not at all, checked when they are read, running no code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor

from trifold.model.opening import FORMAT, opened
from trifold.sealed import Damaged
from trifold.tensor_file import Entry, TensorFile, write_tensors

FLOATS = {"F16": torch.float16, "BF16": torch.bfloat16, "F32": torch.float32, "F64": torch.float64}

Shapes = dict[str, tuple[int, ...]]


def write(path: Path, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
    """Write tensors and header to a file, atomically: a crash or a full disk leaves the old file as it was."""
    contiguous = {name: tensor.contiguous() for name, tensor in tensors.items()}
    write_tensors(path, save, contiguous, {"format": FORMAT, **header})


def read_tensors(file: TensorFile, expected: Shapes) -> dict[str, Tensor]:
    """The tensors of a file, which must be floats of these shapes: nothing is read if they are not."""
    shapes = {name: entry.shape for name, entry in file.entries.items()}
    if shapes != expected or not {entry.dtype for entry in file.entries.values()} <= FLOATS.keys():
        raise Damaged("its weights and its header do not fit together")
    data = file.read()
    return {name: _view(entry, data) for name, entry in file.entries.items()}


def read(path: Path, kind: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the header of a file of this kind, whatever they are."""
    with opened(path, kind) as file:
        return read_tensors(file, {name: entry.shape for name, entry in file.entries.items()}), file.header


def _view(entry: Entry, data: bytearray) -> Tensor:
    dtype = FLOATS[entry.dtype]
    if not entry.numbers:  # torch has no views of nothing
        return torch.empty(entry.shape, dtype=dtype)
    return torch.frombuffer(data, dtype=dtype, count=entry.numbers, offset=entry.start).view(entry.shape)

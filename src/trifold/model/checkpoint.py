"""Files of torch tensors with a header: written whole or not at all, checked when they are read, running no code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor

from trifold.errors import TrifoldError
from trifold.sealed import Damaged
from trifold.tensor_file import Entry, TensorFile, open_tensors, write_tensors

FORMAT = 2
"""The version of the header. A file of a newer version is refused; older ones stay readable.

Since 2 a file has a checksum, over all of it.
"""

FLOATS = {"F16": torch.float16, "BF16": torch.bfloat16, "F32": torch.float32, "F64": torch.float64}

Shapes = dict[str, tuple[int, ...]]


def write(path: Path, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
    """Write tensors and header to a file, atomically: a crash or a full disk leaves the old file as it was."""
    contiguous = {name: tensor.contiguous() for name, tensor in tensors.items()}
    write_tensors(path, save, contiguous, {"format": FORMAT, **header})


@contextmanager
def opened(path: Path, kind: str) -> Iterator[TensorFile]:
    """A file of this kind, of which only the header is read; that it, or what is done with it, fails is a TrifoldError.

    A header is what somebody wrote: whatever goes wrong while something is made of it is the file's fault.
    """
    try:
        with open_tensors(path) as file:
            version, found = file.header.get("format"), file.header.get("kind")
            if type(version) is not int or version < 1 or not isinstance(found, str):
                raise Damaged("its header has no format and kind")
            if version > FORMAT:
                raise TrifoldError(
                    f"the file has format {version}, newer than this version's {FORMAT}",
                    place=str(path),
                    remedy="install a newer trifold",
                )
            if version > 1 and not file.sealed:
                raise Damaged("it has no checksum")
            if found != kind:
                raise TrifoldError(f"this is a {found} file, not a {kind} file", place=str(path))
            yield file
    except FileNotFoundError:
        raise TrifoldError(f"there is no {kind} file here", place=str(path), remedy="check the path") from None
    except OSError as error:
        raise TrifoldError(
            f"this {kind} file cannot be read: {error.strerror or error}", place=str(path), remedy="check the path"
        ) from error
    except TrifoldError as error:
        error.place = error.place or str(path)
        raise
    except (Damaged, LookupError, TypeError, AttributeError, ValueError, RuntimeError, ArithmeticError) as error:
        reason = str(error) if isinstance(error, Damaged) else "its weights and its header do not fit together"
        raise TrifoldError(
            f"this is not a {kind} file of trifold, or it is damaged: {reason}",
            place=str(path),
            remedy="get the file again, or train the model again",
        ) from error


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

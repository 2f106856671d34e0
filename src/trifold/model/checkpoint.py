"""Files of tensors with a JSON header: safetensors, written whole or not at all, read without running code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from trifold.errors import TrifoldError
from trifold.files import write_whole

FORMAT = 1
"""The version of the header. A file of a newer version is refused; older ones stay readable."""

KEY = "trifold"


def write(path: Path, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
    """Write tensors and header to a file, atomically: a crash or a full disk leaves the old file as it was."""
    metadata = {KEY: json.dumps({"format": FORMAT, **header}, sort_keys=True)}
    write_whole(path, save({name: tensor.contiguous() for name, tensor in tensors.items()}, metadata))


def read(path: Path, kind: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the header of a file of this kind."""
    if not path.is_file():
        raise TrifoldError(f"there is no {kind} file here", place=str(path), remedy="check the path")
    try:
        with safe_open(path, framework="pt") as file:
            header = json.loads((file.metadata() or {})[KEY])
            if header["format"] > FORMAT:
                raise TrifoldError(
                    f"the file has format {header['format']}, newer than this version's {FORMAT}",
                    place=str(path),
                    remedy="install a newer trifold",
                )
            if header["kind"] != kind:
                raise TrifoldError(f"this is a {header['kind']} file, not a {kind} file", place=str(path))
            return {name: file.get_tensor(name) for name in file.keys()}, header  # noqa: SIM118
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise TrifoldError(
            f"this is not a {kind} file of trifold, or it is damaged",
            place=str(path),
            remedy="get the file again, or train the model again",
        ) from error

"""Which torch device a name means."""

from __future__ import annotations

import torch

from trifold.errors import TrifoldError


def choose_device(name: str) -> str:
    """The torch device for a `--device`: auto is cuda where there is one, else the CPU."""
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:  # torch built without CUDA asserts
        reason = str(error).partition("\n")[0]
        raise TrifoldError(f"cannot use the device {name}: {reason}", remedy="use --device cpu or auto") from error
    return name

"""Which torch device a name means."""

from __future__ import annotations

import sys
from pathlib import Path

from trifold.errors import TrifoldError

CARDS = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg", "/proc/driver/nvidia/version")
"""Where Linux shows that there may be a GPU for CUDA; where none of these is, torch need not be loaded to ask it."""


def choose_device(name: str) -> str:
    """The torch device for a `--device`: auto is cuda where there is one, else the CPU."""
    if name == "cpu" or (name == "auto" and lacks_cards()):
        return "cpu"
    import torch

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:  # torch built without CUDA asserts
        reason = str(error).partition("\n")[0]
        raise TrifoldError(f"cannot use the device {name}: {reason}", remedy="use --device cpu or auto") from error
    return name


def lacks_cards() -> bool:
    """Whether this machine surely has no GPU for CUDA."""
    return sys.platform == "linux" and not any(Path(card).exists() for card in CARDS)

"""The quickest way to a model that is to be used for planning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from trifold.model.native import NativeModel

if TYPE_CHECKING:
    from trifold.model.model import Model


def open_model(path: Path, device: str, threads: int | None = None) -> NativeModel | Model:
    """A model for planning on a device: on a CPU without torch if that can be, which saves a second of each process.

    ``threads`` are those that it may use; None leaves it to torch, and is one without it.
    """
    if device == "cpu" and (native := NativeModel.load(path, threads or 1)):
        return native
    import torch

    from trifold.model.model import Model

    if threads is not None:
        torch.set_num_threads(threads)
    return Model.load(path, device)

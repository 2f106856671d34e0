"""The compiled library: where it is, what it offers, and why it may be missing."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SWITCH = "TRIFOLD_NATIVE"
"""The environment variable that turns the library off (``0``), or names the instructions that it is to use."""

Floats = NDArray[np.float32]
Integers = NDArray[np.int32]

_POINTER, _INT, _LONG, _FLOAT = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_float
_SIGNATURES: dict[str, tuple[list[Any], Any]] = {
    "trifold_instructions": ([], ctypes.c_char_p),
    "trifold_use": ([ctypes.c_char_p], _INT),
    "trifold_network": ([_INT, _INT, _INT, _FLOAT, _INT, _POINTER, _POINTER], _POINTER),
    "trifold_free": ([_POINTER], None),
    "trifold_set_values": ([_POINTER, _POINTER, _INT, _INT, _INT], _INT),
    "trifold_set_scores": ([_POINTER, _INT, _POINTER, _INT, _INT, _POINTER], _INT),
    "trifold_set_encoder": ([_POINTER, _INT, _INT, _POINTER, _POINTER, _INT, _INT], _INT),
    "trifold_embed": ([_POINTER, _LONG, _POINTER, _POINTER, _POINTER], _INT),
    "trifold_read": (
        [
            *(_POINTER, _INT, _POINTER, _INT, _POINTER, _INT, _INT, _POINTER),
            *(_POINTER, _POINTER, _POINTER, _INT, _LONG, _INT, _POINTER, _POINTER),
        ],
        _INT,
    ),
}


@cache
def load_library() -> ctypes.CDLL | str:
    """The library, or why there is none."""
    if (asked := os.environ.get(SWITCH)) == "0":
        return f"{SWITCH} is 0"
    found = [path for suffix in EXTENSION_SUFFIXES if (path := Path(__file__).with_name(f"kernel{suffix}")).is_file()]
    if not found:
        return "it was not compiled when Trifold was installed: there was no C++ compiler, or it failed"
    try:
        library = ctypes.CDLL(str(found[0]))
        for name, (arguments, result) in _SIGNATURES.items():
            function = getattr(library, name)
            function.argtypes, function.restype = arguments, result
    except (OSError, AttributeError) as error:
        return f"it cannot be loaded: {error}"
    if asked and not library.trifold_use(asked.encode()):
        return f"{SWITCH} is {asked}, which this machine has not got"
    return library


def obstacle() -> str | None:
    """Why there is no compiled library here; None if there is one."""
    library = load_library()
    return library if isinstance(library, str) else None


def instructions() -> str:
    """The vector instructions that the library uses: "avx512", "avx2" or "generic"."""
    name: bytes = opened().trifold_instructions()
    return name.decode()


def use_instructions(name: str) -> bool:
    """Let the library use other instructions from now on; False if this machine has not got them."""
    return bool(opened().trifold_use(name.encode()))


def opened() -> ctypes.CDLL:
    """The library, where there is one."""
    library = load_library()
    if isinstance(library, str):
        raise RuntimeError(f"there is no compiled library: {library}")
    return library


def check(code: int) -> None:
    """Raise what a call of the library returned."""
    if code:
        raise MemoryError("the compiled library ran out of memory") if code == 1 else RuntimeError("it failed")


def pointers(arrays: Sequence[NDArray[Any]]) -> Any:
    """The addresses of arrays, as C has them; the arrays must outlive the call that they are for."""
    return (_POINTER * max(1, len(arrays)))(*(array.ctypes.data for array in arrays))

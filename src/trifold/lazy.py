"""Names that a package imports when they are first asked for, so that importing it is quick."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package that takes each of these names from its module.

    Where it has another name there, that stands after a colon.

    >>> lazily("trifold", {"TrifoldError": "trifold.errors"})("TrifoldError").__name__
    'TrifoldError'
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, own = homes[name].partition(":")
        return getattr(import_module(module), own or name)

    return find

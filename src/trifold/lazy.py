"""Names that a package imports when they are first asked for, so that importing it is quick."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def lazily(package: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package whose names stand under ``if TYPE_CHECKING:``, where type checkers see them.

    Those imports are read as text, once one of the names is asked for. A name must not be that of a module of the
    package: once that module is imported, the package has it as an attribute, and is not asked for the name.

    >>> lazily("trifold.pddl")("load_domain").__module__
    'trifold.pddl.problem'
    """
    homes: dict[str, tuple[str, str]] = {}

    def find(name: str) -> Any:
        if not homes:
            homes.update(_read_homes(Path(str(sys.modules[package].__file__))))
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, own = homes[name]
        found = getattr(import_module(module), own)
        setattr(sys.modules[package], name, found)  # asked for no more
        return found

    return find


def _read_homes(file: Path) -> dict[str, tuple[str, str]]:
    """Of each name that a file imports under ``if TYPE_CHECKING:`` its module, and the name that it has there."""
    return {
        alias.asname or alias.name: (str(node.module), alias.name)
        for block in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

"""What must be the same on all nodes: jobs that are done by other software would be other jobs."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from trifold.provenance import source_version

PACKAGES = ("torch", "pymimir", "numpy", "safetensors", "up-fast-downward")


def local_versions() -> dict[str, str]:
    """The versions on this machine of all that results depend on; of Trifold with a hash of its source."""
    found = {"trifold": source_version(), "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "none"
    return found


def differences(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    """What differs, in words; empty if nothing does.

    >>> differences({"trifold": "0.1.0", "torch": "2.12.0"}, {"trifold": "0.1.0", "torch": "2.13.0"})
    'torch 2.12.0, where this machine has 2.13.0'
    """
    other = [(name, there.get(name, "none"), mine) for name, mine in here.items() if there.get(name) != mine]
    return "; ".join(f"{name} {theirs}, where this machine has {mine}" for name, theirs, mine in other)

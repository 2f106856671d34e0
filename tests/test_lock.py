"""The locked environment: it can be installed with the oldest Python that Trifold runs on."""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parent.parent


def test_what_is_locked_runs_on_the_oldest_python() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = f"{project['requires-python'].removeprefix('>=')}.0"
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    locked = [Requirement(text) for line in lines if (text := line.split("#")[0].strip())]
    refused, known = [], 0
    for requirement in locked:
        try:
            found = metadata(requirement.name)
        except PackageNotFoundError:
            continue
        if requirement.specifier.contains(found["Version"], prereleases=True):  # another says nothing of this one
            known += 1
            if not SpecifierSet(str(found.json.get("requires_python", ""))).contains(oldest):
                refused.append(f"{requirement} needs another Python than {oldest}")
    assert not refused and known > len(locked) / 2

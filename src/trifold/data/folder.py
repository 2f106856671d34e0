"""Which files of a folder are the domain, the training problems and the validation problems."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from trifold.errors import TrifoldError


@dataclass(frozen=True)
class ProblemFolder:
    """The PDDL files of a folder; ``validation`` is empty if the folder leaves the split to us."""

    domain: Path
    training: list[Path]
    validation: list[Path]


def read_folder(directory: Path) -> ProblemFolder:
    """Find domain.pddl and the problems: in train/ and validation/, in train/ alone, or beside the domain.

    Other folders, such as test/, are never looked into.
    """
    if not directory.is_dir():
        raise TrifoldError("there is no such folder", place=str(directory), remedy="check the path")
    domain = directory / "domain.pddl"
    if not domain.is_file():
        raise TrifoldError("there is no domain.pddl here", place=str(directory), remedy="put the PDDL domain there")
    train = directory / "train"
    training = problem_files(train if train.is_dir() else directory)
    validation = problem_files(directory / "validation") if train.is_dir() else []
    if not training:
        raise TrifoldError(
            "there are no problems to learn from",
            place=str(train if train.is_dir() else directory),
            remedy="put PDDL problems there: *.pddl, in train/ or beside domain.pddl",
        )
    return ProblemFolder(domain, training, validation)


def problem_files(directory: Path) -> list[Path]:
    """The PDDL problems in a folder, in natural order: p2 before p10."""
    files = (path for path in directory.glob("*.pddl") if path.name.lower() != "domain.pddl")
    return sorted(files, key=lambda path: natural_key(path.name))


def natural_key(name: str) -> list[tuple[bool, int, str]]:
    """A sorting key under which numbers count as numbers."""
    parts = re.split(r"(\d+)", name.lower())
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts if part]

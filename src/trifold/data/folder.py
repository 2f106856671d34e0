"""Which files of a folder are the domain, the training problems and the validation problems."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from trifold.errors import TrifoldError
from trifold.pddl.folder import DOMAIN, problem_files


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
    domain = directory / DOMAIN
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

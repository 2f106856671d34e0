"""Which files of a folder are the domain, the training problems and the validation problems."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from trifold.errors import TrifoldError
from trifold.pddl import DOMAIN, check_folder, problem_files


@dataclass(frozen=True)
class ProblemFolder:
    """The PDDL files of a folder; ``validation`` is empty if the folder leaves the split to us."""

    domain: Path
    training: list[Path]
    validation: list[Path]


def read_folder(directory: Path) -> ProblemFolder:
    """Find domain.pddl and the problems: in train/ or beside the domain, and in validation/ where there is one.

    Other folders, such as test/, are never looked into.
    """
    check_folder(directory)
    domain = directory / DOMAIN
    if not domain.is_file():
        raise TrifoldError("there is no domain.pddl here", place=str(directory), remedy="put the PDDL domain there")
    train, held_out = directory / "train", directory / "validation"
    place = train if train.is_dir() else directory
    training, validation = problem_files(place), problem_files(held_out)
    if not training:
        raise TrifoldError(
            "there are no problems to learn from",
            place=str(place),
            remedy="put PDDL problems there: *.pddl, in train/ or beside domain.pddl",
        )
    if held_out.is_dir() and not validation:
        raise TrifoldError(
            "there are no problems to validate on",
            place=str(held_out),
            remedy="put PDDL problems there, or remove the folder: then some problems are held out",
        )
    return ProblemFolder(domain, training, validation)

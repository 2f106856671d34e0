"""Where the problems of a study are: in folders that are given, or drawn from the suite into the study's own."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trifold.data import read_folder
from trifold.domains import DOMAINS, PAPER, SEED, frozen_hashes, generate, write_suite
from trifold.errors import TrifoldError
from trifold.files import make_folder
from trifold.pddl import DOMAIN, find_problems
from trifold.studies.description import EACH, Description, DomainChoice, TestSet

SUITE = "suite"
"""The folder of a study that domains of the suite are drawn into."""


@dataclass(frozen=True)
class Drawing:
    """Problems that are to be drawn: of a domain, with a seed, all splits or that of the tests alone."""

    domain: str
    folder: Path
    seed: int | None = None

    @property
    def is_done(self) -> bool:
        """Whether they are there: a folder is put there when all of it is written."""
        return self.folder.is_dir()


@dataclass(frozen=True)
class Problems:
    """The problems of a domain.

    folder    with domain.pddl and the problems to train on
    digest    of the domain and of what is trained and validated on
    tests     the folder of each test set that it has
    drawings  what of it is drawn by the study
    """

    folder: Path
    digest: str
    tests: dict[str, Path] = field(default_factory=dict)
    drawings: tuple[Drawing, ...] = ()

    @property
    def domain(self) -> Path:
        """The file of the domain."""
        return self.folder / DOMAIN


def find_places(study: Description, out: Path) -> dict[str, Problems]:
    """Where the problems of each domain are, or will be; raises if a folder has none."""
    return {choice.name: _find(choice, study, out) for choice in study.domains}


def _find(choice: DomainChoice, study: Description, out: Path) -> Problems:
    drawings: list[Drawing] = []
    if choice.folder is None:
        folder = out / SUITE / choice.name
        drawings.append(Drawing(choice.name, folder))
        digest = frozen_hashes().get(choice.name, f"suite {choice.name} {SEED}")
    else:
        folder = choice.folder.resolve()
        files = read_folder(folder)
        digest = _hash([files.domain, *files.training, *files.validation])
    tests = {}
    for test in study.tests:
        place = _place(test, choice, folder, study.place, out)
        if place is None or (test.optional and choice.folder is not None and not place.is_dir() and test.seed is None):
            continue
        if test.seed is not None:
            drawings.append(Drawing(choice.name, place.parent, test.seed))
        elif not place.is_relative_to(out / SUITE):
            if test.optional and not place.is_dir():
                continue
            _check(test, choice, place)
        tests[test.name] = place
    return Problems(folder, digest, tests, tuple(drawings))


def _place(test: TestSet, choice: DomainChoice, folder: Path, place: Path, out: Path) -> Path | None:
    """The folder of a test set of a domain; None where a domain can have none, which must be allowed."""
    if test.folder is not None:
        is_inside = "/" not in test.folder and EACH not in test.folder
        return folder / test.folder if is_inside else (place / test.folder.replace(EACH, choice.name)).resolve()
    if choice.name in DOMAINS and DOMAINS[choice.name].suite:
        return out / test.name / choice.name / "test"
    if test.optional:
        return None
    raise TrifoldError(
        f"there is no generator of {choice.name}, so that {test.name} cannot be drawn",
        remedy=f"[tests.{test.name}] optional = true, or a folder",
    )


def _check(test: TestSet, choice: DomainChoice, place: Path) -> None:
    try:
        find_problems(place)
    except TrifoldError as error:
        raise TrifoldError(
            f"{choice.name} has no problems for the test set {test.name}: {error.message}",
            place=str(place),
            remedy=f"put problems there, or change it: tests = [], or [tests.{test.name}] with another folder "
            "or optional = true",
        ) from None


def _hash(files: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"\0{file.parent.name}/{file.name}\0".encode() + file.read_bytes())
    return digest.hexdigest()


def draw(job: dict[str, Any], report: Any) -> dict[str, Any]:
    """Draw problems in a child process, into a folder that is put in its place when all of them are written."""
    name, folder, seed = str(job["domain"]), Path(job["folder"]), job["seed"]
    part = folder.parent / f".trifold-{name}.part"
    shutil.rmtree(part, ignore_errors=True)
    make_folder(part)
    if seed is not None:
        generate(name, part / name, splits=["test"], seed=seed)
    elif name in PAPER:
        if write_suite(part, [name])["domains"][name] != frozen_hashes()[name]:
            raise TrifoldError(f"{name} is not what was frozen", remedy="use an unchanged version of Trifold")
    else:
        generate(name, part / name)
    (part / name).rename(folder)
    shutil.rmtree(part)
    return {}

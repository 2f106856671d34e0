"""The PDDL files of a folder: its problems in natural order, and the domain that goes with them."""

from __future__ import annotations

import re
from pathlib import Path

from trifold.errors import TrifoldError
from trifold.files import missing

DOMAIN = "domain.pddl"


def natural_key(name: str) -> list[tuple[int, str]]:
    """A sort key by which numbers inside names count as numbers.

    >>> sorted(["p10.pddl", "p9.pddl", "p1.pddl"], key=natural_key)
    ['p1.pddl', 'p9.pddl', 'p10.pddl']
    """
    parts = re.findall(r"[0-9]+|[^0-9]+", name.lower())
    return [(int(part), "") if part[0] in "0123456789" else (-1, part) for part in parts]


def check_folder(place: Path) -> None:
    """Raise unless this is a folder."""
    if place.is_file():
        raise TrifoldError("this is a file, and no folder", place=str(place), remedy=f"give its folder: {place.parent}")
    if not place.is_dir():
        raise missing(place, "there is no such folder", Path.is_dir)


def problem_files(folder: Path) -> list[Path]:
    """The problem files of a folder, in natural order: *.pddl without the domain; none if there is no such folder."""
    files = [
        file
        for file in (folder.iterdir() if folder.is_dir() else ())
        if file.is_file() and file.suffix.lower() == ".pddl" and file.name.lower() != DOMAIN
    ]
    return sorted(files, key=lambda file: (natural_key(file.name), file.name))


def find_problems(place: Path) -> list[Path]:
    """The problem files of a folder, or the one file that `place` is; none is an error."""
    if place.is_file():
        return [place]
    if not place.is_dir():
        raise missing(place, "there is no such file or folder", Path.exists)
    files = problem_files(place)
    if not files:
        inner = [str(each) for each in sorted(place.iterdir()) if each.is_dir() and problem_files(each)]
        remedy = f"name one of {', '.join(inner[:3])}" if inner else "name a folder of .pddl problem files"
        raise TrifoldError("there are no problems in this folder", place=str(place), remedy=remedy)
    return files


def find_domain(place: Path) -> Path | None:
    """`domain.pddl` beside the problems, or else in the folder above them; None leaves it to the model's own.

    A problem that has a domain file of its own beside it has that: `p01-domain.pddl`, `domain-p01.pddl` or
    `domain_p01.pddl` is that of `p01.pddl` and of `p01-small.pddl`.
    """
    folder = (place if place.is_dir() else place.parent).resolve()
    for file in sorted(folder.glob("*domain*.pddl")) if place.is_file() else ():
        key = re.sub(r"[-_]?domain[-_]?", "", file.stem)
        if key and re.match(rf"{re.escape(key)}(?![0-9a-zA-Z])", place.stem) and file.stem != place.stem:
            return file
    return next((file for file in (folder / DOMAIN, folder.parent / DOMAIN) if file.is_file()), None)

"""Where the problems of records are: in the folders that are given, or where the commands of the records had them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from os.path import isdir, isfile
from pathlib import Path

from trifold.errors import TrifoldError
from trifold.evaluation import Record, file_sha256


class Places:
    """Files by the hash of their content: a file of the same name that is another problem is not taken."""

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        self.folders = list(folders)
        if missing := [folder for folder in self.folders if not folder.exists()]:
            raise TrifoldError("there is no such folder of problems", place=str(missing[0]), remedy="check the path")
        self.files: dict[Path, dict[str, list[Path]]] = {}
        self.found: dict[str, Path | None] = {}

    def find(self, record: Record) -> Path | None:
        """The file of a record's problem, if it is still there."""
        digest = record["problem_sha256"]
        if digest not in self.found:
            files = (file for place in self._places(record) for file in self._files_of(place, record["problem"]))
            self.found[digest] = next((file for file in files if _is(file, digest)), None)
        return self.found[digest]

    def _places(self, record: Record) -> Iterator[Path]:
        yield from self.folders
        try:
            words = shlex.split(record.get("command") or "")
        except ValueError:
            return
        for word in words:
            if not word.startswith("-"):
                yield Path(word)

    def _files_of(self, place: Path, name: str) -> list[Path]:
        """The files of a name in a folder, or that file itself; none of what is not there or cannot be looked into."""
        if place not in self.files:
            self.files[place] = {}
            below = "**/*.pddl" if place in self.folders else "*.pddl"  # a command may name the folder of everything
            for file in [place] if isfile(place) else sorted(place.glob(below)) if isdir(place) else []:
                self.files[place].setdefault(file.name, []).append(file)
        return self.files[place].get(name, [])


def _is(file: Path, digest: str) -> bool:
    try:
        return file_sha256(file) == digest
    except TrifoldError:  # it cannot be read, or is far too large for a problem
        return False

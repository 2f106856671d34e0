"""Where the problems of records are: in the folders that are given, or where the commands of the records had them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from trifold.evaluation import Record, file_sha256


class Places:
    """Files by the hash of their content: a file of the same name that is another problem is not taken."""

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        self.folders = list(folders)
        self.files: dict[Path, dict[str, list[Path]]] = {}
        self.found: dict[str, Path | None] = {}

    def find(self, record: Record) -> Path | None:
        """The file of a record's problem, if it is still there."""
        digest = record["problem_sha256"]
        if digest not in self.found:
            files = (file for place in self._places(record) for file in self._files_of(place, record["problem"]))
            self.found[digest] = next((file for file in files if file_sha256(file) == digest), None)
        return self.found[digest]

    def _places(self, record: Record) -> Iterator[Path]:
        yield from self.folders
        try:
            words = shlex.split(record.get("command") or "")
        except ValueError:
            return
        for word in words:
            if not word.startswith("-") and "\0" not in word and len(word) < 4096:
                yield Path(word)

    def _files_of(self, place: Path, name: str) -> list[Path]:
        """The files of a name in a folder, or that file itself."""
        if place not in self.files:
            self.files[place] = {}
            if place.is_file():
                self.files[place][place.name] = [place]
            elif place.is_dir():
                for file in sorted(place.rglob("*.pddl")) if place in self.folders else sorted(place.glob("*.pddl")):
                    if file.is_file():
                        self.files[place].setdefault(file.name, []).append(file)
        return self.files[place].get(name, [])

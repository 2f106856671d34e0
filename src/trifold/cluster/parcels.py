"""Parcels: files and folders that travel with a job, and what a job wrote."""

from __future__ import annotations

import hashlib
import shutil
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trifold.files import open_regular, write_whole

INLINE_BYTES = 100_000
"""What is smaller travels within its job; what is larger goes to the object store, once, and to each node once."""

MOST_KEPT = 16
"""So many large parcels are held: of models and domains that many jobs read, and not of a problem for each."""

Contents = dict[str, bytes]
"""Of a folder, each file by its place in it; of a file alone, its bytes by an empty name."""


@dataclass(frozen=True)
class Parcel:
    """What travels: ``held`` are the contents, or a reference to them in the object store."""

    name: str
    digest: str
    held: Any


class Sender:
    """Makes parcels of paths; ``put`` stores contents, and returns what stands for them."""

    def __init__(self, put: Callable[[Contents], Any], shared: Path | None) -> None:
        self._put, self._shared = put, shared
        self._kept: OrderedDict[tuple[str, tuple[tuple[str, int, int], ...]], Parcel] = OrderedDict()

    def stays(self, path: str) -> bool:
        """Whether all nodes see the file as it is."""
        return self._shared is not None and Path(path).resolve().is_relative_to(self._shared)

    def pack(self, path: str) -> Parcel:
        """The parcel of a file or a folder; what was packed before is not read again unless it has changed."""
        key = path, _stamps(Path(path))
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        contents = read_contents(Path(path))
        digest = hashlib.sha256()
        for name, content in contents.items():
            digest.update(f"\0{name}\0{len(content)}\0".encode() + content)
        is_small = sum(map(len, contents.values())) <= INLINE_BYTES
        parcel = Parcel(Path(path).resolve().name, digest.hexdigest(), contents if is_small else self._put(contents))
        if not is_small:
            self._kept[key] = parcel
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return parcel


class Receiver:
    """Keeps what has arrived on a node in a folder; ``fetch`` gives the contents that stand in the object store."""

    def __init__(self, folder: Path, fetch: Callable[[Any], Contents]) -> None:
        self._folder, self._fetch = folder, fetch
        self._kept: OrderedDict[str, Path] = OrderedDict()

    def unpack(self, parcel: Parcel) -> Path:
        """Where the file or folder lies now."""
        place = self._folder / parcel.digest[:32] / parcel.name
        if parcel.digest in self._kept:
            self._kept.move_to_end(parcel.digest)
            return place
        contents = parcel.held if isinstance(parcel.held, dict) else self._fetch(parcel.held)
        write_contents(place, contents)
        self._kept[parcel.digest] = place
        if len(self._kept) > MOST_KEPT:
            shutil.rmtree(self._kept.popitem(last=False)[1].parent, ignore_errors=True)
        return place


def read_contents(path: Path) -> Contents:
    """What is in a file, or in all files of a folder."""
    if not path.is_dir():
        with open_regular(path) as file:
            return {"": file.read()}
    return {file.relative_to(path).as_posix(): file.read_bytes() for file in _files(path)}


def write_contents(place: Path, contents: Contents) -> None:
    """Write a file, or a folder's files, each whole or not at all."""
    if "" not in contents:
        place.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        write_whole(place / name if name else place, content)


def _stamps(path: Path) -> tuple[tuple[str, int, int], ...]:
    """What tells that a file, or one of a folder, has changed."""
    found = [(file, file.stat()) for file in (_files(path) if path.is_dir() else [path])]
    return tuple((str(file), stat.st_mtime_ns, stat.st_size) for file, stat in found)


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file())

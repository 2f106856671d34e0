"""Files of JSON lines: one object a line, appended durably, and read without what a crash has torn."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from trifold.errors import TrifoldError
from trifold.files import MOST_DATA_BYTES, mendable, read_bytes
from trifold.sealed import Damaged, parse_object

T = TypeVar("T")


def append_line(path: Path, values: dict[str, Any]) -> None:
    """Append one object, durably: it is on the disk when this returns. It starts on a line of its own."""
    line = json.dumps(values, allow_nan=False).encode("ascii") + b"\n"
    try:
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            size = os.fstat(file).st_size
            if size and os.pread(file, 1, size - 1) != b"\n":
                line = b"\n" + line  # the last line is torn: do not grow on it
            if os.write(file, line) != len(line):  # one write, so that parallel appends do not mix
                raise OSError(errno.ENOSPC, "the disk is full")
            os.fsync(file)
        finally:
            os.close(file)
    except OSError as error:
        raise mendable(error, "write to the file", path) from error


def read_lines(
    path: Path,
    first: str,
    check: Callable[[dict[str, Any]], T],
    *,
    what: str,
    remedy: str,
    most_bytes: int = MOST_DATA_BYTES,
) -> list[T]:
    """What all whole lines hold, in order. A torn line is known by how every line begins; anything else is refused.

    first   the name that the object of every line begins with
    check   makes of an object what is returned for it, or raises ``Damaged``
    what    a line holds, such as "a record", and the remedy if one holds something else
    """
    opening = f'{{"{first}":'.encode()
    found: list[T] = []
    for number, line in enumerate(read_bytes(path, most_bytes).split(b"\n"), start=1):
        if not line:
            continue
        try:
            found.append(check(parse_object(line)))
        except Damaged as error:
            is_torn = isinstance(error.__cause__, (json.JSONDecodeError, UnicodeDecodeError))
            if is_torn and (line.startswith(opening) or opening.startswith(line)):
                continue
            raise TrifoldError(f"line {number} is not {what}: {error}", place=str(path), remedy=remedy) from error
    return found

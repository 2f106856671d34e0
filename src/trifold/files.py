"""Files that are there whole or not at all, and folders for them."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO

from trifold.errors import TrifoldError


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that a crash, a kill or a full disk leaves either the old content or the new one.

    Missing folders are made. A pipe or a device is written to as it is: there is nothing to replace.
    """
    replaces = path.is_file() or not path.exists()
    target = path.with_name(f".{path.name}.{os.getpid()}.part") if replaces else path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(target, "wb") as file:
            file.write(content)
            file.flush()
            if replaces:
                os.fsync(file.fileno())
        if replaces:
            os.replace(target, path)
    except OSError as error:
        raise TrifoldError(
            f"cannot write the file: {error.strerror or error}",
            place=str(path),
            remedy="free some space, or write elsewhere",
        ) from error
    finally:
        if replaces:
            with suppress(OSError):
                target.unlink()


def open_regular(path: Path) -> IO[bytes]:
    """Open a file to read it; an OSError if it is none: to wait for a pipe, or to read a device, may never end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is a folder, a pipe or a device, and no file", str(path))
    return os.fdopen(descriptor, "rb")


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, unless they are there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TrifoldError(f"cannot make this folder: {error.strerror}", place=str(folder)) from error

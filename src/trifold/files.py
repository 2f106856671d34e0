"""Files: read within bounds, written whole or not at all, used in turns; what a killed process left is removed."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader, BufferedWriter
from pathlib import Path

from trifold.errors import TrifoldError

MOST_BYTES = 64 * 2**20
"""A larger file is not read whole unless it may be larger: a PDDL text of this size has millions of atoms."""

MOST_DATA_BYTES = 2**32
"""The same for models and files of records."""

LEFTOVER = ".trifold-*.part"
"""Files and folders that are being written to, until their process ends, which holds a lock on each."""

IRREGULAR = "this is not a regular file"

REMEDIES = {
    errno.EISDIR: "this is a folder: name a file",
    errno.EINVAL: "name a file: pipes, devices and folders are not used",
    errno.ENOSPC: "free some space, or write elsewhere",
    errno.EDQUOT: "free some space, or write elsewhere",
    errno.EROFS: "write elsewhere",
    errno.ENAMETOOLONG: "use a shorter name",
    errno.EACCES: "change its permissions or those of the folders above it, or use another place",
    errno.EPERM: "change its permissions or those of the folders above it, or use another place",
}


def mendable(error: OSError, doing: str, place: Path | str | None = None) -> TrifoldError:
    """An error of the operating system as the user's to mend.

    >>> print(mendable(FileNotFoundError(2, "No such file or directory", "a.pddl"), "read this file"))
    cannot read this file: No such file or directory
      in: a.pddl
      try: check the path
    """
    named = error.filename if place is None else place
    return TrifoldError(
        f"cannot {doing}: {error.strerror or error}",
        place=None if named is None else os.fsdecode(named),
        remedy=REMEDIES.get(error.errno or 0, "check the path" if named else None),
    )


def missing(place: Path, message: str, is_meant: Callable[[Path], bool]) -> TrifoldError:
    """The error that there is nothing at a path, with what may be meant: a name like the first that is not there."""
    from difflib import get_close_matches

    first = next(part for part in (*reversed(place.parents), place) if part == place or not part.exists())
    names: list[str] = []
    with suppress(OSError):
        names = [path.name for path in first.parent.iterdir()]
    near = [first.with_name(name) / place.relative_to(first) for name in get_close_matches(first.name, names)]
    meant = next((path for path in near if is_meant(path)), None)
    remedy = "check the path" if meant is None else f"did you mean {meant}?"
    return TrifoldError(message, place=str(place), remedy=remedy)


def open_regular(path: Path | str) -> BufferedReader:
    """Open a file to read it; an OSError if it is none: to wait for a pipe, or to read a device, may never end."""
    file = open(path, "rb", opener=_open_at_once)  # noqa: SIM115 (it is returned)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, IRREGULAR, str(path))
    return file


@contextmanager
def open_file(path: Path | str, most_bytes: int = MOST_BYTES) -> Iterator[BufferedReader]:
    """Open a file to read it. A pipe, a device or a folder is refused at once: it may never begin, or never end."""
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size > most_bytes:
                raise TrifoldError(
                    f"the file is too large: {size:,} bytes, where {most_bytes:,} are read at most",
                    place=str(path),
                    remedy="check the path",
                )
            yield file
    except FileNotFoundError as error:
        raise missing(Path(path), f"cannot read this file: {error.strerror}", Path.exists) from error
    except OSError as error:
        raise mendable(error, "read this file", path) from error
    except ValueError as error:  # a path with a zero byte
        raise TrifoldError(f"cannot read this file: {error}", place=repr(str(path))) from None


def read_bytes(path: Path | str, most_bytes: int = MOST_BYTES) -> bytes:
    """The content of a file, or an error that says why there is none."""
    with open_file(path, most_bytes) as file:
        return file.read()


def read_text(path: Path | str, most_bytes: int = MOST_BYTES) -> str:
    """The text of a file in UTF-8, or an error that says why there is none."""
    try:
        return read_bytes(path, most_bytes).decode().replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise TrifoldError(
            f"the file is not UTF-8 text (byte {error.start})", place=str(path), remedy="save it as UTF-8 text"
        ) from None


def write_whole(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Write a file so that a crash, a kill or a full disk leaves either the old content or the new one.

    Missing folders are made. A pipe or a device is written to as it is: there is nothing to replace. What can be made
    again need not be durable, so as not to wait for the disk: if the machine goes down, the file may be empty.
    """
    try:
        if path.exists() and not path.is_file():
            with open(path, "wb", opener=_open_at_once) as file:
                os.set_blocking(file.fileno(), True)  # a reader may be slow, but must be there
                file.write(content)
            return
        goal = Path(os.path.realpath(path))  # what a link points to is replaced, and not the link
        goal.parent.mkdir(parents=True, exist_ok=True)
        with _new_part(goal.parent) as (file, part):
            file.write(content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
            os.replace(part, goal)
    except OSError as error:
        raise mendable(error, "write the file", path) from error


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, unless they are there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise mendable(error, "make this folder", folder) from error


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is gone afterwards. If this process is killed, the next one that makes such a folder removes it."""
    parent = Path(tempfile.gettempdir())
    sweep(parent)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=".trifold-", suffix=".part", dir=parent))
        try:
            lock = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:  # another process swept it before it was held
            continue
        if _hold(lock, folder):
            break
        os.close(lock)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


@contextmanager
def in_turn(path: Path, on_wait: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold a file for one process at a time. A missing file is made, and is removed if it is left empty.

    ``on_wait`` is called before this one waits for another. If it raises an error, this one does not wait. The lock is
    on the file itself, so a killed process leaves nothing behind; filelock would keep another file beside each.
    """
    try:
        lock = _open_and_hold(path, on_wait)
    except OSError as error:
        raise mendable(error, "use this file", path) from error
    try:
        yield
    finally:
        if not os.fstat(lock).st_size:
            with suppress(OSError):
                path.unlink()
        os.close(lock)


_swept = set[Path]()


def sweep(folder: Path) -> None:
    """Remove what killed processes have left in a folder; what a living one writes is locked, and stays."""
    _swept.add(folder)
    for leftover in folder.glob(LEFTOVER):
        with suppress(OSError):
            lock = os.open(leftover, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if leftover.is_dir():
                    shutil.rmtree(leftover, ignore_errors=True)
                else:
                    leftover.unlink()
            finally:
                os.close(lock)


@contextmanager
def _new_part(folder: Path) -> Iterator[tuple[BufferedWriter, Path]]:
    """A new file to write to, with a name that is short whatever the name of what it becomes."""
    if folder not in _swept:
        sweep(folder)
    while True:
        part = folder / f".trifold-{os.urandom(4).hex()}.part"
        with open(part, "xb") as file:
            if not _hold(file.fileno(), part):
                continue
            try:
                yield file, part
            finally:
                with suppress(OSError):
                    part.unlink()
        return


def _open_and_hold(path: Path, on_wait: Callable[[], None] | None) -> int:
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o666)
        try:
            if not stat.S_ISREG(os.fstat(lock).st_mode):
                raise OSError(errno.EINVAL, IRREGULAR, str(path))
            if _hold(lock, path, on_wait):
                return lock
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)


def _hold(lock: int, path: Path, on_wait: Callable[[], None] | None = None) -> bool:
    """Lock an open file or folder, and say whether it is still there: another may have moved or removed it before."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if on_wait is not None:
            on_wait()
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError:
        pass  # without locks, as on some networks, nothing is swept either
    try:
        return os.path.samestat(os.fstat(lock), os.stat(path))
    except FileNotFoundError:
        return False


def _open_at_once(path: str, flags: int) -> int:
    """Open without waiting: a pipe would wait for its other end to be opened."""
    return os.open(path, flags | os.O_NONBLOCK)

"""A file is read at once or refused, written whole or not at all, and nothing is left behind."""

from __future__ import annotations

import errno
import fcntl
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from trifold.errors import TrifoldError
from trifold.files import in_turn, read_text, sweep, temporary_folder, write_whole


def test_old_content_survives_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TrifoldError, match=r"No space left(.|\n)*free some space"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_a_really_full_device_is_an_error() -> None:
    with pytest.raises(TrifoldError, match="No space left"):
        write_whole(Path("/dev/full"), b"content")


def test_a_misspelt_file_is_told_with_the_one_that_is_meant_and_a_folder_is_called_one(tmp_path: Path) -> None:
    (tmp_path / "problem-7.pddl").touch()
    with pytest.raises(TrifoldError, match="No such file") as caught:
        read_text(tmp_path / "problem7.pddl")
    assert caught.value.remedy == f"did you mean {tmp_path / 'problem-7.pddl'}?"
    with pytest.raises(TrifoldError, match=r"Is a directory(.|\n)*this is a folder: name a file"):
        read_text(tmp_path)


def test_missing_folders_are_made(tmp_path: Path) -> None:
    write_whole(tmp_path / "a" / "b", b"content")
    assert (tmp_path / "a" / "b").read_bytes() == b"content"


def test_a_name_may_be_as_long_as_names_are(tmp_path: Path) -> None:
    path = tmp_path / ("p" * 255)
    write_whole(path, b"content")
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(TrifoldError, match=r"File name too long(.|\n)*shorter"):
        write_whole(tmp_path / ("p" * 256), b"content")


def test_a_pipe_that_nobody_reads_is_an_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TrifoldError, match="cannot write"):
        write_whole(tmp_path / "pipe", b"content")


def test_text_is_read_with_any_line_ends(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes("a\r\nb\rc\n→".encode())
    assert read_text(tmp_path / "text") == "a\nb\nc\n→"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (os.mkfifo, "not a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "not a regular file"),
        (Path.mkdir, "Is a directory"),
        (lambda path: None, "No such file"),
        (lambda path: path.symlink_to(path), "Too many levels"),
        (lambda path: path.write_bytes(b"fine \xff"), r"not UTF-8 text \(byte 5\)"),
        (lambda path: (path.touch(), os.truncate(path, 2**40)), "too large: 1,099,511,627,776 bytes"),
    ],
)
def test_what_is_no_file_of_text_is_refused_at_once(tmp_path: Path, make: Callable[..., Any], message: str) -> None:
    make(tmp_path / "file")
    with pytest.raises(TrifoldError, match=message) as error:
        read_text(tmp_path / "file")
    assert error.value.place == str(tmp_path / "file")


def test_a_path_that_no_file_can_have_is_an_error() -> None:
    with pytest.raises(TrifoldError, match="null byte"):
        read_text("a\0b")


def test_leftovers_of_killed_processes_are_removed_and_files_in_use_stay(tmp_path: Path) -> None:
    dead, folder, foreign = tmp_path / ".trifold-0.part", tmp_path / ".trifold-1.part", tmp_path / "mine.part"
    living = tmp_path / ".trifold-2.part"
    for file in (dead, foreign, living):
        file.touch()
    folder.mkdir()
    (folder / "file").touch()
    with living.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        write_whole(tmp_path / "file", b"content")
        assert sorted(tmp_path.iterdir()) == sorted([living, tmp_path / "file", foreign])
    sweep(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "file", foreign])


def test_a_temporary_folder_is_gone_afterwards_whoever_removes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    killed = tmp_path / ".trifold-killed.part"
    killed.mkdir()
    with pytest.raises(KeyboardInterrupt), temporary_folder() as mine:
        (mine / "file").touch()
        with temporary_folder() as other:
            assert sorted(tmp_path.iterdir()) == sorted([mine, other])
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_processes_that_use_a_file_take_turns(tmp_path: Path) -> None:
    path, told = tmp_path / "file", []
    with ThreadPoolExecutor(1) as pool:

        def second() -> None:
            with in_turn(path, lambda: told.append("waits")):
                told.append(path.read_text())

        with in_turn(path):
            waiting = pool.submit(second)
            while not told:
                time.sleep(0.001)
            path.write_text("done")
        waiting.result()
    assert told == ["waits", "done"]
    path.write_text("")
    with in_turn(path):
        pass
    assert not path.exists()


@pytest.mark.parametrize("place", ["/dev/null", "/dev/full"])
def test_only_regular_files_are_used_in_turns(place: str) -> None:
    with pytest.raises(TrifoldError, match="not a regular file"), in_turn(Path(place)):
        pass


def test_who_does_not_want_to_wait_does_not(tmp_path: Path) -> None:
    def refuse() -> None:
        raise TrifoldError("it is in use")

    before = len(os.listdir("/proc/self/fd"))
    with in_turn(tmp_path / "file"):
        for _ in range(3):
            with pytest.raises(TrifoldError, match="in use"), in_turn(tmp_path / "file", refuse):
                pass
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("take_away", [Path.unlink, lambda path: path.rename(path.with_name(f"moved {path.name}"))])
def test_a_file_that_is_gone_before_it_is_held_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, take_away: Callable[..., Any]
) -> None:
    """So are temporary folders; and nothing stays open."""
    lock = fcntl.flock
    taken: list[Any] = []

    def too_late(file: int, how: int) -> None:
        if len(taken) < 3:
            taken.append(Path(os.readlink(f"/proc/self/fd/{file}")))
            (Path.rmdir if taken[-1].is_dir() and take_away is Path.unlink else take_away)(taken[-1])
        lock(file, how)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(fcntl, "flock", too_late)
    for make in (lambda: in_turn(tmp_path / "file"), temporary_folder):
        taken.clear()
        with make() as folder:
            assert (folder or tmp_path / "file").exists()
        assert len(taken) == 3 and len(os.listdir("/proc/self/fd")) == before


def test_a_temporary_folder_that_is_swept_before_it_is_opened_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, made = tempfile.mkdtemp, []

    def swept(*args: Any, **options: Any) -> str:
        made.append(make(*args, **options))
        if len(made) < 3:
            sweep(tmp_path)
            assert not Path(made[-1]).exists()
        return str(made[-1])

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(tempfile, "mkdtemp", swept)
    with temporary_folder() as folder:
        assert folder.exists() and len(made) == 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOTSUP])
def test_files_are_used_without_locks_where_there_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(file: int, how: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with in_turn(tmp_path / "file"), temporary_folder() as folder:
        write_whole(folder / "file", b"content")


def test_what_a_link_points_to_is_written_and_the_link_stays(tmp_path: Path) -> None:
    for name in ("there", "missing"):
        (tmp_path / name).symlink_to(tmp_path / "elsewhere" / name)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "there").write_bytes(b"old")
    for name in ("there", "missing"):
        write_whole(tmp_path / name, b"new")
        assert (tmp_path / name).is_symlink() and (tmp_path / "elsewhere" / name).read_bytes() == b"new"

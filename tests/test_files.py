"""A file is written whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from trifold.errors import TrifoldError
from trifold.files import write_whole


def test_old_content_survives_a_full_disk(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_whole(path, b"old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TrifoldError, match=r"No space left(.|\n)*free some space"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_a_really_full_device_is_an_error():
    with pytest.raises(TrifoldError, match="No space left"):
        write_whole(Path("/dev/full"), b"content")


def test_missing_folders_are_made(tmp_path):
    write_whole(tmp_path / "a" / "b", b"content")
    assert (tmp_path / "a" / "b").read_bytes() == b"content"

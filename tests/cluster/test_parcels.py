"""Parcels: what a job reads arrives as it is, and what is large is stored once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trifold.cluster.parcels import INLINE_BYTES, MOST_KEPT, Contents, Receiver, Sender


class Store:
    """An object store that counts."""

    def __init__(self) -> None:
        self.stored: list[Contents] = []
        self.fetched: list[int] = []

    def put(self, contents: Contents) -> int:
        self.stored.append(contents)
        return len(self.stored) - 1

    def fetch(self, number: int) -> Contents:
        self.fetched.append(number)
        return self.stored[number]


@pytest.mark.parametrize("size", [0, 1, INLINE_BYTES, INLINE_BYTES + 1])
def test_a_file_arrives_under_its_name(size: int, tmp_path: Path) -> None:
    file, store = tmp_path / "model.safetensors", Store()
    file.write_bytes(os.urandom(size))
    parcel = Sender(store.put, None).pack(str(file))
    place = Receiver(tmp_path / "node", store.fetch).unpack(parcel)
    assert place.name == file.name and place.read_bytes() == file.read_bytes()
    assert len(store.stored) == (size > INLINE_BYTES)


def test_a_folder_arrives_with_all_of_its_files(tmp_path: Path) -> None:
    texts = {"domain.pddl": b"a", "train/p1.pddl": b"", "train/deep/p2.pddl": b"b" * 2 * INLINE_BYTES}
    for name, content in texts.items():
        (tmp_path / "here" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "here" / name).write_bytes(content)
    (tmp_path / "here" / "empty").mkdir()
    store = Store()
    place = Receiver(tmp_path / "node", store.fetch).unpack(Sender(store.put, None).pack(str(tmp_path / "here")))
    found = {file.relative_to(place).as_posix(): file.read_bytes() for file in place.rglob("*") if file.is_file()}
    assert found == texts


def test_what_many_jobs_read_is_stored_and_fetched_once_until_it_changes(tmp_path: Path) -> None:
    file, store = tmp_path / "model", Store()
    sender, receiver = Sender(store.put, None), Receiver(tmp_path / "node", store.fetch)
    file.write_bytes(b"x" * 2 * INLINE_BYTES)
    places = {receiver.unpack(sender.pack(str(file))) for _ in range(3)}
    assert len(places) == len(store.stored) == len(store.fetched) == 1
    file.write_bytes(b"y" * 3 * INLINE_BYTES)
    assert receiver.unpack(sender.pack(str(file))).read_bytes() == file.read_bytes()
    assert len(store.stored) == 2


def test_a_node_keeps_a_bounded_number_of_files(tmp_path: Path) -> None:
    store = Store()
    sender, receiver = Sender(store.put, None), Receiver(tmp_path / "node", store.fetch)
    for index in range(MOST_KEPT + 3):
        file = tmp_path / f"p{index}.pddl"
        file.write_text(str(index))
        place = receiver.unpack(sender.pack(str(file)))
    assert place.read_text() == file.read_text()
    assert len([file for file in (tmp_path / "node").rglob("*") if file.is_file()]) == MOST_KEPT


def test_what_all_nodes_see_does_not_travel(tmp_path: Path) -> None:
    sender = Sender(Store().put, (tmp_path / "shared").resolve())
    assert sender.stays(str(tmp_path / "shared" / "p1.pddl"))
    assert not sender.stays(str(tmp_path / "shared" / ".." / "p1.pddl"))
    assert not Sender(Store().put, None).stays(str(tmp_path / "p1.pddl"))

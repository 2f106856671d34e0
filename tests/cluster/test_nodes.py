"""Nodes: room for jobs is counted by CPUs and memory, and a node that has other versions is named."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trifold.cluster.nodes import Nodes, knock
from trifold.errors import TrifoldError


def nodes_of(*resources: dict[str, float]) -> tuple[Nodes, list[tuple[Any, ...]]]:
    said: list[tuple[Any, ...]] = []
    there = [{"Alive": True, "Resources": each} for each in resources]
    ray = SimpleNamespace(nodes=lambda: [*there, {"Alive": False, "Resources": {"CPU": 64.0}}])
    return Nodes(ray, {"trifold": "1"}, lambda *words: said.append(words)), said


@pytest.mark.parametrize(
    ("memory", "most", "size"), [(None, None, 12), (4.0, None, 6), (4.0, 5, 5), (16.0, None, 1), (0.5, 100, 12)]
)
def test_room_is_counted_by_cpus_and_memory(memory: float | None, most: int | None, size: int) -> None:
    nodes, said = nodes_of(
        {"CPU": 8.0, "memory": 17 * 2.0**30}, {"CPU": 4.0, "memory": 8 * 2.0**30}, {"memory": 2.0**40}
    )
    nodes.demand(memory, most)
    assert nodes.look() == nodes.look() == size
    assert said == [("size", size)]


def test_jobs_that_fit_on_no_node_are_refused() -> None:
    nodes, _ = nodes_of({"CPU": 8.0, "memory": 2.0**30})
    nodes.demand(4.0, None)
    with pytest.raises(TrifoldError, match=r"4 GiB: the most is 1\.0"):
        nodes.look()


def test_a_cluster_without_nodes_is_waited_for_but_not_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes, _ = nodes_of()
    assert nodes.look() == 0
    monkeypatch.setattr("trifold.cluster.nodes.PATIENCE_SECONDS", -1.0)
    nodes.demand(None, None)
    with pytest.raises(TrifoldError, match="no CPU left"):
        nodes.look()


def test_an_address_where_nobody_listens_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray itself tries for minutes, also where a head that is gone has left its address behind."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        knock(address)
    began = time.monotonic()
    with pytest.raises(TrifoldError, match="no Ray cluster to join: Connection refused"):
        knock(address)
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(TrifoldError, match="no Ray cluster to join"):
        knock("auto")
    monkeypatch.delenv("RAY_ADDRESS")
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    knock("auto")  # nothing is noted: Ray says so
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "ray_current_cluster").write_text(address + "\n")
    with pytest.raises(TrifoldError, match="no Ray cluster to join"):
        knock("auto")
    for other in ("ray://head:10001", "local", ""):
        knock(other)
    assert time.monotonic() - began < 5

"""Nodes: room for jobs is counted by CPUs and memory, and a node that has other versions is named."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from trifold.cluster.nodes import Nodes
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

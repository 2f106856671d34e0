"""A seat: what a job brings to a node is gone when its seat leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from trifold.cluster.parcels import Parcel
from trifold.cluster.seat import Order, Seat
from trifold.plugins import VARIABLE
from trifold.processes import Limits


def test_a_seat_that_leaves_leaves_nothing_on_its_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "processes"))
    seat = Seat(lambda held: held)
    order = Order("isolated_jobs:run", Limits(), (), "")
    parcel = Parcel("p.pddl", "0" * 64, {"": b"(define"})
    ((_, result, _),) = seat.do(order, {"do": "double", "value": "suite/p.pddl"}, {"value": parcel}, {})
    assert result is not None and result["value"] == {"value": 2 * "suite/p.pddl"}
    assert [file.read_bytes() for file in tmp_path.rglob("*.pddl")] == [b"(define"]
    seat.leave()
    assert not list(tmp_path.iterdir())

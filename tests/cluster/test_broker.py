"""The broker, with a Ray that does what a test says: no job is lost, none counts twice, and none is tried forever."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trifold.cluster.broker import MOST_LOSSES, Broker
from trifold.cluster.nodes import Nodes
from trifold.cluster.parcels import Sender
from trifold.cluster.seat import Order
from trifold.errors import TrifoldError

VERSIONS = {"trifold": "1"}


class RayError(Exception):
    """What Ray raises when an actor is gone."""


class RayTaskError(RayError):
    """What Ray raises when an actor's method raised."""


Do = Callable[[dict[str, Any]], Any]
"""What becomes of a job: a message of the seat, or an error."""


class FakeRay:
    """As much of Ray as the broker uses, in this process and at once."""

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def __init__(self, do: Do, versions: dict[str, str] = VERSIONS, cpus: float = 2.0) -> None:
        self._do, self._versions, self._cpus = do, versions, cpus
        self.killed = self.hired = self.left = 0

    def nodes(self) -> list[dict[str, Any]]:
        return [{"Alive": True, "Resources": {"CPU": self._cpus, "memory": 2.0**33}}]

    def remote(self, kind: type) -> Any:
        return SimpleNamespace(options=lambda **options: SimpleNamespace(remote=lambda fetch: self._actor()))

    def place(self, number: int) -> Any:
        """The name of the node of the actor of this number, or why it did not start."""
        return "n1"

    def _actor(self) -> Any:
        place, self.hired = self.place(self.hired), self.hired + 1

        def stream(order: Order, job: dict[str, Any], reads: object, writes: object) -> Iterator[Any]:
            return iter([self._do(job | ({"place": place} if "place" in job else {}))])

        def leave() -> None:
            self.left += 1

        do = SimpleNamespace(options=lambda **options: SimpleNamespace(remote=stream))
        greeting = place if isinstance(place, Exception) else (place, self._versions)
        greet = SimpleNamespace(remote=lambda: _Reference(greeting))
        return SimpleNamespace(greet=greet, do=do, leave=SimpleNamespace(remote=leave))

    def wait(self, awaited: list[Any], **options: object) -> tuple[list[Any], list[Any]]:
        return awaited, []

    def get(self, reference: Any) -> Any:
        value = reference.value if isinstance(reference, _Reference) else reference
        if isinstance(value, Exception):
            raise value
        return value

    def put(self, value: object) -> object:
        return value

    def kill(self, actor: object) -> None:
        self.killed += 1


class _Reference:
    def __init__(self, value: object) -> None:
        self.value = value


def work(ray: FakeRay, jobs: list[dict[str, Any]], writes: tuple[str, ...] = ()) -> list[tuple[Any, ...]]:
    """All that the broker says of the jobs."""
    said: list[tuple[Any, ...]] = []
    heard: queue.SimpleQueue[list[Any] | None] = queue.SimpleQueue()

    def say(*words: Any) -> None:
        said.append(words)
        if sum(word[0] == "result" for word in said) == len(jobs):
            heard.put(None)

    heard.put(["begin", 1, "module:function", [None, None], None, 0.0, [], list(writes), [], ""])
    for index, job in enumerate(jobs):
        heard.put(["job", index, job])
    Broker(ray, Nodes(ray, VERSIONS, say), Sender(ray.put, None), say, heard).work()
    return said


def finished(**value: Any) -> dict[str, Any]:
    return {"job": 0, "outcome": "finished", "value": value, "message": "", "seconds": 0.1, "peak_gib": 0.1}


def test_a_job_whose_seat_is_lost_begins_again_and_ends_once() -> None:
    tries: dict[int, int] = {}

    def do(job: dict[str, Any]) -> Any:
        tries[job["number"]] = tries.get(job["number"], 0) + 1
        return RayError("gone") if job["number"] == 3 and tries[3] < MOST_LOSSES else ([], finished(**job), {})

    said = work(FakeRay(do), [{"number": number} for number in range(7)])
    results = {words[2]["job"]: words[2] for words in said if words[0] == "result"}
    assert sorted(results) == list(range(7)) and len([words for words in said if words[0] == "result"]) == 7
    assert all(result["value"] == {"number": job} for job, result in results.items())
    assert [words for words in said if words[0] == "again"] == [("again", 1, 3)] * (MOST_LOSSES - 1)
    assert tries == dict.fromkeys(range(7), 1) | {3: MOST_LOSSES}


def test_a_job_that_loses_every_seat_is_a_crash_and_the_others_go_on() -> None:
    said = work(
        FakeRay(lambda job: RayError("a\nthe node died") if job["bad"] else ([], finished(), {})),
        [{"bad": True}, {"bad": False}],
    )
    results = {words[2]["job"]: words[2] for words in said if words[0] == "result"}
    assert results[0]["outcome"] == "crash" and results[0]["message"].endswith("lost 3 times: the node died")
    assert results[1]["outcome"] == "finished"


def test_idle_seats_of_a_lost_node_take_no_job_with_them() -> None:
    dead: set[str] = set()

    def do(job: dict[str, Any]) -> Any:
        if job["ends"]:
            dead.add("n1")
        return RayError("the node died") if job["place"] in dead else ([], finished(), {})

    ray = FakeRay(do, cpus=6.0)
    ray.place = lambda number: "n1" if number < 6 else "n2"  # type: ignore[method-assign]
    said = work(ray, [{"ends": number == 5, "place": ""} for number in range(6)])
    assert [words[2]["outcome"] for words in said if words[0] == "result"] == ["finished"] * 6


def test_a_large_node_that_is_lost_while_its_seats_start_is_lost_once() -> None:
    ray = FakeRay(lambda job: ([], finished(), {}), cpus=9.0)
    ray.place = lambda number: RayError("the node died") if number < 8 else "n2"  # type: ignore[method-assign]
    said = work(ray, [{}] * 9)
    assert [words[2]["outcome"] for words in said if words[0] == "result"] == ["finished"] * 9


def test_a_broker_without_nodes_waits_and_does_not_spin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trifold.cluster.nodes.LOOK_SECONDS", 0.0)
    ray, looks = FakeRay(lambda job: ([], finished(), {})), list[float]()
    nodes, began = ray.nodes, time.monotonic()

    def look() -> list[dict[str, Any]]:
        looks.append(time.monotonic() - began)
        return nodes() if looks[-1] > 0.5 else []

    ray.nodes = look  # type: ignore[method-assign]
    assert [words[0] for words in work(ray, [{}])].count("result") == 1
    assert sum(at < 0.5 for at in looks) < 10


def test_seats_without_jobs_are_given_back_while_others_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trifold.cluster.broker.IDLE_SECONDS", 0.0)
    ray = FakeRay(lambda job: ([], finished(), {}))
    work(ray, [{}] * 4)
    assert ray.killed == 2


def test_seats_leave_before_they_are_killed_when_the_command_has_ended() -> None:
    ray = FakeRay(lambda job: ([], finished(), {}))
    work(ray, [{}] * 4)
    assert (ray.left, ray.killed) == (2, 2)


def test_what_a_seat_itself_cannot_do_is_a_crash_of_the_job() -> None:
    said = work(FakeRay(lambda job: RayTaskError("OSError: [Errno 28] No space left on device")), [{}])
    ((_, _, result),) = (words for words in said if words[0] == "result")
    assert (result["outcome"], result["message"]) == ("crash", "OSError: [Errno 28] No space left on device")


def test_what_a_job_wrote_is_brought_back_or_the_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    jobs = [{"path": str(tmp_path / "new" / "space")}, {"path": str(tmp_path / "file" / "space")}]
    said = work(FakeRay(lambda job: ([], finished(), {"path": {"": b"states"}})), jobs, writes=("path",))
    results = {words[2]["job"]: words[2] for words in said if words[0] == "result"}
    assert results[0]["outcome"] == "finished" and (tmp_path / "new" / "space").read_bytes() == b"states"
    assert results[1]["outcome"] == "bad input" and results[1]["value"]["place"] == jobs[1]["path"]


def test_a_node_with_other_versions_is_named() -> None:
    with pytest.raises(TrifoldError, match="trifold 0, where this machine has 1") as raised:
        work(FakeRay(lambda job: None, {"trifold": "0"}), [{}])
    assert raised.value.place == "n1" and raised.value.remedy and "constraints.txt" in raised.value.remedy


def test_a_cluster_where_no_job_can_begin_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trifold.cluster.broker.SAME_SECONDS", 0.0)
    ray = FakeRay(lambda job: None)
    ray._versions = None  # type: ignore[assignment]
    ray.get = lambda reference: (_ for _ in ()).throw(RayError("x\nModuleNotFoundError: No module named 'trifold'"))  # type: ignore[method-assign]
    with pytest.raises(TrifoldError, match="No module named 'trifold'") as raised:
        work(ray, [{}])
    assert raised.value.remedy and "install Trifold on all nodes" in raised.value.remedy

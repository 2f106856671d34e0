"""Jobs that threads ask for one by one are done by a crew that does one call at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Sequence
from contextlib import closing
from typing import Any, cast

import pytest

from trifold.outcomes import Outcome
from trifold.processes import Event, Files, Job, Limits, Result, Told
from trifold.studies.doing import Stoppable, Stopped
from trifold.studies.gathered import Gathered


class OneAtATime:
    """A crew that does one call at a time, and notes how many jobs each had and what they took of a GPU."""

    size = 2

    def __init__(self, *, is_live: bool) -> None:
        self.gpus, self.is_live = 0.0, is_live
        self.lock, self.calls = threading.Lock(), list[tuple[int, float]]()
        self.go = threading.Event()

    def follow(self, function: str, jobs: Sequence[Job], files: Files, limits: Limits) -> Generator[Told, None, None]:
        assert self.lock.acquire(blocking=False)
        try:
            taken, number = (jobs if self.is_live else list(jobs)), 0
            while not self.go.wait(0.01):
                yield None
            while number < len(taken):
                if "error" in taken[number]:
                    raise OSError("the cluster is gone")
                yield Event(number, {"of": taken[number]["name"]})
                yield Result(number, Outcome.FINISHED, {"name": taken[number]["name"]}, "", 0.1)
                number += 1
            self.calls.append((number, self.gpus))
        finally:
            self.lock.release()


def ask(crew: Gathered, job: Job, told: dict[str, Any]) -> threading.Thread:
    def work() -> None:
        try:
            with closing(crew.follow("a:function", [job], Files(), Limits())) as tidings:
                told[job["name"]] = [one for one in tidings if one is not None]
        except OSError as error:
            told[job["name"]] = error

    thread = threading.Thread(target=work)
    thread.start()
    return thread


@pytest.mark.parametrize("is_live", [True, False])
def test_each_hears_of_its_own_job_and_calls_follow_each_other(is_live: bool) -> None:
    cluster, told = OneAtATime(is_live=is_live), dict[str, Any]()
    crew = Gathered(cast(Any, cluster), 0.5)
    threads = [ask(crew, {"name": name}, told) for name in "abc"]
    time.sleep(0.05)
    cluster.go.set()
    for thread in [*threads, ask(crew, {"name": "d"}, told)]:
        thread.join()
    for name in "abcd":
        event, result = told[name]
        assert (event.job, event.content, result.job, result.value) == (0, {"of": name}, 0, {"name": name})
    assert sum(count for count, _ in cluster.calls) == 4 and {gpus for _, gpus in cluster.calls} == {0.5}
    assert cluster.gpus == 0.0


def test_all_that_wait_hear_that_the_cluster_is_gone_and_closing_one_ends_the_call() -> None:
    cluster, told = OneAtATime(is_live=True), dict[str, Any]()
    crew = Gathered(cast(Any, cluster), 0.0)
    threads = [ask(crew, {"name": name, "error": True}, told) for name in "ab"]
    cluster.go.set()
    for thread in threads:
        thread.join()
    assert all("is gone" in str(told[name]) for name in "ab")
    cluster.go.clear()
    left = crew.follow("a:function", [{"name": "c"}], Files(), Limits())
    assert next(left) is None and cluster.lock.locked()
    left.close()
    deadline = time.monotonic() + 10
    while cluster.lock.locked() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not cluster.lock.locked()


def test_steps_that_share_a_call_all_stop_when_the_study_ends_and_none_fails() -> None:
    cluster, stop = OneAtATime(is_live=True), threading.Event()
    crew = Stoppable(Gathered(cast(Any, cluster), 0.0), stop)
    first, second = (crew.follow("a:function", [{"name": name}], Files(), Limits()) for name in "ab")
    assert next(first) is next(second) is None
    stop.set()
    with pytest.raises(Stopped):
        next(first)
    deadline = time.monotonic() + 10
    while cluster.lock.locked() and time.monotonic() < deadline:
        time.sleep(0.01)
    with pytest.raises(Stopped):
        next(second)

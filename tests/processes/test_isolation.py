"""Isolation: whatever a child process does, the parent gets a named outcome and nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ray_cluster import Hands, RayNodes
from trifold.outcomes import Outcome
from trifold.processes import Job, Limits, Result, run_isolated

pytestmark = pytest.mark.real_children
FUNCTION = "isolated_jobs:run"

Run = Callable[..., list[Result]]


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


@pytest.fixture
def run(hands: Hands) -> Run:
    def run(jobs: Sequence[Job], count: int = 1, function: str = FUNCTION, **limits: float) -> list[Result]:
        results = list(run_isolated(function, jobs, workers=hands(count), limits=Limits(**limits)))
        return sorted(results, key=lambda result: result.job)

    return run


def are_gone(pids: Sequence[int]) -> bool:
    """Whether the processes end; on a cluster it takes them a moment."""
    for _ in range(400):
        if not any(map(is_alive, pids)):
            return True
        time.sleep(0.05)
    return False


def is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_every_end_has_its_name_and_others_go_on(run: Run) -> None:
    ways = ["raise", "error", "segfault", "exit", "print", "object", "memory", "load", "open"]
    jobs = [step for way in ways for step in ({"do": way}, {"do": "double", "value": 21})]
    results = run(jobs, count=2, memory_gib=2.0)
    ends = dict(zip(ways, results[::2], strict=True))
    assert {way: result.outcome for way, result in ends.items()} == {
        "raise": "crash", "error": "bad input", "segfault": "crash", "exit": "crash", "print": "finished",
        "object": "crash", "memory": "memory limit", "load": "memory limit", "open": "bad input",
    }  # fmt: skip
    assert ends["raise"].message == "ValueError: one\ntwo"
    assert ends["error"].value == {"message": "wrong", "place": "here", "remedy": "mend it"}
    assert ends["error"].message == "wrong\n  in: here\n  try: mend it"
    assert "SIGSEGV" in ends["segfault"].message and "exited with 3" in ends["exit"].message
    assert ends["memory"].message == ends["load"].message == "more than 2 GiB"
    assert ends["open"].error and ends["open"].error.place == "/no/such/file"
    assert ends["error"].error and str(ends["error"].error) == ends["error"].message
    assert ends["print"].error is None and str(ends["raise"].error) == ends["raise"].message
    assert all((result.outcome, result.value) == ("finished", {"value": 42}) for result in results[1::2])


def test_a_job_past_its_time_is_stopped_and_the_next_one_runs(run: Run) -> None:
    late, fine = run([{"do": "sleep", "seconds": 60}, {"do": "double", "value": 1}], seconds=0.3)
    assert late.outcome is Outcome.TIMEOUT and 0.3 <= late.seconds < 30 and late.value is None
    assert fine.value == {"value": 2}


def test_a_job_that_tells_more_than_is_taken_in_is_stopped_in_time() -> None:
    began = time.monotonic()

    def take_in(job: int, event: dict[str, Any]) -> None:
        time.sleep(5e-5)
        assert time.monotonic() - began < 60, "its time was over long ago"

    options: dict[str, Any] = {"workers": 1, "limits": Limits(seconds=0.3), "on_event": take_in}
    (result,) = run_isolated(FUNCTION, [{"do": "tell"}], **options)
    assert result.outcome is Outcome.TIMEOUT


def test_children_are_reused_until_one_fails(run: Run) -> None:
    pids = [result.value["pid"] for result in run([{"do": "pid"}] * 3) if result.value]
    assert len(pids) == 3 and len(set(pids)) == 1 and pids[0] != os.getpid()
    first, _, second = run([{"do": "pid"}, {"do": "segfault"}, {"do": "pid"}])
    assert first.value != second.value


def test_jobs_larger_than_a_pipe_arrive(run: Run) -> None:
    (result,) = run([{"do": "double", "value": "x" * 300_000}])
    assert result.value == {"value": "x" * 600_000}


def test_events_arrive_with_the_index_of_their_job(hands: Hands) -> None:
    events: list[tuple[int, dict[str, Any]]] = []
    jobs = [{"do": "double", "value": 1}, {"do": "sleep", "seconds": 0}]
    results = run_isolated(
        FUNCTION, jobs, workers=hands(1), limits=Limits(), on_event=lambda job, event: events.append((job, event))
    )
    assert len(list(results)) == 2
    assert [job for job, _ in events] == [1] and events[0][1]["pid"] != os.getpid()


@pytest.mark.parametrize("function", ["no_such_module:run", "isolated_jobs:no_such_function", "json:dumps"])
def test_a_function_that_cannot_be_called_is_a_crash(function: str, run: Run) -> None:
    assert [result.outcome for result in run([{}, {}], function=function)] == ["crash", "crash"]


def test_no_jobs_no_results(run: Run) -> None:
    assert run([]) == []


def test_closing_the_iterator_ends_the_children(hands: Hands) -> None:
    pids: list[int] = []
    jobs = [{"do": "sleep", "seconds": 60}, {"do": "sleep", "seconds": 60}, {"do": "sleep", "seconds": 0}]
    results = run_isolated(
        FUNCTION, jobs[::-1], workers=hands(2), limits=Limits(), on_event=lambda _, event: pids.append(event["pid"])
    )
    next(results)
    results.close()
    assert pids and are_gone(pids)


def test_an_error_in_the_consumer_ends_the_children(hands: Hands) -> None:
    pids: list[int] = []

    def stop(_: int, event: dict[str, Any]) -> None:
        pids.append(event["pid"])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run_isolated(FUNCTION, [{"do": "sleep", "seconds": 60}], workers=hands(1), limits=Limits(), on_event=stop))
    assert are_gone(pids)


def test_an_error_of_who_waits_ends_the_children(hands: Hands) -> None:
    pids: list[int] = []

    def wait() -> None:
        if pids:
            raise RuntimeError("enough")

    def note(_: int, event: dict[str, Any]) -> None:
        pids.append(event["pid"])

    jobs = [{"do": "sleep", "seconds": 60}]
    with pytest.raises(RuntimeError, match="enough"):
        list(run_isolated(FUNCTION, jobs, workers=hands(1), limits=Limits(), on_event=note, on_wait=wait))
    assert are_gone(pids)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children that their parent was killed")
def test_children_die_with_a_parent_that_is_killed() -> None:
    ends_with_its_parent("contextlib.nullcontext(1)")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children that their parent was killed")
@pytest.mark.slow
@pytest.mark.xdist_group("ray")
def test_jobs_on_a_cluster_die_with_a_command_that_is_killed(ray_nodes: RayNodes) -> None:
    ends_with_its_parent(f"join_cluster({ray_nodes.address!r})")


def ends_with_its_parent(workers: str) -> None:
    script = (
        "import contextlib\n"
        "from trifold.cluster import join_cluster\n"
        "from trifold.processes import Limits, run_isolated\n"
        "def show(job, event): print(event['pid'], flush=True)\n"
        f"with {workers} as workers:\n"
        "    jobs = [{'do': 'sleep', 'seconds': 60}]\n"
        "    list(run_isolated('isolated_jobs:run', jobs, workers=workers, limits=Limits(), on_event=show))\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout
        pid = int(parent.stdout.readline())
        parent.kill()
    assert are_gone([pid])

"""A cluster: jobs and their files travel, a lost node costs its jobs alone, and results are those of one machine."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from command_line import trifold
from ray_cluster import RAY, RayNodes
from trifold.cluster import Cluster, join_cluster
from trifold.data import label
from trifold.domains import write_problems
from trifold.errors import TrifoldError
from trifold.evaluation import Record, evaluate
from trifold.processes import AGAIN, Limits, run_isolated

FUNCTION = "isolated_jobs:run"
TIMES = ("timestamp", "seconds", "seconds_per_step", "peak_gib")
"""What of a record no two attempts have in common."""


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "processes"))


@pytest.fixture
def crew(request: pytest.FixtureRequest) -> Cluster:
    joined: Cluster = request.getfixturevalue("ray_crew")
    joined.most = None
    return joined


def ray(test: Any) -> Any:
    for mark in RAY:
        test = mark(test)
    return test


@ray
def test_labels_and_records_are_those_of_one_machine(crew: Cluster, tmp_path: Path) -> None:
    folder = tmp_path / "gripper"
    write_problems(folder, "gripper", [1, 2, 3], 0)
    (folder / "train" / "wrong.pddl").write_text("(define (problem wrong) (:domain gripper) (:objects")
    problems, domain = sorted((folder / "train").glob("*.pddl")), folder / "domain.pddl"
    here, there = (label(domain, problems, workers=workers, cache=None) for workers in (1, crew))
    for mine, theirs in zip(here, there, strict=True):
        assert replace(mine, seconds=0, space=None) == replace(theirs, seconds=0, space=None)
        assert mine.space is None or (theirs.space is not None and mine.space.states == theirs.space.states)
    both = [evaluate("gripper", problems, workers=workers, device="cpu") for workers in (1, crew)]
    here_told, there_told = ([without_times(record) for record in records] for records in both)
    assert here_told == there_told
    assert {record["outcome"] for record in here_told} == {"solved", "bad input"}
    assert all(str(folder) in record["message"] for record in here_told if record["outcome"] == "bad input")


def without_times(record: Record) -> dict[str, Any]:
    return {field: value for field, value in record.items() if field not in TIMES}


@ray
def test_a_file_that_is_not_there_is_the_same_error(crew: Cluster, tmp_path: Path) -> None:
    jobs = [{"model": None, "domain": str(tmp_path / "domain.pddl"), "problem": str(tmp_path / "p.pddl")}]
    from trifold.evaluation.attempt import FILES

    options: dict[str, Any] = {"limits": Limits(), "files": FILES}
    results = [
        list(run_isolated("trifold.evaluation.job:solve_job", jobs, workers=one, **options)) for one in (1, crew)
    ]
    (mine,), (theirs,) = results
    assert mine.outcome == theirs.outcome == "bad input" and mine.value == theirs.value


@ray
def test_a_killed_node_costs_nothing_but_time_and_no_job_ends_twice(ray_nodes: RayNodes, crew: Cluster) -> None:
    node = ray_nodes.add(1)
    jobs = [{"do": "sleep", "seconds": 1.0} for _ in range(9)]
    events: list[tuple[int, dict[str, Any]]] = []
    ended: list[int] = []

    def note(job: int, event: dict[str, Any]) -> None:
        events.append((job, event))
        running = {job for job, _ in events} - set(ended)
        if len(running) == 3 and node:  # all three nodes are at work
            kill_once()

    killed: list[int] = []

    def kill_once() -> None:
        if not killed:
            killed.append(node)
            ray_nodes.kill(node)

    for result in run_isolated(FUNCTION, jobs, workers=crew, limits=Limits(), on_event=note):
        assert result.outcome == "finished"
        ended.append(result.job)
    assert killed and sorted(ended) == list(range(len(jobs)))
    again = [job for job, event in events if event == AGAIN]
    assert len(again) == 1
    assert [event for job, event in events if job == again[0]][-1] != AGAIN  # it was begun, and told of, again


@ray
def test_a_command_says_the_same_with_a_cluster(ray_nodes: RayNodes, tmp_path: Path) -> None:
    write_problems(tmp_path / "gripper", "gripper", [1, 2], 0)
    told = trifold("label", "gripper", "--json", "--cluster", ray_nodes.address, "--memory", "2", cwd=tmp_path)
    (summary,) = json.loads(told.stdout)
    assert (summary["labelled"], summary["problems"]) == (2, 2) and " CPUs\n" in told.stderr
    again = trifold("label", "gripper", "--json", "--memory", "2", cwd=tmp_path)
    assert "known from before" in again.stderr and json.loads(again.stdout)[0]["states"] == summary["states"]


def test_without_ray_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trifold.cluster.cluster.find_spec", lambda name: None)
    with pytest.raises(TrifoldError, match="Ray is not installed") as raised, join_cluster():
        pass
    assert raised.value.remedy and "trifold[cluster]" in raised.value.remedy


def test_who_is_not_let_in_leaves_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after Ctrl-C: the child that joins listens to nothing before it has joined."""
    monkeypatch.setattr("trifold.cluster.cluster.START_SECONDS", 2.0)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        began, address = time.monotonic(), f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(TrifoldError, match="was not joined in 2 s"), join_cluster(address):
            pass
        assert time.monotonic() - began < 8

"""The nodes of a Ray cluster: whether they are what this machine is, and how much room they have."""

from __future__ import annotations

import os
import socket
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from trifold.cluster.versions import differences, local_versions
from trifold.errors import TrifoldError

LOOK_SECONDS = 2.0
"""How often it is asked which nodes there are."""

SURVEY_SECONDS = 120.0
"""How long a node may take to say what is installed there."""

ANSWER_SECONDS = 10.0
"""How long a head may take to let a connection in."""

PATIENCE_SECONDS = 120.0
"""How long a cluster may be without a CPU: nodes may be on their way."""

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # what Ray would else announce to change one day
}
"""The environment of a process that uses Ray: it tells nobody of it."""


@dataclass
class Nodes:
    """The nodes, the versions that they must have, and what the jobs of a call may take.

    most    how many at a time; None is one per CPU
    memory  bytes that one may take; None is no limit
    gpus    the share of a GPU that one takes, where there are any
    share   the same: none where there are none
    """

    ray: Any
    versions: dict[str, str]
    say: Callable[..., None]
    most: int | None = None
    memory: int | None = None
    gpus: float = 0.0
    share: float = 0.0
    size: int = 0
    looked: float = -float("inf")
    lacking_since: float = field(default_factory=time.monotonic)

    @classmethod
    def join(cls, address: str, say: Callable[..., None]) -> Nodes:
        """Connect to a cluster, see that all its nodes have the versions of this machine, and say what there is."""
        os.environ.update(QUIET)
        knock(address)
        ray = import_module("ray")
        try:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR", configure_logging=True)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise no_cluster(address, " ".join(str(error).split())) from None
        nodes = cls(ray, local_versions(), say)
        nodes.survey()
        there = nodes.alive()
        cpus = int(sum(node["Resources"].get("CPU", 0) for node in there))
        say("notice", f"cluster: {len(there)} nodes, {cpus} CPUs")
        nodes.look()
        say("ready")
        return nodes

    def alive(self) -> list[dict[str, Any]]:
        """The nodes that do work."""
        return [node for node in self.ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]

    def survey(self) -> None:
        """Ask every node what is installed there."""
        strategies = import_module("ray.util.scheduling_strategies")
        ask = self.ray.remote(num_cpus=0, max_retries=0)(local_versions)
        pinned = strategies.NodeAffinitySchedulingStrategy
        asked = {
            ask.options(scheduling_strategy=pinned(node["NodeID"], soft=False)).remote(): node["NodeManagerAddress"]
            for node in self.alive()
        }
        if not asked:
            return
        answered, silent = self.ray.wait(list(asked), num_returns=len(asked), timeout=SURVEY_SECONDS)
        for one in answered:
            try:
                there = self.ray.get(one)
            except self.ray.exceptions.RayTaskError as error:
                raise self.unfit(error, asked[one]) from None
            except self.ray.exceptions.RayError as error:
                if "No module named" in str(error):
                    raise self.unfit(error, asked[one]) from None
                continue  # the node was lost: it will get no job
            if words := differences(there, self.versions):
                raise self.differs(asked[one], words)
        if silent:
            raise TrifoldError(f"a node has not answered in {SURVEY_SECONDS:g} s", place=asked[silent[0]])

    def demand(self, memory_gib: float | None, most: int | None, gpus: float = 0.0) -> None:
        """Say how much memory, and of a GPU, each of the jobs that come takes, and how many of them run at a time."""
        self.most, self.gpus = most, gpus
        self.memory = None if memory_gib is None else int(memory_gib * 2**30)
        self.looked = -float("inf")

    def look(self) -> int:
        """How many jobs the cluster has room for at once, by its CPUs and its memory, whoever else works there."""
        if time.monotonic() - self.looked < LOOK_SECONDS:
            return self.size
        self.looked = time.monotonic()
        resources = [node["Resources"] for node in self.alive()]
        room = [int(each["CPU"]) for each in resources]
        if self.memory:
            room = [min(int(each["CPU"]), int(each.get("memory", 0) // self.memory)) for each in resources]
            if resources and not any(room):
                most = max(each.get("memory", 0) for each in resources) / 2**30
                raise TrifoldError(
                    f"no node has the memory that a job may take, {self.memory / 2**30:g} GiB: the most is {most:.1f}",
                    remedy="lower --memory (of a recipe memory_gib), or start nodes by `ray start --memory BYTES`",
                )
        cards = [int(each.get("GPU", 0) / self.gpus + 1e-9) for each in resources] if self.gpus else []
        self.share = self.gpus if any(cards) else 0.0
        if self.share:
            room = [min(pair) for pair in zip(room, cards, strict=True)]
        size = sum(room) if self.most is None else min(sum(room), self.most)
        if size:
            self.lacking_since = time.monotonic()
        elif time.monotonic() - self.lacking_since > PATIENCE_SECONDS:
            raise TrifoldError("the cluster has no CPU left", remedy="start nodes: the same command goes on")
        if size != self.size:
            self.size = size
            self.say("size", size)
        return size

    def differs(self, node: str, words: str) -> TrifoldError:
        """What to tell of a node with other versions."""
        return TrifoldError(
            f"this node differs from this machine: {words}",
            place=node,
            remedy="install the same Trifold on all nodes, with -c constraints.txt, and start Ray there again",
        )

    def unfit(self, error: BaseException, node: str | None = None) -> TrifoldError:
        """What to tell of a node where no job can begin."""
        missing = [line for line in str(error).splitlines() if "No module named" in line]
        words = (missing or str(error).strip().splitlines() or [type(error).__name__])[-1].strip()
        return TrifoldError(
            f"no job can begin on this node: {words}" if node else f"no job can begin on the cluster: {words}",
            place=node,
            remedy="install Trifold on all nodes, in the Python that starts Ray there",
        )


def knock(address: str) -> None:
    """Raise if nobody listens at an address, HOST:PORT: Ray would try for minutes. Of "auto" it is the one that Ray
    has noted, if it has; of what is written in another way nothing is said."""
    if address == "auto":
        noted = Path(os.environ.get("RAY_TMPDIR") or tempfile.gettempdir(), "ray", "ray_current_cluster")
        address = os.environ.get("RAY_ADDRESS") or (noted.read_text().strip() if noted.is_file() else "")
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), ANSWER_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise no_cluster(address, getattr(error, "strerror", None) or str(error)) from None


def no_cluster(address: str, reason: str) -> TrifoldError:
    """The error that there is none, with what to do."""
    return TrifoldError(
        f"there is no Ray cluster to join: {reason}",
        place=address,
        remedy="start one by `ray start --head`, on this machine or another that it then joins",
    )

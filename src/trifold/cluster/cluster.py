"""The cluster as a command sees it: a crew, whose jobs a child process hands out to Ray's nodes."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from trifold.errors import TrifoldError
from trifold.outcomes import Outcome
from trifold.plugins import VARIABLE
from trifold.processes import AGAIN, Event, Files, Job, Limits, Result, Told

START_SECONDS = 240.0
"""How long it may take to join a cluster."""

END_SECONDS = 10.0
"""How long the child may take to end its jobs before it is killed, with which they end as well."""

SPARE = 16
"""Jobs that the child holds beyond one for each place and its next: all of them at once could be gigabytes."""

GOES_ON = "see `ray status`; the same command goes on where this one was"


@contextmanager
def join_cluster(
    address: str = "auto",
    *,
    most: int | None = None,
    shared: Path | str | None = None,
    on_notice: Callable[[str], None] | None = None,
) -> Iterator[Cluster]:
    """Join a Ray cluster, to give it to what takes ``workers``, and leave it afterwards: no job of ours is left there.

    address    host:port of its head, or "auto": the one that this machine is a node of
    most       jobs at a time; None is one per CPU
    shared     a folder that all nodes see at the same place: files in it do not travel
    on_notice  is told what the user should know, such as that a node was lost
    """
    if find_spec("ray") is None:
        raise TrifoldError("Ray is not installed", remedy="pip install 'trifold[cluster]', here and on all nodes")
    cluster = Cluster(address, shared, on_notice, most=most)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.close()


class Cluster:
    """A crew of a Ray cluster's nodes; ``join_cluster`` makes one. Between its calls may be changed: ``most``,
    jobs at a time, and ``gpus``, the share of one that each takes."""

    def __init__(
        self,
        address: str,
        shared: Path | str | None = None,
        on_notice: Callable[[str], None] | None = None,
        *,
        most: int | None = None,
    ) -> None:
        self._address, self._on_notice, self.most = address, on_notice, most
        self.gpus, self._joined = 0.0, False
        self._size, self._call, self._lock = 1, 0, threading.Lock()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the child)
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        words = [address, "" if shared is None else str(shared), str(os.getpid())]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "trifold.cluster.broker", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=os.environ | {"PYTHONPATH": path},
            bufsize=0,
        )
        assert self._process.stdin and self._process.stdout
        self._input, self._output = self._process.stdin, self._process.stdout
        self._buffer = b""
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._output, selectors.EVENT_READ)

    @property
    def size(self) -> int:
        """How many jobs the cluster does at once."""
        return self._size if self.most is None else min(self._size, self.most)

    def start(self) -> None:
        """Wait until the cluster is joined."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if ["ready"] in self._hear():
                self._joined = True
                return
        raise TrifoldError(f"the cluster was not joined in {START_SECONDS:g} s", place=self._address, remedy=GOES_ON)

    def close(self) -> None:
        """Leave the cluster; what still runs there ends."""
        if not self._joined:
            self._process.kill()  # it does not listen yet, and has nothing to end
        with suppress(OSError):
            self._input.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        finally:
            self._selector.close()
            self._output.close()
            self._errors.close()

    def follow(self, function: str, jobs: Sequence[Job], files: Files, limits: Limits) -> Generator[Told, None, None]:
        """Do the jobs on the nodes, and tell of them; one whose node is lost begins again on another."""
        with self._lock:
            self._call += 1
            path, plugins = [str(Path(entry or ".").resolve()) for entry in sys.path], os.environ.get(VARIABLE, "")
            bounds = [limits.seconds, limits.memory_gib]
            self._tell(
                "begin", self._call, function, bounds, self.most, self.gpus, files.reads, files.writes, path, plugins
            )
            given, open_jobs = 0, set[int]()
            try:
                while given < len(jobs) or open_jobs:
                    yield None
                    while given < len(jobs) and len(open_jobs) < 2 * self._size + SPARE:
                        self._tell("job", given, jobs[given])
                        open_jobs.add(given)
                        given += 1
                    for told in self._tidings():
                        if isinstance(told, Result):
                            open_jobs.remove(told.job)
                        yield told
            except GeneratorExit:
                self._stop()
                raise
            except BaseException:
                self._process.kill()  # it may have half a line
                raise

    def _tidings(self) -> Iterator[Event | Result]:
        """What the child has to tell of the jobs of this call."""
        for line in self._hear():
            match line:
                case ["event", self._call, index, content]:
                    yield Event(index, content)
                case ["again", self._call, index]:
                    yield Event(index, AGAIN)
                case ["result", self._call, facts]:
                    yield Result(**facts | {"outcome": Outcome(facts["outcome"])})

    def _stop(self) -> None:
        """End the jobs that run, and wait until they have."""
        with suppress(TrifoldError):
            self._tell("stop")
            deadline = time.monotonic() + END_SECONDS
            while time.monotonic() < deadline:
                if ["stopped", self._call] in self._hear():
                    return
        self._process.kill()

    def _tell(self, *words: Any) -> None:
        line = memoryview(json.dumps(words).encode() + b"\n")
        try:
            while line:
                line = line[self._input.write(line) :]
        except (OSError, ValueError):
            raise self._lost() from None

    def _hear(self) -> list[list[Any]]:
        """Wait a second at most for lines of the child; what is not of jobs is dealt with here."""
        if not self._selector.select(1.0):
            return []
        chunk = os.read(self._output.fileno(), 1 << 20)
        if not chunk:
            raise self._lost()
        *lines, self._buffer = (self._buffer + chunk).split(b"\n")
        heard: list[list[Any]] = []
        for line in lines:
            match json.loads(line):
                case ["size", size]:
                    self._size = max(size, 1)
                case ["notice", words]:
                    if self._on_notice is not None:
                        self._on_notice(words)
                case ["error", message, place, remedy]:
                    raise TrifoldError(message, place=place, remedy=remedy)
                case about_jobs:
                    heard.append(about_jobs)
        return heard

    def _lost(self) -> TrifoldError:
        """What to tell when the child is gone: Ray ends it when the cluster's head is lost."""
        self._process.wait()
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - 4000))
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        last = [line for line in lines[-1:] if not line.startswith("[")]  # those are of Ray's log, and long
        words = ": ".join(["the connection to the cluster was lost", *last])
        return TrifoldError(words, place=self._address, remedy=GOES_ON)

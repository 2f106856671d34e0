"""Isolation: run functions in child processes under limits, where whatever happens is a named outcome."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import Any

from trifold.memory import tells_of_memory
from trifold.outcomes import Outcome
from trifold.processes.crew import NO_FILES, Event, Files, Job, Limits, Result, Told, Workers

START_UP_SECONDS = 120.0
"""How long a child may take to start, before its time limit begins."""

REPLACE_ABOVE = 0.25
"""A child whose memory peaked above this part of its limit is replaced: freed memory stays in fragments."""


def run_isolated(
    function: str,
    jobs: Sequence[Job],
    *,
    workers: Workers | None,
    limits: Limits,
    files: Files = NO_FILES,
    on_event: Callable[[int, dict[str, Any]], None] | None = None,
    on_wait: Callable[[], object] | None = None,
) -> Generator[Result, None, None]:
    """Call ``function``, given as "module:name", once per job in child processes; yield results as jobs end.

    In the child it is called as ``name(job, report)`` and returns a dict; jobs, values and what it reports are JSON.
    Closing the iterator, or an exception in it, kills the children. ``on_wait`` is called while it waits for them, at
    least once in a second, and may raise. This is the one place where jobs are handed out: to ``workers`` children of
    this machine (None: one per core), or to another crew, for which ``files`` says which values of a job are paths.
    """
    workers = available_cores() if workers is None else workers
    crew = Children(workers) if isinstance(workers, int) else workers
    with closing(crew.follow(function, jobs, files, limits)) as tidings:
        for told in tidings:
            if isinstance(told, Result):
                yield told
            elif told is None:
                if on_wait is not None:
                    on_wait()
            elif on_event is not None:
                on_event(told.job, told.content)


def jobs_at_once(workers: Workers | None, jobs: int) -> int:
    """How many of the jobs are done at once; None is one per core."""
    size = available_cores() if workers is None else workers if isinstance(workers, int) else workers.size
    return max(1, min(size, jobs))


class Children:
    """The crew of this machine: child processes, which do job after job.

    ``lasting``: those that are idle stay, for more jobs of the same function under the same limits, until ``close``.
    """

    def __init__(self, count: int, *, lasting: bool = False) -> None:
        self.size = max(count, 1)
        self._lasting = lasting
        self._idle: list[_Child] = []

    def close(self) -> None:
        """End the idle children."""
        while self._idle:
            self._idle.pop().kill()

    def follow(self, function: str, jobs: Sequence[Job], files: Files, limits: Limits) -> Generator[Told, None, None]:
        """Do the jobs, and tell of them; the files are where the jobs say."""
        pending = deque(enumerate(jobs))
        busy: list[_Child] = []
        with selectors.DefaultSelector() as selector:
            try:
                while pending or busy:
                    yield None
                    while pending and len(busy) < self.size:
                        child = self._take(function, limits)
                        busy.append(child)
                        selector.register(child.output, selectors.EVENT_READ, child)
                        child.start(*pending.popleft())
                    wait = min(child.deadline for child in busy) - time.monotonic()
                    # An unlimited wait is cut so that an interrupt is seen on every platform.
                    ready = {key.data for key, _ in selector.select(min(max(wait, 0.0), 1.0))}
                    for child in list(busy):
                        for told in child.hear(child in ready):
                            if isinstance(told, Result):
                                selector.unregister(child.output)
                                busy.remove(child)
                                self._release(child)
                            yield told
            finally:
                for child in busy:
                    child.kill()
                if not self._lasting:
                    self.close()

    def _take(self, function: str, limits: Limits) -> _Child:
        """An idle child, or a new one where none is fit for this."""
        while self._idle:
            child = self._idle.pop()
            if (child.function, child.limits) == (function, limits):
                return child
            child.kill()
        return _Child(function, limits)

    def _release(self, child: _Child) -> None:
        if child.reusable:
            self._idle.append(child)
        else:
            child.kill()


class _Child:
    """A child process that does one job at a time."""

    def __init__(self, function: str, limits: Limits) -> None:
        self.function, self.limits = function, limits
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the child)
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        # One thread for numpy's BLAS: each further one would reserve address space on machines with many cores.
        environment = os.environ | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
        memory = "" if limits.memory_gib is None else str(int(limits.memory_gib * 2**30))
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "trifold.processes.worker", function, memory, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=environment,
            bufsize=0,
        )
        assert self.process.stdin and self.process.stdout
        self.input, self.output = self.process.stdin, self.process.stdout
        self.buffer = b""
        self.reusable = True

    def start(self, index: int, job: dict[str, Any]) -> None:
        self.index, self.started, self.running = index, time.monotonic(), False
        self.deadline = self.started + START_UP_SECONDS
        # A job can be larger than a pipe holds, and a child that hangs would not read it: write without waiting.
        line = json.dumps(job).encode() + b"\n"
        threading.Thread(target=self._write, args=(line,), daemon=True).start()

    def _write(self, line: bytes) -> None:
        try:
            view = memoryview(line)
            while view:
                view = view[self.input.write(view) :]
        except (OSError, ValueError):
            pass  # the child has ended, and reading from it says so

    def hear(self, is_ready: bool) -> Iterator[Event | Result]:
        """What there is to tell of the job: what the child has written, and whether its time is over."""
        if is_ready:
            for told in self._read():
                yield told
                if isinstance(told, Result):
                    return
        # Also of one that has just written: who takes in its events may be slower than it tells of them.
        if time.monotonic() >= self.deadline:
            yield self._late()

    def _read(self) -> Iterator[Event | Result]:
        """Take in what the child has written: events of the job, and its result if it has ended."""
        chunk = os.read(self.output.fileno(), 1 << 16)
        if not chunk:
            yield self._ended()
            return
        *lines, self.buffer = (self.buffer + chunk).split(b"\n")
        for line in lines:
            kind, content = json.loads(line)
            if kind == "started":
                self.started, self.running = time.monotonic(), True
                self.deadline = self.started + (float("inf") if self.limits.seconds is None else self.limits.seconds)
            elif kind == "event":
                yield Event(self.index, content)
            elif kind == "result":
                limit = self.limits.memory_gib
                is_large = limit is not None and content["peak_gib"] > REPLACE_ABOVE * limit
                outcome = Outcome(content["outcome"])
                self.reusable = outcome in (Outcome.FINISHED, Outcome.BAD_INPUT) and not is_large
                facts = [content[name] for name in ("value", "message", "seconds", "peak_gib")]
                yield Result(self.index, outcome, *facts)

    def _late(self) -> Result:
        """The result of a job that is past its limit."""
        if not self.running:
            return self._failed(Outcome.CRASH, f"the process did not start in {START_UP_SECONDS:g} s")
        return self._failed(Outcome.TIMEOUT, f"stopped after {self.limits.seconds:g} s")

    def _ended(self) -> Result:
        """The result when the child has ended without one."""
        code = self.process.wait()
        self.errors.seek(max(0, self.errors.seek(0, os.SEEK_END) - 4000))
        lines = self.errors.read().decode(errors="replace").strip().splitlines()
        if any(map(tells_of_memory, lines)):
            limit = self.limits.memory_gib
            message = "the machine has no more memory" if limit is None else f"more than {limit:g} GiB"
            return self._failed(Outcome.MEMORY_LIMIT, message)
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"exited with {code}"
        return self._failed(Outcome.CRASH, ": ".join([f"the process {how}", *lines[-1:]]))

    def _failed(self, outcome: Outcome, message: str) -> Result:
        self.reusable = False
        return Result(self.index, outcome, None, message, time.monotonic() - self.started)

    def kill(self) -> None:
        """End the child at once and leave nothing of it."""
        self.process.kill()
        self.process.wait()
        self.output.close()
        self.errors.close()
        # The writing thread may still hold the input; the end of the child has broken the pipe, so it lets go.
        self.input.close()


def available_cores() -> int:
    """The cores that this process may use, which can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

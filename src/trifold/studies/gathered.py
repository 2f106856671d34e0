"""Jobs that are asked for one by one, and done as one call of a cluster: it does one call at a time, of many jobs."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace

from trifold.cluster import Cluster
from trifold.processes import Files, Job, Limits, Result, Told

MOMENT = 0.5
"""Seconds between two looks at what a job has told."""

Box = queue.SimpleQueue[Told | BaseException]


class Gathered:
    """A crew for one function, each of whose calls has one job. What is asked for while others run joins them.

    gpus  the share of a GPU that each job takes, where the cluster has any
    """

    def __init__(self, cluster: Cluster, gpus: float) -> None:
        self._cluster, self._gpus = cluster, gpus
        self._lock = threading.Lock()
        self._open: dict[int, tuple[Job, Box]] = {}
        self._jobs: list[Job] | None = None  # of the call under way, which takes more as they come
        self._stopped = False

    @property
    def size(self) -> int:
        """How many jobs it does at once."""
        return self._cluster.size

    def follow(self, function: str, jobs: Sequence[Job], files: Files, limits: Limits) -> Generator[Told, None, None]:
        """Do one job, and tell of it; closing this ends all of them, as nothing else does with a study."""
        (job,) = jobs
        box: Box = queue.SimpleQueue()
        with self._lock:
            if self._jobs is None:
                self._jobs = []
                threading.Thread(target=self._work, args=(function, files, limits), daemon=True).start()
            self._open[len(self._jobs)] = job, box
            self._jobs.append(job)
        try:
            while True:
                try:
                    told = box.get(timeout=MOMENT)
                except queue.Empty:
                    yield None
                    continue
                if isinstance(told, BaseException):
                    raise told
                yield told
                if isinstance(told, Result):
                    return
        except GeneratorExit:
            self._stopped = True
            raise

    def _work(self, function: str, files: Files, limits: Limits) -> None:
        """Do what is there as one call, and then what came when that had just ended."""
        try:
            while True:
                assert self._jobs is not None
                self._cluster.gpus = self._gpus
                try:
                    self._pass_on(function, self._jobs, files, limits)
                finally:
                    self._cluster.gpus = 0.0
                with self._lock:
                    left = list(self._open.values())
                    self._open = dict(enumerate(left))
                    self._jobs = [job for job, _ in left] or None
                    if not left:
                        return
        except BaseException as error:  # each that waits raises it
            with self._lock:
                for _, box in self._open.values():
                    box.put(error)
                self._open, self._jobs = {}, None

    def _pass_on(self, function: str, jobs: list[Job], files: Files, limits: Limits) -> None:
        with closing(self._cluster.follow(function, jobs, files, limits)) as tidings:
            for told in tidings:
                if self._stopped:
                    raise ConnectionAbortedError("the study has ended")
                if told is None:
                    continue
                with self._lock:
                    _, box = self._open.pop(told.job) if isinstance(told, Result) else self._open[told.job]
                box.put(replace(told, job=0))

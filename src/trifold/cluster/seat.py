"""A seat: a place of work on a node, with one CPU. It is an actor of Ray that hands each job to a child process.

So whatever happens to a job is an outcome as it is on one machine, under the same limits, and a child that has loaded
a model keeps it for the next job.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trifold.cluster.parcels import Contents, Parcel, Receiver, read_contents
from trifold.cluster.versions import local_versions
from trifold.files import temporary_folder
from trifold.outcomes import Outcome
from trifold.plugins import VARIABLE
from trifold.processes import NO_FILES, Children, Event, Job, Limits, Result

EVERY = 0.1
"""Seconds between the messages in which events travel: a policy takes many steps in that time."""

Message = tuple[list[dict[str, Any]], dict[str, Any] | None, dict[str, Contents]]
"""Events of a job, in order; its result, if it has ended; and the files that it wrote."""


@dataclass(frozen=True)
class Order:
    """What all jobs of a call share: the function and its limits, and where Python looks for modules."""

    function: str
    limits: Limits
    path: tuple[str, ...]
    plugins: str


class Seat:
    """One child process on a node, and the files that its jobs read."""

    def __init__(self, fetch: Callable[[Any], Contents]) -> None:
        self._stack = ExitStack()  # held until it leaves; what a seat that is killed leaves is swept by the next one
        self._folder = self._stack.enter_context(temporary_folder())
        self._receiver = Receiver(self._folder / "read", fetch)
        self._children = Children(1, lasting=True)

    def greet(self) -> tuple[str, dict[str, str]]:
        """The name of the node, and what is installed there."""
        return platform.node(), local_versions()

    def do(self, order: Order, job: Job, reads: dict[str, Parcel], writes: dict[str, str]) -> Iterator[Message]:
        """Do a job: ``reads`` are the parcels of values that are paths, ``writes`` the names of files that it makes."""
        sys.path += [entry for entry in order.path if entry not in sys.path and os.path.isdir(entry)]
        os.environ[VARIABLE] = order.plugins
        there = {key: str(self._receiver.unpack(parcel)) for key, parcel in reads.items()}
        there |= {key: str(self._folder / "written" / f"{key}-{name}") for key, name in writes.items()}
        (self._folder / "written").mkdir(exist_ok=True)
        names = {there[key]: job[key] for key in there}  # what the job says of its files, it says of those at home
        events: list[dict[str, Any]] = []
        sent = 0.0
        for told in self._children.follow(order.function, [job | there], NO_FILES, order.limits):
            if isinstance(told, Event):
                events.append(rename(told.content, names))
            elif isinstance(told, Result):
                written = self._take({key: Path(there[key]) for key in writes}, told)
                yield events, rename(asdict(told), names), written
                return
            if events and time.monotonic() - sent > EVERY:
                yield events, None, {}
                events, sent = [], time.monotonic()

    def leave(self) -> None:
        """End the child, and remove all files: nothing is done here any more."""
        self._children.close()
        self._stack.close()

    def _take(self, files: dict[str, Path], result: Result) -> dict[str, Contents]:
        """What a job wrote, if it has finished; nothing stays here."""
        is_whole = result.outcome is Outcome.FINISHED
        taken = {key: read_contents(file) for key, file in files.items() if is_whole and file.exists()}
        for file in files.values():
            if file.is_dir():
                shutil.rmtree(file)
            file.unlink(missing_ok=True)
        return taken


def rename(value: Any, names: dict[str, str]) -> Any:
    """A value of JSON with other names for paths, wherever a text has them.

    >>> rename({"place": "/node/p1.pddl", "lines": ["in /node/p1.pddl:3", 7]}, {"/node/p1.pddl": "suite/p1.pddl"})
    {'place': 'suite/p1.pddl', 'lines': ['in suite/p1.pddl:3', 7]}
    """
    if isinstance(value, str):
        for there, here in names.items():
            value = value.replace(there, here)
        return value
    if isinstance(value, dict):
        return {key: rename(one, names) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [rename(one, names) for one in value]
    return value

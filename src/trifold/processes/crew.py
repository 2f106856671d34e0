"""Crews: who does jobs, and what is told of them. The one here is this machine's child processes; others may be far."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from trifold.errors import TrifoldError
from trifold.outcomes import Outcome

Job = dict[str, Any]
"""What one call of a function is told, as JSON."""

AGAIN: dict[str, Any] = {"event": "again"}
"""The event of a job whose machine was lost: what it has told so far is void, and it begins again elsewhere."""


@dataclass(frozen=True)
class Limits:
    """What one job may use; None is no limit. Memory is address space."""

    seconds: float | None = None
    memory_gib: float | None = None


@dataclass(frozen=True)
class Files:
    """Which values of a job are paths: of files, or folders, that it reads, and of files that it writes.

    Jobs that are done on another machine take with them what they read, and bring back what they write.
    """

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


NO_FILES = Files()


@dataclass(frozen=True)
class Event:
    """What a job reported while it ran."""

    job: int
    content: dict[str, Any]


@dataclass(frozen=True)
class Result:
    """How one job ended.

    job      its index
    outcome  finished, bad input (a TrifoldError), timeout, memory limit or crash
    value    what the function returned if finished; message, place and remedy of a TrifoldError; otherwise None
    message  what went wrong, in words
    seconds  how long the job ran
    peak_gib the most memory that its child has had, all its jobs so far included; None if it did not live to tell
    """

    job: int
    outcome: Outcome
    value: dict[str, Any] | None
    message: str
    seconds: float
    peak_gib: float | None = None

    @property
    def error(self) -> TrifoldError | None:
        """What to tell the user of a job that did not finish: its own error, or what befell it."""
        if self.outcome is Outcome.FINISHED:
            return None
        return TrifoldError(**self.value) if self.value else TrifoldError(self.message)


Told = Event | Result | None
"""What a crew tells of its jobs; None, at least once in a second, that it goes on."""


class Crew(Protocol):
    """Who does jobs, many at once, each in a child process under limits."""

    @property
    def size(self) -> int:
        """How many jobs it does at once."""

    def follow(self, function: str, jobs: Sequence[Job], files: Files, limits: Limits) -> Generator[Told, None, None]:
        """Do the jobs, and tell of them as they go. Each ends once. Closing the generator ends what runs."""


Workers = int | Crew
"""So many child processes of this machine, or another crew."""

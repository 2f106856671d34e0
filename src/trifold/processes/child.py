"""What a child process does first: it ends with its parent, and keeps the pipes to it for itself."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import IO

PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Ask Linux to kill this process when the parent ends, however it ends; elsewhere the end of input must do."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            sys.exit(1)


def take_pipes() -> tuple[IO[str], IO[str]]:
    """The pipes to the parent under numbers of their own, so that no print of any library can reach them."""
    jobs = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    return jobs, answers

"""Commands as a user gives them, for tests of what they say, leave behind and return."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.commands_in_forks import load_everything, run_in_fork

SECONDS = 120.0


def trifold(
    *words: object, code: int = 0, cwd: Path | None = None, real: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a command that must end with this code, in a fork of this process.

    A real one also shows how Python starts and ends, and takes two seconds more: each verb has a test with one.
    """
    command = [sys.executable, "-m", "trifold", *map(str, words)]
    if real:
        done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=SECONDS)
    else:
        _load_once()
        with TemporaryDirectory() as outputs:
            ended = run_in_fork(command[3:], cwd or Path.cwd(), SECONDS, Path(outputs))
        assert not ended.is_stopped
        done = subprocess.CompletedProcess(command, ended.code, ended.output, ended.errors)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr and "nanobind" not in done.stderr
    return done


@cache
def _load_once() -> None:
    load_everything()

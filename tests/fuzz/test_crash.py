"""A short run of `make crash`, which must find nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize(("command", "count", "seed"), [("generate", 3, 0), ("label", 1, 2)])
def test_a_command_that_is_killed_and_run_again_loses_nothing(command: str, count: int, seed: int) -> None:
    script = Path(__file__).with_name("crash.py")
    words = ["--count", str(count), "--seed", str(seed), "--command", command]
    done = subprocess.run([sys.executable, str(script), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].split()[:2] == ["all", str(count)]

"""A small Ray cluster for tests: nodes on this machine that can be added and killed, in processes of their own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from trifold.processes import Workers

SCRIPT = Path(__file__).parent / "cluster" / "ray_nodes.py"

RAY = [pytest.mark.slow, pytest.mark.xdist_group("ray")]
"""Of tests that need the cluster: in one process of pytest, so that it is started once."""

Hands = Callable[[int], Workers]
"""Gives workers that do so many jobs at once."""


class RayNodes:
    """The nodes; the first is the head, and ends with all others when this is closed."""

    def __init__(self, cpus: int) -> None:
        for _ in range(2):  # a head, too, may not start in time on a busy machine
            with suppress(RuntimeError):
                return self._start(cpus)
        self._start(cpus)

    def _start(self, cpus: int) -> None:
        words = [sys.executable, str(SCRIPT), str(cpus)]
        pipe = subprocess.PIPE
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (it lives as long as the nodes)
        self._process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=self._errors, text=True)
        self.address = self._answer()

    def add(self, cpus: int) -> int:
        """Start a node, and return its number."""
        return int(self._ask(f"add {cpus}"))

    def kill(self, node: int) -> None:
        """Kill all processes of a node."""
        self._ask(f"kill {node}")

    def close(self) -> None:
        """End all nodes."""
        self._process.communicate()
        self._errors.close()

    def _ask(self, line: str) -> str:
        assert self._process.stdin
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> str:
        assert self._process.stdout
        answer = self._process.stdout.readline().strip()
        if not answer:
            self._process.communicate()
            with self._errors as errors:
                errors.seek(0)
                raise RuntimeError(errors.read()[-2000:])
        return answer

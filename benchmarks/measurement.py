"""Numbers of a benchmark: repeated timings, the conditions they were taken under, and a table of them."""

from __future__ import annotations

import gc
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True)
class Timing:
    """Repeated measurements of one thing, in seconds."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.seconds)

    def cells(self) -> list[str]:
        """Median, least and greatest, as text."""
        return [f"{number:.3f}" for number in (self.median, min(self.seconds), max(self.seconds))]

    def to_json(self) -> dict[str, Any]:
        return {"median": self.median, "min": min(self.seconds), "max": max(self.seconds), "seconds": self.seconds}


def timed(function: Callable[[], Value]) -> tuple[float, Value]:
    """How long a call took, and what it returned. Garbage of earlier calls is collected first."""
    gc.collect()
    start = time.perf_counter()
    value = function()
    return time.perf_counter() - start, value


def use_one_thread() -> None:
    """Let torch, and child processes, compute with one thread: timings then depend on fewer things."""
    import torch

    os.environ["OMP_NUM_THREADS"] = "1"
    torch.set_num_threads(1)


def conditions(*packages: str) -> dict[str, str]:
    """The machine, and the versions of these packages."""
    return {
        "date": time.strftime("%Y-%m-%d"),
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "load": " ".join(f"{number:.1f}" for number in os.getloadavg()),
        "python": platform.python_version(),
    } | {package: version(package) for package in packages}


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns of text; all but the first are aligned to the right."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def lines(about: dict[str, Any]) -> str:
    """Facts as lines of text."""
    return "\n".join(
        f"{key}: {value:,}" if isinstance(value, int) else f"{key}: {value}" for key, value in about.items()
    )


def note(text: str) -> None:
    """Say what is going on, apart from the result."""
    print(text, file=sys.stderr, flush=True)


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()

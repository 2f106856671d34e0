"""Repeated timings, and the conditions that they were taken under."""

from __future__ import annotations

import gc
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeVar

import torch

from trifold.provenance import describe_environment

Value = TypeVar("Value")

GROUP_SECONDS = 0.02
"""Calls that are shorter are timed in groups of about this length, so that neither clock nor waiting counts."""


@dataclass(frozen=True)
class Timing:
    """Repeated measurements of one thing, in seconds.

    >>> Timing((3.0, 1.0, 2.0)).median
    2.0
    """

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median of the times."""
        return median(self.seconds)

    @property
    def least(self) -> float:
        """The shortest of the times."""
        return min(self.seconds)

    @property
    def most(self) -> float:
        """The longest of the times."""
        return max(self.seconds)

    def to_json(self) -> dict[str, Any]:
        """The times as JSON, with their median."""
        return {"median": self.median, "min": self.least, "max": self.most, "seconds": self.seconds}


def timed(function: Callable[[], Value]) -> tuple[float, Value]:
    """How long a call took, and what it returned. Garbage of earlier calls is collected first."""
    gc.collect()
    start = time.perf_counter()
    value = function()
    return time.perf_counter() - start, value


def repeat(
    function: Callable[[], object],
    seconds: float,
    *,
    device: torch.device | str = "cpu",
    warm_up: bool = True,
    group_seconds: float = GROUP_SECONDS,
) -> Timing:
    """Time calls for about so many seconds, at least once; a first call, to warm up, is not counted.

    On CUDA a measurement ends when the card has done its work, not when it was given the work.
    """
    on_cuda = torch.device(device).type == "cuda"
    if warm_up:
        function()
    group, found = 1, list[float]()
    began = time.perf_counter()
    while not found or time.perf_counter() - began < seconds:
        if on_cuda:
            torch.cuda.synchronize(device)
        start = time.perf_counter()
        for _ in range(group):
            function()
        if on_cuda:
            torch.cuda.synchronize(device)
        found.append((time.perf_counter() - start) / group)
        if group == 1 and found[0] < group_seconds:
            group = math.ceil(group_seconds / max(found[0], 1e-7))
            found.clear()
    return Timing(tuple(found))


def use_threads(threads: int) -> None:
    """Let torch, and child processes, compute with so many threads."""
    os.environ["OMP_NUM_THREADS"] = str(threads)
    torch.set_num_threads(threads)


def conditions(device: str = "cpu") -> dict[str, Any]:
    """The date, how busy the machine is, its hardware and the versions of what runs on it."""
    load = [round(number, 1) for number in os.getloadavg()]
    return {"date": time.strftime("%Y-%m-%d"), "load": load} | describe_environment(device)

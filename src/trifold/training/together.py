"""Several trainings at once, in turns: one captured step leaves much of a card idle."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from trifold.training.run import Diverged, TrainingState

AT_ONCE = 4
"""So many models are trained at once: at batch 16, four steps then take less than two would one after the other."""


class SharedClock:
    """Counts the seconds of each of several trainings, so that those of all add up to the time that passed.

    Time is divided evenly: a card works on all of them, and it is chance in whose turn the host waits for it.
    """

    def __init__(self) -> None:
        self.seconds, self.sharers, self.looked = 0.0, 1, time.monotonic()

    def __call__(self) -> float:
        now = time.monotonic()
        self.seconds += (now - self.looked) / self.sharers
        self.looked = now
        return self.seconds

    def divide(self, sharers: int) -> None:
        """Divide the time from now on among so many."""
        self()
        self.sharers = sharers


@dataclass
class Ending:
    """The last state of a training, and how it diverged, if it did."""

    state: TrainingState
    error: Diverged | None = None


def train_together(
    trainings: Sequence[Iterator[TrainingState]], clock: SharedClock, most: int, device: torch.device
) -> list[Ending]:
    """Train the first of these to their ends, at most so many and as many as the card has room for.

    One that diverges does not end the others. Each is built before any takes a step: nothing else may run
    while a step is captured. On a card each has a stream of its own, for all that it does.
    """
    endings: list[Ending] = []
    turns: deque[tuple[int, Iterator[TrainingState], torch.cuda.Stream | None]] = deque()
    for number, training in enumerate(trainings[:most]):
        before, stream = free_memory(device), None
        if device.type == "cuda":
            stream = torch.cuda.Stream(device)
            torch.cuda.synchronize(device)  # the data, and what others derived from it, were made on other streams
        with torch.cuda.stream(stream):
            endings.append(Ending(next(training)))
        turns.append((number, training, stream))
        after = free_memory(device)
        if after < 2 * (before - after):  # too little for one more, and as much again in reserve
            break
    while turns:
        clock.divide(len(turns))
        number, training, stream = turns.popleft()
        try:
            with torch.cuda.stream(stream):
                state = next(training, None)
        except Diverged as error:
            endings[number].error = error.with_traceback(None)  # which would keep all that the training holds
            continue
        if state is not None:
            endings[number].state = state
            turns.append((number, training, stream))
    return endings


def free_memory(device: torch.device) -> int:
    """The bytes of a card that are free; a CPU's are not looked at, since it trains one model at a time."""
    if device.type != "cuda":
        return 0
    torch.cuda.empty_cache()
    return torch.cuda.mem_get_info(device)[0]

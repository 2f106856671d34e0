"""Several seeds at once: one captured step leaves much of a card idle.

Each training runs in a thread of its own, and only one of the threads runs at any time: a training that looks at its
clock, as it does after every step, lets the next one go on. So the order of steps is fixed, and ``train_seed`` need not
know that it is not alone.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass

import torch

from trifold.training.loop import Progress, SeedTraining, train_seed
from trifold.training.run import Diverged, TrainingState

AT_ONCE = 4
"""How many models are trained at once: at batch 16, four steps then take less than two would one after the other."""


def at_once(captured: bool) -> int:
    """How many seeds are trained at once: several where their steps are captured, for else the host is what is busy."""
    return AT_ONCE if captured else 1


Show = Callable[[Progress], None]


@dataclass(frozen=True)
class Ending:
    """The last state of a training, and how it diverged, if it did."""

    state: TrainingState
    error: Diverged | None = None


def train_seeds(
    starts: Sequence[Callable[[], SeedTraining]], show: Show, most: int, device: torch.device
) -> Iterator[list[Ending]]:
    """Train all seeds, in groups of at most ``most`` and no more than a card has room for; yields a group's endings.

    ``starts`` make the trainings. One that diverges does not end the others.
    """
    remaining = list(starts)
    while remaining:
        group = _start_group(remaining[:most], show, device)
        remaining = remaining[len(group) :]
        yield _take_turns(group)


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
        """Divide the time from now on among this many."""
        self()
        self.sharers = sharers


class _Stopped(BaseException):
    """Ends a training between two steps, because another one has failed or the user has interrupted."""


class _Turns(threading.Thread):
    """A training in a thread that runs only while it has its turn, on a stream of its own where there is a card."""

    def __init__(self, training: SeedTraining, show: Show, stream: torch.cuda.Stream | None) -> None:
        super().__init__(daemon=True)
        self.training, self.show, self.stream = training, show, stream
        self.clock = SharedClock()
        self.go, self.back = threading.Lock(), threading.Lock()  # held, but for the moment when a turn is passed
        for lock in (self.go, self.back):
            lock.acquire()
        self.error: BaseException | None = None
        self.has_ended = self.is_stopped = False
        self.start()

    def take_turn(self) -> None:
        """Let the training run until it looks at its clock, or ends."""
        self.go.release()
        self.back.acquire()

    def stop(self) -> None:
        """End the training where it next looks at its clock; its last save is what a resumed run goes on from."""
        self.is_stopped = True
        _let(self.go)
        self.join()

    def run(self) -> None:
        try:
            self._wait()
            with _on(self.stream):
                train_seed(self.training, self.show, self._look)
        except BaseException as error:  # the thread that gives turns raises it
            self.error = error
        finally:
            self.has_ended = True
            _let(self.back)

    def _look(self) -> float:
        self.back.release()
        self._wait()
        return self.clock()

    def _wait(self) -> None:
        self.go.acquire()
        if self.is_stopped:
            raise _Stopped


def _start_group(starts: Sequence[Callable[[], SeedTraining]], show: Show, device: torch.device) -> list[_Turns]:
    """Build as many trainings as there is room for, before any takes a step: nothing may run while one is captured."""
    group: list[_Turns] = []
    for start in starts:
        before, stream = free_memory(device), None
        if device.type == "cuda":
            stream = torch.cuda.Stream(device)
            torch.cuda.synchronize(device)  # the data, and what others derived from it, were made on other streams
        with _on(stream):
            group.append(_Turns(start(), show, stream))
        after = free_memory(device)
        if after < 2 * (before - after):  # too little for one more, and as much again in reserve
            break
    return group


def _take_turns(group: Sequence[_Turns]) -> list[Ending]:
    """Let all trainings of a group run to their ends, a step of each in turn."""
    clock = SharedClock()
    turns = deque(group)
    try:
        for member in group:
            member.clock = clock
        while turns:
            clock.divide(len(turns))
            member = turns.popleft()
            member.take_turn()
            if not member.has_ended:
                turns.append(member)
            elif member.error and not isinstance(member.error, Diverged):
                raise member.error
    finally:
        for member in group:
            if not member.has_ended:
                member.stop()
    return [Ending(member.training.state, _divergence(member)) for member in group]


def _let(lock: threading.Lock) -> None:
    """Release a lock; after an interrupt it may be free, with nobody waiting for it."""
    with suppress(RuntimeError):
        lock.release()


def _divergence(member: _Turns) -> Diverged | None:
    """How a training diverged, without the traceback, which would keep all that the training holds."""
    return member.error.with_traceback(None) if isinstance(member.error, Diverged) else None


def _on(stream: torch.cuda.Stream | None) -> torch.cuda.StreamContext | nullcontext[None]:
    return nullcontext() if stream is None else torch.cuda.stream(stream)


def free_memory(device: torch.device) -> int:
    """The bytes of a card that are free; a CPU's are not looked at, since it trains one model at a time."""
    if device.type != "cuda":
        return 0
    torch.cuda.empty_cache()
    return torch.cuda.mem_get_info(device)[0]

"""The broker: a child process that speaks with Ray for a command, so that what Ray says, or does, stays in there.

It takes lines of JSON from the command, `begin`, `job`, `stop`, and answers with `event`, `again`, `result`, `stopped`,
`size`, `notice` and `error`. It ends with the command, however that ends, and its seats end with it.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from trifold.cluster.nodes import Nodes
from trifold.cluster.parcels import Sender, write_contents
from trifold.cluster.seat import Order, Seat
from trifold.cluster.versions import differences
from trifold.errors import TrifoldError
from trifold.files import mendable
from trifold.outcomes import Outcome
from trifold.processes import Files, Job, Limits, Result, die_with_parent, take_pipes

MOST_LOSSES = 3
"""A job whose seat was lost so often is a crash: it may be what brings machines down."""

SAME_SECONDS = 5.0
"""Seats that are lost within so long while they start are lost once: a node that ends takes all of its own with it."""

IDLE_SECONDS = 10.0
"""After so long without a job a seat is given back: others may need it, and a training that goes on does not."""

LEAVE_SECONDS = 2.0
"""How long idle seats may take to remove what jobs have brought to their nodes."""

TURN_SECONDS = 0.1
"""How long one wait for the cluster takes: a new line of the command is seen after it."""

Say = Callable[..., None]


@dataclass
class _Task:
    """A job that has not ended, its number, and how often its seat was lost."""

    index: int
    job: Job
    losses: int = 0


@dataclass(eq=False)
class _Seat:
    """An actor, what is awaited of it, its greeting or what it tells of a task, and since when it has had none."""

    actor: Any
    awaited: Any
    task: _Task | None = None
    node: str = ""
    since: float = field(default_factory=time.monotonic)


@dataclass
class Broker:
    """Who has which job, and what is to be told of it."""

    ray: Any
    nodes: Nodes
    sender: Sender
    say: Say
    heard: queue.SimpleQueue[list[Any] | None]
    seats: list[_Seat] = field(default_factory=list)
    waiting: deque[_Task] = field(default_factory=deque)
    call: int = 0
    order: Order | None = None
    files: Files = field(default_factory=Files)
    failures: int = 0
    failed: float = -float("inf")
    lost: set[str] = field(default_factory=set)

    def work(self) -> None:
        """Do what is asked until the command has ended."""
        while self._listen():
            if self._is_busy():
                self._hire()
                self._hand_out()
                self._wait()
            if not self.waiting:
                self._give_back()
        self._dismiss(list(self.seats))

    def _is_busy(self) -> bool:
        return bool(self.waiting) or any(seat.task is not None for seat in self.seats)

    def _listen(self) -> bool:
        """Take in the lines of the command; False if it has ended."""
        is_busy = self._is_busy()
        while True:
            try:
                line = self.heard.get(block=not is_busy, timeout=IDLE_SECONDS)
            except queue.Empty:
                return True
            if line is None:
                return False
            is_busy = True
            match line:
                case ["begin", call, function, limits, most, gpus, reads, writes, path, plugins]:
                    bounds = Limits(*limits)
                    share = bounds.memory_gib, gpus
                    if self.order is None or (self.order.limits.memory_gib, self.nodes.gpus) != share:
                        self._dismiss(list(self.seats))  # their share of a node was another
                    self.call, self.files = call, Files(tuple(reads), tuple(writes))
                    self.order = Order(function, bounds, tuple(path), plugins)
                    self.nodes.demand(bounds.memory_gib, most, gpus)
                case ["job", index, job]:
                    self.waiting.append(_Task(index, job))
                case ["stop"]:
                    self.waiting.clear()
                    self._dismiss([seat for seat in self.seats if seat.task is not None])
                    self.say("stopped", self.call)
                case _:
                    raise ValueError(f"no order is written so: {line}")

    def _hire(self) -> None:
        """Ask for as many seats as there are jobs, or as the cluster has room for; Ray finds them places."""
        size = self.nodes.look()
        busy = sum(seat.task is not None for seat in self.seats)
        for _ in range(min(size, len(self.waiting) + busy) - len(self.seats)):
            memory = self.nodes.memory
            options = {"num_cpus": 1, "max_restarts": 0, "scheduling_strategy": "SPREAD"}
            options |= {"num_gpus": self.nodes.share} if self.nodes.share else {}
            options |= {} if memory is None else {"memory": memory}
            actor = self.ray.remote(Seat).options(**options).remote(self.ray.get)
            self.seats.append(_Seat(actor, actor.greet.remote()))

    def _give_back(self) -> None:
        """End the seats that have had no job for a while, or wait for a place that no job needs."""
        late = time.monotonic() - IDLE_SECONDS
        self._dismiss([seat for seat in self.seats if seat.task is None and seat.since < late])

    def _hand_out(self) -> None:
        """Give each idle seat a job."""
        assert self.order is not None
        free = self.nodes.size - sum(seat.task is not None for seat in self.seats)
        for seat in [seat for seat in self.seats if seat.awaited is None][: max(free, 0)]:
            while self.waiting and seat.awaited is None:
                task = self.waiting.popleft()
                try:
                    reads = self._paths(task.job, self.files.reads)
                    parcels = {key: self.sender.pack(path) for key, path in reads.items()}
                except OSError as error:
                    wrong = mendable(error, "read this file", error.filename)
                    self._finish(task, failed(task.index, Outcome.BAD_INPUT, wrong))
                    continue
                writes = {key: Path(path).name for key, path in self._paths(task.job, self.files.writes).items()}
                done = seat.actor.do.options(num_returns="streaming").remote(self.order, task.job, parcels, writes)
                seat.task, seat.awaited = task, done

    def _paths(self, job: Job, keys: tuple[str, ...]) -> dict[str, str]:
        """Of a job's values that are paths, those that must travel."""
        return {key: job[key] for key in keys if job.get(key) is not None and not self.sender.stays(job[key])}

    def _wait(self) -> None:
        """Wait until a seat has something to tell, and take in what all have to tell."""
        awaited = {seat.awaited: seat for seat in self.seats if seat.awaited is not None}
        if not awaited:  # there is no room: the nodes may be on their way
            time.sleep(TURN_SECONDS)
            return
        ready, _ = self.ray.wait(list(awaited), timeout=TURN_SECONDS, fetch_local=False)
        if ready and len(awaited) > 1:
            ready, _ = self.ray.wait(list(awaited), num_returns=len(awaited), timeout=0, fetch_local=False)
        for one in ready:
            self._hear(awaited[one])
        # Idle ones of a node that was lost are gone as well, but nothing says so before a job loses them, too.
        self._dismiss([seat for seat in self.seats if seat.awaited is None and seat.node in self.lost])
        self.lost.clear()

    def _hear(self, seat: _Seat) -> None:
        """Take in one message of a seat."""
        failure, lost = self.ray.exceptions.RayTaskError, self.ray.exceptions.RayError
        try:
            if seat.task is None:
                self._welcome(seat, *self.ray.get(seat.awaited))
                return
            events, result, written = self.ray.get(next(seat.awaited))
        except failure as error:
            if seat.task is None:
                raise self.nodes.unfit(error) from None
            task, seat.task, seat.awaited, seat.since = seat.task, None, None, time.monotonic()
            self._finish(task, failed(task.index, Outcome.CRASH, TrifoldError(_last_line(error))))
        except (lost, StopIteration) as error:
            self._lose(seat, error)
        else:
            self.failures = 0
            for event in events:
                self.say("event", self.call, seat.task.index, event)
            if result is not None:
                task, seat.task, seat.awaited, seat.since = seat.task, None, None, time.monotonic()
                self._finish(task, result | self._bring_back(task, written))

    def _welcome(self, seat: _Seat, node: str, versions: Mapping[str, str]) -> None:
        """Begin with a seat, if its node has what this machine has."""
        if words := differences(versions, self.nodes.versions):
            raise self.nodes.differs(node, words)
        seat.node, seat.awaited, seat.since, self.failures = node, None, time.monotonic(), 0

    def _lose(self, seat: _Seat, error: BaseException) -> None:
        """Go on without a seat: its job waits again, unless it has brought down too many."""
        self._dismiss([seat])
        task = seat.task
        if task is None:
            if time.monotonic() - self.failed >= SAME_SECONDS:
                self.failures, self.failed = self.failures + 1, time.monotonic()
            if self.failures >= MOST_LOSSES:
                raise self.nodes.unfit(error)
            return
        self.lost.add(seat.node)
        task.losses += 1
        if task.losses >= MOST_LOSSES:
            words = f"the process that did it on the cluster was lost {MOST_LOSSES} times: {_last_line(error)}"
            self._finish(task, failed(task.index, Outcome.CRASH, TrifoldError(words)))
            return
        self.say("notice", f"a place of work on {seat.node} was lost: its job begins again elsewhere")
        self.say("again", self.call, task.index)
        self.waiting.appendleft(task)

    def _dismiss(self, seats: list[_Seat]) -> None:
        """End seats, whatever they do; idle ones leave nothing on their nodes."""
        leaving = [seat.actor.leave.remote() for seat in seats if seat.awaited is None]
        if leaving:
            self.ray.wait(leaving, num_returns=len(leaving), timeout=LEAVE_SECONDS, fetch_local=False)
        for seat in seats:
            self.seats.remove(seat)
            self.ray.kill(seat.actor)

    def _bring_back(self, task: _Task, written: dict[str, dict[str, bytes]]) -> dict[str, Any]:
        """Write the files of a job; what changes in its result if they cannot be written."""
        try:
            for key, contents in written.items():
                write_contents(Path(task.job[key]), contents)
        except TrifoldError as error:
            return failed(task.index, Outcome.BAD_INPUT, error)
        return {}

    def _finish(self, task: _Task, result: dict[str, Any]) -> None:
        self.say("result", self.call, result | {"job": task.index})


def failed(index: int, outcome: Outcome, error: TrifoldError) -> dict[str, Any]:
    """The result of a job that was not done, as JSON."""
    about = {"message": error.message, "place": error.place, "remedy": error.remedy}
    told = about if outcome is Outcome.BAD_INPUT else None
    return asdict(Result(index, outcome, told, str(error), 0.0))


def _last_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[-1].strip()


def _hear_lines(lines: IO[str], heard: queue.SimpleQueue[list[Any] | None]) -> None:
    """Put the lines of the command into the queue; None when there will be no more."""
    try:
        for line in lines:
            heard.put(json.loads(line))
    except ValueError:
        pass  # it was ended while it wrote
    heard.put(None)


def main(address: str, shared: str, parent: str) -> None:
    """Join the cluster, and do what the command asks until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command decides what an interrupt means
    die_with_parent(int(parent))
    lines, answers = take_pipes()

    def say(*words: Any) -> None:
        answers.write(json.dumps(words) + "\n")
        answers.flush()

    heard: queue.SimpleQueue[list[Any] | None] = queue.SimpleQueue()
    threading.Thread(target=_hear_lines, args=(lines, heard), daemon=True).start()
    try:
        nodes = Nodes.join(address, say)
        sender = Sender(nodes.ray.put, Path(shared).resolve() if shared else None)
        Broker(nodes.ray, nodes, sender, say, heard).work()
        nodes.ray.shutdown()
    except TrifoldError as error:
        say("error", error.message, error.place, error.remedy)
    except BrokenPipeError:
        pass  # the command has ended
    os._exit(0)  # threads of Ray would have their say


if __name__ == "__main__":
    main(*sys.argv[1:])

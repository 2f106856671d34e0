"""Doing the steps of a study, several at once: each in a thread that waits for its crew. One thread alone writes."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from trifold.errors import TrifoldError
from trifold.memory import lacks_memory
from trifold.outcomes import Outcome
from trifold.studies.doing import Failed, Means, Stoppable, Stopped, do
from trifold.studies.ledger import Ledger
from trifold.studies.rooms import ClusterRooms, Rooms
from trifold.studies.steps import EVALUATE, TRAIN, Step
from trifold.studies.watcher import StudyWatcher

MOMENT = 0.2
"""Seconds after which a watcher hears that nothing has happened."""


@dataclass
class Execution:
    """The steps of a study under way.

    failed  steps that have failed, or are not done as one that they need has failed, and what became of them
    """

    ledger: Ledger
    rooms: Rooms | ClusterRooms
    watcher: StudyWatcher
    failed: dict[Step, tuple[Outcome, str]] = field(default_factory=dict)
    running: dict[Step, tuple[threading.Thread, float]] = field(default_factory=dict)
    stop: threading.Event = field(default_factory=threading.Event)
    heard: queue.SimpleQueue[tuple[Step, str, Any]] = field(default_factory=queue.SimpleQueue)

    def run(self, steps: Sequence[Step]) -> None:
        """Do all steps, each when what it needs is done; what fails ends nothing but what needs it."""
        waiting = list(steps)
        try:
            while waiting or self.running:
                waiting = self._begin(waiting)
                self._hear()
        finally:
            self._end()

    def _begin(self, waiting: Sequence[Step]) -> list[Step]:
        """Begin what can be begun; returns what is left."""
        left: list[Step] = []
        ahead = {*waiting, *self.running}
        for step in waiting:
            lost = next((need for need in step.needs if need in self.failed), None)
            if lost is not None:
                self.failed[step] = self.failed[lost]
                self.watcher.left(step, f"{lost} has failed")
            elif any(need in ahead for need in step.needs):
                left.append(step)
            elif means := self.rooms.take(step, ahead):
                self._start(step, means)
            else:
                left.append(step)
        return left

    def _start(self, step: Step, means: Means) -> None:
        pending = self.ledger.pending(step.cells[0], step.trial)[0] if step.trial else []
        means = Means(Stoppable(means.crew, self.stop), means.device, means.threads)

        def tell(event: str, content: Any) -> None:
            self.heard.put((step, event, content))

        def work() -> None:
            try:
                self.heard.put((step, "ended", do(step, self.ledger, pending, means, tell)))
            except BaseException as error:
                self.heard.put((step, "lost", error))

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        self.running[step] = thread, time.monotonic()
        self.watcher.begun(step)

    def _hear(self) -> None:
        """Take in what the threads have said, and wait a moment for it."""
        try:
            said = self.heard.get(timeout=MOMENT)
        except queue.Empty:
            self.watcher.waiting()
            return
        self._take(*said)

    def _take(self, step: Step, event: str, content: Any) -> None:
        match event:
            case "record":
                assert step.trial
                self.ledger.append(step.cells[0], step.trial, content)
                self.watcher.recorded(step, content)
            case "ended":
                self._note(step, Outcome.FINISHED, "", content)
            case "lost":
                self._lose(step, content)
            case _:
                self.watcher.told(step, event, content)

    def _lose(self, step: Step, error: BaseException) -> None:
        """A step has failed: give it its name."""
        if isinstance(error, Stopped):
            self.running.pop(step)
            return
        outcome, message = name_failure(error)
        self.failed[step] = outcome, message
        self._note(step, outcome, message, {})

    def _note(self, step: Step, outcome: Outcome, message: str, facts: dict[str, Any]) -> None:
        _, began = self.running.pop(step)
        self.rooms.leave(step)
        for cell in step.cells:
            if step.stage == TRAIN:
                self.ledger.forget(cell)
            stage = f"{EVALUATE} {step.trial}" if step.trial else step.stage
            self.ledger.note(cell, stage, outcome, message, **facts)
        self.watcher.ended(step, outcome, message, facts, time.monotonic() - began)

    def _end(self) -> None:
        """Let what runs end, and write down what was done until then."""
        self.stop.set()
        for thread, _ in list(self.running.values()):
            thread.join()
        while True:
            try:
                self._take(*self.heard.get_nowait())
            except queue.Empty:
                return


def name_failure(error: BaseException) -> tuple[Outcome, str]:
    """The outcome of a step that an error ended, and what to say of it."""
    if isinstance(error, Failed):
        return error.outcome, error.message
    if lacks_memory(error):
        return Outcome.MEMORY_LIMIT, "the machine has no more memory"
    if isinstance(error, TrifoldError):
        outcome = Outcome.MEMORY_LIMIT if error.exit_code == Outcome.MEMORY_LIMIT.exit_code else Outcome.BAD_INPUT
        return outcome, error.message
    return Outcome.CRASH, f"{type(error).__name__}: {error}"

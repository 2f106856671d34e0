"""What a climb tells whoever watches it, and what of each training it passes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trifold.data import Labelled
from trifold.errors import TrifoldError
from trifold.evaluation import Record
from trifold.ladder.judge import Judge
from trifold.ladder.result import RungReport
from trifold.ladder.rungs import Rung
from trifold.training import Progress, Watcher


class ClimbWatcher(Watcher):
    """What a climb reports as it goes, beside what each training reports; the default says nothing."""

    def climbing(self, recipe: str, minutes: float | None) -> None:
        """A climb begins, by a recipe, which lets all rungs together be trained for so many minutes, if it says so."""

    def colouring(self, architecture: str) -> None:
        """States are coloured as this architecture sees them."""

    def surveyed(self, judge: Judge, ruled_out: Mapping[str, int], is_nearest: bool) -> None:
        """It is known what rungs are judged on, and which are ruled out, with how many conflicts.

        ``is_nearest`` says that all rungs have conflicts, and those are left that have the fewest.
        """

    def begun(self, rung: Rung, number: int, rungs: int, minutes: float | None) -> None:
        """A rung is trained, for at most so many minutes."""

    def going_on(self, rung: Rung, minutes: float) -> None:
        """Time is left, and the rung that is kept is trained on, for at most so many minutes in all."""

    def judging(self, rung: Rung, problems: int) -> None:
        """Its policy is tried on so many problems."""

    def judged(self, record: Record, is_new: bool) -> None:
        """One of them is done, or was before."""

    def ended(self, report: RungReport) -> None:
        """A rung has been judged, or has failed, and this is how it stands so far."""


class Relay(Watcher):
    """Passes on what a training reports that is not the same for all rungs."""

    def __init__(self, watcher: ClimbWatcher, is_labelled: bool) -> None:
        self.watcher, self.is_labelled, self.is_prepared = watcher, is_labelled, False

    def labelling(self, problems: int) -> None:
        """The problems are being labelled: this is how many there are."""
        if not self.is_labelled:
            self.watcher.labelling(problems)

    def labelled(self, item: Labelled) -> None:
        """One of them is done."""
        if not self.is_labelled:
            self.watcher.labelled(item)

    def encoding(self, done: int, states: int) -> None:
        """So far this many of the states are encoded."""
        self.watcher.encoding(done, states)

    def prepared(self, summary: dict[str, Any]) -> None:
        """The data is ready, which is the same for all rungs."""
        if not self.is_prepared:
            self.watcher.prepared(summary)
        self.is_prepared = self.is_labelled = True

    def progress(self, progress: Progress) -> None:
        """A seed has come further."""
        self.watcher.progress(progress)

    def failed(self, seed: int, error: TrifoldError) -> None:
        """A seed is left out."""
        self.watcher.failed(seed, error)

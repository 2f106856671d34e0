"""What a study tells whoever watches it: always from one thread."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trifold.evaluation import Record
from trifold.outcomes import Outcome
from trifold.studies.cells import Cell
from trifold.studies.steps import Step


class StudyWatcher:
    """What a study reports as it goes; the default says nothing."""

    def planned(self, cells: Sequence[Cell], steps: Sequence[Step], notes: Sequence[str]) -> None:
        """All cells are known, what is left to do, and what should be said of them."""

    def begun(self, step: Step) -> None:
        """A step has begun."""

    def told(self, step: Step, event: str, content: Any) -> None:
        """It has come further."""

    def recorded(self, step: Step, record: Record) -> None:
        """An attempt has ended, and its record is written."""

    def ended(self, step: Step, outcome: Outcome, message: str, facts: dict[str, Any], seconds: float) -> None:
        """It has ended: finished, or as the outcome says."""

    def left(self, step: Step, why: str) -> None:
        """It is not done, as another one that it needs has failed."""

    def waiting(self) -> None:
        """Nothing has happened for a moment."""

    def strays(self, folders: Sequence[Path]) -> None:
        """These folders are of cells that the study no longer names."""

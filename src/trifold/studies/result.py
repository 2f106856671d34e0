"""What a study found: what became of each cell, and a line for each recipe on each test set of each domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trifold.outcomes import Outcome
from trifold.studies.summary import Line

DONE, LEFT = "done", "left"
"""What became of a cell, where it has not failed."""


@dataclass(frozen=True)
class CellReport:
    """What became of a cell.

    outcome          done, left, or the outcome of the stage that has failed, with what went wrong in words
    seconds, steps   of its training; None of a given model, or before it has ended
    held_out         held-out problems that its policy solved, and of how many
    solved, tried    test problems, over all its trials
    """

    name: str
    domain: str
    recipe: str
    seed: int | None
    folder: Path
    outcome: str
    stage: str = ""
    message: str = ""
    seconds: float | None = None
    steps: int | None = None
    validation_loss: float | None = None
    held_out: tuple[int, int] | None = None
    solved: int = 0
    tried: int = 0

    @property
    def has_failed(self) -> bool:
        """Whether it ended otherwise than it should."""
        return self.outcome not in (DONE, LEFT)


@dataclass(frozen=True)
class Studied:
    """What a study found.

    lines   its table
    strays  folders of cells that the study no longer names, which are left alone
    page    the report, where there is anything to report
    """

    out: Path
    cells: tuple[CellReport, ...]
    lines: tuple[Line, ...]
    strays: tuple[Path, ...] = ()
    page: Path | None = None

    @property
    def failed(self) -> Sequence[CellReport]:
        """The cells that have failed."""
        return [cell for cell in self.cells if cell.has_failed]

    @property
    def exit_code(self) -> int:
        """Of a command that did the study: that of the first cell that has failed."""
        return Outcome(self.failed[0].outcome).exit_code if self.failed else 0

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON."""
        cells = [asdict(cell) | {"folder": str(cell.folder)} for cell in self.cells]
        return {
            "out": str(self.out),
            "cells": cells,
            "table": [line.to_json() for line in self.lines],
            "strays": list(map(str, self.strays)),
            "report": self.page and str(self.page),
        }

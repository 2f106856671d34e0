"""What a climb found: a row for each rung, and the one whose model is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trifold.ladder.rungs import Rung
from trifold.model import Model
from trifold.training import Advice, Coverage

KEPT, AS_GOOD, SOLVES_LESS, LONGER = "kept", "as good, and dearer", "solves less", "longer plans"
RULED_OUT, NOT_TRIED, FAILED = "ruled out", "not tried", "failed"


@dataclass(frozen=True)
class RungReport:
    """One rung.

    verdict       kept; as good, and dearer; solves less; longer plans; ruled out; not tried; or failed
    why           of a verdict that the numbers do not explain
    steps         of the optimizer
    seconds       of the training, of all seeds together
    held_out      what its policy did on labelled problems that were held out, as the training tells
    judged        what it did on the problems that all rungs are judged on; lengths are over the best known: V*, or else
                  those of the shortest plans that any rung found
    milliseconds  a step of its policy on this machine's CPU
    """

    rung: Rung
    verdict: str
    why: str = ""
    steps: int | None = None
    seconds: float | None = None
    held_out: Coverage | None = None
    judged: Coverage | None = None
    milliseconds: float | None = None


@dataclass(frozen=True)
class Climbed:
    """What a climb found.

    model_path  the model that is kept: of the cheapest of the rungs that are as good as the best
    kept        the name of that rung
    judged_on   which problems the rungs were judged on, in words
    fell_back   whether there were no larger ones, so that nothing tells of larger problems
    rungs       all of them, from the cheapest on
    advice      what to do next
    """

    run: Path
    model_path: Path
    kept: str
    judged_on: str
    fell_back: bool
    rungs: tuple[RungReport, ...]
    advice: Sequence[Advice] = ()

    def load(self) -> Model:
        """The model that is kept."""
        return Model.load(self.model_path)

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON."""
        return asdict(self) | {"run": str(self.run), "model_path": str(self.model_path)}

"""The steps of a study: what there is to do, what each needs to be done before, and on what it is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trifold.data import LabelLimits
from trifold.studies.cells import Cell
from trifold.studies.ledger import Ledger, Trial, selects
from trifold.studies.problems import Drawing, Problems

DRAW, LABEL, TRAIN, SELECT, EVALUATE = "draw", "label", "train", "select", "evaluate"
STAGES = (DRAW, LABEL, TRAIN, SELECT, EVALUATE)
"""In the order in which a cell goes through them."""


@dataclass(frozen=True, eq=False)
class Step:
    """Something to do.

    stage   draw, label, train, select or evaluate
    cells   that it is for: several share problems and labels
    needs   the steps that are to be done before, if they are still to be done
    """

    stage: str
    cells: tuple[Cell, ...]
    needs: tuple[Step, ...] = ()
    drawing: Drawing | None = None
    limits: LabelLimits | None = None
    trial: Trial | None = None

    def __str__(self) -> str:
        cell = self.cells[0]
        if self.stage in (DRAW, LABEL):
            return f"{self.stage} {cell.domain}"
        return f"{self.stage} {cell}" + (f" on {self.trial}" if self.trial else "")


def find_steps(cells: Sequence[Cell], ledger: Ledger, *, labels: bool = True) -> list[Step]:
    """What is left to do, in the order in which it is begun where there is room.

    labels  whether problems are labelled before they are trained on: not where each node has a cache of its own
    """
    steps: list[Step] = []
    drawn = _drawings(cells, ledger.problems)
    steps += drawn.values()
    labelled: dict[tuple[str, LabelLimits], Step] = {}
    for cell in cells:
        problems = ledger.problems[cell.domain]
        suite = [drawn[one] for one in problems.drawings if one in drawn and one.folder == problems.folder]
        before: list[Step] = []
        if cell.chosen and not ledger.is_done(cell, TRAIN):
            key = cell.domain, cell.chosen.limits
            if key not in labelled and labels:
                mates = [one for one in cells if one.chosen and (one.domain, one.chosen.limits) == key]
                left = tuple(one for one in mates if not ledger.is_done(one, TRAIN))
                labelled[key] = Step(LABEL, left, tuple(suite), limits=cell.chosen.limits)
                steps.append(labelled[key])
            before = [Step(TRAIN, (cell,), (labelled[key],) if labels else tuple(suite))]
        if selects(cell) and (before or not ledger.is_done(cell, SELECT)):
            before.append(Step(SELECT, (cell,), tuple(before)))
        steps += before
        for trial in ledger.trials(cell):
            own = [drawn[one] for one in problems.drawings if one in drawn and trial.folder.is_relative_to(one.folder)]
            if own or before or ledger.pending(cell, trial)[0]:
                steps.append(Step(EVALUATE, (cell,), (*before[-1:], *own), trial=trial))
    return steps


def _drawings(cells: Sequence[Cell], problems: Mapping[str, Problems]) -> dict[Drawing, Step]:
    """The drawing of problems that are not there yet."""
    drawn = {}
    for name in dict.fromkeys(cell.domain for cell in cells):
        for drawing in problems[name].drawings:
            if not drawing.is_done:
                drawn[drawing] = Step(DRAW, tuple(cell for cell in cells if cell.domain == name), drawing=drawing)
    return drawn

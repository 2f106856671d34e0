"""How long a study takes, as far as it can be known: from what was done before, or from the limits that it sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from trifold.shipped import best_policy
from trifold.studies.cells import Cell
from trifold.studies.ledger import Ledger
from trifold.studies.steps import EVALUATE, TRAIN, Step


@dataclass(frozen=True)
class Estimate:
    """Seconds of one step by itself: as measured before, or, if it is a bound, at most."""

    seconds: float
    is_bound: bool = False


def estimate(step: Step, ledger: Ledger, cells: Sequence[Cell]) -> Estimate | None:
    """What a training or an evaluation takes; None where nothing tells."""
    if step.stage == TRAIN:
        return _training(step.cells[0], ledger, cells)
    if step.stage == EVALUATE:
        return _evaluation(step, ledger)
    return None


def _training(cell: Cell, ledger: Ledger, cells: Sequence[Cell]) -> Estimate | None:
    """By the seconds a step took with another seed or, if it did nowhere, with the same architecture in the domain."""
    assert cell.chosen is not None
    settings = cell.chosen.settings
    minutes = None if settings.minutes is None else 60 * settings.minutes * settings.seeds
    done = [(one, note) for one in cells if one.domain == cell.domain and (note := _trained(one, ledger))]
    same = [note for one, note in done if one.recipe == cell.recipe]
    alike = [note for one, note in done if one.chosen and one.chosen.model == cell.chosen.model]
    if rates := [note["seconds"] / note["steps"] for note in same or alike if note["steps"]]:
        seconds = mean(rates) * settings.steps
        return Estimate(seconds if minutes is None else min(seconds, minutes))
    return None if minutes is None else Estimate(minutes, is_bound=True)


def _trained(cell: Cell, ledger: Ledger) -> dict[str, Any] | None:
    note = ledger.notes(cell).get(TRAIN)
    return note if note and ledger.is_done(cell, TRAIN) and "seconds" in note else None


def _evaluation(step: Step, ledger: Ledger) -> Estimate | None:
    """By the seconds that attempts took of others on the same problems by the same policy."""
    cell, trial = step.cells[0], step.trial
    assert trial is not None
    problems = ledger.count(cell, trial)
    if problems is None:
        return None
    policy = trial.policy
    if policy is None and ledger.is_trained(cell):
        policy = best_policy(ledger.model(cell))
    seconds = [
        one
        for (file, used, search), found in ledger.seconds_by_trial().items()
        if file == ledger.file(cell, trial) and used == (policy or used) and search == trial.search
        for one in found
    ]
    if seconds:
        return Estimate(problems * mean(seconds))
    timeout = ledger.study.evaluation.timeout
    return None if timeout is None else Estimate(problems * timeout, is_bound=True)

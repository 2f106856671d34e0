"""What there is of each cell, from its notes and its records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trifold.evaluation import Record
from trifold.outcomes import Outcome
from trifold.studies.cells import Cell
from trifold.studies.ledger import Ledger
from trifold.studies.result import DONE, LEFT, CellReport
from trifold.studies.steps import TRAIN, Step
from trifold.studies.summary import Tried

Failures = Mapping[Step, tuple[Outcome, str]]
"""Steps that have failed, or were not done for another that has, and what became of them."""


def report_cells(cells: Sequence[Cell], ledger: Ledger, failed: Failures) -> tuple[CellReport, ...]:
    """What became of each cell: it is done, left, or has failed, in this call or when it was tried last."""
    first: dict[Cell, tuple[Step, tuple[Outcome, str]]] = {}
    for step, failure in failed.items():
        for cell in step.cells:
            first.setdefault(cell, (step, failure))
    return tuple(_report(cell, ledger, first.get(cell)) for cell in cells)


def _report(cell: Cell, ledger: Ledger, failure: tuple[Step, tuple[Outcome, str]] | None) -> CellReport:
    notes, trained = ledger.notes(cell), ledger.notes(cell).get(TRAIN, {})
    records = [record for trial in ledger.trials(cell) for record in ledger.found(cell, trial)]
    outcome, stage, message = DONE, "", ""
    if failure is not None:
        step, (how, message) = failure
        outcome, stage = how.value, step.stage
    elif not is_whole(cell, ledger):
        lost = next((name for name, note in notes.items() if note["outcome"] != Outcome.FINISHED), None)
        outcome = LEFT
        if lost is not None:
            stage, message = lost, f"{notes[lost]['outcome']} before: {notes[lost]['message']}"
    held_out = trained.get("held_out")
    return CellReport(
        str(cell),
        cell.domain,
        cell.recipe,
        cell.seed,
        ledger.run(cell).path,
        outcome,
        stage,
        message,
        trained.get("seconds"),
        trained.get("steps"),
        trained.get("validation_loss"),
        (int(held_out[0]), int(held_out[1])) if held_out else None,
        sum(record["outcome"] == Outcome.SOLVED for record in records),
        len(records),
    )


def is_whole(cell: Cell, ledger: Ledger) -> bool:
    """Whether nothing of a cell is left to do."""
    return ledger.is_trained(cell) and all(ledger.count(cell, trial) == 0 for trial in ledger.trials(cell))


def tried(cells: Sequence[Cell], ledger: Ledger) -> Iterator[Tried]:
    """What each cell did on each of its test sets, where all of it is recorded."""
    for cell in cells:
        for trial in ledger.trials(cell):
            records: Sequence[Record] = ledger.found(cell, trial)
            if records and ledger.count(cell, trial) == 0:
                seconds = ledger.notes(cell).get(TRAIN, {}).get("seconds")
                yield Tried(cell.domain, cell.recipe, trial.test, _acts(records[0]), seconds, records)


def _acts(record: Record) -> str:
    search, improve = record.get("search"), record.get("improve")
    then = "" if search is None else f", then {search}"
    return record["policy"] + then + ("" if improve is None else f", improved for {improve:g} s")

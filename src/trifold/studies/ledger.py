"""What is done of a study: in the folder of each cell, and in the files of records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trifold.domains import DOMAINS
from trifold.evaluation import Record, append_record, attempt_key, file_sha256, read_records
from trifold.files import MOST_DATA_BYTES, make_folder
from trifold.outcomes import Outcome
from trifold.pddl import find_problems
from trifold.shipped import best_policy, find_model
from trifold.studies.cells import Cell
from trifold.studies.description import Description
from trifold.studies.problems import Problems
from trifold.training import RunFolder

RUNS, RESULTS, CELL = "runs", "results", "cell.json"
"""The folders of run folders and of records, and the file of a cell's folder that says what became of it."""


@dataclass(frozen=True)
class Trial:
    """How a cell's model is tried: on a test set of its domain, by a policy and a search."""

    test: str
    folder: Path
    policy: str | None
    search: str | None

    def __str__(self) -> str:
        acts = ", then ".join(filter(None, (self.policy, self.search)))
        return f"{self.test}{f' by {acts}' if acts else ''}"


class Ledger:
    """The folder of a study, as one process sees it, which alone writes to it."""

    def __init__(self, study: Description, out: Path, problems: Mapping[str, Problems]) -> None:
        self.study, self.out, self.problems = study, out, problems
        self._notes: dict[Cell, dict[str, Any]] = {}
        self._records: dict[Path, dict[tuple[object, ...], Record]] = {}
        self._hashes: dict[Path, str] = {}

    def run(self, cell: Cell) -> RunFolder:
        """The run folder of a cell."""
        return RunFolder(self.out / RUNS / cell.place)

    def model(self, cell: Cell) -> Path:
        """The file of a cell's model, which may not be there yet."""
        return self.run(cell).model if cell.given is None else find_model(cell.given)

    def notes(self, cell: Cell) -> dict[str, Any]:
        """What became of the stages of a cell, by their names."""
        if cell not in self._notes:
            folder, found = self.run(cell), dict[str, Any]()
            if (folder.path / CELL).exists():
                with folder.opened(CELL) as content:
                    found = {str(stage): dict(note) for stage, note in content["stages"].items()}
            self._notes[cell] = found
        return self._notes[cell]

    def note(self, cell: Cell, stage: str, outcome: Outcome, message: str = "", **facts: Any) -> None:
        """Write down how a stage has ended."""
        notes = self.notes(cell)
        notes[stage] = {"outcome": str(outcome), "message": message, **facts}
        folder = self.run(cell)
        make_folder(folder.path)
        folder.write(CELL, {"cell": cell.facts(), "stages": notes})

    def is_done(self, cell: Cell, stage: str) -> bool:
        """Whether a training or a selection has come to its end."""
        if cell.given is not None:
            return True
        if stage == "select" and not selects(cell):
            return True
        return self.notes(cell).get(stage, {}).get("outcome") == Outcome.FINISHED and self.run(cell).model.exists()

    def is_trained(self, cell: Cell) -> bool:
        """Whether a cell's model is what it will be."""
        return self.is_done(cell, "train") and self.is_done(cell, "select")

    def trials(self, cell: Cell) -> list[Trial]:
        """How a cell's model is tried: by those of the policies that it has."""
        own = next(domain.policies for domain in self.study.domains if domain.name == cell.domain)
        policies, searches = own or self.study.evaluation.policies, self.study.evaluation.searches
        fitting = [policy for policy in policies if _has(cell, policy)]
        tests = self.problems[cell.domain].tests.items()
        return [
            Trial(test, folder, policy, search) for test, folder in tests for policy in fitting for search in searches
        ]

    def file(self, cell: Cell, trial: Trial) -> Path:
        """Where the records of a trial are."""
        return self.out / RESULTS / trial.test / f"{cell.domain}.jsonl"

    def pending(self, cell: Cell, trial: Trial) -> tuple[list[Path], list[Record]]:
        """The problems of a trial that have no record yet, and the records of the others."""
        files = find_problems(trial.folder)
        if not self.is_trained(cell):
            return files, []
        known, settings = self._read(self.file(cell, trial)), self.settings(cell, trial)
        left, found = [], []
        for file in files:
            asked = settings | {"problem": file.name, "problem_sha256": self._hash(file)}
            record = known.get(attempt_key(asked))
            if record is None or record["outcome"] == Outcome.CRASH:
                left.append(file)
            else:
                found.append(record)
        return left, found

    def found(self, cell: Cell, trial: Trial) -> list[Record]:
        """The records of a trial, in the order of its problems."""
        return self.pending(cell, trial)[1] if trial.folder.is_dir() else []

    def count(self, cell: Cell, trial: Trial) -> int | None:
        """How many problems of a trial are left to be tried; None where they are not drawn yet, and have any number."""
        if trial.folder.is_dir():
            return len(self.pending(cell, trial)[0])
        generator = DOMAINS.get(cell.domain)
        return len(generator.sizes("test")) if generator and trial.folder.name == "test" else None

    def settings(self, cell: Cell, trial: Trial) -> dict[str, Any]:
        """What records say of a trial: which model, and under which settings."""
        file, asked = self.model(cell), self.asked(trial)
        return asked | {
            "model_sha256": self._hash(file),
            "domain_sha256": self._hash(self.problems[cell.domain].domain),
            "policy": trial.policy or best_policy(file),
        }

    def asked(self, trial: Trial) -> dict[str, Any]:
        """The settings of a trial, as ``evaluate`` takes them, but for the policy."""
        how = self.study.evaluation
        searches = trial.search is not None or how.improve is not None
        return {
            "search": trial.search,
            "max_steps": how.max_steps,
            "max_states": how.max_states if searches else None,
            "improve": how.improve,
            "timeout": how.timeout,
            "memory_gib": how.memory_gib,
            "device": how.device,
        }

    def append(self, cell: Cell, trial: Trial, record: Record) -> None:
        """Add a record: on whatever device of the machine it was made, it was asked for as the study does."""
        record = record | {"device": self.study.evaluation.device}
        file = self.file(cell, trial)
        make_folder(file.parent)
        append_record(file, record)
        self._read(file)[attempt_key(record)] = record

    def forget(self, cell: Cell) -> None:
        """Hash the model of a cell anew: it has been trained."""
        self._hashes.pop(self.run(cell).model, None)

    def strays(self, cells: Sequence[Cell]) -> list[Path]:
        """The folders of cells that the study no longer names."""
        named = {self.run(cell).path for cell in cells}
        found = sorted((self.out / RUNS).glob(f"*/*/{CELL}"))
        return [file.parent for file in found if file.parent not in named]

    def seconds_by_trial(self) -> dict[tuple[Path, str, str | None], list[float]]:
        """What attempts took so far, by file of records, policy and search."""
        found: dict[tuple[Path, str, str | None], list[float]] = defaultdict(list)
        for file in self.out.glob(f"{RESULTS}/*/*.jsonl"):
            self._read(file)
        for file, records in self._records.items():
            for record in records.values():
                found[file, record["policy"], record.get("search")].append(record["seconds"])
        return found

    def _read(self, file: Path) -> dict[tuple[object, ...], Record]:
        if file not in self._records:
            records = read_records(file) if file.exists() else []
            self._records[file] = {attempt_key(record): record for record in records}
        return self._records[file]

    def _hash(self, file: Path) -> str:
        if file not in self._hashes:
            self._hashes[file] = file_sha256(file, MOST_DATA_BYTES)
        return self._hashes[file]


def selects(cell: Cell) -> bool:
    """Whether one of several models of a cell is kept by what it does on larger problems."""
    return cell.chosen is not None and cell.chosen.selection is not None and cell.chosen.settings.seeds > 1


def _has(cell: Cell, policy: str | None) -> bool:
    """Whether a cell's model can act by a policy; of a given one, it is asked when it is tried."""
    if cell.chosen is None or policy not in ("actions", "values", "strict"):
        return True
    return cell.chosen.model.has_actions if policy == "actions" else cell.chosen.model.has_values

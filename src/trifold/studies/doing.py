"""Doing a step of a study: by jobs that a crew does, or by what trains, selects and evaluates, with that crew."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trifold.data import default_cache, label, read_folder
from trifold.errors import TrifoldError
from trifold.evaluation import evaluate
from trifold.outcomes import Outcome
from trifold.processes import Crew, Files, Job, Limits, Told, run_isolated
from trifold.selection import choose_candidate, find_candidates
from trifold.studies.cells import as_job
from trifold.studies.ledger import Ledger
from trifold.studies.steps import DRAW, LABEL, SELECT, TRAIN, Step

Tell = Callable[[str, Any], None]
"""Told of what happens while a step is done: "progress", "labelled", "record", …, and what of it."""


FILES = Files(reads=("directory", "begun"), writes=("run",))
"""What travels with a training that is done elsewhere, and the run folder that comes back."""


class Stopped(BaseException):
    """Ends a step because the study ends."""


class Failed(TrifoldError):
    """A step has failed, and this is its named outcome."""

    def __init__(self, outcome: Outcome, message: str) -> None:
        super().__init__(message)
        self.outcome = outcome


@dataclass(frozen=True)
class Stoppable:
    """A crew whose jobs end when the study ends."""

    crew: Crew
    stop: threading.Event

    @property
    def size(self) -> int:
        """How many jobs it does at once."""
        return self.crew.size

    def follow(self, function: str, jobs: Sequence[Job], files: Files, limits: Limits) -> Generator[Told, None, None]:
        """Do the jobs, and tell of them, until the study ends."""
        with closing(self.crew.follow(function, jobs, files, limits)) as tidings:
            try:
                for told in tidings:
                    if self.stop.is_set():
                        raise Stopped
                    yield told
            except Exception:
                if self.stop.is_set():  # steps share a call of a cluster, which the first that stops has ended
                    raise Stopped from None
                raise


@dataclass(frozen=True)
class Means:
    """With what a step is done.

    crew     who does its jobs; processes of it are for attempts and labels
    device   what a training computes on
    threads  of a training
    """

    crew: Crew
    device: str
    threads: int


def do(step: Step, ledger: Ledger, pending: Sequence[Path], means: Means, tell: Tell) -> dict[str, Any]:
    """Do a step to its end; returns what is to be noted of it. ``pending`` are the problems that are to be tried."""
    cell, machines = step.cells[0], ledger.study.machines
    limits = Limits(machines.patience and 60 * machines.patience)
    if step.stage == DRAW:
        assert step.drawing is not None
        drawing = step.drawing
        job: Job = {"domain": drawing.domain, "folder": str(drawing.folder), "seed": drawing.seed}
        return _ask("trifold.studies.problems:draw", job, means.crew, limits, tell)
    if step.stage == LABEL:
        return _label(step, ledger, means, tell)
    if step.stage == TRAIN:
        assert cell.chosen is not None
        run = str(ledger.run(cell).path)
        job = {
            "begun": run if (ledger.run(cell).path / "config.json").exists() else None,
            "directory": str(ledger.problems[cell.domain].folder),
            "run": run,
            "recipe": as_job(cell.chosen),
            "device": means.device,
            "threads": means.threads,
            "command": sys.argv,
        }
        return _ask("trifold.studies.training:train_cell", job, means.crew, limits, tell)
    if step.stage == SELECT:
        return _select(step, ledger, means, tell)
    return _evaluate(step, ledger, pending, means, tell)


def _ask(function: str, job: Job, crew: Crew, limits: Limits, tell: Tell) -> dict[str, Any]:
    """Let a crew do a job, and raise what it fails of."""

    def heard(_: int, event: dict[str, Any]) -> None:
        tell(str(event.get("event")), event)

    (result,) = run_isolated(function, [job], workers=crew, limits=limits, files=FILES, on_event=heard)
    if result.error:
        raise Failed(result.outcome, result.error.message if result.value else result.message)
    return result.value or {}


def _label(step: Step, ledger: Ledger, means: Means, tell: Tell) -> dict[str, Any]:
    """Label the problems of a domain, once for all trainings on them; that some cannot be is the trainings' to say."""
    files = read_folder(ledger.problems[step.cells[0].domain].folder)
    problems = [*files.training, *files.validation]
    tell("labelling", len(problems))
    label(
        files.domain,
        problems,
        limits=step.limits,
        workers=means.crew,
        cache=default_cache(),
        on_progress=lambda item: tell("labelled", item.path.name),
    )
    return {}


def _select(step: Step, ledger: Ledger, means: Means, tell: Tell) -> dict[str, Any]:
    found = find_candidates(ledger.run(step.cells[0]).path, None, None)
    if not found.problems:
        return {}
    tell("trying", len(found.models) * len(found.problems))
    how = ledger.study.evaluation
    selected = choose_candidate(
        found,
        timeout=how.timeout,
        memory_gib=how.memory_gib,
        device=means.device,
        workers=means.crew,
        on_record=lambda record, is_new: tell("tried", None),
    )
    return {"chosen": selected.chosen}


def _evaluate(step: Step, ledger: Ledger, pending: Sequence[Path], means: Means, tell: Tell) -> dict[str, Any]:
    cell, trial = step.cells[0], step.trial
    assert trial is not None
    tell("trying", len(pending))
    asked = ledger.asked(trial) | {"device": means.device}
    evaluate(
        cell.given or ledger.model(cell),
        pending,
        domain=ledger.problems[cell.domain].domain,
        policy=trial.policy,
        workers=means.crew,
        on_record=lambda record, is_new: tell("record", record),
        **asked,
    )
    return {}

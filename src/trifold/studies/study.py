"""Doing a study: its cells are expanded, what is left of them is done, and all that is known is summed up on a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from trifold.cluster import Cluster
from trifold.errors import TrifoldError, did_you_mean
from trifold.files import in_turn, make_folder, write_whole
from trifold.reports import report_page
from trifold.studies.cells import Cell, expand
from trifold.studies.description import read_study
from trifold.studies.estimate import Estimate, estimate
from trifold.studies.execution import Execution
from trifold.studies.found import report_cells, tried
from trifold.studies.ledger import Ledger
from trifold.studies.problems import find_places
from trifold.studies.result import CellReport, Studied
from trifold.studies.rooms import ClusterRooms, Rooms, find_rooms
from trifold.studies.steps import EVALUATE, TRAIN, Step, find_steps
from trifold.studies.summary import summarise
from trifold.studies.watcher import StudyWatcher
from trifold.training import Value

PAGE = "report.html"


@dataclass(frozen=True)
class Plan:
    """What there is to do.

    notes      what should be said of the cells
    estimates  how long steps take, of those of which something tells
    seconds    in which all of it is done, as far as that is known: what is drawn and labelled is not counted
    unknown    trainings and evaluations of which nothing tells how long they take
    """

    cells: tuple[Cell, ...]
    steps: tuple[Step, ...]
    notes: tuple[str, ...]
    reports: tuple[CellReport, ...]
    estimates: dict[Step, Estimate]
    seconds: float
    unknown: int
    strays: tuple[Path, ...]

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {
            "cells": [asdict(cell) | {"folder": str(cell.folder)} for cell in self.reports],
            "steps": [
                {"step": str(step), "stage": step.stage}
                | (asdict(known) if (known := self.estimates.get(step)) else {})
                for step in self.steps
            ],
            "seconds": self.seconds,
            "unknown": self.unknown,
            "notes": list(self.notes),
            "strays": list(map(str, self.strays)),
        }


def study(
    source: Path | str | Mapping[str, Any],
    out: Path | str,
    *,
    domains: Sequence[str] = (),
    recipes: Sequence[str] = (),
    workers: Cluster | int | None = None,
    device: str | None = None,
    watcher: StudyWatcher | None = None,
    **changes: Value,
) -> Studied:
    """Train and evaluate all cells of a study, and go on with what was begun.

    source            a TOML file, or what such a file says
    out               the folder of all that comes of it; what is done there is not done again
    domains, recipes  only these of the study's
    workers           steps that are done at once; one per core if None, or one per training where these are fewer; or a
                      cluster that was joined, on which each training takes a CPU, and its share of a GPU
    device            instead of those of the study, for trainings and evaluations
    changes           values that differ in all recipes, as steps=500; what the study says of them is weaker

    >>> asked = {"domains": ["./gripper"], "recipes": ["small"], "settings": {"steps": 2}, "tests": []}
    >>> done = study(asked, "two-steps")  # of gripper/domain.pddl and its problems
    >>> [(cell.name, cell.outcome, cell.steps) for cell in done.cells]
    [('gripper small seed 0', 'done', 2)]
    """
    watcher = watcher or StudyWatcher()
    opened = _open(source, out, domains, recipes, device, changes)
    ledger, cells = opened.ledger, opened.cells
    make_folder(ledger.out)
    with in_turn(ledger.out / ".lock", lambda: _refuse(ledger.out)):
        steps = find_steps(cells, ledger, labels=not isinstance(workers, Cluster))
        watcher.planned(cells, steps, opened.notes)
        execution = Execution(ledger, opened.rooms(workers), watcher)
        execution.run(steps)
        reports = report_cells(cells, ledger, execution.failed)
        lines = summarise(list(tried(cells, ledger)))
        page = _write_page(cells, ledger)
    return Studied(ledger.out, reports, tuple(lines), tuple(opened.strays), page)


def plan(
    source: Path | str | Mapping[str, Any],
    out: Path | str,
    *,
    domains: Sequence[str] = (),
    recipes: Sequence[str] = (),
    workers: Cluster | int | None = None,
    device: str | None = None,
    **changes: Value,
) -> Plan:
    """What there is to do of a study, and about how long it takes; nothing is done or written."""
    opened = _open(source, out, domains, recipes, device, changes)
    ledger, cells = opened.ledger, opened.cells
    steps = find_steps(cells, ledger, labels=not isinstance(workers, Cluster))
    counted = [step for step in steps if step.stage in (TRAIN, EVALUATE)]
    found = {step: one for step in counted if (one := estimate(step, ledger, cells))}
    return Plan(
        tuple(cells),
        tuple(steps),
        tuple(opened.notes),
        report_cells(cells, ledger, {}),
        found,
        _seconds(found, opened.rooms(workers)),
        len(counted) - len(found),
        tuple(opened.strays),
    )


def _seconds(estimates: Mapping[Step, Estimate], rooms: Rooms | ClusterRooms) -> float:
    """How long it takes to do all of it: trainings as many at once as there is room for, attempts by all cores."""
    trainings = [one.seconds for step, one in estimates.items() if step.stage == TRAIN]
    attempts = [one.seconds for step, one in estimates.items() if step.stage == EVALUATE]
    at_once = rooms.trainings_at_once
    return max([sum(trainings) / at_once, *trainings]) + sum(attempts) / rooms.cores


@dataclass(frozen=True)
class _Opened:
    """A study with what is there of it; the cells that are asked for, and all that it has."""

    ledger: Ledger
    cells: list[Cell]
    every: list[Cell]
    notes: list[str]

    @property
    def strays(self) -> list[Path]:
        """The folders of cells that the study no longer names."""
        return self.ledger.strays(self.every)

    def rooms(self, workers: Cluster | int | None) -> Rooms | ClusterRooms:
        """The room that there is; threads of trainings do not depend on what is left of them."""
        return find_rooms(self.ledger.study, workers, sum(cell.given is None for cell in self.every))


def _open(
    source: Path | str | Mapping[str, Any],
    out: Path | str,
    domains: Sequence[str],
    recipes: Sequence[str],
    device: str | None,
    changes: Mapping[str, Value],
) -> _Opened:
    described = read_study(source)
    described = replace(described, forced=dict(changes))
    if device is not None:
        evaluation = replace(described.evaluation, device=device)
        described = replace(described, evaluation=evaluation, machines=replace(described.machines, device=device))
    _check_asked("domain", domains, [domain.name for domain in described.domains])
    _check_asked("recipe", recipes, [*(recipe.name for recipe in described.recipes), *described.models])
    path = Path(out).absolute()
    problems = find_places(described, path)
    cells, notes = expand(described, problems)
    chosen = [
        cell for cell in cells if (not domains or cell.domain in domains) and (not recipes or cell.choice in recipes)
    ]
    return _Opened(Ledger(described, path, problems), chosen, cells, notes)


def _check_asked(kind: str, asked: Iterable[str], known: list[str]) -> None:
    for name in asked:
        if name not in known:
            raise TrifoldError(f"the study has no {kind} {name!r}", remedy=did_you_mean(name, known))


def _refuse(out: Path) -> NoReturn:
    raise TrifoldError("another process does a study in this folder", place=str(out), remedy="wait for it")


def _write_page(cells: Sequence[Cell], ledger: Ledger) -> Path | None:
    """The report of all runs and records, in which a model is called by its recipe and seed."""
    runs = [ledger.run(cell).path for cell in cells if cell.given is None and ledger.is_trained(cell)]
    records = [
        record | {"model": cell.recipe + ("" if cell.seed is None else f", seed {cell.seed}")}
        for cell in cells
        for trial in ledger.trials(cell)
        for record in ledger.found(cell, trial)
    ]
    if not runs and not records:
        return None
    page = ledger.out / PAGE
    write_whole(page, report_page(*runs, records=records).encode())
    return page

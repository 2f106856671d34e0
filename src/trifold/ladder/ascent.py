"""The way up: each rung is trained in a folder of its own and judged, and the best bargain so far is kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from trifold.data import default_cache, label, read_folder, split
from trifold.errors import TrifoldError
from trifold.ladder.judge import Judge, choose_judge
from trifold.ladder.report import Found, report_rungs, what_next
from trifold.ladder.result import KEPT, Climbed, RungReport
from trifold.ladder.rungs import Rung, count_conflicts, rule_out
from trifold.ladder.watcher import ClimbWatcher, Relay
from trifold.memory import memory_errors
from trifold.model import Model
from trifold.processes import Workers
from trifold.sealed import Damaged
from trifold.training import Parted, Recipe, RunFolder, TrainingResult, Watcher, resume, train

STATE = "ladder.json"
"""The file of a ladder's folder that has its judge, the conflicts, and the rungs as they stand."""

WORTH = 0.1
"""The part of the time that must be left for the rung that is kept to be trained on."""


@dataclass(frozen=True)
class Survey:
    """What is known before the first rung is trained: what rungs are judged on, and the conflicts of each."""

    judge: Judge
    conflicts: dict[str, int]

    @classmethod
    def read(cls, folder: RunFolder) -> Survey:
        """The survey that a ladder began with."""
        with folder.opened(STATE) as content:
            conflicts = content["conflicts"]
            if not isinstance(conflicts, dict) or not all(type(number) is int for number in conflicts.values()):
                raise Damaged("its conflicts are no numbers")
            return cls(Judge.from_json(content["judge"]), conflicts)

    def write(self, folder: RunFolder, reports: Sequence[RungReport] = ()) -> None:
        """Write it down, with the rungs as they stand."""
        rungs = [asdict(report) for report in reports]
        folder.write(STATE, {"judge": self.judge.to_json(), "conflicts": self.conflicts, "rungs": rungs})


@dataclass
class Ascent:
    """A climb in its folder.

    every   whether rungs are trained, too, that are dearer than one that is enough
    longer  the end that a resumed climb has instead of the first one: steps and minutes, if any was asked for
    found   the rungs that were trained and judged, and failed those that could not be, with the reason
    """

    folder: RunFolder
    directory: Path
    recipe: Recipe
    rungs: Sequence[Rung]
    every: bool
    device: str
    longer: dict[str, Any]
    workers: Workers | None
    cache: Path | None
    watcher: ClimbWatcher
    found: dict[str, Found] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    last_error: TrifoldError | None = None

    def survey(self, place: Path | None) -> Survey:
        """Label the problems, choose those to judge by, and colour the states as each architecture sees them.

        ``place`` is a folder to judge by, if one was given.
        """
        files, watcher, recipe = read_folder(self.directory), self.watcher, self.recipe
        problems = [*files.training, *files.validation]
        watcher.labelling(len(problems))
        labelled = label(
            files.domain,
            problems,
            limits=recipe.limits,
            workers=self.workers,
            cache=self.cache or default_cache(),
            on_progress=watcher.labelled,
        )
        parts = split(labelled, len(files.training), recipe.settings.seed)
        judge = choose_judge(recipe, labelled, parts, place, self.folder.path / "selection")
        judge.check(files.domain)
        return Survey(judge, count_conflicts(self.rungs, labelled, watcher.colouring))

    def climb(self, survey: Survey, *, is_labelled: bool) -> Climbed:
        """Train and judge what is worth it, and keep the best bargain.

        ``is_labelled`` says that the watcher has been told of the labels already.
        """
        conflicts = survey.conflicts
        ruled_out = {rung.name: conflicts[rung.name] for rung in rule_out(self.rungs, conflicts)}
        left = [rung for rung in self.rungs if rung.name not in ruled_out]
        self.watcher.surveyed(survey.judge, ruled_out, any(conflicts.get(rung.name) for rung in left))
        relay, share = Relay(self.watcher, is_labelled), self._share(len(left))
        for number, rung in enumerate(left, start=1):
            is_begun = self._is_begun(rung)
            if not (self.every or is_begun) and any(one.is_enough for one in self.found.values()):
                continue
            minutes = None if is_begun and not self.longer else share
            self.watcher.begun(rung, number, len(left), minutes)
            self._try(rung, survey.judge, minutes, relay)
            reports = self._note(survey, ruled_out)
            self.watcher.ended(next(report for report in reports if report.rung == rung))
        if not self.found:
            assert self.last_error is not None
            raise self.last_error
        kept = next(report.rung for report in reports if report.verdict == KEPT)
        if minutes := self._time_left(kept):
            self.watcher.going_on(kept, minutes)
            self._try(kept, survey.judge, minutes, relay)
            reports = self._note(survey, ruled_out)
            self.watcher.ended(next(report for report in reports if report.rung == kept))
        judge, path, reports = survey.judge, self.folder.path, self._note(survey, ruled_out, is_finished=True)
        kept = next(report.rung for report in reports if report.verdict == KEPT)
        advice = what_next(str(path), judge, reports, self.recipe.settings.minutes)
        return Climbed(path, self.folder.model, kept.name, judge.source, judge.fell_back, reports, advice)

    def _share(self, rungs: int) -> float | None:
        """The minutes of each model of a rung, if time is limited: it is divided evenly over so many rungs."""
        settings = self.recipe.settings
        return None if settings.minutes is None else settings.minutes / rungs / settings.seeds

    def _time_left(self, kept: Rung) -> float | None:
        """The minutes that each model of the rung that is kept may have in all, if time is left to train it on."""
        settings, seconds = self.recipe.settings, sum(one.result.seconds for one in self.found.values())
        if settings.minutes is None or seconds > (1 - WORTH) * 60 * settings.minutes:
            return None
        own = self.found[kept.name].result
        if own.steps >= settings.steps:
            return None
        return (settings.minutes - (seconds - own.seconds) / 60) / settings.seeds

    def _is_begun(self, rung: Rung) -> bool:
        return (self.folder.path / rung.name / "config.json").exists()

    def _try(self, rung: Rung, judge: Judge, minutes: float | None, relay: Watcher) -> None:
        """Train and judge a rung, to another end if there are minutes; that it fails is written down."""
        folder = RunFolder(self.folder.path / rung.name)
        try:
            with memory_errors(lambda: "train it where there is more memory"):
                result = self._train(rung, folder, minutes, relay)
            self.watcher.judging(rung, len(judge.problems))
            records = judge(
                folder.model,
                self.folder.path / "judgement.jsonl",
                memory_gib=self.recipe.limits.memory_gib,
                workers=self.workers,
                on_record=self.watcher.judged,
            )
        except (KeyboardInterrupt, Parted):  # without the other processes no rung can be trained
            if folder.model.exists() and not self.folder.model.exists():
                self._keep(folder.model, {"is_finished": False})
            raise
        except TrifoldError as error:
            self.failed[rung.name], self.last_error = error.message, error
            return
        self.found[rung.name] = Found(result, judge, records)

    def _train(self, rung: Rung, folder: RunFolder, minutes: float | None, relay: Watcher) -> TrainingResult:
        """Train a rung, from where its folder stands, to the end that it has or to another one."""
        options: dict[str, Any] = {"workers": self.workers, "cache": self.cache, "watcher": relay, "try_larger": False}
        if self._is_begun(rung):
            steps = self.longer.get("steps")
            return resume(folder.path, device=self.device, steps=steps, minutes=minutes, **options)
        changes = rung.settings | {"minutes": minutes or math.inf}
        return train(self.directory, folder.path, self.recipe, device=self.device, **options, **changes)

    def _note(self, survey: Survey, ruled_out: dict[str, int], *, is_finished: bool = False) -> tuple[RungReport, ...]:
        """Write down how the rungs stand, and keep the model of the best bargain so far.

        In a climb that is resumed, the model that is there stays until all that was trained before has been judged.
        """
        reports = report_rungs(self.rungs, self.found, ruled_out, self.failed)
        survey.write(self.folder, reports)
        begun = {rung.name for rung in self.rungs if self._is_begun(rung)}
        if self.found and begun <= self.found.keys() | self.failed.keys() | ruled_out.keys():
            kept = next(report.rung.name for report in reports if report.verdict == KEPT)
            about: dict[str, Any] = {"kept": kept, "rungs": [_brief(report) for report in reports]}
            about |= {} if is_finished else {"is_finished": False}
            self._keep(self.folder.path / kept / "model.safetensors", about)
        return reports

    def _keep(self, file: Path, about: dict[str, Any]) -> None:
        """Make the model in a file that of the ladder, and let it say how it was chosen and if the climb ended."""
        model = Model.load(file)
        model.provenance |= {"ladder": about}
        if not self.folder.model.exists() or Model.load(self.folder.model).provenance != model.provenance:
            model.save(self.folder.model)


def _brief(report: RungReport) -> dict[str, Any]:
    """What a model says of a rung: no names of files."""
    facts = {name: getattr(report, name) for name in ("verdict", "why", "steps", "seconds", "milliseconds")}
    judged = report.judged
    done = {"solved": judged.solved, "problems": judged.problems, "length": judged.length} if judged else {}
    return asdict(report.rung) | facts | done

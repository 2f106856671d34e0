"""What `trifold train --architecture auto` shows: the trainings of its rungs one after the other, and a table."""

from __future__ import annotations

import json as json_format
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby

import typer

from trifold.commands.evaluate import describe_attempt
from trifold.commands.training_display import TrainingDisplay, console_and_bars, duration
from trifold.evaluation import Record, aligned_text
from trifold.ladder import NOT_TRIED, Climbed, ClimbWatcher, Judge, Rung, RungReport
from trifold.words import counted

FEW = 5
"""Problems of which fewer say little: one more or less that is solved may be chance."""

HEAD = ["Rung", "Architecture", "Verdict", "Steps", "Seconds", "Held out", "Judged", "Length", "ms a step"]
"""Length is over that of the best plans known."""


@contextmanager
def climb_display() -> Iterator[ClimbDisplay]:
    """A display, and its bars for as long as it is open."""
    with console_and_bars() as shown:
        yield ClimbDisplay(*shown)


class ClimbDisplay(TrainingDisplay, ClimbWatcher):
    """Shows what rungs are judged on, each training as it is shown alone, and how each rung stands."""

    def climbing(self, recipe: str, minutes: float | None) -> None:
        """Say which recipe it is, and how long all rungs are trained."""
        time = f", trained for at most {duration(60 * minutes)} in all" if minutes else ""
        self.line(f"recipe {recipe} for rungs from cheap to dear{time}")

    def colouring(self, architecture: str) -> None:
        """Show which architecture is looked at."""
        self.start(f"colouring: {architecture}", 1)

    def surveyed(self, judge: Judge, ruled_out: Mapping[str, int], is_nearest: bool) -> None:
        """Say what decides, and what is ruled out."""
        self.line(f"rungs are judged on {counted(len(judge.problems), 'problem')}: {judge.source}")
        if judge.fell_back:
            self.line("warning: none of them is larger than what was labelled: --judge DIR names some that are")
        elif len(judge.problems) < FEW:
            self.line("warning: so few problems say little: --judge DIR names more")
        for name, conflicts in ruled_out.items():
            self.line(f"ruled out: {name} cannot tell {counted(conflicts, 'state')} from one with another V*")
        if is_nearest:
            self.line("warning: every rung has such states; those that have the fewest are tried")

    def begun(self, rung: Rung, number: int, rungs: int, minutes: float | None) -> None:
        """Say which rung is trained."""
        self.clear()
        time = f", at most {duration(60 * minutes)}" if minutes else ""
        self.line(f"rung {number} of {rungs}: {rung.name}, {describe(rung)}{time}")

    def going_on(self, rung: Rung, minutes: float) -> None:
        """Say that there is time for more."""
        self.clear()
        self.line(f"time is left: {rung.name} is trained on, to {duration(60 * minutes)} in all")

    def clear(self) -> None:
        """Take away the bars of the training before."""
        for task in self.seeds.values():
            self.bar.remove_task(task)
        self.seeds.clear()
        self.written.clear()

    def judging(self, rung: Rung, problems: int) -> None:
        """Begin the bar of the problems that decide."""
        self.start("judging", problems)

    def judged(self, record: Record, is_new: bool) -> None:
        """Advance it."""
        assert self.task is not None
        self.bar.advance(self.task)
        if is_new:
            self.line(f"  {record['problem']}: {describe_attempt(record)}")

    def ended(self, report: RungReport) -> None:
        """Say how the rung did."""
        name, judged = report.rung.name, report.judged
        if judged is None:
            self.line(f"{name} failed: {report.why}")
            return
        cost = f", {report.milliseconds:.1f} ms a step" if report.milliseconds is not None else ""
        self.line(f"{name}: {judged.solved} of {judged.problems} solved{cost}; so far {_verdict(report)}")


def describe(rung: Rung) -> str:
    """An architecture in words."""
    return f"{rung.label} k {rung.dim} L {rung.layers}"


def report_climb(result: Climbed, json: bool) -> None:
    """Write the result to standard output: a table of the rungs, and the model that is kept."""
    if json:
        typer.echo(json_format.dumps(result.to_json()))
        return
    typer.echo(aligned_text([HEAD, *map(_row, result.rungs)], names=3))
    note = ", none of them larger than what was labelled" if result.fell_back else ""
    typer.echo(f"judged on {result.judged_on}{note}; length is over the best plans known")
    for why, reports in groupby((one for one in result.rungs if one.verdict == NOT_TRIED), lambda one: one.why):
        typer.echo(f"not tried: {', '.join(report.rung.name for report in reports)}; {why}")
    typer.echo(f"{result.model_path}: {result.kept}, the cheapest that is as good as the best")


def _verdict(report: RungReport) -> str:
    """With why, of those that the numbers do not explain."""
    return f"{report.verdict}: {report.why}" if report.why else report.verdict


def _row(report: RungReport) -> list[str]:
    held_out, judged = report.held_out, report.judged
    return [
        report.rung.name,
        describe(report.rung),
        report.verdict if report.verdict == NOT_TRIED else _verdict(report),
        "" if report.steps is None else f"{report.steps:,}",
        "" if report.seconds is None else f"{report.seconds:.0f}",
        f"{held_out.solved} of {held_out.problems}" if held_out else "",
        f"{judged.solved} of {judged.problems}" if judged else "",
        f"{judged.length:.2f}" if judged and judged.length is not None else "",
        "" if report.milliseconds is None else f"{report.milliseconds:.1f}",
    ]

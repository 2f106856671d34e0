"""What `trifold study` shows: a live table of what runs and what was found so far, and in the end all of it."""

from __future__ import annotations

import json as json_format
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from trifold.commands.training_display import PLAIN_SECONDS, duration
from trifold.evaluation import Record, aligned_text
from trifold.outcomes import Outcome
from trifold.studies import EVALUATE, LEFT, STAGES, TRAIN, Cell, Line, Plan, Step, Studied, StudyWatcher
from trifold.words import counted

SHOWN = 16
"""How many steps that run are shown at once."""

HEAD = ["Domain", "Recipe", "Tests", "Policy", "Seeds", "Solved", "Of", "%", "Least-most", "Length", "Training"]


@dataclass
class Under:
    """A step under way, and what it has told."""

    since: float
    facts: str = ""
    done: int = 0
    of: int = 0
    solved: int = 0
    written: float = 0.0


@contextmanager
def study_display() -> Iterator[StudyDisplay]:
    """A display, live for as long as it is open where there is a terminal."""
    console = Console(stderr=True, highlight=False, markup=False)
    if not console.is_terminal:
        yield StudyDisplay(console, None)
        return
    with Live(console=console, refresh_per_second=4, transient=True) as live:
        yield StudyDisplay(console, live)


class StudyDisplay(StudyWatcher):
    """Shows on standard error what runs: a table on a terminal, lines elsewhere."""

    def __init__(self, console: Console, live: Live | None) -> None:
        self.console, self.live = console, live
        self.running: dict[Step, Under] = {}
        self.steps = self.done = self.failed = 0
        self.found: dict[str, Counter[str]] = {}

    def line(self, text: str) -> None:
        """Write a line, above what is live."""
        if self.live is not None:
            self.live.console.print(text)
        else:
            typer.echo(text, err=True)

    def planned(self, cells: Sequence[Cell], steps: Sequence[Step], notes: Sequence[str]) -> None:
        """Say what there is, and what is to be done of it."""
        self.steps = len(steps)
        for note in notes:
            self.line(note)
        stages = Counter(step.stage for step in steps)
        left = ", ".join(f"{stage} {stages[stage]}" for stage in STAGES if stages[stage])
        self.line(f"{counted(len(cells), 'cell')}; to be done: {left or 'nothing'}")

    def begun(self, step: Step) -> None:
        """Show that it runs."""
        self.running[step] = Under(time.monotonic())
        self.refresh()

    def told(self, step: Step, event: str, content: Any) -> None:
        """Show how far it is."""
        under = self.running[step]
        match event:
            case "progress":
                under.done, under.of = content["step"], content["steps"]
                under.facts = _training_facts(content)
                now = time.monotonic()
                if self.live is None and now - max(under.written, under.since) > PLAIN_SECONDS:
                    under.written = now
                    self.line(f"{step}: step {under.done} of {under.of}, {under.facts}")
            case "labelling" | "trying":
                under.of = content
            case "labelled" | "tried":
                under.done += 1
            case "failed":
                self.line(f"{step}: seed {content['seed']} is left out: {content['message']}")
        self.refresh()

    def recorded(self, step: Step, record: Record) -> None:
        """Show one more attempt."""
        under = self.running[step]
        under.done += 1
        under.solved += record["outcome"] == Outcome.SOLVED
        under.facts = f"solved {under.solved} of {under.done}"
        self.refresh()

    def ended(self, step: Step, outcome: Outcome, message: str, facts: dict[str, Any], seconds: float) -> None:
        """Say how it ended."""
        under = self.running.pop(step)
        self.done += 1
        if outcome is not Outcome.FINISHED:
            self.failed += 1
            said = f"failed: {outcome}: {message}"
        elif step.stage == TRAIN:
            said = _trained(facts)
        else:
            said = under.facts if step.stage == EVALUATE and under.facts else "done"
        self.line(f"[{self.done}/{self.steps}] {step}: {said} ({duration(seconds)})")
        self.refresh()

    def left(self, step: Step, why: str) -> None:
        """Say that it cannot be done."""
        self.done += 1
        self.line(f"[{self.done}/{self.steps}] {step}: not done, as {why}")

    def waiting(self) -> None:
        """Let the seconds go on."""
        self.refresh()

    def refresh(self) -> None:
        """Draw anew what is live."""
        if self.live is not None:
            self.live.update(self._draw())

    def _draw(self) -> RenderableType:
        table = Table(box=None, pad_edge=False, header_style="dim")
        for name, justify in (("", "left"), ("so far", "right"), ("", "left"), ("time", "right")):
            table.add_column(name, justify=justify)  # type: ignore[arg-type]
        now = time.monotonic()
        for step, under in list(self.running.items())[:SHOWN]:
            part = f"{under.done:,} of {under.of:,}" if under.of else ""
            table.add_row(Text(str(step)), part, under.facts, duration(now - under.since))
        more = len(self.running) - SHOWN
        failed = f", {self.failed} failed" if self.failed else ""
        foot = f"{self.done} of {self.steps} done{failed}" + (f", {more} more run" if more > 0 else "")
        return Group(table, Text(foot, style="bold"))


def _training_facts(told: dict[str, Any]) -> str:
    facts = f"loss {told['loss']:.3f}"
    if told["validation"] is not None:
        facts += f", validation {told['validation']:.3f}"
    if told["solved"] is not None:
        facts += f", held out {told['solved']} of {told['problems']}"
    return f"{facts}, {duration(told['seconds_left'])} left"


def _trained(facts: dict[str, Any]) -> str:
    held_out = facts.get("held_out")
    policy = f"held-out problems {held_out[0]} of {held_out[1]} solved, " if held_out else ""
    return f"{policy}validation loss {facts['validation_loss']:.4f}, {facts['steps']:,} steps"


def report_study(result: Studied) -> None:
    """Write the table to standard output, and below it what failed, what is no longer named, and where the page is."""
    if result.lines:
        typer.echo(aligned_text([HEAD, *map(_row, result.lines)], names=4), nl=False)
        typer.echo(
            "means over seeds ± standard deviation; length is that of plans for so many problems, those that "
            "all recipes and seeds solve which solve any"
        )
    for cell in result.cells:
        if cell.has_failed:
            typer.echo(f"failed: {cell.name}: {cell.stage}: {cell.outcome}: {cell.message}")
    if result.page:
        typer.echo(f"{result.page}: the report")
    _tell_strays(result.strays)


def _tell_strays(folders: Sequence[Path]) -> None:
    if folders:
        named = ", ".join(str(folder) for folder in folders[:3]) + (" …" if len(folders) > 3 else "")
        typer.echo(
            f"{counted(len(folders), 'folder')} of cells that the study no longer has: left alone: {named}", err=True
        )


def _row(line: Line) -> list[str]:
    share = 100 * line.solved.mean / line.problems if line.problems else 0.0
    span = f"{line.solved.least:g}-{line.solved.most:g}" if line.seeds > 1 else ""
    return [
        line.domain,
        line.recipe,
        line.test,
        line.acts,
        str(line.seeds),
        str(line.solved),
        str(line.problems),
        f"{share:.0f}",
        span,
        f"{line.length} ({line.shared})" if line.length else "-",
        duration(line.training.mean) if line.training else "-",
    ]


def report_plan(plan: Plan, json: bool) -> None:
    """Write what there is to do to standard output: a line for each cell, and how long all of it takes."""
    if json:
        typer.echo(json_format.dumps(plan.to_json()))
        return
    for note in plan.notes:
        typer.echo(note, err=True)
    rows = [["Cell", "State", "Train", "Evaluate", "Takes"]]
    for cell, report in zip(plan.cells, plan.reports, strict=True):
        own = [step for step in plan.steps if step.cells[0] == cell and step.stage in (TRAIN, EVALUATE)]
        times = [plan.estimates.get(step) for step in own]
        known = [one for one in times if one is not None]
        takes = "" if not own else "?" if not known else _spell_time(sum(one.seconds for one in known), known)
        takes += " + ?" if known and len(known) < len(own) else ""
        trains = any(step.stage == TRAIN for step in own)
        evaluates = sum(step.stage == EVALUATE for step in own)
        rows.append(
            [
                report.name,
                f"{LEFT}: {report.message}" if report.message else report.outcome,
                "-" if cell.given is not None else "to do" if trains else "done",
                f"{report.tried} done" + (f", {counted(evaluates, 'set')} to do" if evaluates else ""),
                takes,
            ]
        )
    typer.echo(aligned_text(rows, names=2), nl=False)
    done = sum(report.outcome == "done" for report in plan.reports)
    about = _spell_time(plan.seconds, list(plan.estimates.values()))
    unknown = f", and {counted(plan.unknown, 'step')} of which nothing tells how long it takes" if plan.unknown else ""
    typer.echo(f"{counted(len(plan.cells), 'cell')}, {done} done; {about}{unknown}")
    _tell_strays(plan.strays)


def _spell_time(seconds: float, known: Sequence[Any]) -> str:
    most = "at most " if any(one.is_bound for one in known) else "about "
    return most + duration(seconds) if known else "no time that is known"

"""What `trifold train` shows while it labels and trains."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from trifold.data import Extent, Labelled, advise, describe_extent
from trifold.errors import TrifoldError
from trifold.evaluation import Attempt
from trifold.training import TrainingResult, Watcher
from trifold.words import counted

PLAIN_SECONDS = 10.0
"""How often a line of progress is written where there is no terminal."""

NAMED = 6
"""How many files, or sets of files, a warning names; data.json names all."""


@contextmanager
def console_and_bars() -> Iterator[tuple[Console, Progress]]:
    """What a display writes to, for as long as it is open."""
    console = Console(stderr=True, highlight=False, markup=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[facts]}"))
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        yield console, bar


@contextmanager
def display() -> Iterator[TrainingDisplay]:
    """A display of one training."""
    with console_and_bars() as shown:
        yield TrainingDisplay(*shown)


class TrainingDisplay(Watcher):
    """Shows labelling and training on standard error: live on a terminal, plain lines elsewhere."""

    def __init__(self, console: Console, bar: Progress) -> None:
        self.console, self.bar = console, bar
        self.task: TaskID | None = None
        self.seeds: dict[int, TaskID] = {}  # a bar for each: several may be trained at once
        self.written: dict[int, float] = {}

    def start(self, description: str, total: int) -> TaskID:
        """Begin a bar, in the place of the one before."""
        if self.task is not None:
            self.bar.remove_task(self.task)
        self.task = self.bar.add_task(description, total=total, facts="")
        return self.task

    def line(self, text: str) -> None:
        """Write a line above the bars."""
        if self.console.is_terminal:
            self.bar.console.print(text)
        else:
            typer.echo(text, err=True)

    def chose(self, recipe: str, minutes: float | None) -> None:
        """Say which recipe it is, why, how long it takes, and how to get the paper's."""
        why = "as there is a GPU" if recipe == "fast" else "as there is no GPU"
        time = f": at most {duration(60 * minutes)} after labelling" if minutes else ""
        self.line(f"recipe {recipe}, {why}{time}; the paper's is --recipe paper, others: docs/recipes.md")

    def labelling(self, problems: int) -> None:
        """Begin the bar of labelling."""
        self.start("labelling", problems)

    def labelled(self, item: Labelled) -> None:
        """Advance it, and say which problem is left out, and why."""
        assert self.task is not None
        self.bar.advance(self.task)
        if item.outcome != "labelled":
            reason = f" ({item.message})" if item.message else ""
            known = "; known from before, other limits would try again" if item.cached else ""
            self.line(f"left out {item.path.name}: {item.outcome}{reason}{known}")

    def encoding(self, done: int, states: int) -> None:
        """Show how many states are encoded."""
        if self.task is None or self.bar.tasks[-1].description != "encoding" or self.bar.tasks[-1].total != states:
            self.start("encoding", states)
        assert self.task is not None
        self.bar.update(self.task, completed=done)

    def prepared(self, summary: dict[str, Any]) -> None:
        """Say what there is to learn from."""
        dead, target = summary["dead_ends"], summary["dead_end_target"]
        self.line(
            f"{counted(summary['states'], 'state')} of {counted(summary['problems'], 'problem')}, "
            + f"V* up to {summary['largest_value']}"
            + (
                f", {counted(dead, 'dead end')} {'dropped' if target is None else f'with target {target:g}'}"
                if dead
                else ""
            )
            + f"; validation: {counted(summary['validation_states'], 'state')} "
            + f"of {counted(summary['validation_problems'], 'problem')}"
            + f"; backend {summary['backend']}"
        )
        if summary["inputs"] < summary["states"]:
            self.line(f"merged {summary['states']:,} states into {summary['inputs']:,} of different colour or V*")
        self.tell_extent(Extent.from_json(summary["extent"]))
        self.warn_of_overlap(summary)
        if lessons := summary.get("lessons"):
            problems = counted(len(lessons["problems"]), "problem")
            self.line(f"teacher {lessons['teacher']}: it says what is good where the policy goes on {problems}")
        if not summary["resident"]:
            self.line("states are encoded when they are used: a batch of them or, on a card, some hundred batches")

    def tell_extent(self, extent: Extent) -> None:
        """Say what the training problems have, and what to draw more of."""
        for line in [*describe_extent(extent), *(f"advice: {line}" for line in advise(extent))]:
            self.line(line)

    def warn_of_overlap(self, summary: dict[str, Any]) -> None:
        """Warn where problems are alike, or validation has states of training."""
        split = summary["split"]
        for alike in split["alike"][:NAMED]:
            how = "equal" if alike["equal"] else "isomorphic, as far as colour refinement can tell"
            self.line(f"warning: {how}: {_some(alike['files'])}")
        if len(split["alike"]) > NAMED:
            self.line(f"warning: {len(split['alike']) - NAMED} more such sets of problems: see data.json")
        if split["sharing"]:
            self.line(
                f"warning: {len(split['sharing'])} of {summary['validation_problems']} validation problems share "
                f"states with training problems up to the names of objects, or may, where spaces are sampled: "
                f"{_some(split['sharing'])}"
            )
        if split["rule"] == "shared":
            sharing = "all problems share states, or may, where spaces are sampled"
            why = "there is one problem only" if summary["problems"] == 1 else sharing
            self.line(f"warning: no problem can be held out, as {why}: validation is on training states")

    def progress(self, progress: Any) -> None:
        """Show losses, speed and time left of a seed."""
        facts = f"loss {progress.loss:.3f}"
        if progress.validation is not None:
            facts += f"  validation {progress.validation:.3f} (kept {progress.best:.3f})"
        if progress.optimal is not None:
            facts += f"  optimal {progress.optimal:.1%}"
        if progress.solved is not None:
            facts += f"  solved {progress.solved} of {progress.problems}"
            best = progress.best_solved is not None and progress.best_solved != progress.solved
            facts += f" (kept {progress.best_solved})" if best else ""
        if progress.larger_solved is not None:
            facts += f"  larger {progress.larger_solved} of {progress.larger_problems}"
        if progress.taught:
            facts += f"  taught {progress.taught:,} states"
        if progress.practises:
            facts += f"  practises, round {progress.practises}"
        if progress.lapses:
            facts += f"  back to the best {progress.lapses} ×, learning rate / {2**progress.lapses}"
        if progress.beyond:
            facts += f"  {progress.beyond:,} batches beyond the captured step, taken without it"
        facts += f"  {progress.steps_per_second:.1f} steps/s  {duration(progress.seconds_left)} left"
        name, seed = f"seed {progress.seed}", progress.seed
        if seed not in self.seeds:
            self.seeds[seed] = self.start(name, progress.steps)
            self.task = None  # it stays when the next one starts
        self.bar.update(self.seeds[seed], completed=progress.step, facts=facts)
        now = time.monotonic()
        is_told = progress.practises or progress.step == progress.steps
        if not self.console.is_terminal and (now - self.written.get(seed, 0.0) > PLAIN_SECONDS or is_told):
            self.written[seed] = now
            self.line(f"{name}  step {progress.step}/{progress.steps}  {facts}")

    def trying(self, problems: int) -> None:
        """Begin the bar of larger problems."""
        if problems:
            self.start("larger problems", problems)

    def tried(self, attempt: Attempt) -> None:
        """Advance it."""
        assert self.task is not None
        self.bar.advance(self.task)

    def failed(self, seed: int, error: TrifoldError) -> None:
        """Say which seed is left out, and why."""
        self.line(f"seed {seed} is left out: {error}")


def duration(seconds: float) -> str:
    """A time in words.

    >>> duration(75), duration(7260)
    ('1 min 15 s', '2 h 1 min')
    """
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


def describe_policy(result: TrainingResult) -> str:
    """What the policy of a trained model did, in words."""
    parts = []
    if result.coverage:
        parts.append(f"held-out problems {result.coverage}")
    if larger := result.larger:
        ends = Counter(larger.failures.values())
        why = f" ({', '.join(f'{count} {end}' for end, count in ends.items())})" if ends else ""
        parts.append(f"larger problems {larger}{why}")
    return "; ".join(parts) or "no problem to try its policy on"


def _some(names: list[str]) -> str:
    """The first of some names, and how many more there are."""
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")

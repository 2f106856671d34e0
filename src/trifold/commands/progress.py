"""What a command says on standard error while it works: a bar on a terminal, lines elsewhere, and what goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


@contextmanager
def progress_bar(word: str, total: int, quiet: bool = False) -> Iterator[tuple[Progress, TaskID]]:
    """A bar and its only task; quiet, or elsewhere than on a terminal, nothing is shown; the bar's console tells."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True, highlight=False, markup=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal, transient=True) as bar:
        yield bar, bar.add_task(word, total=total)


@contextmanager
def show_records(
    word: str, total: int, describe: Callable[[Any], str], quiet: bool
) -> Iterator[Callable[[Mapping[str, Any], bool], None]]:
    """A listener that shows each record as it is done, in the words of `describe`, and warnings that are new."""
    if quiet:
        yield lambda record, is_new: None
        return
    with progress_bar(word, total) as (bar, task):
        console, done, warned = bar.console, 0, set[str | None]()

        def listen(record: Mapping[str, Any], is_new: bool) -> None:
            nonlocal done
            done += 1
            if is_new:
                bar.advance(task)
            else:
                bar.reset(task, completed=done)  # what was recorded before tells nothing about the time left
            line = f"[{done}/{total}] {record['problem']}: {describe(record)}{'' if is_new else ' (recorded)'}"
            notes = record.get("warnings")
            for text in [line] if notes is None or notes in warned else [line, f"warning: {notes}"]:
                if console.is_terminal:
                    console.print(text)
                else:
                    typer.echo(text, err=True)
            warned.add(notes)

        yield listen


def tell_waiting(records: Path) -> None:
    """Say that another process writes to the same records, and that this one waits until it has ended."""
    typer.echo(f"waiting: another process writes to {records}", err=True)


@contextmanager
def when_interrupted(words: str) -> Iterator[None]:
    """End with these words, and the exit code of an interrupt, if one comes."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(words, err=True)
        raise typer.Exit(130) from None

"""A bar on standard error that shows how much is done and the time left, where that is a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


@contextmanager
def progress_bar(word: str, total: int) -> Iterator[tuple[Progress, TaskID]]:
    """A bar and its only task; elsewhere than on a terminal nothing is shown, and the bar's console tells which."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True, highlight=False, markup=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        yield bar, bar.add_task(word, total=total)

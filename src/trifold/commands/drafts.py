"""First draws of many problems, in child processes, with a bar that shows them and the time left."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict

from trifold.commands.progress import progress_bar
from trifold.domains import PAPER, Draft, Task
from trifold.errors import TrifoldError

FEW = 200
"""This many problems are drawn before child processes would have started."""

CHUNKS = 200
"""A job is every 200th problem, so that all jobs have about the same sizes, and take about the same time."""


def make_drafts(tasks: Sequence[Task], quiet: bool = False) -> dict[str, Draft]:
    """The first draw of each problem by its place; what cannot be drawn is left out.

    There are none for a few problems, and none for domains that are not the package's, which a child may not know:
    whoever uses the drafts makes what is missing.
    """
    if len(tasks) <= FEW or any(task.domain not in PAPER for task in tasks):
        return {}
    from trifold.processes import Limits, available_cores, run_isolated

    chunks = [tasks[first::CHUNKS] for first in range(min(CHUNKS, len(tasks)))]
    jobs = [{"tasks": list(map(asdict, chunk))} for chunk in chunks]
    drafts: dict[str, Draft] = {}
    results = run_isolated("trifold.domains.drawing:draft_job", jobs, workers=available_cores(), limits=Limits())
    with progress_bar("drawing", len(tasks), quiet) as (bar, drawing), closing(results):
        for result in results:
            if result.value is None or result.error:
                raise TrifoldError(f"problems could not be drawn: {result.outcome}, {result.message}")
            drafts |= {place: Draft(**fields) for place, fields in result.value.items()}
            bar.advance(drawing, len(chunks[result.job]))
    return drafts

"""`trifold table`: coverage and plan lengths from records."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from trifold.commands.options import Json, Plot, check_plot


class Format(StrEnum):
    """How a table is written: a key of `trifold.evaluation.RENDERERS`."""

    TEXT = "text"
    MARKDOWN = "markdown"
    LATEX = "latex"
    JSON = "json"


class Over(StrEnum):
    """What coverage is drawn over: a key of `trifold.evaluation.plot.AXES`."""

    OBJECTS = "objects"
    STEPS = "steps"
    SECONDS = "seconds"


def table(
    records: Annotated[list[Path], typer.Argument(metavar="RECORDS...", help="Files that `trifold evaluate` wrote.")],
    references: Annotated[
        list[Path] | None,
        typer.Option("--references", help="Files that `trifold reference` wrote: show lengths over the best known."),
    ] = None,
    format: Annotated[Format, typer.Option("--format", "-f", help="How to write the table.")] = Format.TEXT,
    plot: Plot = None,
    over: Annotated[
        Over,
        typer.Option(
            "--over", help="What --plot draws coverage over: size of problems, training steps, or seconds a problem."
        ),
    ] = Over.OBJECTS,
    json: Json = False,
) -> None:
    """Print coverage, and total, median and mean plan length, per domain, model and policy.

    Plan lengths are over the instances that the row's own model solved. With --references, three more columns set them
    against the best known, over those of these instances that have a reference. --plot draws the coverage of each model
    and policy, with a panel for each domain.
    """
    from trifold.errors import TrifoldError
    from trifold.evaluation import RENDERERS, best_of_each, plot_coverage, read_records, read_references, summarise
    from trifold.files import write_whole

    kind = check_plot(plot)
    best = best_of_each(one for file in references or () for one in read_references(file))
    found = [record for file in records for record in read_records(file)]
    if not found:
        raise TrifoldError("there are no records", place=", ".join(map(str, records)))
    form = Format.JSON if json else format
    typer.echo(RENDERERS[form](summarise(found, best if references else None)), nl=False)
    if plot is not None:
        write_whole(plot, plot_coverage(found, kind, over.value))

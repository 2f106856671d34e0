"""`trifold table`: coverage and plan lengths from records."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from trifold.commands.options import Json


class Format(StrEnum):
    """How a table is written: a key of `trifold.evaluation.RENDERERS`."""

    TEXT = "text"
    MARKDOWN = "markdown"
    LATEX = "latex"
    JSON = "json"


def table(
    records: Annotated[list[Path], typer.Argument(metavar="RECORDS...", help="Files that `trifold evaluate` wrote.")],
    references: Annotated[
        list[Path] | None,
        typer.Option("--references", help="Files that `trifold reference` wrote: show lengths over the best known."),
    ] = None,
    format: Annotated[Format, typer.Option("--format", "-f", help="How to write the table.")] = Format.TEXT,
    json: Json = False,
) -> None:
    """Print coverage, and total, median and mean plan length, per domain, model and policy.

    Plan lengths are over the instances that the row's own model solved. With --references, three more columns set them
    against the best known, over those of these instances that have a reference.
    """
    from trifold.errors import TrifoldError
    from trifold.evaluation import RENDERERS, best_of_each, read_records, read_references, summarise

    best = best_of_each(one for file in references or () for one in read_references(file))
    found = [record for file in records for record in read_records(file)]
    if not found:
        raise TrifoldError("there are no records", place=", ".join(map(str, records)))
    form = Format.JSON if json else format
    typer.echo(RENDERERS[form](summarise(found, best if references else None)), nl=False)

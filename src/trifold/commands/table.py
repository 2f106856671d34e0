"""`trifold table`: coverage and plan lengths from records."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from trifold.commands.options import Json


class Format(StrEnum):
    """How a table is written: a key of `trifold.evaluation.RENDERERS`, or the page docs/results.md."""

    TEXT = "text"
    MARKDOWN = "markdown"
    LATEX = "latex"
    JSON = "json"
    PAGE = "page"


def table(
    records: Annotated[
        list[Path],
        typer.Argument(
            metavar="RECORDS...", help="Files that `trifold evaluate` wrote; for a page, folders of SET/DOMAIN.jsonl."
        ),
    ],
    references: Annotated[
        list[Path] | None,
        typer.Option("--references", help="Files that `trifold reference` wrote: show lengths over the best known."),
    ] = None,
    notes: Annotated[
        Path | None,
        typer.Option("--notes", exists=True, dir_okay=False, help="For a page: what was tried and did not help."),
    ] = None,
    format: Annotated[
        Format, typer.Option("--format", "-f", help="How to write the table; page: beside the paper's and LAMA's.")
    ] = Format.TEXT,
    json: Json = False,
) -> None:
    """Print coverage, and total, median and mean plan length, per domain, model and policy.

    Plan lengths are over the instances that the row's own model solved. With --references, three more columns set them
    against the best known, over those of these instances that have a reference. The page of a folder of results is what
    docs/results.md shows: every row beside the paper's and LAMA's, and what was not run.
    """
    from trifold.errors import TrifoldError
    from trifold.evaluation import RENDERERS, read_records, summarise
    from trifold.evaluation.page import read_results, results_page
    from trifold.evaluation.references import best_of_each, read_references
    from trifold.files import read_text

    best = best_of_each(one for file in references or () for one in read_references(file))
    if format is Format.PAGE and not json:
        text = read_text(notes) if notes else ""
        typer.echo(results_page(read_results(records), best, text), nl=False)
        return
    found = [record for file in records for record in read_records(file)]
    if not found:
        raise TrifoldError("there are no records", place=", ".join(map(str, records)))
    form = Format.JSON if json else format
    typer.echo(RENDERERS[form](summarise(found, best if references else None)), nl=False)

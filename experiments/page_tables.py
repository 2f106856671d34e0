"""The tables of the page of results, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from trifold.evaluation.comparison import Columns
from trifold.evaluation.tables import markdown_table

Item = TypeVar("Item")


def table(items: Iterable[Item], columns: Columns[Item], names: int) -> str:
    """A line for each item; the first `names` columns are names, to the left, and the others numbers."""
    return markdown_table([[*columns], *([column(item) for column in columns.values()] for item in items)], names=names)


def grouped_table(items: Iterable[Item], columns: Columns[Item], names: int) -> str:
    """A table in which the name of a domain, its first column, stands in its first line alone."""
    rows = [[column(item) for column in columns.values()] for item in items]
    before = ["", *(row[0] for row in rows)]
    rows = [["" if row[0] == last else row[0], *row[1:]] for last, row in zip(before, rows, strict=False)]
    return markdown_table([[*columns], *rows], names=names)

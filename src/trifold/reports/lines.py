"""The lines of a report's tables, ours and the paper's: made as those of the page of results are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from trifold.evaluation import (
    LINE_COLUMNS,
    PUBLISHED_IN,
    UNKNOWN,
    Line,
    Record,
    Reference,
    Row,
    are_own_files,
    best_total,
    make_line,
    paper_line,
    published_rows,
)
from trifold.pages import Publication, TableLine

Ours = Sequence[tuple[Row, Sequence[Record]]]
"""The rows of a domain, each with its attempts."""

COLUMNS: dict[str, Callable[[Line], str]] = {
    **LINE_COLUMNS,
    "By search": lambda line: line.searched,
    "Failures": lambda line: line.failures,
}
NAMES = 3
"""How many columns hold words: domain, model and policy."""
OWN = "These are the very files that the paper's numbers are about."
SOME_OWN = "The paper's numbers are about the very files of some rows here: {}."
OTHERS = (
    "The paper's numbers are about other instances of the domain that it calls {}: lengths do not compare, and "
    "coverage does so far as the instances are as hard."
)


@dataclass(frozen=True)
class Lines:
    """The lines of a domain: ours, and the paper's by architecture; `instances` says what these are about."""

    ours: list[Line]
    paper: dict[str, Line]
    instances: str = ""


def make_lines(domain: str, ours: Ours, references: Mapping[str, Reference] | None) -> Lines:
    """Our lines about a domain, and the paper's if it has a domain of that name."""
    lines, rows = [make_line(domain, row, row.instances) for row, _ in ours], published_rows(domain)
    if not rows:
        return Lines(lines, {})
    domain_in_paper, size = rows[0].domain, rows[0].instances
    own = [row for row in ours if are_own_files(domain_in_paper, _files(row[1]))]
    problems = {digest for _, attempts in own for digest in _files(attempts).values()}
    best = best_total(problems, references or {}, size)
    paper = {row.model: paper_line(domain, row, bool(own), best) for row in rows}
    some = SOME_OWN.format("; ".join(f"{row.model} by {row.acts}" for row, _ in own))
    return Lines(lines, paper, OTHERS.format(domain_in_paper) if not own else OWN if len(own) == len(ours) else some)


def _files(attempts: Sequence[Record]) -> dict[str, str]:
    """The names of the problems that were attempted, each with its SHA-256."""
    return {one["problem"]: one["problem_sha256"] for one in attempts}


def overview(domains: Mapping[str, tuple[Ours, Lines]]) -> tuple[tuple[str, ...], tuple[TableLine, ...]]:
    """The table of all domains: our lines, and those of the paper about architectures of ours."""
    told: list[tuple[Line, bool]] = []
    for ours, lines in domains.values():
        models = {attempts[0]["model"] for _, attempts in ours}
        told += [(line, False) for line in lines.ours]
        told += [(line, True) for name, line in lines.paper.items() if name in models]
    return _table(told)


def publication(lines: Lines) -> Publication | None:
    """All that the paper says of a domain, below our lines; None if it has no such domain."""
    if not lines.paper:
        return None
    told = [*((line, False) for line in lines.ours), *((line, True) for line in lines.paper.values())]
    return Publication(PUBLISHED_IN, lines.instances, *_table(told))


def _table(told: Sequence[tuple[Line, bool]]) -> tuple[tuple[str, ...], tuple[TableLine, ...]]:
    """The heads and the lines of a table; what no line knows gets no column."""
    shown = {name: column for name, column in COLUMNS.items() if any(column(line) != UNKNOWN for line, _ in told)}
    return tuple(shown), tuple(TableLine(tuple(column(line) for column in shown.values()), own) for line, own in told)

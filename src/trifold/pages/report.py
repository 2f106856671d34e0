"""The report page: what trainings learned from and how, and what policies did, on one page.

These classes are all that the page says, and they know nothing of run folders or records: `trifold.reports` makes them
of those. All texts in them are shown as text.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from trifold.pages.kinds import REPORT, TRACE
from trifold.pages.skeleton import fill

Facts = tuple[tuple[str, str], ...]
"""Names, each with what is said of it."""


@dataclass(frozen=True)
class Labelled:
    """A problem of a training, as it was labelled; `role` says what it served for."""

    file: str
    role: str
    outcome: str
    message: str
    states: int
    kept: int
    dead_ends: int
    largest_value: int


@dataclass(frozen=True)
class Seed:
    """One of the models that a run trained: its metrics, line by line; `is_kept` if it is the run's model."""

    name: str
    is_kept: bool
    lines: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Training:
    """What a run says of itself.

    summary  the recipe, the architecture and the problems in a line
    data     what was trained on
    sizes    (objects, how many training problems have so many), ascending
    recipe   the sections of the recipe, each with its keys
    origin   the command, versions and hardware
    """

    name: str
    summary: str
    data: Facts
    sizes: tuple[tuple[int, int], ...]
    recipe: tuple[tuple[str, Facts], ...]
    origin: Facts
    problems: tuple[Labelled, ...]
    seeds: tuple[Seed, ...]


@dataclass(frozen=True)
class Tried:
    """A problem that was attempted. None: not known; `best` is the best plan length known."""

    name: str
    objects: int | None
    best: int | None = None
    is_optimal: bool = False


@dataclass(frozen=True)
class Attempt:
    """One attempt at a problem.

    problem  its index among the problems of its domain
    outcome  None if it was solved: then `length` is that of the plan
    command  for a failure, the command that shows it step by step
    trace    the index of its trace among those of the report
    note     why a failure has no trace, or what the trace leaves out
    """

    problem: int
    seconds: float
    length: int | None = None
    outcome: str | None = None
    message: str | None = None
    steps: int = 0
    command: str | None = None
    trace: int | None = None
    note: str | None = None


@dataclass(frozen=True)
class Contender:
    """A model with what it acts by, or a planner, and its attempts."""

    model: str
    acts: str
    attempts: tuple[Attempt, ...]


@dataclass(frozen=True)
class TableLine:
    """A line of a table: of what was tried, or of what is published."""

    cells: tuple[str, ...]
    is_published: bool = False


@dataclass(frozen=True)
class Publication:
    """What is published about a domain: where, about which instances, and a table of it beside what was tried."""

    source: str
    instances: str
    heads: tuple[str, ...]
    lines: tuple[TableLine, ...]


@dataclass(frozen=True)
class Evaluated:
    """What was tried on the problems of a domain, and by whom."""

    domain: str
    problems: tuple[Tried, ...]
    contenders: tuple[Contender, ...]
    published: Publication | None = None


@dataclass(frozen=True)
class Report:
    """All that a report page says.

    heads   of the columns of the table over all domains, and of those of domains, `names` of which hold words
    lines   of the table over all domains
    traces  the data of trace pages, that open within the report
    """

    title: str
    trainings: tuple[Training, ...] = ()
    evaluated: tuple[Evaluated, ...] = ()
    heads: tuple[str, ...] = ()
    lines: tuple[TableLine, ...] = ()
    names: int = 0
    traces: tuple[str, ...] = ()


TRACE_DATA = "the data of a trace"


def render_report(report: Report) -> str:
    """The page of a report: HTML that needs no other file.

    >>> page = render_report(Report("nothing yet"))
    >>> page.count("<script"), "https:" in page, page[:15]
    (2, False, '<!doctype html>')
    """
    if not report.traces:
        return fill(REPORT, report.title, asdict(report))
    frame = fill(TRACE, "A trace", TRACE_DATA).split(f'"{TRACE_DATA}"')
    return fill(REPORT, report.title, asdict(report) | {"frame": frame}, within=(TRACE,))

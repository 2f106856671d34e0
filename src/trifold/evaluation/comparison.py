"""Our rows and published ones side by side: the lines of which the page of results and report pages are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from trifold.evaluation.published import SECONDS, SEEDS, Published
from trifold.evaluation.records import Record
from trifold.evaluation.references import Reference
from trifold.evaluation.tables import Row, spell_coverage, summarise

NOT_RUN = "not run"
UNKNOWN = "–"

Item = TypeVar("Item")
Columns = Mapping[str, Callable[[Item], str]]
"""The heading of each column, and what it shows of an item."""


@dataclass(frozen=True)
class Line:
    """What a model or planner did on the problems of a domain, as text."""

    domain: str
    model: str
    policy: str
    coverage: str = NOT_RUN
    searched: str = UNKNOWN
    total: str = UNKNOWN
    median: str = UNKNOWN
    mean: str = UNKNOWN
    quality: str = UNKNOWN
    proved: str = UNKNOWN
    seconds: str = UNKNOWN
    failures: str = UNKNOWN
    hardware: str = UNKNOWN
    seeds: str = UNKNOWN
    training_seconds: str = UNKNOWN
    in_the_paper: str = UNKNOWN


LINE_COLUMNS: Columns[Line] = {
    "Domain": lambda line: line.domain,
    "Model": lambda line: line.model,
    "Policy": lambda line: line.policy,
    "Coverage": lambda line: line.coverage,
    "Total": lambda line: line.total,
    "Median": lambda line: line.median,
    "Mean": lambda line: line.mean,
    "Length / best known": lambda line: line.quality,
    "Proved optimal": lambda line: line.proved,
    "Seconds a problem": lambda line: line.seconds,
    "Hardware": lambda line: line.hardware,
    "Seeds": lambda line: line.seeds,
    "Training seconds": lambda line: line.training_seconds,
}


def make_lines(
    domain: str, records: Sequence[Record], references: Mapping[str, Reference] | None, size: int
) -> list[Line]:
    """The lines of some records, one for each policy, model file and setting; the set has `size` problems."""
    return [make_line(domain, row, size) for row in summarise(records, references)]


def make_line(domain: str, row: Row, size: int) -> Line:
    """The line of a row; of the problems of the set, which has `size`, it says how many were not run."""
    return Line(
        domain,
        row.model,
        row.acts,
        coverage=coverage(row) + missing(row, size),
        searched=number(row.searched, ","),
        total=number(row.total, ","),
        median=number(row.median, "g"),
        mean=number(row.mean, ".1f"),
        quality=quality(row),
        proved=_proved(row),
        seconds=f"{row.seconds / row.instances:.2f}",
        failures=", ".join(f"{count:,} {outcome}" for outcome, count in row.failures.items()) or "none",
        hardware=", ".join(row.hardware) or UNKNOWN,
        seeds=number(row.seeds, ""),
        training_seconds=number(row.training_seconds, ",.0f"),
    )


def paper_line(domain: str, row: Published, is_own: bool, best: int | None) -> Line:
    """The paper's row; its length over the best known can be told only where all was solved.

    is_own  whether it is about the very problems of the lines beside it
    best    the best total known of these problems
    """
    ratio = UNKNOWN
    if best and row.total and row.solved == row.instances:
        ratio = f"{row.total:,} / {best:,} = {row.total / best:.3f}"
    return Line(
        domain,
        f"{row.model} in the paper" + ("" if is_own else ", other instances"),
        row.policy,
        coverage=coverage(row),
        total=number(row.total, ","),
        median=number(row.median, "g"),
        mean=number(row.mean, ""),
        quality=ratio,
        seeds=str(SEEDS),
        training_seconds=f"{SECONDS:,}",
    )


def coverage(row: Row | Published) -> str:
    """How many instances were solved, of those that were run."""
    return spell_coverage(row.solved, row.instances)


def missing(row: Row, size: int) -> str:
    """What follows the coverage if some of the problems of the set were not run."""
    return f", {size - row.instances} {NOT_RUN}" if row.instances < size else ""


def quality(row: Row) -> str:
    """Length over the best known, and over how many of the solved instances, if not over all."""
    known = row.quality
    if known is None or known.ratio is None:
        return UNKNOWN
    part = "" if known.instances == row.solved else f" ({known.instances} of {row.solved})"
    return f"{known.length:,} / {known.best:,} = {known.ratio:.3f}{part}"


def _proved(row: Row) -> str:
    return f"{row.quality.optimal} of {row.quality.instances}" if row.quality and row.quality.instances else UNKNOWN


def number(value: float | None, form: str) -> str:
    """A number in a format, or a dash if it is not known."""
    return UNKNOWN if value is None else format(value, form)


def best_total(problems: Iterable[str], references: Mapping[str, Reference], size: int) -> int | None:
    """The best total known of a set of problems, if it is known of each of the `size` that it has."""
    best = [length for one in set(problems) if one in references and (length := references[one]["length"])]
    return sum(best) if len(best) == size else None

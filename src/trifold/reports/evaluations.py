"""What records say of policies and planners, domain by domain, beside the best known and what is published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

from trifold.evaluation import FIRST_PLAN, Record, Reference, Row, attempt_key, rows_apart
from trifold.limits import MAX_STEPS
from trifold.outcomes import Outcome
from trifold.pages import Attempt, Contender, Evaluated, TableLine, Tried
from trifold.reports.lines import Lines, Ours, make_lines, overview, publication
from trifold.reports.places import Places


@dataclass
class Traces:
    """Traces of failures, and why some have none.

    texts    the data of trace pages
    numbers  attempt → the index of its trace
    notes    attempt → why it has none, though one was asked for
    """

    texts: list[str] = field(default_factory=list)
    numbers: dict[tuple[object, ...], int] = field(default_factory=dict)
    notes: dict[tuple[object, ...], str] = field(default_factory=dict)


Heads = tuple[str, ...]


def tell_evaluations(
    records: Sequence[Record], references: Mapping[str, Reference] | None, places: Places, traces: Traces
) -> tuple[tuple[Heads, tuple[TableLine, ...]], tuple[Evaluated, ...]]:
    """The table over all domains, its heads and its lines, and what was tried of each domain."""
    ours: dict[str, list[tuple[Row, list[Record]]]] = {}
    for row, attempts in rows_apart(records, references):
        ours.setdefault(row.domain, []).append((row, attempts))
    domains = {domain: (rows, make_lines(domain, rows, references)) for domain, rows in ours.items()}
    return overview(domains), tuple(
        _tell(domain, rows, lines, references or {}, places, traces) for domain, (rows, lines) in domains.items()
    )


def _tell(
    domain: str, rows: Ours, lines: Lines, references: Mapping[str, Reference], places: Places, traces: Traces
) -> Evaluated:
    tried: dict[str, Tried] = {}
    for record in (record for _, attempts in rows for record in attempts):
        name, known = record["problem_sha256"], tried.get(record["problem_sha256"])
        objects = record["objects"] if known is None or known.objects is None else known.objects
        reference = references.get(name)
        best, is_optimal = (None, False) if reference is None else (reference["length"], _is_optimal(reference))
        tried[name] = Tried(record["problem"], objects, best, is_optimal)
    order = sorted(tried, key=lambda name: (tried[name].objects or 0, tried[name].name))
    index = {name: number for number, name in enumerate(order)}
    contenders = tuple(
        Contender(
            row.model,
            row.acts,
            tuple(sorted((_attempt(one, index, places, traces) for one in attempts), key=lambda one: one.problem)),
        )
        for row, attempts in rows
    )
    return Evaluated(domain, tuple(tried[name] for name in order), contenders, publication(lines))


def _is_optimal(reference: Reference) -> bool:
    return reference["kind"] == Outcome.OPTIMAL


def _attempt(record: Record, index: Mapping[str, int], places: Places, traces: Traces) -> Attempt:
    key = attempt_key(record)
    solved = record["outcome"] == Outcome.SOLVED
    return Attempt(
        index[record["problem_sha256"]],
        round(record["seconds"], 4),
        record["plan_length"],
        None if solved else record["outcome"],
        record["message"],
        record["steps"],
        None if solved else explain_command(record, places.find(record)),
        traces.numbers.get(key),
        None if solved else traces.notes.get(key) or _note(record),
    )


def _note(record: Record) -> str | None:
    """What a trace of a failure shows, where that is not all that was done."""
    if record["policy"] == FIRST_PLAN:
        return "No trace: a planner that finds no plan says nothing of the states that it saw"
    search = record.get("search")
    return None if search is None else f"A trace shows the policy; {search}, which searched after it, found no plan"


def explain_command(record: Record, problem: Path | None) -> str | None:
    """The command that shows what the policy of an attempt did; None for a planner's, and where no policy began."""
    if record["policy"] == FIRST_PLAN or record["outcome"] == Outcome.BAD_INPUT:
        return None
    file = quote(str(problem or record["problem"]))
    steps = "" if record["max_steps"] == MAX_STEPS else f" --max-steps {record['max_steps']}"
    asked = f"--policy {quote(record['policy'])}{steps}"
    return f"trifold explain {quote(record['model_path'])} {file} {asked} --html trace.html"

"""References: for each problem the best plan length known, and whether it is known to be optimal.

One flat JSON object per problem and search for it is appended to a file of lines, which survives interruption as the
records of attempts do.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypedDict, cast

from trifold.evaluation.planner import FAILED, OPTIMAL, Job, find_planner, planner_version
from trifold.evaluation.records import Record, append_record, file_sha256, read_typed_lines
from trifold.files import in_turn, make_folder
from trifold.processes import Limits, Result, run_isolated

SCHEMA = 1

CHECKING_SECONDS = 120.0
"""What replaying plans may take on top of the time for a problem."""


class Reference(TypedDict):
    """What the planner found for one problem. None stands for what it did not live to say."""

    schema: int  # first, so that a torn line can be told from a foreign one
    timestamp: str  # UTC, at the end
    domain: str | None  # its name
    domain_sha256: str
    problem: str  # the name of the file
    problem_sha256: str
    kind: str  # "optimal", "best known", "no plan": none within the limits; "failed": worth another try
    length: int | None
    search: str | None  # that found the plan
    message: str | None  # how the searches that found no valid plan ended
    seconds: float
    timeout: float | None  # of all searches together; None: the plan was not searched for
    optimal_timeout: float | None  # of the optimal ones
    memory_gib: float | None  # of address space
    planner: str  # such as Fast Downward 26.6
    trifold_version: str
    pymimir_version: str
    python_version: str


INSTANCE_FIELDS = ("domain_sha256", "problem_sha256")
LIMIT_FIELDS = ("timeout", "optimal_timeout", "memory_gib", "planner")


def find_references(
    problems: Sequence[Path | str],
    domain: Path | str,
    *,
    records: Path | str,
    planner: Path | str | None = None,
    timeout: float = 300.0,
    optimal_timeout: float | None = None,
    memory_gib: float | None = None,
    workers: int = 1,
    on_record: Callable[[Reference, bool], None] | None = None,
    on_wait: Callable[[], None] | None = None,
) -> list[Reference]:
    """Look for the best plan of each problem, and return one record per problem, in their order.

    Each record is appended to the file `records` as soon as it is known. What that file already holds as optimal, or
    under the same limits, is not looked for again, unless it failed. `on_record` is called with each record and whether
    it is new: first for the old ones, then as searches end, and `on_wait` before this one waits for another that writes
    to the same file.

    A problem gets `timeout` seconds, of which the optimal searches share `optimal_timeout` (half, if None) and LAMA
    takes the rest. `memory_gib` bounds each process. `planner` None is the fast-downward.py of the package
    up-fast-downward; another is run by this Python as well.
    """
    records, domain = Path(records), Path(domain)
    files = list(dict.fromkeys(map(Path, problems)))
    driver = Path(planner).resolve() if planner else find_planner()
    optimal_timeout = timeout / 2 if optimal_timeout is None else min(optimal_timeout, timeout)
    shared: dict[str, Any] = {  # what is known of every record beforehand
        "schema": SCHEMA,
        "domain_sha256": file_sha256(domain),
        "timeout": timeout,
        "optimal_timeout": optimal_timeout,
        "memory_gib": memory_gib,
        "planner": planner_version(driver),
        "python_version": platform.python_version(),
        **{f"{package}_version": version(package) for package in ("trifold", "pymimir")},
    }
    asked = {file: shared | {"problem": file.name, "problem_sha256": file_sha256(file)} for file in files}
    make_folder(records.parent)
    with in_turn(records, on_wait):
        recorded = read_references(records)
        found: dict[Path, Reference] = {}
        for file in files:
            record = next((record for record in reversed(recorded) if _answers(record, asked[file])), None)
            if record:
                found[file] = record
                if on_record:
                    on_record(record, False)

        pending = [file for file in files if file not in found]
        results = run_isolated(
            "trifold.evaluation.planner:reference_job",
            [asdict(Job(str(driver), str(domain), str(file), timeout, optimal_timeout)) for file in pending],
            workers=workers,
            limits=Limits(timeout + CHECKING_SECONDS, memory_gib),
        )
        with closing(results):
            for result in results:
                file = pending[result.job]
                record = found[file] = _record(asked[file], result)
                append_record(records, cast(Record, record))  # it begins as a record does, and no more is asked of it
                if on_record:
                    on_record(record, True)
        return [found[file] for file in files]


def read_references(path: Path) -> list[Reference]:
    """All whole references of a file, in order; torn lines are left out, anything else is refused."""
    return read_typed_lines(path, Reference, SCHEMA, "reference")


def best_of_each(references: Iterable[Reference]) -> dict[str, Reference]:
    """Of each problem that has a plan its best reference, by the SHA-256 of the problem's text.

    The best is the shortest, and of equal ones that which is known to be optimal.
    """

    def rank(reference: Reference) -> tuple[int, bool]:
        return reference["length"] or 0, reference["kind"] != OPTIMAL

    best: dict[str, Reference] = {}
    for reference in references:
        if reference["length"] is not None:
            rival = best.setdefault(reference["problem_sha256"], reference)
            best[reference["problem_sha256"]] = min(rival, reference, key=rank)
    return best


def _answers(record: Reference, asked: dict[str, Any]) -> bool:
    """Whether what is recorded is what would be looked for."""
    if any(record.get(field) != asked[field] for field in INSTANCE_FIELDS):
        return False
    is_same = all(record.get(field) == asked[field] for field in LIMIT_FIELDS)
    return record["kind"] == OPTIMAL or (is_same and record["kind"] != FAILED)


def _record(asked: dict[str, Any], result: Result) -> Reference:
    """The schema's fields in the schema's order."""
    failure = {"domain": None, "kind": FAILED, "length": None, "search": None, "message": result.message}
    answer = result.value if result.outcome == "ok" and result.value else failure
    now = datetime.now(UTC).isoformat(timespec="seconds")
    fields = asked | answer | {"timestamp": now, "seconds": result.seconds}
    return cast(Reference, {field: fields[field] for field in Reference.__annotations__})

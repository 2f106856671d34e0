"""LAMA's first plan of each problem, as records of attempts: so a table has a planner beside the policies.

Every action costs one, as in references, and no plan counts that does not replay.
"""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from trifold.evaluation.attempt import OUTCOMES
from trifold.evaluation.planner import (
    DOMAIN,
    MEMORY_LIMIT,
    PROBLEM,
    TIME_LIMIT,
    UNSOLVABLE,
    Job,
    find_planner,
    planner_version,
    run_search,
    without_metric,
)
from trifold.evaluation.records import (
    SCHEMA,
    Record,
    append_record,
    attempt_key,
    command_line,
    file_sha256,
    read_records,
)
from trifold.evaluation.references import CHECKING_SECONDS
from trifold.files import in_turn, make_folder, read_bytes
from trifold.pddl.executor import Executor
from trifold.planning import Outcome, judge
from trifold.processes import Limits, Result, run_isolated
from trifold.provenance import processor_name

PLANNER, POLICY = "LAMA", "first plan"

ENDS = {TIME_LIMIT: Outcome.TIMEOUT, MEMORY_LIMIT: Outcome.MEMORY_LIMIT, UNSOLVABLE: Outcome.STUCK}
"""How a search without a plan ended, as an outcome; any other end is a crash, and worth another try."""


def find_first_plans(
    problems: Sequence[Path | str],
    domain: Path | str,
    *,
    records: Path | str,
    planner: Path | str | None = None,
    timeout: float = 300.0,
    memory_gib: float | None = None,
    workers: int = 1,
    on_record: Callable[[Record, bool], None] | None = None,
    on_wait: Callable[[], None] | None = None,
) -> list[Record]:
    """Ask LAMA for the first plan of each problem, and return one record per problem, in their order.

    Each record is appended to the file `records` as soon as it is known; what that file already holds under the same
    limits is not done again, unless it crashed. `on_wait` is called before this one waits for another that writes to
    the same file. `planner` None is the fast-downward.py of the package up-fast-downward.
    """
    records, domain = Path(records), Path(domain)
    files = list(dict.fromkeys(map(Path, problems)))
    driver = Path(planner).resolve() if planner else find_planner()
    shared: dict[str, Any] = dict.fromkeys(Record.__annotations__) | {  # of a planner much of a record says nothing
        "schema": SCHEMA,
        "model": PLANNER,
        "model_path": planner_version(driver),
        "model_sha256": file_sha256(driver),
        "domain": _domain_name(domain),
        "domain_sha256": file_sha256(domain),
        "policy": POLICY,
        "max_steps": 0,
        "timeout": timeout,
        "memory_gib": memory_gib,
        "device": "cpu",
        "device_used": "cpu",
        "steps": 0,
        "command": command_line(),
        "hardware": processor_name(),
        "python_version": platform.python_version(),
        **{f"{package}_version": version(package) for package in ("trifold", "torch", "pymimir")},
    }
    asked = {file: shared | {"problem": file.name, "problem_sha256": file_sha256(file)} for file in files}
    make_folder(records.parent)
    with in_turn(records, on_wait):
        recorded = {attempt_key(record): record for record in read_records(records)}
        known = {file: recorded.get(attempt_key(asked[file])) for file in files}
        found = {file: record for file, record in known.items() if record and record["outcome"] != Outcome.CRASH}
        for record in found.values():
            if on_record:
                on_record(record, False)

        pending = [file for file in files if file not in found]
        results = run_isolated(
            "trifold.evaluation.first_plan:first_plan_job",
            [asdict(Job(str(driver), str(domain), str(file), timeout, 0.0)) for file in pending],
            workers=workers,
            limits=Limits(timeout + CHECKING_SECONDS, memory_gib),
        )
        with closing(results):
            for result in results:
                file = pending[result.job]
                record = found[file] = _record(asked[file], result)
                append_record(records, record)
                if on_record:
                    on_record(record, True)
        return [found[file] for file in files]


def first_plan_job(job: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """What runs in a child process: run LAMA until its first plan, and return what its record says of it."""
    asked = Job(**job)
    executor = Executor.load(Path(asked.domain), Path(asked.problem))
    texts = {DOMAIN: without_metric(asked.domain), PROBLEM: without_metric(asked.problem)}
    start = time.monotonic()
    end, plans = run_search(asked.planner, ("--alias", "lama-first", DOMAIN, PROBLEM), texts, asked.timeout)
    about = {
        "domain": executor.domain.name,
        "objects": len(executor.problem.objects),
        "seconds": time.monotonic() - start,  # of the planner: what we read and replay is no work of its
    }
    if not plans:
        return about | {"outcome": ENDS.get(end, Outcome.CRASH), "message": end}
    plan = plans[0]  # it stops at the first
    check = judge(executor, plan)
    if not check:
        return about | {"outcome": Outcome.INVALID_PLAN, "message": check.failure}
    return about | {"outcome": Outcome.SOLVED, "plan_length": len(plan), "steps": len(plan)}


def _domain_name(domain: Path) -> str:
    """The name in a domain file, read as text: for what fails before it is parsed."""
    found = re.search(r"\(\s*domain\s+([^\s()]+)", read_bytes(domain).decode(errors="replace"), re.IGNORECASE)
    return found[1] if found else ""


def _record(asked: dict[str, Any], result: Result) -> Record:
    """The schema's fields in the schema's order."""
    failure = {"outcome": OUTCOMES.get(result.outcome, Outcome.CRASH), "message": result.message}
    answer = result.value if result.outcome == "ok" and result.value else failure | {"seconds": result.seconds}
    fields = asked | answer | {"timestamp": datetime.now(UTC).isoformat(timespec="seconds")}
    return cast(Record, {field: fields[field] for field in Record.__annotations__})

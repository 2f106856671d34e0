"""Evaluation: one model on many problems, in parallel, one record per instance, safe to interrupt and continue."""

from __future__ import annotations

import math
import os
import platform
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from trifold.errors import TrifoldError
from trifold.evaluation.attempt import Attempt, attempt_each, describe
from trifold.evaluation.job import Job
from trifold.evaluation.records import (
    SCHEMA,
    Record,
    append_record,
    attempt_key,
    command_line,
    file_sha256,
    read_records,
)
from trifold.files import MOST_DATA_BYTES, in_turn, make_folder
from trifold.planning import Outcome, write_plan
from trifold.processes import available_cores
from trifold.shipped import find_model


def evaluate(
    model: Path | str,
    problems: Sequence[Path | str],
    *,
    records: Path | str,
    domain: Path | str | None = None,
    plans: Path | str | None = None,
    strict: bool = False,
    max_steps: int = 1000,
    timeout: float | None = None,
    memory_gib: float | None = None,
    workers: int = 1,
    device: str = "auto",
    on_record: Callable[[Record, bool], None] | None = None,
    on_wait: Callable[[], None] | None = None,
) -> list[Record]:
    """Attempt each problem with the model's policy, and return one record per problem, in their order.

    Each record is appended to the file `records` as soon as its attempt ends. What that file already holds for the
    same model, domain, problem and settings is not attempted again, unless it crashed, or its plan is wanted and not
    there. `on_record` is called with each record and whether it is new: first for the old ones, then as attempts
    end. With `plans`, the plan for p1.pddl is written to p1.plan in that folder. Evaluations into one file take turns:
    `on_wait` is called before this one waits for another.

    `model` is a file or the name of a shipped model, and `domain` None the domain that the model carries. `timeout`
    and `memory_gib` bound each attempt, parsing included; `workers` child processes run attempts and share the cores.
    """
    file, records = find_model(model), Path(records)
    domain, plans = Path(domain) if domain else None, Path(plans) if plans else None
    files = list(dict.fromkeys(map(Path, problems)))
    plan_files = _plan_files(files, plans)
    shared: dict[str, Any] = {  # what is known of every record beforehand
        "schema": SCHEMA,
        "model_path": str(model),
        "model_sha256": file_sha256(file, MOST_DATA_BYTES),
        "domain_sha256": file_sha256(domain) if domain else None,
        "policy": "strict" if strict else "unvisited",
        "max_steps": max_steps,
        "timeout": timeout,
        "memory_gib": memory_gib,
        "device": device,
        "command": command_line(),
        "python_version": platform.python_version(),
        **{f"{package}_version": version(package) for package in ("trifold", "torch", "pymimir")},
    }
    asked = {problem: shared | {"problem": problem.name, "problem_sha256": file_sha256(problem)} for problem in files}
    make_folder(records.parent)
    with in_turn(records, on_wait):
        recorded = {attempt_key(record): record for record in read_records(records)}
        found: dict[Path, Record] = {}
        for problem in files:
            record = recorded.get(attempt_key(asked[problem]))
            if record and record["outcome"] != Outcome.CRASH and not _lacks_plan(record, plan_files.get(problem)):
                found[problem] = record
                if on_record:
                    on_record(record, False)

        pending = [problem for problem in files if problem not in found]
        workers = max(1, min(workers, len(pending)))
        jobs = [
            Job(
                model=str(file),
                problem=str(problem),
                domain=str(domain) if domain else None,
                strict=strict,
                max_steps=max_steps,
                device=device,
                threads=threads_each(workers),
            )
            for problem in pending
        ]
        if jobs:
            about = describe(
                jobs[0], timeout=timeout, memory_gib=memory_gib
            )  # what is wrong with the model or the domain is wrong once, not once per problem
        with closing(attempt_each(jobs, workers=workers, timeout=timeout, memory_gib=memory_gib)) as attempts:
            for attempt in attempts:
                problem = Path(attempt.job.problem)
                if attempt.outcome is Outcome.SOLVED and problem in plan_files:
                    write_plan(plan_files[problem], attempt.actions)
                record = _record(asked[problem], about, attempt)
                append_record(records, record)  # after the plan: a record says that all is done
                found[problem] = record
                if on_record:
                    on_record(record, True)
        return [found[problem] for problem in files]


def _record(asked: dict[str, Any], about: dict[str, Any], attempt: Attempt) -> Record:
    """The schema's fields in the schema's order."""
    first = attempt.values[0] if attempt.values else math.nan
    fields = asked | {
        "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
        "model": about["model"],
        "domain": about["domain"],
        "device_used": about["device"],
        "hardware": about["hardware"],
        **{f"training_{fact}": value for fact, value in about["origin"].items()},
        "objects": attempt.about["objects"] if attempt.about else None,
        "outcome": attempt.outcome.value,
        "message": str(attempt.error) if attempt.error else None,
        "warnings": "; ".join(attempt.warnings) or None,
        "plan_length": len(attempt.actions) if attempt.outcome is Outcome.SOLVED else None,
        "steps": len(attempt.actions),
        "initial_value": first if math.isfinite(first) else None,  # JSON has no infinity
        "states_evaluated": attempt.evaluated,
        "seconds": attempt.seconds,
        "seconds_per_step": attempt.seconds_per_step,
    }
    return cast(Record, {field: fields[field] for field in Record.__annotations__})


def threads_each(workers: int) -> int:
    """The threads of each of so many workers: what OMP_NUM_THREADS says, or an equal share of the cores.

    A busy machine needs the former: two threads that wait for each other are slower than one, often ten times.
    """
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return int(asked) if asked.isdigit() and int(asked) else max(1, available_cores() // workers)


def _plan_files(problems: Sequence[Path], plans: Path | None) -> dict[Path, Path]:
    """Where the plan of each problem goes; nothing if no plans are wanted."""
    if plans is None:
        return {}
    files = {problem: plans / f"{problem.stem}.plan" for problem in problems}
    twice = [file.name for file, count in Counter(files.values()).items() if count > 1]
    if twice:
        raise TrifoldError(
            f"two problems would write {twice[0]}", place=str(plans), remedy="evaluate their folders one by one"
        )
    make_folder(plans)
    return files


def _lacks_plan(record: Record, plan: Path | None) -> bool:
    return plan is not None and record["outcome"] == Outcome.SOLVED and not plan.exists()

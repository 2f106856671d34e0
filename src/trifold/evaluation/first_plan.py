"""LAMA's first plan of each problem, as records of attempts: so a table has a planner beside the policies.

Every action costs one, as in references, and no plan counts that does not replay.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

from trifold.evaluation.plan_files import keep_plan, plan_folder, with_plans
from trifold.evaluation.planner import DOMAIN, PROBLEM, Planner, PlannerJob, ask_each, find_planner, planner_version
from trifold.evaluation.recording import run_recorded
from trifold.evaluation.records import SCHEMA, Record, command_line, file_sha256, last_of_each, read_records, settles
from trifold.files import read_bytes
from trifold.outcomes import Outcome
from trifold.planning import judge
from trifold.processes import Workers
from trifold.provenance import processor_name

PLANNER, FIRST_PLAN = "LAMA", "first plan"


def find_first_plans(
    problems: Sequence[Path | str],
    domain: Path | str,
    *,
    records: Path | str,
    plans: Path | str | None = None,
    planner: Path | str | None = None,
    timeout: float = 300.0,
    memory_gib: float | None = None,
    workers: Workers = 1,
    on_record: Callable[[Record, bool], None] | None = None,
    on_wait: Callable[[], None] | None = None,
) -> list[Record]:
    """Ask LAMA for the first plan of each problem, and return one record per problem, in their order.

    Each record is appended to the file `records` as soon as it is known; what that file already holds under the same
    limits is not done again, unless it crashed, or its plan is wanted and not there. With `plans`, the plan for p1.pddl
    is written to p1.plan in that folder. `on_wait` is called before this one waits for another that writes to the same
    file. `planner` None is the fast-downward.py of the package up-fast-downward.
    """
    driver, folder = Path(planner).resolve() if planner else find_planner(), plan_folder(plans, problems)
    asked_for = str(driver) if planner else None  # a child on another machine looks for its own
    asked: dict[str, Any] = dict.fromkeys(Record.__annotations__) | {  # of a planner much of a record says nothing
        "schema": SCHEMA,
        "model": PLANNER,
        "model_path": planner_version(driver),
        "model_sha256": file_sha256(driver),
        "domain": _domain_name(Path(domain)),
        "domain_sha256": file_sha256(Path(domain)),
        "policy": FIRST_PLAN,
        "max_steps": 0,
        "timeout": timeout,
        "memory_gib": memory_gib,
        "device": "cpu",
        "device_used": "cpu",
        "steps": 0,
        "command": command_line(),
        "hardware": processor_name(),
    }

    def run(pending: list[Path]) -> Generator[tuple[Path, dict[str, Any]], None, None]:
        jobs = [PlannerJob(asked_for, str(domain), str(file), timeout, 0.0) for file in pending]
        for result in ask_each("first_plan:first_plan_job", jobs, workers=workers, memory_gib=memory_gib):
            failure = {"outcome": result.outcome.value, "message": result.message, "seconds": result.seconds}
            answer: dict[str, Any] = result.value if result.value and not result.error else failure
            keep_plan(folder, pending[result.job].name, answer.pop("plan", None))
            yield pending[result.job], answer

    return run_recorded(
        problems,
        asked,
        run,
        kind=Record,
        read=lambda path: last_of_each(read_records(path)),
        settles=with_plans(settles, folder),
        records=records,
        on_record=on_record,
        on_wait=on_wait,
    )


def first_plan_job(job: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """What runs in a child process: run LAMA until its first plan, and return it and what its record says."""
    asked = PlannerJob(**job)
    planner = Planner(asked)
    start = time.monotonic()
    outcome, words, plans = planner.search(("--alias", "lama-first", DOMAIN, PROBLEM), asked.timeout)
    about = {
        "domain": planner.executor.domain.name,
        "objects": len(planner.executor.problem.objects),
        "seconds": time.monotonic() - start,  # of the planner: what we read and replay is no work of its
    }
    if not plans:  # one that says that it has finished, and has not, is as good as crashed
        return about | {"outcome": Outcome.CRASH if outcome is Outcome.FINISHED else outcome, "message": words}
    plan = plans[0]  # it stops at the first
    check = judge(planner.executor, plan)
    if not check:
        return about | {"outcome": Outcome.INVALID_PLAN, "message": check.failure}
    return about | {"outcome": Outcome.SOLVED, "plan_length": len(plan), "steps": len(plan), "plan": plan}


def _domain_name(domain: Path) -> str:
    """The name in a domain file, read as text: for what fails before it is parsed."""
    found = re.search(r"\(\s*domain\s+([^\s()]+)", read_bytes(domain).decode(errors="replace"), re.IGNORECASE)
    return found[1] if found else ""

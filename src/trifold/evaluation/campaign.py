"""Evaluation: one model on many problems, in parallel, one record per instance, safe to interrupt and continue."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trifold.evaluation.attempt import Attempt, attempt_each, describe
from trifold.evaluation.job import SolveJob
from trifold.evaluation.plan_files import keep_plan, plan_folder, with_plans
from trifold.evaluation.recording import run_recorded
from trifold.evaluation.records import (
    SCHEMA,
    Record,
    Records,
    command_line,
    file_sha256,
    last_of_each,
    read_records,
    settles,
)
from trifold.files import MOST_DATA_BYTES, temporary_folder
from trifold.limits import MAX_STEPS
from trifold.pddl import find_problems
from trifold.processes import Limits, Workers, available_cores, jobs_at_once
from trifold.shipped import best_policy, find_model

if TYPE_CHECKING:
    from trifold.model import Model


def evaluate(
    model: Model | Path | str,
    problems: Path | str | Sequence[Path | str],
    *,
    records: Path | str | None = None,
    domain: Path | str | None = None,
    plans: Path | str | None = None,
    policy: str | None = None,
    search: str | None = None,
    max_steps: int = MAX_STEPS,
    max_states: int | None = None,
    improve: float | None = None,
    timeout: float | None = None,
    memory_gib: float | None = None,
    workers: Workers | None = 1,
    device: str = "auto",
    on_record: Callable[[Record, bool], None] | None = None,
    on_wait: Callable[[], None] | None = None,
) -> Records:
    """Attempt each problem by a policy over the model, and return one record per problem, in their order.

    Each record is appended to the file `records` as soon as its attempt ends. What that file already holds for the
    same model, domain, problem and settings is not attempted again, unless it crashed, or its plan is wanted and not
    there. `on_record` is called with each record and whether it is new: first for the old ones, then as attempts
    end. With `plans`, the plan for p1.pddl is written to p1.plan in that folder. Evaluations into one file take turns:
    `on_wait` is called before this one waits for another.

    `model` is a model, a file or the name of a shipped model, `problems` a folder, a file or several files, and
    `domain` None the domain that the model carries. Without `records`, nothing is kept but what is returned. `policy`
    is one of `trifold.planning.POLICIES`, or "module:function" of one's own: child processes import it. If it is not
    given, it is the best that the model has, "actions" or "values". `timeout` and `memory_gib` bound each attempt,
    parsing included; `workers` child processes, one per core if None, run attempts and share the cores; or
    a cluster does.

    `search`, `max_states` and `improve` are those of `trifold.planning.solve`: without them it is the policy alone that
    is evaluated. They are settings as the others are, and rows of a table do not mix them.

    >>> [(record["problem"], record["outcome"]) for record in evaluate("model.safetensors", "problem.pddl")]
    [('problem.pddl', 'solved')]
    """
    problems = find_problems(Path(problems)) if isinstance(problems, Path | str) else problems
    folder, workers = plan_folder(plans, problems), available_cores() if workers is None else workers
    with temporary_folder() as place:
        file = _model_file(model, place)
        policy = policy or best_policy(file)
        template = SolveJob(str(file), "", str(domain) if domain else None, policy, max_steps, device)
        if search is not None or improve is not None:  # they end before the time; a policy alone has all of it
            template = replace(template, search=search, max_states=max_states, improve=improve, timeout=timeout)
        found = run_recorded(
            problems,
            _asked(template, str(model), timeout, memory_gib),
            lambda pending: _attempt_all(template, pending, folder, workers, Limits(timeout, memory_gib)),
            kind=Record,
            read=lambda path: last_of_each(read_records(path)),
            settles=with_plans(settles, folder),
            records=records or place / "records.jsonl",
            on_record=on_record,
            on_wait=on_wait,
        )
        return Records(found)


def _model_file(model: Model | Path | str, place: Path) -> Path:
    """The file of a model for child processes to read: one in a folder that is given, if it has none."""
    if isinstance(model, Path | str):
        return find_model(model)
    model.save(place / "model.safetensors")
    return place / "model.safetensors"


def _asked(template: SolveJob, model: str, timeout: float | None, memory_gib: float | None) -> dict[str, Any]:
    """What records say of every attempt before it begins."""
    assert template.model is not None
    return {
        "schema": SCHEMA,
        "model_path": model,
        "model_sha256": file_sha256(Path(template.model), MOST_DATA_BYTES),
        "domain_sha256": file_sha256(Path(template.domain)) if template.domain else None,
        "policy": template.policy,
        "search": template.search,
        "max_steps": template.max_steps,
        "max_states": template.max_states,
        "improve": template.improve,
        "timeout": timeout,
        "memory_gib": memory_gib,
        "device": template.device,
        "command": command_line(),
    }


def _attempt_all(
    template: SolveJob, problems: Sequence[Path], plans: Path | None, workers: Workers, limits: Limits
) -> Generator[tuple[Path, dict[str, Any]], None, None]:
    """Attempt the problems, write the plans, and yield what records say of each attempt."""
    if not problems:
        return
    if isinstance(workers, int):
        workers = jobs_at_once(workers, len(problems))
    jobs = [replace(template, problem=str(problem), threads=threads_each(workers)) for problem in problems]
    about = describe(jobs[0], limits, workers)
    for attempt in attempt_each(jobs, workers=workers, limits=limits):
        problem = Path(attempt.job.problem)
        keep_plan(plans, problem.name, attempt.trajectory.plan)
        yield problem, _fields(about, attempt)


def _fields(about: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
    """What a record says of an attempt with a model that is described so."""
    trajectory = attempt.trajectory
    first = trajectory.values[0] if trajectory.values else math.nan
    return {
        "model": about["model"],
        "domain": about["domain"],
        "device_used": about["device"],
        "hardware": (attempt.about or {}).get("hardware", about["hardware"]),  # machines of a cluster differ
        **{f"training_{fact}": value for fact, value in about["origin"].items()},
        "objects": attempt.about["objects"] if attempt.about else None,
        "outcome": trajectory.outcome.value,
        "message": str(attempt.error) if attempt.error else None,
        "warnings": "; ".join(attempt.warnings) or None,
        "plan_length": None if trajectory.plan is None else len(trajectory.plan),
        "steps": trajectory.steps,
        "initial_value": first if math.isfinite(first) else None,  # JSON has no infinity
        "states_evaluated": trajectory.evaluated,
        "states_known": trajectory.known,
        "peak_gib": attempt.peak_gib,
        "found_by": trajectory.found_by,
        "found_length": trajectory.found_length,
        "seconds": attempt.seconds,
        "seconds_per_step": trajectory.seconds_per_step,
    }


def threads_each(workers: Workers) -> int:
    """The threads of each of this many workers: what OMP_NUM_THREADS says, or an equal share of the cores.

    A job of a cluster has one of its cores.

    A busy machine needs the former: two threads that wait for each other are slower than one, often ten times.
    """
    if not isinstance(workers, int):
        return 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return int(asked) if asked.isdigit() and int(asked) else max(1, available_cores() // workers)

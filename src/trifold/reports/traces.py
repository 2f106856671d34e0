"""What policies did where they failed, followed again and told as trace pages have it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from trifold.errors import TrifoldError
from trifold.evaluation import FIRST_PLAN, Record, attempt_key, file_sha256, last_of_each
from trifold.explanation import ExplainJob, Explanation
from trifold.files import MOST_DATA_BYTES
from trifold.limits import LABEL_SECONDS, LABEL_STATES
from trifold.model import open_checkpoint
from trifold.outcomes import Outcome
from trifold.pages import PageJob
from trifold.processes import Limits, run_isolated
from trifold.reports.evaluations import Traces
from trifold.reports.places import Places
from trifold.shipped import find_model, formerly, shipped_models


def trace_failures(
    records: Sequence[Record],
    most: int,
    places: Places,
    timeout: float | None = None,
    on_trace: Callable[[], None] | None = None,
) -> Traces:
    """Follow the policies of failures again, of those with the fewest objects first, until there are so many traces.

    A failure whose model or problem is not there any more, or another one, is passed over, and so is one that cannot
    be followed within `timeout` seconds. `on_trace` is called after each.
    """
    lost = [one for one in last_of_each(records) if one["outcome"] != Outcome.SOLVED and one["policy"] != FIRST_PLAN]
    traces = Traces()
    for record in sorted(lost, key=lambda one: (one["objects"] is None, one["objects"] or 0)):
        if len(traces.texts) == most:
            break
        key = attempt_key(record)
        try:
            traces.texts.append(_trace(record, places.find(record), timeout))
        except TrifoldError as error:
            traces.notes[key] = f"No trace: {error.message}" + (f" ({error.remedy})" if error.remedy else "")
        else:
            traces.numbers[key] = len(traces.texts) - 1
            if on_trace is not None:
                on_trace()
    return traces


def _trace(record: Record, problem: Path | None, timeout: float | None) -> str:
    if problem is None:
        raise TrifoldError("its problem was not found", remedy="name its folder by --problems")
    model = _find_model(record)
    domain = _domain(model)
    policy, steps = record["policy"], record["max_steps"]
    limits = LABEL_STATES, LABEL_SECONDS
    job = ExplainJob(str(model), str(problem), None, policy, steps, *limits, device="auto", timeout=timeout)
    found = Explanation.from_json(_run("trifold.explanation.job:explain_job", asdict(job), timeout))
    found = replace(found, model_file=record["model_path"], problem_file=str(problem))
    asked = PageJob((domain, "the model's domain"), str(problem), (found.to_json(),))
    text: str = _run("trifold.pages.job:trace_job", asdict(asked), timeout)["trace"]
    return text


def _find_model(record: Record) -> Path:
    """The model of an attempt, which must be the very one."""
    file = find_model(record["model_path"])
    if not file.exists():
        raise TrifoldError(f"its model {file} is not there any more")
    before = formerly(file) if file in shipped_models().values() else None
    if record["model_sha256"] not in (file_sha256(file, MOST_DATA_BYTES), before):
        raise TrifoldError(f"the model {file} is another one now")
    return file


def _domain(model: Path) -> str:
    with open_checkpoint(model, "model") as file:
        domain: str = file.header["domain"]
    return domain


def _run(function: str, job: dict[str, Any], timeout: float | None) -> dict[str, Any]:
    (result,) = run_isolated(function, [job], workers=1, limits=Limits(timeout))
    if result.error:
        raise result.error
    return result.value or {}

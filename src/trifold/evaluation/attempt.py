"""Attempts at problems, each in a child process that may fail in any way: it always becomes a named outcome."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from trifold.errors import TrifoldError
from trifold.evaluation.job import SolveJob
from trifold.memory import OutOfMemory
from trifold.outcomes import Outcome
from trifold.planning import Trajectory
from trifold.processes import AGAIN, Files, Limits, Result, Workers, run_isolated

FILES = Files(reads=("model", "domain", "problem"))


@dataclass(frozen=True)
class Attempt:
    """What came of one job.

    trajectory  that the child returned; of one that did not live to do so, the last plan that it had told of or, if
                none, how it ended, the steps that it had told of, and V before the first and after the last of them
    seconds     of the whole attempt, parsing included
    peak_gib    the most memory that the child has had; None if it did not live to tell
    error       what went wrong, in words
    about       the names of model, domain and device and the number of objects; None if the child never got so far
    validated   whether Unified Planning found the plan valid; None if it was not asked, or could not say, for which
                `doubt` is the reason
    """

    job: SolveJob
    trajectory: Trajectory
    seconds: float
    error: TrifoldError | None = None
    about: dict[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    peak_gib: float | None = None
    validated: bool | None = None
    doubt: str | None = None


@dataclass
class _Told:
    """What a child has told while it ran."""

    about: dict[str, Any] | None = None
    warnings: list[str] = field(default_factory=list)
    steps: int = 0
    values: tuple[float, ...] = ()
    plans: list[tuple[str, ...]] = field(default_factory=list)
    found_by: str | None = None
    verdict: dict[str, Any] | None = None

    def listen(self, event: dict[str, Any]) -> None:
        match event:
            case {"event": "ready", **about}:
                self.about = about
            case {"event": "warning", "message": message}:
                self.warnings.append(message)
            case {"event": "step", "number": number, "value": value}:
                self.steps, self.values = number, (*self.values[:1], value)
            case {"event": "plan", "actions": actions, "by": by}:
                self.plans.append(tuple(actions))
                self.found_by = by
            case {"event": "verdict", **verdict}:
                self.verdict = verdict


def attempt_each(
    jobs: Sequence[SolveJob],
    *,
    workers: Workers = 1,
    limits: Limits,
    on_event: Callable[[dict[str, Any]], None] | None = None,
    on_wait: Callable[[], object] | None = None,
) -> Generator[Attempt, None, None]:
    """Run the jobs in child processes, so many at once, each within the limits, and yield the attempts as they end.

    `on_wait` is called while they run, at least once in a second; if it raises, they end.
    """
    told = [_Told() for _ in jobs]

    def listen(index: int, event: dict[str, Any]) -> None:
        if event == AGAIN:
            told[index] = _Told()
        told[index].listen(event)
        if on_event:
            on_event(event)

    asked = [asdict(job) for job in jobs]
    function = "trifold.evaluation.job:solve_job"
    listening: dict[str, Any] = {"on_event": listen, "on_wait": on_wait}
    for result in run_isolated(function, asked, workers=workers, limits=limits, files=FILES, **listening):
        yield _attempt(jobs[result.job], result, told[result.job])


def describe(job: SolveJob, limits: Limits, workers: Workers = 1) -> dict[str, Any]:
    """The names of the job's model, domain, device and hardware, and the model's origin; raises what is wrong.

    The limits are those of one attempt: where the model and the domain alone go beyond them, every attempt would.
    """
    function, asked = "trifold.evaluation.job:describe_job", [asdict(job)]
    (result,) = run_isolated(function, asked, workers=workers, limits=limits, files=FILES)
    if result.outcome is Outcome.TIMEOUT:
        raise TrifoldError(f"reading the model and the domain was {result.message}", remedy="raise --timeout")
    if result.outcome is Outcome.MEMORY_LIMIT:
        raise OutOfMemory(
            f"not enough memory to read the model and the domain: {result.message}", remedy="raise --memory"
        )
    if result.error:
        raise result.error
    assert result.value is not None
    return result.value


def _attempt(job: SolveJob, result: Result, told: _Told) -> Attempt:
    if result.value and not result.error:
        trajectory = Trajectory.from_json(result.value)
        error = TrifoldError(trajectory.failure) if trajectory.failure else None
    elif told.plans:  # it was ended while it looked for a shorter one
        first, plan = told.plans[0], told.plans[-1]
        along = (*told.values[:1], *(math.nan for _ in plan))
        before = len(first) if len(told.plans) > 1 else None
        found = Trajectory(Outcome.SOLVED, plan, along, told.steps, found_by=told.found_by, found_length=before)
        trajectory, error = found, None
    else:
        trajectory, error = Trajectory(result.outcome, (), told.values, told.steps), result.error
    attempt = Attempt(job, trajectory, result.seconds, error, told.about, tuple(told.warnings), result.peak_gib)
    if not job.validate or not told.plans:
        return attempt
    verdict = told.verdict or {"is_valid": None, "reason": result.message}
    return replace(attempt, validated=verdict["is_valid"], doubt=verdict["reason"] or None)

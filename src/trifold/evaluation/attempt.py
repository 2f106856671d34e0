"""Attempts at problems, each in a child process that may fail in any way: it always becomes a named outcome."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from trifold.errors import TrifoldError
from trifold.evaluation.job import Job
from trifold.memory import OutOfMemory
from trifold.planning import Outcome
from trifold.processes import Limits, Result, run_isolated

# How the end of a child process reads as the end of an attempt.
OUTCOMES = {
    "error": Outcome.BAD_INPUT,
    "time limit": Outcome.TIMEOUT,
    "memory limit": Outcome.MEMORY_LIMIT,
    "crash": Outcome.CRASH,
}


@dataclass(frozen=True)
class Attempt:
    """What came of one job.

    `actions` and `values` are as in `Trajectory`; if the child did not live to the end, they go as far as it got.
    `seconds` is the whole attempt, parsing included. `about` holds the names of model, domain and device and the number
    of objects, and is None if the child never got so far.
    """

    job: Job
    outcome: Outcome
    actions: tuple[str, ...]
    values: tuple[float, ...]
    seconds: float
    evaluated: int | None = None
    seconds_per_step: float | None = None
    error: TrifoldError | None = None
    about: dict[str, Any] | None = None
    warnings: tuple[str, ...] = ()


def attempt_each(
    jobs: Sequence[Job],
    *,
    workers: int = 1,
    timeout: float | None = None,
    memory_gib: float | None = None,
    on_event: Callable[[dict[str, Any]], None] | None = None,
) -> Generator[Attempt, None, None]:
    """Run the jobs in `workers` child processes, each within the limits, and yield the attempts as they end."""
    events: list[list[dict[str, Any]]] = [[] for _ in jobs]

    def keep(index: int, event: dict[str, Any]) -> None:
        events[index].append(event)
        if on_event:
            on_event(event)

    results = run_isolated(
        "trifold.evaluation.job:solve_job",
        [asdict(job) for job in jobs],
        workers=workers,
        limits=Limits(seconds=timeout, memory_gib=memory_gib),
        on_event=keep,
    )
    for result in results:
        yield _attempt(jobs[result.job], result, events[result.job])
        events[result.job].clear()


def describe(job: Job, *, timeout: float | None = None, memory_gib: float | None = None) -> dict[str, Any]:
    """The names of the job's model, domain, device and hardware, and the model's origin; raises what is wrong.

    The limits are those of one attempt: where the model and the domain alone go beyond them, every attempt would.
    """
    limits = Limits(seconds=timeout, memory_gib=memory_gib)
    (result,) = run_isolated("trifold.evaluation.job:describe_job", [asdict(job)], workers=1, limits=limits)
    match result.outcome:
        case "error" | "crash":
            raise _error(result)
        case "time limit":
            raise TrifoldError(f"reading the model and the domain was {result.message}", remedy="raise --timeout")
        case "memory limit":
            raise OutOfMemory(
                f"not enough memory to read the model and the domain: {result.message}", remedy="raise --memory"
            )
    assert result.value is not None
    return result.value


def _error(result: Result) -> TrifoldError:
    """What the child has to say to the user, or what befell it."""
    if result.outcome == "error" and result.value:
        return TrifoldError(**result.value)
    return TrifoldError(result.message)


def _attempt(job: Job, result: Result, events: Sequence[dict[str, Any]]) -> Attempt:
    is_answered = result.outcome == "ok"
    answer = result.value if is_answered and result.value else {}
    steps = [event for event in events if event["event"] == "step"]
    error = None if is_answered else _error(result)
    if failure := answer.get("failure"):
        error = TrifoldError(failure)
    return Attempt(
        job,
        Outcome(answer["outcome"]) if is_answered else OUTCOMES[result.outcome],
        actions=tuple(step["action"] for step in steps[1:]),  # no action leads to the first state
        values=tuple(step["value"] for step in steps),
        seconds=result.seconds,
        evaluated=answer.get("evaluated"),
        seconds_per_step=answer.get("seconds_per_step"),
        error=error,
        about=next((event for event in events if event["event"] == "ready"), None),
        warnings=tuple(event["message"] for event in events if event["event"] == "warning"),
    )

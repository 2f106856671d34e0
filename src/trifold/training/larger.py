"""Larger problems: those that were given and could not be labelled whole, on which the policy is tried in the end.

They need pymimir, so each is tried in a child process, under a limit of time. That limit makes what is found depend on
the machine: it is told, and decides nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from trifold.data import Labelled
from trifold.evaluation import Attempt, SolveJob, attempt_each, threads_each
from trifold.limits import MAX_STEPS
from trifold.planning import Outcome
from trifold.processes import Limits, available_cores
from trifold.shipped import best_policy
from trifold.training.coverage import GRACE, PATIENCE, Coverage

MOST_PROBLEMS = 10
"""So many are tried at most, the smallest first."""

SECONDS = 30.0
"""That one problem may take at least."""

LEAST_SECONDS, SHARE = 30.0, 0.1
"""That all may take: these, or this part of the training if that is more."""

TOO_LARGE = (Outcome.STATE_LIMIT, Outcome.TIMEOUT, Outcome.MEMORY_LIMIT)
"""How labelling ends that would take more than the limits."""


@dataclass(frozen=True)
class Larger:
    """A problem that could not be labelled whole, and V* of its initial state, known where a sample was kept."""

    path: Path
    optimum: int | None = None


def find_larger(labelled: Sequence[Labelled], validation: Sequence[Labelled]) -> list[Larger]:
    """The problems that could not be labelled, and held-out ones of which a sample was kept: the smallest files."""
    found = [Larger(item.path) for item in labelled if item.outcome in TOO_LARGE]
    for item in validation:
        space = item.space
        if space is not None and space.listed < space.states:
            found.append(Larger(item.path, int(space.distances[space.initial])))
    return sorted(found, key=lambda larger: (larger.path.stat().st_size, str(larger.path)))[:MOST_PROBLEMS]


def attempt_larger(
    model: Path,
    domain: Path,
    problems: Sequence[Larger],
    *,
    device: str,
    workers: int | None,
    seconds: float,
    memory_gib: float | None,
    on_attempt: Callable[[Attempt], None],
) -> Coverage | None:
    """What the policy of a model does on larger problems, for a part of the seconds of a training; None without any.

    Those that the time does not suffice for are not counted.
    """
    if not problems:
        return None
    workers, began = min(workers or available_cores(), len(problems)), time.monotonic()
    threads, policy = threads_each(workers), best_policy(model)
    known = {str(problem.path): problem.optimum for problem in problems}
    jobs = [
        SolveJob(
            str(model),
            path,
            str(domain),
            policy,
            max_steps=MAX_STEPS if optimum is None else PATIENCE * optimum + GRACE,
            device=device,
            threads=threads,
        )
        for path, optimum in known.items()
    ]
    attempts: list[Attempt] = []
    budget = max(LEAST_SECONDS, SHARE * seconds)
    memory_gib = memory_gib if device == "cpu" else None  # CUDA reserves far more than it uses
    limits = Limits(max(SECONDS, budget * workers / len(jobs)), memory_gib)
    with closing(attempt_each(jobs, workers=workers, limits=limits)) as tried:
        for attempt in tried:
            attempts.append(attempt)
            on_attempt(attempt)
            if time.monotonic() - began > budget:
                break
    return _sum_up(attempts, known)


def _sum_up(attempts: Sequence[Attempt], known: dict[str, int | None]) -> Coverage:
    solved = [attempt for attempt in attempts if attempt.trajectory.plan is not None]
    lengths = [(attempt.trajectory.steps, known[attempt.job.problem]) for attempt in solved]
    measured = [(steps, optimum) for steps, optimum in lengths if optimum]
    length = sum(steps for steps, _ in measured) / sum(best for _, best in measured) if measured else None
    ends = {attempt.job.problem: attempt.trajectory.outcome for attempt in attempts if attempt.trajectory.plan is None}
    failures = {path: str(ends[path].value) for path in known if path in ends}
    return Coverage(len(solved), len(attempts), length, failures)

"""Larger problems: those that were given and could not be labelled whole, on which the policy is tried.

They need pymimir, so each is tried in a child process, under a limit of time. That limit makes what is found depend on
the machine: it is told, and decides nothing. While a training goes on they are glanced at, between two steps: what is
found is part of the line of that step's validation, so that a run that is killed and resumed has each line once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from trifold.data import Labelled
from trifold.evaluation import Attempt, SolveJob, attempt_each, threads_each
from trifold.files import temporary_folder
from trifold.limits import MAX_STEPS
from trifold.model import Model
from trifold.planning import Outcome
from trifold.processes import Limits, available_cores
from trifold.shipped import best_policy
from trifold.training.coverage import GRACE, PATIENCE, Coverage

MOST_PROBLEMS = 10
"""So many are tried at most, the smallest first."""

SECONDS = 30.0
"""That one problem may take at least."""

LEAST_SECONDS, SHARE = 30.0, 0.1
"""That all may take in the end: these, or this part of the training if that is more."""

GLANCES, GLANCE_SHARE = 4, 0.05
"""How often they are tried in a training, evenly over it, and the part of its time that all of this may take."""

LEAST_GLANCE = 2.0
"""Seconds without which a problem is not tried between steps: to load it takes one."""

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
            found.append(Larger(item.path, None if space.is_bound else int(space.distances[space.initial])))
    return sorted(found, key=lambda larger: (larger.path.stat().st_size, str(larger.path)))[:MOST_PROBLEMS]


@dataclass(frozen=True)
class LargerProblems:
    """The larger problems of a training, and what their attempts may use.

    domain      the domain file
    device      of the attempts in the end; those between steps are on the CPU, which a training on a card leaves idle
    memory_gib  of an attempt on the CPU
    """

    domain: Path
    problems: Sequence[Larger]
    device: str
    workers: int | None
    memory_gib: float | None

    def attempt(self, model: Path, seconds: float, on_attempt: Callable[[Attempt], None]) -> Coverage | None:
        """What the policy of a model does, for a part of the seconds of a training; None if there are no problems.

        Those that the time does not suffice for are not counted.
        """
        if not self.problems:
            return None
        workers, began = self._workers(len(self.problems)), time.monotonic()
        budget = max(LEAST_SECONDS, SHARE * seconds)
        most = max(SECONDS, budget * workers / len(self.problems))
        attempts: list[Attempt] = []
        with closing(self._try(model, self.problems, self.device, most)) as tried:
            for attempt in tried:
                attempts.append(attempt)
                on_attempt(attempt)
                if time.monotonic() - began > budget:
                    break
        return self._sum_up(attempts)

    def glance(self, model: Model, budget: float, on_wait: Callable[[], object]) -> Coverage | None:
        """What the policy of a model in training does in so many seconds; None if no problem would have time enough.

        All have as much, and if that is too little, only the smallest are tried. ``on_wait`` is called all the while,
        and may raise.
        """
        workers = self._workers(len(self.problems))
        rounds = min(ceil(len(self.problems) / workers), int(budget / LEAST_GLANCE))
        if rounds < 1:
            return None
        chosen = self.problems[: rounds * workers]
        with temporary_folder() as folder:
            file = folder / "model.safetensors"
            model.save(file)
            most = min(SECONDS, budget / rounds)
            with closing(self._try(file, chosen, "cpu", most, on_wait)) as tried:
                return self._sum_up(list(tried))

    def _workers(self, most: int) -> int:
        return max(1, min(self.workers or available_cores(), most))

    def _try(
        self,
        model: Path,
        problems: Sequence[Larger],
        device: str,
        seconds: float,
        on_wait: Callable[[], object] | None = None,
    ) -> Generator[Attempt, None, None]:
        """Follow the model's best policy on problems, each in a child process and for so many seconds at most."""
        workers, policy = self._workers(len(problems)), best_policy(model)
        jobs = [
            SolveJob(
                str(model),
                str(problem.path),
                str(self.domain),
                policy,
                max_steps=MAX_STEPS if problem.optimum is None else PATIENCE * problem.optimum + GRACE,
                device=device,
                threads=threads_each(workers),
            )
            for problem in problems
        ]
        memory_gib = self.memory_gib if device == "cpu" else None  # CUDA reserves far more than it uses
        return attempt_each(jobs, workers=workers, limits=Limits(seconds, memory_gib), on_wait=on_wait)

    def _sum_up(self, attempts: Sequence[Attempt]) -> Coverage:
        known = {str(problem.path): problem.optimum for problem in self.problems}
        solved = [attempt for attempt in attempts if attempt.trajectory.plan is not None]
        lengths = [(attempt.trajectory.steps, known[attempt.job.problem]) for attempt in solved]
        measured = [(steps, optimum) for steps, optimum in lengths if optimum]
        length = sum(steps for steps, _ in measured) / sum(best for _, best in measured) if measured else None
        failed = [attempt for attempt in attempts if attempt.trajectory.plan is None]
        ends = {attempt.job.problem: attempt.trajectory.outcome for attempt in failed}
        failures = {path: str(ends[path].value) for path in known if path in ends}
        return Coverage(len(solved), len(attempts), length, failures)

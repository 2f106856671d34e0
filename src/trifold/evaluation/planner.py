"""The planner behind references and first plans, Fast Downward, and how it is asked in child processes.

Each search is a process on a leash, in a folder of its own that is gone afterwards. Every action costs one: a metric
is left out of what the planner reads. No plan counts that does not replay.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from trifold.errors import TrifoldError
from trifold.expressions import parse
from trifold.files import read_text, temporary_folder
from trifold.outcomes import Outcome
from trifold.planning import parse_plan
from trifold.processes import ERRORS, Files, Limits, Result, Workers, run_isolated, run_on_leash

CHECKING_SECONDS = 120.0
"""What replaying plans may take on top of the time for a problem."""

VERSION_SECONDS = 60
"""The planner must say what it is within this time."""

FILES = Files(reads=("domain", "problem"))

DOMAIN, PROBLEM, PLAN = "domain.pddl", "problem.pddl", "plan"

ENDS: dict[int | None, Outcome] = {
    None: Outcome.TIMEOUT,
    0: Outcome.FINISHED,
    10: Outcome.UNSOLVABLE,
    11: Outcome.UNSOLVABLE,
    12: Outcome.NO_PLAN,
    20: Outcome.MEMORY_LIMIT,
    22: Outcome.MEMORY_LIMIT,
}
"""How a search ended, by its exit status; any other is a crash."""


@dataclass(frozen=True)
class PlannerJob:
    """One problem for a child process, and the planner's fast-downward.py; None is that of the package there."""

    planner: str | None
    domain: str
    problem: str
    timeout: float
    optimal_timeout: float


def find_planner() -> Path:
    """The fast-downward.py of the package up-fast-downward."""
    spec = importlib.util.find_spec("up_fast_downward")
    for place in (spec and spec.submodule_search_locations) or ():
        if (driver := Path(place, "downward", "fast-downward.py")).is_file():
            return driver
    raise TrifoldError("Fast Downward is not installed", remedy="pip install 'trifold[planners]'")


def planner_version(planner: Path) -> str:
    """What the planner calls itself; one that cannot say so cannot plan either."""
    if not planner.is_file():
        raise TrifoldError("there is no such file", place=str(planner), remedy="name a fast-downward.py")
    command = [sys.executable, str(planner), "--version"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, timeout=VERSION_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise TrifoldError(f"the planner does not say its version in {VERSION_SECONDS} s", place=str(planner)) from None
    if done.returncode or not done.stdout.strip():
        reason = (done.stderr.strip() or f"it exited with {done.returncode}").splitlines()[-1]
        raise TrifoldError(f"the planner does not run: {reason}", place=str(planner))
    return done.stdout.strip().splitlines()[0]


def ask_each(
    function: str, jobs: Sequence[PlannerJob], *, workers: Workers, memory_gib: float | None
) -> Generator[Result, None, None]:
    """Call a function of this room, given as "module:name", with each of the jobs in child processes."""
    limits = Limits(max((job.timeout for job in jobs), default=0.0) + CHECKING_SECONDS, memory_gib)
    asked = [asdict(job) for job in jobs]
    return run_isolated(f"trifold.evaluation.{function}", asked, workers=workers, limits=limits, files=FILES)


class Searched(NamedTuple):
    """How a search ended, the same in words, and the plans that it wrote."""

    outcome: Outcome
    words: str
    plans: list[list[str]]


class Planner:
    """The planner and a problem that is asked of it, read once."""

    def __init__(self, job: PlannerJob) -> None:
        self.driver = job.planner or str(find_planner())
        from trifold.pddl import Executor

        self.executor = Executor.load(Path(job.domain), Path(job.problem))
        self.texts = {DOMAIN: without_metric(job.domain), PROBLEM: without_metric(job.problem)}

    def search(self, options: Sequence[str], seconds: float) -> Searched:
        """Run the planner once."""
        if seconds <= 0:
            return Searched(Outcome.TIMEOUT, Outcome.TIMEOUT, [])
        with temporary_folder() as folder:
            for file, text in self.texts.items():
                (folder / file).write_text(text, encoding="utf-8")
            status = run_on_leash([sys.executable, self.driver, "--plan-file", PLAN, *options], folder, seconds)
            errors = (folder / ERRORS).read_text(encoding="utf-8", errors="replace").strip().splitlines()
            plans = []
            for path in folder.glob(f"{PLAN}*"):
                try:
                    plans.append(parse_plan(path.read_text(encoding="utf-8", errors="replace")))
                except TrifoldError as error:  # it was stopped amid a line, or this is no plan at all
                    errors.append(error.message)
        if outcome := ENDS.get(status):
            return Searched(outcome, outcome, plans)
        return Searched(Outcome.CRASH, ": ".join([f"the planner exited with {status}", *errors[-1:]]), plans)


def without_metric(path: str) -> str:
    """The PDDL of a file without a metric, so that every action costs one."""
    define = parse(read_text(path), path)
    return str(define._replace(items=tuple(item for item in define.items if item.head != ":metric")))

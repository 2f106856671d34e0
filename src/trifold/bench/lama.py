"""LAMA's first plan for a whole problem: what a policy's step is seen beside."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from trifold.bench.report import Measurement
from trifold.bench.timing import Timing
from trifold.errors import TrifoldError
from trifold.evaluation import PlannerJob, find_planner, first_plan_job, planner_version
from trifold.outcomes import Outcome


def choose_planner(planner: Path | None) -> Path | None:
    """The given fast-downward.py, which must run, or else that of up-fast-downward, if it is installed."""
    try:
        found = planner or find_planner()
    except TrifoldError:
        return None
    planner_version(found)
    return found.resolve()


def time_first_plan(planner: Path | None, domain: Path, problem: Path, seconds: float) -> Measurement:
    """The wall time of Fast Downward's lama-first, translation and all."""
    stage, what = "first plan", "LAMA, the whole problem"
    if planner is None:
        return Measurement(
            stage, what, note="Fast Downward is not installed: pip install 'trifold[planners]', or --planner"
        )
    job = PlannerJob(str(planner), str(domain), str(problem), timeout=seconds, optimal_timeout=0.0)
    found = first_plan_job(asdict(job), lambda report: None)
    if found["outcome"] != Outcome.SOLVED:
        return Measurement(stage, what, note=f"no plan in {seconds:g} s: {found['message']}")
    return Measurement(stage, what, Timing((found["seconds"],)), note=f"{found['plan_length']} steps")

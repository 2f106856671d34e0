"""The planner behind references, Fast Downward: optimal searches one after another, then LAMA.

Each search is a process on a leash, in a folder of its own that is gone afterwards. Every action costs one: a metric
is left out of what the planner reads. No plan counts that does not replay.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trifold.errors import TrifoldError
from trifold.expressions import parse
from trifold.files import read_text, temporary_folder
from trifold.pddl.executor import Executor
from trifold.planning import judge, parse_plan
from trifold.processes import ERRORS, run_on_leash

OPTIMAL, BEST_KNOWN, NO_PLAN, FAILED = "optimal", "best known", "no plan", "failed"
"""The kinds of reference: the shortest plan, a plan, none within the limits, and what is worth another try."""

VERSION_SECONDS = 60
"""The planner must say what it is within this time."""

DOMAIN, PROBLEM, PLAN = "domain.pddl", "problem.pddl", "plan"

# Each is quick where the others are not: on Miconic, on Gripper and on Blocks, in this order. The landmarks go without
# reasonable orders, with which their costs need not be admissible.
OPTIMAL_SEARCHES = {
    "A* with landmarks": (
        "let(landmarks,landmark_cost_partitioning(lm_merged([lm_rhw(),lm_hm(m=1)])),"
        "astar(landmarks,lazy_evaluator=landmarks))"
    ),
    "A* with merge-and-shrink": (
        "astar(merge_and_shrink(shrink_strategy=shrink_bisimulation(greedy=false),merge_strategy=merge_sccs("
        "order_of_sccs=topological,merge_selector=score_based_filtering("
        "scoring_functions=[goal_relevance(),dfp(),total_order()])),"
        "label_reduction=exact(before_shrinking=true,before_merging=false),max_states=50k,threshold_before_merge=1))"
    ),
    "A* with LM-cut": "astar(lmcut())",
}

FINISHED, UNSOLVABLE, TIME_LIMIT, MEMORY_LIMIT = "finished", "unsolvable", "time limit", "memory limit"
ENDS: dict[int | None, str] = {
    None: TIME_LIMIT,
    0: FINISHED,
    10: UNSOLVABLE,
    11: UNSOLVABLE,
    12: "search space exhausted",
    20: MEMORY_LIMIT,
    22: MEMORY_LIMIT,
}
"""How a search ended, by its exit status; any other is a failure, unless it has left a plan."""


@dataclass(frozen=True)
class Job:
    """One problem for a child process, and the planner's fast-downward.py."""

    planner: str
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


def reference_job(job: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """What runs in a child process: look for the best plan of a problem, and return what its record says of it.

    The optimal searches share `optimal_timeout`, and leave to those after them what they do not need; LAMA takes what
    is then left of `timeout`.
    """
    asked = Job(**job)
    start = time.monotonic()
    executor = Executor.load(Path(asked.domain), Path(asked.problem))
    texts = {DOMAIN: without_metric(asked.domain), PROBLEM: without_metric(asked.problem)}
    notes: list[str] = []

    def attempt(name: str, options: Sequence[str], deadline: float) -> tuple[str, int | None]:
        """How a search ended, and the length of its best plan that replays."""
        end, plans = run_search(asked.planner, options, texts, deadline - time.monotonic())
        for actions in sorted(plans, key=len):
            check = judge(executor, actions)
            if check:
                return end, len(actions)
            notes.append(f"{name}: {end}, but a plan does not replay: {check.failure}")
        if not plans:
            notes.append(f"{name}: {end}")
        return end, None

    def answer(kind: str, length: int | None = None, search: str | None = None) -> dict[str, Any]:
        about = {"domain": executor.domain.name, "message": "; ".join(notes) or None}
        return about | {"kind": kind, "length": length, "search": search}

    for left, (name, search) in zip(range(len(OPTIMAL_SEARCHES), 0, -1), OPTIMAL_SEARCHES.items(), strict=True):
        now = time.monotonic()
        deadline = now + (start + asked.optimal_timeout - now) / left
        end, length = attempt(name, (DOMAIN, PROBLEM, "--search", search), deadline)
        if length is not None and end == FINISHED:
            return answer(OPTIMAL, length, name)
        if end == UNSOLVABLE:
            return answer(NO_PLAN)
    end, length = attempt("LAMA", ("--alias", "lama", DOMAIN, PROBLEM), start + asked.timeout)
    if length is not None:
        return answer(BEST_KNOWN, length, "LAMA")
    return answer(NO_PLAN if end in ENDS.values() and end != FINISHED else FAILED)


def run_search(
    planner: str, options: Sequence[str], texts: dict[str, str], seconds: float
) -> tuple[str, list[list[str]]]:
    """Run the planner once; how it ended, and the plans that it wrote."""
    if seconds <= 0:
        return TIME_LIMIT, []
    with temporary_folder() as folder:
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")
        status = run_on_leash([sys.executable, planner, "--plan-file", PLAN, *options], folder, seconds)
        errors = (folder / ERRORS).read_text(encoding="utf-8", errors="replace").strip().splitlines()
        plans = []
        for path in folder.glob(f"{PLAN}*"):
            try:
                plans.append(parse_plan(path.read_text(encoding="utf-8", errors="replace")))
            except TrifoldError as error:  # it was stopped amid a line, or this is no plan at all
                errors.append(error.message)
    return ENDS.get(status) or ": ".join([f"the planner exited with {status}", *errors[-1:]]), plans


def without_metric(path: str) -> str:
    """The PDDL of a file without a metric, so that every action costs one."""
    define = parse(read_text(path), path)
    return str(define._replace(items=tuple(item for item in define.items if item.head != ":metric")))

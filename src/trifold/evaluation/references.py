"""References: for each problem the best plan length known, and whether it is known to be optimal.

One flat JSON object per problem and search for it is appended to a file of lines, which survives interruption as the
records of attempts do. Optimal searches run one after another, then LAMA.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from trifold.evaluation.plan_files import keep_plan, plan_folder, with_plans
from trifold.evaluation.planner import DOMAIN, PROBLEM, Planner, PlannerJob, ask_each, find_planner, planner_version
from trifold.evaluation.recording import run_recorded
from trifold.evaluation.records import Record, file_sha256, read_typed_lines
from trifold.outcomes import Outcome
from trifold.planning import judge
from trifold.processes import Workers

SCHEMA = 1

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

SETTLED = (Outcome.OPTIMAL, Outcome.BEST_KNOWN, Outcome.NO_PLAN)
"""What would come again under the same limits; anything else is worth another try."""


class Reference(TypedDict):
    """What the planner found for one problem. None stands for what it did not live to say."""

    schema: int  # first, so that a torn line can be told from a foreign one
    timestamp: str  # UTC, at the end
    domain: str | None  # its name
    domain_sha256: str
    problem: str  # the name of the file
    problem_sha256: str
    kind: str  # an `Outcome`: "optimal", "best known", "no plan": none within the limits, or what is worth another try
    length: int | None
    search: str | None  # that found the plan
    message: str | None  # how the searches that found no valid plan ended
    seconds: float
    timeout: float | None  # of all searches together; None: the plan was not searched for
    optimal_timeout: float | None  # of the optimal ones
    memory_gib: float | None  # of address space
    planner: str  # such as Fast Downward 26.6
    trifold_version: str
    pymimir_version: str
    python_version: str


INSTANCE_FIELDS = ("domain_sha256", "problem_sha256")
LIMIT_FIELDS = ("timeout", "optimal_timeout", "memory_gib", "planner")


def find_references(
    problems: Sequence[Path | str],
    domain: Path | str,
    *,
    records: Path | str,
    plans: Path | str | None = None,
    planner: Path | str | None = None,
    timeout: float = 300.0,
    optimal_timeout: float | None = None,
    memory_gib: float | None = None,
    workers: Workers = 1,
    on_record: Callable[[Reference, bool], None] | None = None,
    on_wait: Callable[[], None] | None = None,
) -> list[Reference]:
    """Look for the best plan of each problem, and return one record per problem, in their order.

    Each record is appended to the file `records` as soon as it is known. What that file already holds as optimal, or
    under the same limits, is not looked for again, unless it failed, or its plan is wanted and not there. With `plans`,
    the plan for p1.pddl is written to p1.plan in that folder. `on_record` is called with each record and whether
    it is new: first for the old ones, then as searches end, and `on_wait` before this one waits for another that writes
    to the same file.

    A problem gets `timeout` seconds, of which the optimal searches share `optimal_timeout` (half, if None) and LAMA
    takes the rest. `memory_gib` bounds each process. `planner` None is the fast-downward.py of the package
    up-fast-downward; another is run by this Python as well.
    """
    driver, folder = Path(planner).resolve() if planner else find_planner(), plan_folder(plans, problems)
    asked_for = str(driver) if planner else None  # a child on another machine looks for its own
    optimal_seconds = timeout / 2 if optimal_timeout is None else min(optimal_timeout, timeout)
    asked: dict[str, Any] = {
        "schema": SCHEMA,
        "domain_sha256": file_sha256(Path(domain)),
        "timeout": timeout,
        "optimal_timeout": optimal_seconds,
        "memory_gib": memory_gib,
        "planner": planner_version(driver),
    }

    def run(pending: list[Path]) -> Generator[tuple[Path, dict[str, Any]], None, None]:
        jobs = [PlannerJob(asked_for, str(domain), str(file), timeout, optimal_seconds) for file in pending]
        for result in ask_each("references:reference_job", jobs, workers=workers, memory_gib=memory_gib):
            failure = {"domain": None, "kind": result.outcome.value, "length": None, "search": None}
            answer = result.value if result.value and not result.error else failure | {"message": result.message}
            keep_plan(folder, pending[result.job].name, answer.pop("plan", None))
            yield pending[result.job], answer | {"seconds": result.seconds}

    return run_recorded(
        problems,
        asked,
        run,
        kind=Reference,
        read=read_references,
        settles=with_plans(_settles, folder, "length"),
        records=records,
        on_record=on_record,
        on_wait=on_wait,
    )


def read_references(path: Path) -> list[Reference]:
    """All whole references of a file, in order; torn lines are left out, anything else is refused."""
    return read_typed_lines(path, Reference, SCHEMA, "reference")


def best_of_each(references: Iterable[Reference]) -> dict[str, Reference]:
    """Of each problem that has a plan its best reference, by the SHA-256 of the problem's text.

    The best is the shortest, and of equal ones that which is known to be optimal.
    """

    def rank(reference: Reference) -> tuple[int, bool]:
        return reference["length"] or 0, reference["kind"] != Outcome.OPTIMAL

    best: dict[str, Reference] = {}
    for reference in references:
        if reference["length"] is not None:
            rival = best.setdefault(reference["problem_sha256"], reference)
            best[reference["problem_sha256"]] = min(rival, reference, key=rank)
    return best


def shorten(references: Mapping[str, Reference], records: Iterable[Record]) -> dict[str, Reference]:
    """The references, with the lengths of shorter plans where records have any; what is optimal stays."""
    best = dict(references)
    for record in records:
        length, known = record["plan_length"], best.get(record["problem_sha256"])
        if length is not None and known and known["kind"] != Outcome.OPTIMAL and known["length"] is not None:
            best[record["problem_sha256"]] = {**known, "length": min(length, known["length"])}
    return best


def _settles(record: Reference, asked: dict[str, Any]) -> bool:
    """Whether what is recorded is what would be looked for."""
    if any(record.get(field) != asked[field] for field in INSTANCE_FIELDS):
        return False
    is_same = all(record.get(field) == asked[field] for field in LIMIT_FIELDS)
    return record["kind"] == Outcome.OPTIMAL or (is_same and record["kind"] in SETTLED)


def reference_job(job: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """What runs in a child process: look for the best plan of a problem, and return it and what its record says.

    The optimal searches share `optimal_timeout`, and leave to those after them what they do not need; LAMA takes what
    is then left of `timeout`.
    """
    asked = PlannerJob(**job)
    start = time.monotonic()
    planner = Planner(asked)
    notes: list[str] = []

    def attempt(name: str, options: Sequence[str], deadline: float) -> tuple[Outcome, list[str] | None]:
        """How a search ended, and its best plan that replays."""
        outcome, words, plans = planner.search(options, deadline - time.monotonic())
        for actions in sorted(plans, key=len):
            check = judge(planner.executor, actions)
            if check:
                return outcome, actions
            notes.append(f"{name}: {words}, but a plan does not replay: {check.failure}")
        if not plans:
            notes.append(f"{name}: {words}")
        return outcome, None

    def answer(kind: Outcome, plan: list[str] | None = None, search: str | None = None) -> dict[str, Any]:
        about = {"domain": planner.executor.domain.name, "message": "; ".join(notes) or None}
        return about | {"kind": kind, "length": None if plan is None else len(plan), "search": search, "plan": plan}

    for left, (name, search) in zip(range(len(OPTIMAL_SEARCHES), 0, -1), OPTIMAL_SEARCHES.items(), strict=True):
        now = time.monotonic()
        deadline = now + (start + asked.optimal_timeout - now) / left
        outcome, plan = attempt(name, (DOMAIN, PROBLEM, "--search", search), deadline)
        if plan is not None and outcome is Outcome.FINISHED:
            return answer(Outcome.OPTIMAL, plan, name)
        if outcome is Outcome.UNSOLVABLE:
            return answer(Outcome.NO_PLAN)
    outcome, plan = attempt("LAMA", ("--alias", "lama", DOMAIN, PROBLEM), start + asked.timeout)
    if plan is not None:
        return answer(Outcome.BEST_KNOWN, plan, "LAMA")
    return answer(Outcome.CRASH if outcome in (Outcome.FINISHED, Outcome.CRASH) else Outcome.NO_PLAN)

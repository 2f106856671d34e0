"""How many states a search expands per second, with a model and without, and what a known state takes of memory.

    python benchmarks/search.py [--domain NAME ...] [--seconds S] [--device cpu] [--json]

Each search runs for some seconds in a process of its own, on a generated problem whose goal is hidden, so that none
ends before its time. README.md beside this file says what is compared.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from heapq import heappop, heappush
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from instance import note
from trifold.bench.report import facts_text
from trifold.bench.timing import conditions, use_threads
from trifold.domains import DOMAINS, domain_text
from trifold.evaluation import aligned_text
from trifold.model import Model, choose_device
from trifold.pddl import PackedCounts, Problem, State, load_domain, load_problem
from trifold.planning import Budget, Scores, goal_counts, relaxed_plans, search_greedily
from trifold.planning.goal_counts import BATCH
from trifold.shipped import find_model

PROBLEMS: dict[str, dict[str, int]] = {
    "logistics": {"cities": 6, "packages": 6},
    "grid": {"rows": 3, "columns": 3, "side": 3, "locks": 8, "keys": 4, "shapes": 3, "unlocks": 3},
    "blocks-s": {"blocks": 15},
    "gripper": {"balls": 20},
}
"""The domains that are measured if none is asked for, with problems that no search here exhausts."""

NAIVE, MODEL, COUNTS, RELAXED, PACKED = "naive", "model", "goal counts", "relaxed plans", "packed"
SEARCHES = {
    NAIVE: "naive loop over model.values",
    MODEL: "greedy, by the model",
    RELAXED: "greedy, by relaxed plans",
    COUNTS: "greedy, by goal counts",
    PACKED: "packed, by goal counts",
}


@dataclass(frozen=True)
class Measured:
    """What one search did: states that it expanded and knew, in how many seconds, and by how much its memory grew."""

    expanded: int
    known: int
    seconds: float
    bytes: int
    batch: int

    @property
    def rate(self) -> float:
        """States expanded per second."""
        return self.expanded / self.seconds


class Endless:
    """A problem of which no state is a goal, but each is tested."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.initial_state, self.successors = problem, problem.initial_state, problem.successors

    def is_goal(self, state: State) -> bool:
        self.problem.is_goal(state)
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domain", action="append", choices=sorted(DOMAINS), help=f"(default: {', '.join(PROBLEMS)})")
    parser.add_argument("--model", help="a model file, or the name of a shipped one (default: that of the domain)")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each search (default: 10)")
    parser.add_argument("--batch", type=int, help="states that the model looks at together (default: the model's own)")
    parser.add_argument("--device", default="cpu", help="of the model: cpu, cuda or auto (default: cpu)")
    parser.add_argument("--json", action="store_true", help="write the result to standard output as JSON")
    arguments = parser.parse_args()
    use_threads(1)
    device = choose_device(arguments.device)
    found: dict[str, dict[str, Measured]] = {}
    for name in arguments.domain or PROBLEMS:
        found[name] = {}
        for search in SEARCHES:
            model = arguments.model or name
            asked = (name, search, model, device, arguments.seconds, arguments.batch)
            # A process of its own, so that no memory was freed before; the parent has not touched CUDA.
            with ProcessPoolExecutor(1, get_context("fork")) as pool:
                found[name][search] = pool.submit(measure, *asked).result()
            note(f"{name}, {SEARCHES[search]}: {found[name][search]}")
    about = {"seconds": arguments.seconds, "device": device} | conditions(device)
    if arguments.json:
        facts = {name: {search: asdict(one) for search, one in rows.items()} for name, rows in found.items()}
        print(json.dumps({"benchmark": "search", "about": about, "domains": facts}, indent=2))
        return
    print(facts_text(about))
    print(table(found), end="")


def measure(name: str, search: str, model: str, device: str, seconds: float, batch: int | None) -> Measured:
    """Let one search run for some seconds."""
    use_threads(1)
    problem = load_problem(load_domain(domain_text(name)), draw(name))
    task, together = Endless(problem), 1
    if search == NAIVE:
        values = Model.load(find_model(model), device).values
        values([problem.initial_state])  # what is made once is not counted
        run = partial(search_naively, task, values, seconds)
    elif search == PACKED:
        packed, together = PackedCounts(problem), BATCH
        run = partial(_search_packed, packed, seconds)
    else:
        scores = _scores(search, problem, model, device, batch)
        together = scores.batch
        run = partial(_search, task, scores, seconds)
    before, start = resident_bytes(), time.perf_counter()
    expanded, known = run()
    return Measured(expanded, known, time.perf_counter() - start, resident_bytes() - before, together)


def draw(name: str) -> str:
    """The problem of a domain, the same in every run; of a domain without a size here, a small one."""
    return DOMAINS[name].generate(random.Random(0), **PROBLEMS.get(name, {}))


def _scores(search: str, problem: Problem, model: str, device: str, batch: int | None) -> Scores[State]:
    """What a search is led by; a model has been asked once."""
    if search != MODEL:
        return relaxed_plans(problem) if search == RELAXED else goal_counts(problem)
    scores: Scores[State] = Scores.of(Model.load(find_model(model), device), problem)
    scores.batch = batch or scores.batch
    start = problem.initial_state
    if scores.looks is None:
        scores.values([start])
    else:
        scores.look(start, [action for action, _ in problem.successors(start)])
    return scores


def _search(task: Endless, scores: Scores[State], seconds: float) -> tuple[int, int]:
    found = search_greedily(task, scores, Budget(None, seconds), lambda step: None)
    assert found.known is not None
    return found.steps, found.known


def _search_packed(packed: PackedCounts, seconds: float) -> tuple[int, int]:
    start, expanded = time.perf_counter(), 0
    while packed.queues and time.perf_counter() - start < seconds:
        expanded += len(packed.expand(BATCH))  # beyond goals as well
    return expanded, len(packed)


def search_naively(task: Endless, values: Callable[[list[State]], Any], seconds: float) -> tuple[int, int]:
    """Pop the state with the least V, and ask for V of its new successors, one after the other."""
    start = time.perf_counter()
    known, queue, expanded, order = {task.initial_state}, [(0.0, 0, task.initial_state)], 0, 0
    while queue and time.perf_counter() - start < seconds:
        _, _, state = heappop(queue)
        expanded += 1
        for _, successor in task.successors(state):
            if successor not in known and not task.is_goal(successor):
                known.add(successor)
                order += 1
                heappush(queue, (float(values([successor])[0]), order, successor))
    return expanded, len(known)


def resident_bytes() -> int:
    """The memory that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def table(found: dict[str, dict[str, Measured]]) -> str:
    """A line for each search of each domain."""
    header = ["", "search", "batch", "expanded / s", "times naive", "known / s", "bytes per known state"]
    rows = []
    for name, searches in found.items():
        for search, one in searches.items():
            ratio = one.rate / searches[NAIVE].rate if searches[NAIVE].expanded else math.nan
            # The weights and what torch allocates are more than a few thousand states.
            size = f"{one.bytes / one.known:,.0f}" if search in (COUNTS, RELAXED, PACKED) else "-"
            numbers = [f"{one.rate:,.1f}", f"{ratio:,.1f}", f"{one.known / one.seconds:,.0f}", size]
            rows.append([name, SEARCHES[search], str(one.batch), *numbers])
    return aligned_text([header, *rows], names=2)


if __name__ == "__main__":
    main()

"""How many states a search expands per second, with a model and without, and what a known state takes of memory.

    python benchmarks/search.py [--domain NAME ...] [--seconds S] [--device cpu] [--unpacked] [--json]
    python benchmarks/search.py --search naive --search model --device cuda

Each search runs for some seconds in a process of its own, on a generated problem, and goes on where it meets a goal.
README.md beside this file says what is compared.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import time
from collections.abc import Callable, Sized
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
from trifold.model import Model, choose_device, open_model
from trifold.pddl import PackedCounts, PackedTask, Problem, State, load_domain, load_problem
from trifold.planning import Scores, goal_counts, relaxed_plans
from trifold.planning.counted import Counted
from trifold.planning.goal_counts import BATCH
from trifold.planning.search import Greedy, Turn, knowledge
from trifold.shipped import find_model

PROBLEMS: dict[str, dict[str, int]] = {
    "logistics": {"cities": 6, "packages": 6},
    "grid": {"rows": 3, "columns": 3, "side": 3, "locks": 8, "keys": 4, "shapes": 3, "unlocks": 3},
    "blocks-s": {"blocks": 15},
    "gripper": {"balls": 20},
}
"""The domains that are measured if none is asked for, with problems that no search here exhausts."""

NAIVE, MODEL, COUNTS, RELAXED, PACKED = "naive", "model", "goal-counts", "relaxed-plans", "packed"
SEARCHES = {
    NAIVE: "naive loop over model.values",
    MODEL: "greedy, by the model",
    RELAXED: "greedy, by relaxed plans",
    COUNTS: "greedy, by goal counts",
    PACKED: "packed, by goal counts",
}
WARM = 5
"""Batches that are expanded before anything is counted: what is made once is made then."""


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domain", action="append", choices=sorted(DOMAINS), help=f"(default: {', '.join(PROBLEMS)})")
    parser.add_argument("--search", action="append", choices=SEARCHES, help="may be given several times (default: all)")
    parser.add_argument("--model", help="a model file, or the name of a shipped one (default: that of the domain)")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each search (default: 10)")
    parser.add_argument("--batch", type=int, help="states that the model looks at together (default: the model's own)")
    parser.add_argument("--device", default="cpu", help="of the model: cpu, cuda or auto (default: cpu)")
    parser.add_argument(
        "--unpacked", action="store_true", help="keep states as they are, as where a problem cannot be grounded"
    )
    parser.add_argument("--json", action="store_true", help="write the result to standard output as JSON")
    arguments = parser.parse_args()
    use_threads(1)
    device = choose_device(arguments.device)
    found: dict[str, dict[str, Measured]] = {}
    for name in arguments.domain or PROBLEMS:
        found[name] = {}
        for search in arguments.search or SEARCHES:
            model = arguments.model or name
            asked = (name, search, model, device, arguments.seconds, arguments.batch, arguments.unpacked)
            # A new process, so that no memory was freed before; a fork could not use the card that its parent has seen.
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                found[name][search] = pool.submit(measure, *asked).result()
            note(f"{name}, {SEARCHES[search]}: {found[name][search]}")
    about = {"seconds": arguments.seconds, "device": device, "unpacked": arguments.unpacked} | conditions(device)
    if arguments.json:
        facts = {name: {search: asdict(one) for search, one in rows.items()} for name, rows in found.items()}
        print(json.dumps({"benchmark": "search", "about": about, "domains": facts}, indent=2))
        return
    print(facts_text(about))
    print(table(found), end="")


def measure(
    name: str, search: str, model: str, device: str, seconds: float, batch: int | None, is_unpacked: bool
) -> Measured:
    """Let one search run for some seconds."""
    use_threads(1)
    problem = load_problem(load_domain(domain_text(name)), draw(name))
    if search == NAIVE:
        values, together = Model.load(find_model(model), device).values, 1
        values([problem.initial_state])  # what is made once is not counted
        run = partial(search_naively, problem, values, seconds)
    elif search == PACKED:
        counted, together = Counted(PackedCounts(PackedTask(problem))), BATCH
        run = partial(_go_on, counted, lambda: counted.packed.queues, seconds)
    else:
        scores = _scores(search, problem, model, device, batch)
        together = scores.batch
        greedy = Greedy(knowledge(problem, scores, None if is_unpacked else PackedTask(problem)), together)
        run = partial(_go_on, greedy, lambda: greedy.open, seconds)
    return run(together)


def draw(name: str) -> str:
    """The problem of a domain, the same in every run; of a domain without a size here, a small one."""
    return DOMAINS[name].generate(random.Random(0), **PROBLEMS.get(name, {}))


def _scores(search: str, problem: Problem, model: str, device: str, batch: int | None) -> Scores[State]:
    """What a search is led by."""
    if search != MODEL:
        return relaxed_plans(problem) if search == RELAXED else goal_counts(problem)
    scores = Scores.of(open_model(find_model(model), device, 1), problem)
    scores.batch = batch or scores.batch
    return scores


def _go_on(search: Turn, left: Callable[[], Sized], seconds: float, batch: int) -> Measured:
    """Let a search run while there are states left, beyond goals as well."""
    for _ in range(WARM):
        if left():
            search.expand_batch()
    steps, size, before, start = search.steps, search.size, resident_bytes(), time.perf_counter()
    while left() and time.perf_counter() - start < seconds:
        search.expand_batch()
    passed = time.perf_counter() - start
    return Measured(search.steps - steps, search.size - size, passed, resident_bytes() - before, batch)


def search_naively(task: Problem, values: Callable[[list[State]], Any], seconds: float, batch: int = 1) -> Measured:
    """Pop the state with the least V, and ask for V of its new successors, one after the other."""
    before, start = resident_bytes(), time.perf_counter()
    known, queue, expanded, order = {task.initial_state}, [(0.0, 0, task.initial_state)], 0, 0
    while queue and time.perf_counter() - start < seconds:
        _, _, state = heappop(queue)
        expanded += 1
        for _, successor in task.successors(state):
            if successor not in known:
                task.is_goal(successor)
                known.add(successor)
                order += 1
                heappush(queue, (float(values([successor])[0]), order, successor))
    return Measured(expanded, len(known), time.perf_counter() - start, resident_bytes() - before, batch)


def resident_bytes() -> int:
    """The memory that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def table(found: dict[str, dict[str, Measured]]) -> str:
    """A line for each search of each domain."""
    header = ["", "search", "batch", "expanded / s", "times naive", "known / s", "bytes per known state"]
    rows = []
    for name, searches in found.items():
        for search, one in searches.items():
            ratio = one.rate / searches[NAIVE].rate if NAIVE in searches and searches[NAIVE].expanded else math.nan
            size = f"{one.bytes / one.known:,.0f}" if search != NAIVE else "-"  # of few states it says nothing
            numbers = [f"{one.rate:,.1f}", f"{ratio:,.1f}", f"{one.known / one.seconds:,.0f}", size]
            rows.append([name, SEARCHES[search], str(one.batch), *numbers])
    return aligned_text([header, *rows], names=2)


if __name__ == "__main__":
    main()

"""A judge from elsewhere: unified-planning's simulator along random walks, for what its reader can read."""

from __future__ import annotations

import random
import re
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

from fuzz.figures import Finding
from fuzz.naive import NaiveTask
from fuzz.oracle import Task
from fuzz.random_domains import draw
from trifold.pddl.executor import Executor
from trifold.processes import Limits, run_isolated

STEPS = 4
BATCH = 10
FAMILIES = ("strips", "quantifiers", "conditional", "or", "imply")
"""The families that its reader can read: no ``either``, no derived predicates."""


def difference_from_unified_planning(domain: str, problem: str, task: Task, rng: random.Random) -> str | None:
    """What unified-planning sees otherwise on a random walk, or None; raises what its reader raises."""
    from unified_planning.io import PDDLReader
    from unified_planning.shortcuts import SequentialSimulator, get_environment

    get_environment().credits_stream = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = PDDLReader().parse_problem_string(domain, problem)
        with SequentialSimulator(other) as simulator:
            state, theirs = task.initial, simulator.get_initial_state()
            for _ in range(STEPS):
                if task.is_goal(state) != simulator.is_goal(theirs):
                    return f"the goal {'is' if task.is_goal(state) else 'is not'} reached in {sorted(state)}"
                found = {
                    _text(action, arguments): (action, arguments)
                    for action, arguments in simulator.get_applicable_actions(theirs)
                }
                actions = task.applicable(state)
                if set(actions) != set(found):
                    action = min(set(actions) ^ set(found))
                    return f"{action} is {'' if action in actions else 'not '}applicable in {sorted(state)}"
                if not actions:
                    break
                action = rng.choice(actions)
                state, theirs = task.apply(state, action), simulator.apply(theirs, *found[action])
    return None


def _text(action: Any, arguments: Any) -> str:
    return f"({' '.join([action.name, *map(str, arguments)])})".lower()


def walk_job(job: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """What a child process does: walk through the domains with these numbers."""
    outcomes = []
    for number in job["numbers"]:
        domain, problem = draw(job["family"], job["seed"], number)
        held = set().union(*NaiveTask(domain, problem).types.values())
        if not set(re.findall(r"\bt\d\b", domain)) <= held:
            outcomes.append((number, "unreadable", ""))  # it drops quantifiers over types without objects
            continue
        task = Executor.load(domain, problem)
        task.applicable(task.initial)  # what it cannot do is no fault of the other's
        try:
            rng = random.Random(f"walk {number}")
            found = difference_from_unified_planning(domain, problem, task, rng)
        except Exception as error:  # whatever its reader says to PDDL that it does not support
            outcomes.append((number, "unreadable", f"{type(error).__name__}: {error}"))
        else:
            outcomes.append((number, "wrong" if found else "equal", found or ""))
    return {"outcomes": outcomes}


def run(count: int, seed: int, *, minutes: float = float("inf")) -> tuple[Counter[str], list[Finding]]:
    """Walk through so many domains of the families in turn, or as many as there is time for."""
    figures: Counter[str] = Counter()
    findings = []
    deadline = time.monotonic() + 60 * minutes
    jobs = [
        {"family": family, "seed": seed, "numbers": list(range(first, first + BATCH))}
        for first in range(0, count // len(FAMILIES), BATCH)
        for family in FAMILIES
    ]
    for result in run_isolated("fuzz.second_judge:walk_job", jobs, workers=1, limits=Limits(600.0, 4.0)):
        if result.error or result.value is None:
            figures.update({"tried": BATCH, "crash": BATCH})
            continue
        for number, outcome, message in result.value["outcomes"]:
            figures.update({"tried": 1, outcome: 1})
            if outcome == "wrong":
                family = str(jobs[result.job]["family"])
                texts = "\n".join(draw(family, seed, number))
                findings.append(Finding("unified-planning", outcome, family, [number], message, texts))
        if time.monotonic() > deadline:
            break
    return figures, findings

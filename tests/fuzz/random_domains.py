"""Random domains, judged: state spaces, V*, successors and goals against a naive search with a judge of its own.

python -m fuzz.random_domains --count 1000 --seed 0 --family mixed
"""

from __future__ import annotations

import json
import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from fuzz.figures import BAD, Finding
from fuzz.naive import NaiveTask
from fuzz.oracle import Truth, difference, difference_of_steps, explore
from fuzz.shrinking import shrink
from fuzz.strategies import States, draw_domain
from trifold.errors import TrifoldError
from trifold.outcomes import Outcome
from trifold.pddl import UnsolvableError, expand
from trifold.pddl.executor import Executor
from trifold.pddl.expansion import expand_with_pymimir
from trifold.processes import Limits, run_isolated

BATCH = 25
STEPPED = 60
"""In how many states of each domain every action is applied to a live problem."""

REACHED = 150
"""How many states are reached in search of a goal that is far away."""

LIMITS = Limits(seconds=300.0, memory_gib=4.0)


@dataclass(frozen=True)
class Verdict:
    """What became of one domain.

    outcome  "equal", "refused", "wrong", "crash", "hang" or "large": too many states for the naive search
    message  why, with where it was seen
    states, value
             how many states there are, and V* of the initial one, −1 if there is no plan
    """

    outcome: str
    message: str = ""
    states: int = 0
    value: int = -1
    number: int = 0


def reach(domain: str, problem: str) -> States:
    """Reachable states, nearest first."""
    task = NaiveTask(domain, problem)
    found = {task.initial: None}
    queue = list(found)
    for state in queue:
        if len(found) > REACHED:
            break
        for action in task.applicable(state):
            other = task.apply(state, action)
            if other not in found:
                found[other] = None
                queue.append(other)
    return [task.closure(state) for state in found]


def draw(family: str, seed: int, number: int) -> tuple[str, str]:
    """The domain and problem of a family with a number; the same ones whatever else is drawn."""
    return draw_domain(random.Random(f"{family} {seed} {number}"), family, reach)


def judge(domain: str, problem: str) -> Verdict:
    """Compare what Trifold makes of a problem with the truth."""
    truth = explore(NaiveTask(domain, problem))
    if truth is None:
        return Verdict("large")
    about = {"states": len(truth.successors), "value": truth.values.get(truth.initial, -1)}
    checks: dict[str, Callable[[], str | None]] = {
        "executor": lambda: _check_executor(truth, domain, problem),
        "expand": lambda: _check_space(truth, expand, domain, problem),
        "expand_with_pymimir": lambda: _check_space(truth, expand_with_pymimir, domain, problem),
        "successors": lambda: difference_of_steps(truth, domain, problem, STEPPED),
    }
    for name, check in checks.items():
        try:
            found = check()
        except TrifoldError as error:
            # Every domain that is drawn is legal, and this is the one thing that is not supported of them.
            outcome = "refused" if "depends on its own negation" in error.message else "wrong"
            return Verdict(outcome, f"{name}: {error.message}", **about)
        if found:
            return Verdict("wrong", f"{name}: {found}", **about)
    return Verdict("equal", "", **about)


def _check_executor(truth: Truth, domain: str, problem: str) -> str | None:
    found = explore(Executor.load(domain, problem), seconds=20.0)
    if found is None:  # it works out the derived atoms for every action anew
        return None
    parts = [field.name for field in fields(Truth) if getattr(found, field.name) != getattr(truth, field.name)]
    return f"it differs in {', '.join(parts)}" if parts else None


def _check_space(truth: Truth, expand: Callable[..., Any], domain: str, problem: str) -> str | None:
    try:
        space = expand(domain, problem, 2 * len(truth.successors) + 10)
    except UnsolvableError:
        return "it has a plan, and is called unsolvable" if truth.initial in truth.values else None
    return difference(truth, space)


def judge_job(job: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """What a child process does: judge the domains with these numbers."""
    verdicts = []
    for number in job["numbers"]:
        verdict = judge(*draw(job["family"], job["seed"], number))
        verdicts.append(asdict(verdict) | {"number": number})
    return {"verdicts": verdicts}


def shrink_job(job: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """What a child process does to a domain that went wrong: the smallest that has the same outcome."""

    def fails(domain: str, problem: str) -> bool:
        verdict = judge_in_fork(domain, problem)
        same = verdict.outcome in BAD or message_class(verdict.message) == job["class"]
        return verdict.outcome == job["outcome"] and same

    domain, problem = shrink((job["domain"], job["problem"]), fails)
    return {"domain": domain, "problem": problem, "message": judge_in_fork(domain, problem).message}


def judge_in_fork(domain: str, problem: str) -> Verdict:
    """Judge a domain that may end its process."""
    inlet, outlet = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(outlet, json.dumps(asdict(judge(domain, problem))).encode())
        except TrifoldError as error:  # the executor itself will not have it
            os.write(outlet, json.dumps(asdict(Verdict("invalid", error.message))).encode())
        finally:
            os._exit(0)
    os.close(outlet)
    with os.fdopen(inlet, "rb") as file:
        answer = file.read()
    os.waitpid(child, 0)
    return Verdict(**json.loads(answer)) if answer else Verdict("crash")


def message_class(message: str) -> str:
    """The message without what differs from domain to domain.

    >>> message_class("expand: the object o3 is not t1 in line 12")
    'expand: the object … is not … in line …'
    """
    return re.sub(r"\{.*\}|\(.*\)|\?\w+|\b[a-z]?\d+\b", "…", message.partition(". In line")[0])


def judge_numbers(family: str, seed: int, numbers: Sequence[int], workers: int = 1) -> Iterator[Verdict]:
    """Judge domains in child processes: one that ends its process, or never ends, is named."""
    batches = [numbers[start : start + BATCH] for start in range(0, len(numbers), BATCH)]
    alone: list[Any] = []
    jobs = [{"family": family, "seed": seed, "numbers": list(batch)} for batch in batches]
    for result in run_isolated("fuzz.random_domains:judge_job", jobs, workers=workers, limits=LIMITS):
        if result.value and not result.error:
            yield from (Verdict(**verdict) for verdict in result.value["verdicts"])
        elif len(batches[result.job]) > 1:
            alone += batches[result.job]
        else:
            outcome = "hang" if result.outcome is Outcome.TIMEOUT else "crash"
            yield Verdict(outcome, result.message, number=batches[result.job][0])
    for number in alone:
        yield from judge_numbers(family, seed, [number])


def run(
    count: int, seed: int, family: str, *, minutes: float = float("inf"), workers: int = 1
) -> tuple[Counter[str], list[Finding]]:
    """Judge so many domains of a family, or as many as there is time for: figures, and what was found."""
    figures: Counter[str] = Counter()
    findings: dict[tuple[str, str], Finding] = {}
    deadline = time.monotonic() + 60 * minutes
    for first in range(0, count, 4 * BATCH):
        for verdict in judge_numbers(family, seed, range(first, min(first + 4 * BATCH, count)), workers):
            figures.update({"tried": 1, verdict.outcome: 1, "states": verdict.states})
            figures["solvable"] += verdict.value >= 0
            figures["V* > 1"] += verdict.value > 1
            if verdict.outcome not in ("equal", "large"):
                key = verdict.outcome, "" if verdict.outcome == "wrong" else message_class(verdict.message)
                finding = findings.setdefault(key, Finding(f"random {family}, seed {seed}", *key))
                finding.numbers.append(verdict.number)
                finding.example = finding.example or verdict.message
        if time.monotonic() > deadline:
            break
    for finding in findings.values():
        finding.reproduction = smallest(family, seed, finding)
    return figures, list(findings.values())


def smallest(family: str, seed: int, finding: Finding) -> str:
    """The smaller of two shrunken domains with the same outcome, and what is wrong about it."""
    texts = (draw(family, seed, number) for number in finding.numbers[:50])
    best = sorted(texts, key=lambda pair: len("".join(pair)))[:2]
    if finding.outcome == "hang":
        return "\n".join(best[0])
    jobs = [
        {"domain": domain, "problem": problem, "outcome": finding.outcome, "class": finding.cause}
        for domain, problem in best
    ]
    results = run_isolated("fuzz.random_domains:shrink_job", jobs, workers=1, limits=LIMITS)
    shrunken = [result.value for result in results if result.value and not result.error]
    if not shrunken:
        return "\n".join(best[0])
    found = min(shrunken, key=lambda value: len(value["domain"] + value["problem"]))
    return f"; {found['message']}\n{found['domain']}\n{found['problem']}\n"

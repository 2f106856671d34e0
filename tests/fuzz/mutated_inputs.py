"""Mutated PDDL through the commands: each ends well, with an error in words or a named outcome, and never lies."""

from __future__ import annotations

import json
import random
import re
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzz.commands_in_forks import Ended, load_everything, run_for_real, run_in_fork
from fuzz.figures import Finding
from fuzz.mutations import mutate
from fuzz.naive import NaiveTask
from fuzz.oracle import Truth, explore
from fuzz.random_domains import message_class
from trifold.domains import DOMAINS, domain_text, split_sizes
from trifold.errors import TrifoldError
from trifold.pddl.executor import Executor

TIMEOUT, HANG = 10.0, 90.0
"""Seconds that commands are given for a problem, and after which they hang: they also start, train and write."""

JUDGED = 20.0
"""Seconds that the judges are given."""

MAX_STATES = 1500
REAL = 50
"""One of so many commands is run as a user would."""

LARGEST_FILE = 20_000
RAW = re.compile(r"N\d+boost|boost::|std::|_Z\w{6}|<<-- Here|nanobind|spirit|an error of Trifold")
"""What errors to users must not show."""

UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What the naive judge raises over texts that break the rules of PDDL."""

LIMITS = ["--timeout", f"{TIMEOUT:g}", "--memory", "4", "--workers", "1"]
SEARCH = ["--max-states", str(MAX_STATES), *LIMITS]
POLICY = ["--max-steps", "25", "--device", "cpu", "--timeout", f"{TIMEOUT:g}", "--memory", "6"]
COMMANDS = {
    "label": ["label", ".", *SEARCH, "--json"],
    "train": ["train", ".", "--run", "run", "--recipe", "small", "--steps", "2", "--set", "dim=4", "--set", "layers=2",
              "--device", "cpu", "--set", f"max_states={MAX_STATES}", "--set", f"seconds={TIMEOUT:g}",
              "--set", "memory_gib=4", "--workers", "1"],
    "expressivity": ["expressivity", ".", "--rounds", "2", "--states", "50", *SEARCH],
    "solve": ["solve", "{model}", "train/p.pddl", "--domain", "domain.pddl", *POLICY, "--json", "--quiet"],
    "evaluate": ["evaluate", "{model}", "train", "--records", "records.jsonl", "--plans", "plans", *POLICY,
                 "--workers", "1"],
}  # fmt: skip
"""What is run in a folder with domain.pddl and train/p.pddl."""


@dataclass(frozen=True)
class Case:
    """A command and its mutated input; model is the shipped model of the domain it was made from."""

    command: str
    model: str
    domain: bytes
    problem: bytes
    mutations: tuple[str, ...]


def sources(corpus: Path | None) -> list[tuple[str, list[Path]]]:
    """The folders of a corpus that have small enough files: its name, and the domain and a problem of each."""
    found = []
    for folder in sorted(corpus.iterdir()) if corpus and corpus.is_dir() else ():
        domain = folder / "domain.pddl"
        problems = sorted(folder.glob("p*.pddl"), key=lambda path: path.stat().st_size)[:2]
        if domain.is_file() and problems and max(path.stat().st_size for path in (domain, *problems)) < LARGEST_FILE:
            found.append((folder.name, [domain, problems[0]]))
    return found


def draw(seed: int, number: int, corpus: Sequence[tuple[str, list[Path]]] = ()) -> Case:
    """The case with a number; the same one whatever else is drawn."""
    rng = random.Random(f"mutated {seed} {number}")
    command = rng.choice(["label", "label", "train", "expressivity", "solve", "solve", "evaluate"])
    name = rng.choice(list(DOMAINS))
    options = rng.choice(sorted(split_sizes(name, "train"), key=lambda entry: next(iter(entry.values())))[:2])
    domain, problem = domain_text(name), DOMAINS[name].generate(rng, **options)
    if corpus and command in ("label", "train", "expressivity") and rng.random() < 0.4:
        name, files = rng.choice(corpus)
        domain, problem = (file.read_text(encoding="utf-8", errors="replace") for file in files)
    which = rng.choice(["domain", "domain", "problem", "problem", "both"])
    new_domain, first = (domain.encode(), []) if which == "problem" else mutate(rng, domain)
    new_problem, second = (problem.encode(), []) if which == "domain" else mutate(rng, problem)
    return Case(command, name, new_domain, new_problem, (name, *first, "/", *second))


def run_case(case: Case, *, for_real: bool = False) -> tuple[str, str]:
    """Run the command, and name how it ended and why."""
    folder = Path(tempfile.mkdtemp(prefix="trifold-fuzz-"))
    try:
        (folder / "train").mkdir()
        (folder / "domain.pddl").write_bytes(case.domain)
        (folder / "train" / "p.pddl").write_bytes(case.problem)
        arguments = [word.format(model=case.model) for word in COMMANDS[case.command]]
        ended = (run_for_real if for_real else run_in_fork)(arguments, folder, HANG)
        outcome, message = classify(ended)
        if outcome in ("ok", "named") and (lie := _find_lie_in_time(case, ended, folder)):
            return ("unjudged" if lie == "unjudged" else "wrong"), lie
        return outcome, message
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def classify(ended: Ended) -> tuple[str, str]:
    """The outcome by what a user would see."""
    said = f"{ended.errors}\n{ended.output}"
    last = (ended.errors.strip().splitlines() or [""])[-1]
    if ended.is_stopped:
        return "hang", last
    if ended.code < 0:
        return "signal", f"signal {-ended.code}"
    if "Traceback (most recent call last)" in said:
        return "traceback", last
    if found := RAW.search(said):
        line = next(line for line in said.splitlines() if found[0] in line)
        return "raw", line.strip()
    if re.search(r"\bcrash\b", said):
        return "crash", next(line for line in said.splitlines() if "crash" in line).strip()
    if ended.code == 0:
        return "ok", ""
    if ended.code == 2 and (error := re.search(r"^error: (.*)$", ended.errors, re.MULTILINE)):
        return "refused", error[1]
    if ended.code == 2 and "bad input" in said:
        return "refused", next(line for line in said.splitlines() if "bad input" in line)
    # What label says of problems that it left out is judged, too.
    left_out = ended.code == 2 and re.search(r": (unsolvable|state limit|timeout|memory limit), ", ended.errors)
    if left_out or 2 < ended.code <= 13:
        return "named", f"exit code {ended.code}"
    return "unknown", f"exit code {ended.code}: {last}"


def _find_lie_in_time(case: Case, ended: Ended, folder: Path) -> str | None:
    """What ``find_lie`` finds within JUDGED seconds: to list the actions of a mutated domain may take for ever."""

    def give_up(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, JUDGED)
    try:
        return find_lie(case, ended, folder)
    except TimeoutError:
        return "unjudged"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def find_lie(case: Case, ended: Ended, folder: Path) -> str | None:
    """What a command said that is not so; "unjudged" if it cannot be found out in time."""
    labels: dict[str, Any] | None = None
    plan: list[str] | None = None
    match case.command:
        case "label":
            labels = json.loads(ended.output)[0]
        case "solve":
            answer = json.loads(ended.output)
            plan = answer["actions"] if answer["outcome"] == "solved" else None
        case "evaluate":
            for file in (folder / "plans").glob("*.plan"):
                plan = [line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("(")]
    try:
        domain, problem = (content.decode("utf-8-sig") for content in (case.domain, case.problem))
    except UnicodeDecodeError:
        return "a file was believed that is not UTF-8" if plan is not None or (labels or {}).get("labelled") else None
    if labels is not None:
        return _false_labels(labels, domain, problem)
    return None if plan is None else plan_failure(domain, problem, plan)


def _false_labels(summary: dict[str, Any], domain: str, problem: str) -> str | None:
    try:
        task = Executor.load(domain, problem)
    except TrifoldError as error:
        return f"the executor refuses what was labelled: {error.message}" if summary["labelled"] else None
    truth = explore(task, MAX_STATES, seconds=5.0)
    if truth is None:
        return "unjudged"
    solvable = truth.initial in truth.values
    said = summary["left_out"]
    if "unsolvable" in said:
        return "it has a plan, and is called unsolvable" if solvable else None
    if said:
        return "unjudged"
    dead_ends = len(truth.successors) - len(truth.values)
    expected = (len(truth.successors), dead_ends, max(truth.values.values(), default=-1))
    found = (summary["states"], summary["dead_ends"], summary["largest_value"])
    if found != expected:
        return f"states, dead ends and largest V* are {expected}, not {found}"
    return _disagreement(truth, domain, problem)


def _disagreement(truth: Truth, domain: str, problem: str) -> str | None:
    """Whether the naive judge sees another state space; it cannot read all, and not all in time."""
    try:
        other = explore(NaiveTask(domain, problem), MAX_STATES, seconds=3.0)
    except UNREADABLE:
        return None
    return None if other is None or other == truth else "the naive judge sees another state space"


def plan_failure(domain: str, problem: str, actions: Sequence[str]) -> str | None:
    """Why a plan is none, by both judges."""
    spelt = [f"({' '.join(action[1:-1].split())})" for action in actions]
    try:
        return _failure(Executor.load(domain, problem), spelt) or _failure(NaiveTask(domain, problem), spelt)
    except UNREADABLE:
        return None


def _failure(task: Executor | NaiveTask, actions: Sequence[str]) -> str | None:
    state = task.initial
    for action in actions:
        if not task.is_applicable(state, action):
            return f"{action} is not applicable"
        state = task.apply(state, action)
    return None if task.is_goal(state) else "the plan does not reach the goal"


def run(
    count: int, seed: int, *, minutes: float = float("inf"), corpus: Path | None = None, first: int = 0
) -> tuple[dict[str, Counter[str]], list[Finding]]:
    """Run so many cases, or as many as there is time for: figures per command, and what was found."""
    load_everything()
    figures: dict[str, Counter[str]] = {command: Counter() for command in COMMANDS}
    findings: dict[tuple[str, str], Finding] = {}
    found_sources = sources(corpus)
    deadline = time.monotonic() + 60 * minutes
    for number in range(first, first + count):
        case = draw(seed, number, found_sources)
        outcome, message = run_case(case, for_real=number % REAL == 0)
        figures[case.command].update({"tried": 1, outcome: 1})
        if outcome not in ("ok", "unjudged"):
            cause = re.sub(r"/\S+|'[^']*'|\"[^\"]*\"|of the domain.*", "…", message_class(message))[:100]
            key = outcome, f"{case.command}: {cause}"
            finding = findings.setdefault(key, Finding(f"mutated, seed {seed}", *key))
            finding.numbers.append(number)
            texts = "\n".join(content.decode(errors="backslashreplace") for content in (case.domain, case.problem))
            if not finding.reproduction or len(texts) < len(finding.reproduction):
                finding.example, finding.reproduction = f"{number} {case.mutations} {message}", texts
        if time.monotonic() > deadline:
            break
    return figures, list(findings.values())

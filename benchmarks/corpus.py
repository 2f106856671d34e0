"""Which PDDL files are read, which are refused and why, and which a search without a model solves: whole collections.

    python benchmarks/corpus.py DIR [DIR ...] [--search SECONDS] [--validate] [--records FILE] [--json]

DIR holds PDDL files in folders of any depth. A problem's domain is the file of its own beside it (p01-domain.pddl or
domain_p01.pddl for p01.pddl), or else the nearest domain.pddl in its folder or above. Each problem is given to a child
process under limits. What is counted:

read       the problem is loaded, and the successors of its initial state are generated
refused    a `TrifoldError` says what is wrong or not supported; the reasons are listed with how many problems have them
limit      loading ran into --timeout or --memory
exception  anything else: a crash, or an exception that is not ours. There should be none
solved     with --search: `trifold solve none`, a search without a model, finds a plan within so many seconds of wall
           clock, loading included, and our own executor takes it. The median is over these
valid      with --validate: so does the validator of Unified Planning; its doubts and rejections are listed

What the records hold is not done again: the same command goes on after Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from instance import note
from trifold.bench.report import duration, facts_text
from trifold.bench.timing import conditions, use_threads
from trifold.errors import TrifoldError
from trifold.evaluation import SolveJob, aligned_text, attempt_each, file_sha256
from trifold.lines import append_line, read_lines
from trifold.outcomes import Outcome
from trifold.pddl import DOMAIN, find_domain, load_domain, load_problem
from trifold.pddl.folder import natural_key
from trifold.processes import Limits, run_isolated

IS_DOMAIN = re.compile(r"\(\s*define\s*\(\s*domain\b", re.IGNORECASE)

FOREIGN = (Outcome.CRASH, Outcome.INVALID_PLAN, Outcome.DISAGREEMENT)
"""What must not happen: an exception that is not ours, and a plan that one of two engines rejects."""


@dataclass(frozen=True)
class Case:
    """A problem with its domain, None if there is no file for it, and the collection that it is of."""

    collection: str
    problem: Path
    domain: Path | None


def find_cases(collection: Path) -> list[Case]:
    """The problems below a folder, in natural order: all PDDL files that define no domain."""
    if not collection.is_dir():
        raise TrifoldError("there is no such folder", place=str(collection))
    files = sorted(collection.rglob("*.pddl"), key=lambda file: natural_key(str(file)))
    problems = [file for file in files if not IS_DOMAIN.search(file.read_text(encoding="utf-8", errors="replace"))]
    return [Case(str(collection), problem, _domain_of(problem, collection)) for problem in problems]


def _domain_of(problem: Path, collection: Path) -> Path | None:
    above = [folder / DOMAIN for folder in problem.parents if folder.is_relative_to(collection)]
    return find_domain(problem) or next((file for file in above if file.is_file()), None)


def read_job(job: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """In a child: load a problem, and count the successors of its initial state."""
    problem = load_problem(load_domain(Path(job["domain"])), Path(job["problem"]))
    return {"objects": len(problem.objects), "successors": len(problem.successors(problem.initial_state))}


Record = dict[str, Any]
"""What came of reading a problem, or of searching for its plan: what was asked, outcome, message, seconds and more."""


def read_each(
    cases: Sequence[Case], seconds: float, memory: float | None, workers: int
) -> Iterator[tuple[int, Record]]:
    """Try to load each problem."""
    jobs = [{"problem": str(case.problem), "domain": str(case.domain)} for case in cases]
    for result in run_isolated("corpus:read_job", jobs, workers=workers, limits=Limits(seconds, memory)):
        message = result.error.message if result.error else None
        yield result.job, {"outcome": result.outcome, "message": message, "seconds": result.seconds}


def search_each(
    cases: Sequence[Case], seconds: float, memory: float, workers: int, *, validate: bool
) -> Iterator[tuple[int, Record]]:
    """Try to solve each problem without a model."""
    jobs = [
        SolveJob(
            None,
            str(case.problem),
            str(case.domain),
            policy=None,
            search="turns",
            max_states=5_000_000,
            timeout=seconds,
            validate=validate,
        )
        for case in cases
    ]
    place = {job.problem: index for index, job in enumerate(jobs)}
    for attempt in attempt_each(jobs, workers=workers, limits=Limits(seconds, memory)):
        found = attempt.trajectory
        yield (
            place[attempt.job.problem],
            {
                "outcome": found.outcome,
                "message": attempt.error.message if attempt.error else None,
                "seconds": attempt.seconds,
                "plan_length": None if found.plan is None else len(found.plan),
                "states_known": found.known,
                "validated": attempt.validated,
                "doubt": attempt.doubt,
            },
        )


def recorded(
    cases: Sequence[Case],
    asked: Record,
    run: Callable[[Sequence[Case]], Iterator[tuple[int, Record]]],
    records: Path,
) -> list[Record]:
    """What `run` says of each case, in their order: from the records where they have it, and written there if not."""
    old = []
    if records.exists():
        old = read_lines(records, "problem", dict, what="a record", remedy="give another --records")
    names = ["problem", "problem_sha256", "domain_sha256", *asked]
    found = {tuple(map(record.get, names)): record for record in old}
    keys = [_key(case) | asked for case in cases]
    pending = [index for index, key in enumerate(keys) if tuple(map(key.get, names)) not in found]
    for done, (index, result) in enumerate(run([cases[i] for i in pending]), len(cases) - len(pending) + 1):
        record = keys[pending[index]] | result
        found[tuple(map(record.get, names))] = record
        append_line(records, record)
        note(f"[{done}/{len(cases)}] {asked['task']} {record['problem']}: {told(record)}")
    return [found[tuple(map(key.get, names))] for key in keys]


def told(record: Record) -> str:
    """What came of a problem, in words."""
    return ", ".join(filter(None, [record["outcome"], record["message"], f"{record['seconds']:.1f} s"]))


def _key(case: Case) -> Record:
    """What a record is of."""
    assert case.domain is not None
    hashes = {"problem_sha256": file_sha256(case.problem), "domain_sha256": file_sha256(case.domain)}
    return {"problem": str(case.problem), "domain": str(case.domain)} | hashes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--search", type=float, metavar="SECONDS", help="seconds to solve each problem (default: none)")
    parser.add_argument("--validate", action="store_true", help="let Unified Planning validate the plans as well")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds to load each problem (default: 60)")
    parser.add_argument("--memory", type=float, default=6.0, help="GiB for each problem (default: 6)")
    parser.add_argument("--workers", type=int, default=1, help="problems at a time (default: 1)")
    parser.add_argument("--records", type=Path, default=Path("corpus.jsonl"), help="(default: corpus.jsonl)")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    arguments = parser.parse_args()
    use_threads(1)
    try:
        summaries = [summarise(*judge(collection, arguments)) for collection in arguments.collections]
    except TrifoldError as error:
        note(str(error))
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        note(f"interrupted; {arguments.records} keeps what is done, the same command goes on from there")
        raise SystemExit(130) from None
    if arguments.json:
        print(json.dumps([asdict(summary) for summary in summaries], indent=2))
        return
    limits = {"timeout": f"{arguments.timeout:g} s", "memory": f"{arguments.memory:g} GiB", "search": arguments.search}
    print(facts_text(limits | conditions()))
    print(report(summaries), end="")


def judge(collection: Path, arguments: argparse.Namespace) -> tuple[str, list[Case], list[Record], list[Record]]:
    """The problems of a collection, those without a domain, and the records of loading and of solving the others."""
    every = find_cases(collection)
    cases = [case for case in every if case.domain is not None]
    lonely = [case for case in every if case.domain is None]
    memory, workers = arguments.memory, arguments.workers
    asked = {"task": "read", "timeout": arguments.timeout, "memory_gib": memory}
    read = recorded(cases, asked, lambda some: read_each(some, arguments.timeout, memory, workers), arguments.records)
    solved: list[Record] = []
    if arguments.search is not None:
        loaded = [case for case, record in zip(cases, read, strict=True) if record["outcome"] == Outcome.FINISHED]
        asked = {"task": "search", "timeout": arguments.search, "memory_gib": memory, "validate": arguments.validate}

        def search(some: Sequence[Case]) -> Iterator[tuple[int, Record]]:
            return search_each(some, arguments.search, memory, workers, validate=arguments.validate)

        solved = recorded(loaded, asked, search, arguments.records)
    return str(collection), lonely, read, solved


@dataclass(frozen=True)
class Summary:
    """The numbers of one collection.

    reasons     why problems were refused, and how many were for that
    exceptions  of loading or solving, with the problem: what should not be
    outcomes    of the search, and how many problems had them
    seconds     the median of those that were solved, and `total` of all
    """

    collection: str
    problems: int
    read: int
    refused: int
    limit: int
    reasons: dict[str, int]
    exceptions: list[str]
    searched: int
    outcomes: dict[str, int]
    seconds: float | None
    total: float
    valid: int
    doubts: dict[str, int]


def summarise(collection: str, lonely: list[Case], read: list[Record], solved: list[Record]) -> Summary:
    """What the records of a collection come to."""
    ends = Counter(record["outcome"] for record in read)
    reasons = Counter(_reason(record["message"]) for record in read if record["outcome"] == Outcome.BAD_INPUT)
    if lonely:
        reasons["there is no domain file"] += len(lonely)
    taken = [record["seconds"] for record in solved if record["outcome"] == Outcome.SOLVED]
    return Summary(
        collection,
        len(read) + len(lonely),
        ends[Outcome.FINISHED],
        ends[Outcome.BAD_INPUT] + len(lonely),
        ends[Outcome.TIMEOUT] + ends[Outcome.MEMORY_LIMIT],
        dict(reasons.most_common()),
        [f"{each['problem']}: {each['message']}" for each in (*read, *solved) if each["outcome"] in FOREIGN],
        len(solved),
        dict(Counter(record["outcome"] for record in solved).most_common()),
        median(taken) if taken else None,
        sum(record["seconds"] for record in solved),
        sum(record["validated"] is True for record in solved),
        dict(Counter(_reason(record["doubt"]) for record in solved if record["doubt"]).most_common()),
    )


def _reason(message: str) -> str:
    """A reason without what it says of one problem, so that equal ones can be counted."""
    return re.sub(r"(?<=: )[^:]*$", "…", message) if message.count(":") else message


def report(summaries: Sequence[Summary]) -> str:
    """The table, and below it why problems were refused and what should not have been."""
    header = ["", "problems", "read", "refused", "limit", "exception", "searched", "solved", "median", "total", "valid"]
    table, below = [header], []
    for each in summaries:
        counts = (each.problems, each.read, each.refused, each.limit, len(each.exceptions), each.searched)
        times = ["-" if each.seconds is None else duration(each.seconds), duration(each.total)]
        solved = [str(each.outcomes.get(Outcome.SOLVED, 0)), *times, str(each.valid)]
        table.append([each.collection, *map(str, counts), *(solved if each.searched else ["-"] * 4)])
        for title, numbers in (("refused", each.reasons), ("search", each.outcomes), ("not validated", each.doubts)):
            below += [f"{each.collection}, {title}: {count} {what}" for what, count in numbers.items()]
        below += [f"{each.collection}, exception: {what}" for what in each.exceptions]
    return aligned_text(table, names=1) + "\n" + "".join(f"{line}\n" for line in below)


if __name__ == "__main__":
    main()

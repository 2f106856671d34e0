"""How long the policies `actions` and `values` and LAMA's first plan take for each problem of some folders, in one run.

    python benchmarks/policies.py --case NAME:ACTIONS:VALUES:DIR[:FIRST] [--case ...] [--timeout 600] [--records FILE]

A case is a name for the table, a model that scores actions, a model with V (each a file or a shipped model, maybe the
same), a folder of problems with domain.pddl in it or one folder up, and how many of them to take, the first in natural
order. Each problem is given to the three one after the other, each in a fresh child process with one thread on the CPU.
What the records hold is not run again. What is counted, by the wall clock:

actions, values  `seconds` of the record: the whole attempt, from when the Python of the child is up. That is loading
                 torch, pymimir and the model, which takes a second or two of every attempt, parsing, all steps of the
                 policy, and the replay of the plan. --timeout bounds all of it
LAMA             `seconds` of the record: from the start of fast-downward.py to its end, so its own loading, translation
                 and search. Our reading of the problem and the replay are not counted. --timeout bounds the same
policy alone     of a policy its steps, `seconds_per_step` · `steps` of the record, as if model and problem were loaded
                 already; of LAMA the same as above

A problem counts for a ratio if `actions` solved it, and the other solved it or ran into the timeout, which is then a
lower bound of its seconds. The ratio of whole attempts then stands for that of policies alone: what both load makes it
smaller, so it is a lower bound, too. A median that more time could change is a lower bound itself, and marked with ≥.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from instance import note
from trifold.bench.lama import choose_planner
from trifold.bench.report import duration, facts_text, times
from trifold.bench.timing import conditions, use_threads
from trifold.commands.evaluate import describe_attempt
from trifold.errors import TrifoldError
from trifold.evaluation import Record, aligned_text, evaluate, find_first_plans
from trifold.outcomes import Outcome
from trifold.pddl import find_domain, find_problems
from trifold.shipped import best_policy, find_model

ACTIONS, VALUES, LAMA = "actions", "values", "LAMA"
HEADER = ["", "by", "solved", "median", "plan length", "of plans", "/ actions", "policy alone", "of problems"]
LEGEND = """
median: of the attempts that solved a problem or ran into the timeout. plan length: the sum over the problems that all
solved. / actions: seconds over those of `actions`, the median over problems; policy alone: the same without loading,
parsing and replay, but of LAMA with all that it did. ≥: a lower bound, as some attempts ran into the timeout.

"""

Attempts = Mapping[str, Record]
"""The records of one problem, by who attempted it; without LAMA if there is no planner."""


@dataclass(frozen=True)
class Case:
    """Problems of one domain, and the models for them."""

    name: str
    actions: str
    values: str
    domain: Path
    problems: list[Path]

    @classmethod
    def read(cls, text: str) -> Case:
        """The case that the user has written, checked before any is run: what is wrong must not show after hours."""
        words = text.split(":")
        if len(words) not in (4, 5) or not all(words) or not all(word.isdecimal() for word in words[4:]):
            raise TrifoldError("this is no case", place=text, remedy="write NAME:ACTIONS:VALUES:DIR or …:DIR:FIRST")
        name, actions, values, place = words[:4]
        problems, domain = find_problems(Path(place)), find_domain(Path(place))
        if domain is None:
            raise TrifoldError("there is no domain.pddl here or in the folder above", place=place)
        for model in (actions, values):
            if not find_model(model).is_file():
                raise TrifoldError("there is no such file", place=model)
        if best_policy(find_model(actions)) != ACTIONS:
            raise TrifoldError("this is no model that scores actions", place=actions)
        return cls(name, actions, values, domain, problems[: int(words[4])] if words[4:] else problems)


class Bounds(NamedTuple):
    """A number, twice; or a lower bound of it, and infinity."""

    low: float
    high: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", action="append", required=True, metavar="NAME:ACTIONS:VALUES:DIR[:FIRST]")
    parser.add_argument("--records", type=Path, default=Path("policies.jsonl"), help="(default: policies.jsonl)")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for each attempt (default: 600)")
    parser.add_argument("--memory", type=float, help="GiB for each attempt (default: no limit)")
    parser.add_argument("--planner", type=Path, help="a fast-downward.py (default: that of up-fast-downward)")
    arguments = parser.parse_args()
    use_threads(1)
    recorded: list[Record] = []  # before this run, maybe by another version or on another machine
    settings = {"records": arguments.records, "timeout": arguments.timeout, "memory_gib": arguments.memory}
    found: dict[str, list[Attempts]] = defaultdict(list)
    try:
        planner = choose_planner(arguments.planner)
        cases = [Case.read(text) for text in arguments.case]
        asked = [(case, problem) for case in cases for problem in case.problems]
        for number, (case, problem) in enumerate(asked, 1):
            where = f"[{number}/{len(asked)}] {case.name}, {problem.name}"
            found[case.name].append(attempt(case, problem, planner, where, settings, recorded))
    except TrifoldError as error:
        note(str(error))
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        note(f"interrupted; {arguments.records} keeps what is done, the same command goes on from there")
        raise SystemExit(130) from None
    facts = {"timeout": f"{arguments.timeout:g} s", "attempts recorded before": len(recorded)}
    print(facts_text(facts | conditions()))
    print(report(found), end="")


def attempt(
    case: Case, problem: Path, planner: Path | None, where: str, settings: dict[str, Any], recorded: list[Record]
) -> Attempts:
    """Give a problem to the three, one after the other, and return their records; old ones are added to a list."""

    def tell(record: Record, is_new: bool) -> None:
        if not is_new:
            recorded.append(record)
        note(f"{where}, {record['policy']}: {describe_attempt(record)}{'' if is_new else ' (recorded)'}")

    def wait() -> None:
        note(f"waiting: another process writes to {settings['records']}")

    settings = settings | {"on_record": tell, "on_wait": wait}
    found = {}
    for policy, model in ((ACTIONS, case.actions), (VALUES, case.values)):
        (found[policy],) = evaluate(
            model, [problem], domain=case.domain, policy=policy, device="cpu", workers=1, **settings
        )
    if planner is not None:
        (found[LAMA],) = find_first_plans([problem], case.domain, planner=planner, workers=1, **settings)
    return found


def report(cases: Mapping[str, Sequence[Attempts]]) -> str:
    """The table of all cases, what it says, and how the policies compare over all problems."""
    table = [HEADER, *(row for name, problems in cases.items() for row in rows(name, problems))]
    every = [attempts for problems in cases.values() for attempts in problems]
    whole, alone = (ratios(every, VALUES, alone=alone) for alone in (False, True))
    last = (
        f"values / actions, the median over {len(whole)} of {len(every)} problems: {middle(whole, times)}, "
        f"policy alone {middle(alone, times)}\n"
    )
    return aligned_text(table, names=2) + LEGEND + last


def rows(name: str, problems: Sequence[Attempts]) -> list[list[str]]:
    """The lines of one case: how many problems each solved, how long it took, and how long its plans are."""
    by_all = [attempts for attempts in problems if all(map(is_solved, attempts.values()))]
    found = []
    for by in (ACTIONS, VALUES, LAMA):
        records = [attempts[by] for attempts in problems if by in attempts]
        if not records:
            found.append([name, by, "not installed", *["-"] * (len(HEADER) - 3)])
            continue
        whole, alone = (ratios(problems, by, alone=alone) for alone in (False, True))
        compared = [middle(whole, times), middle(alone, times), str(len(whole))]
        solved = f"{sum(map(is_solved, records))} / {len(records)}"
        taken = middle([bounds for record in records if (bounds := seconds(record))], duration)
        length = str(sum(attempts[by]["plan_length"] or 0 for attempts in by_all)) if by_all else "-"
        found.append(
            [name, by, solved, taken, length, str(len(by_all)), *(["", "", ""] if by == ACTIONS else compared)]
        )
    return found


def ratios(problems: Sequence[Attempts], by: str, *, alone: bool) -> list[Bounds]:
    """The seconds of one over those of `actions`, for each problem that counts."""
    found = []
    for attempts in problems:
        ours, its = attempts[ACTIONS], attempts[by]
        if not is_solved(ours) or (taken := seconds(its)) is None:
            continue
        if alone and is_solved(its):
            ratio = policy_seconds(its) / policy_seconds(ours)
            found.append(Bounds(ratio, ratio))
        else:
            found.append(Bounds(taken.low / ours["seconds"], taken.high / ours["seconds"]))
    return found


def seconds(record: Record) -> Bounds | None:
    """How long an attempt took for a plan, or would have taken at least; None if it gave up in another way."""
    if is_solved(record):
        return Bounds(record["seconds"], record["seconds"])
    return Bounds(record["timeout"] or record["seconds"], inf) if record["outcome"] == Outcome.TIMEOUT else None


def policy_seconds(record: Record) -> float:
    """How long the steps of a policy took; of a planner, all that it did."""
    each = record["seconds_per_step"]
    return record["seconds"] if each is None else each * max(1, record["steps"])


def is_solved(record: Record) -> bool:
    return record["outcome"] == Outcome.SOLVED


def middle(numbers: Sequence[Bounds], spell: Callable[[float], str]) -> str:
    """The median of the numbers; that of their bounds, and marked so, if the numbers behind them could make it more."""
    if not numbers:
        return "-"
    low, high = (median(side) for side in zip(*numbers, strict=True))
    return f"{'≥ ' if high > low else ''}{spell(low)}"


if __name__ == "__main__":
    main()

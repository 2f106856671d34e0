"""Run every harness, with ``tests`` on the path: ``python -m fuzz --minutes 10``, or ``--count 1000`` of each.

It prints one table, writes a file for each class of what it found, and ends with exit code 1 if anything was found that
must not be: a wrong result, a traceback, a hang, a crash. The same seed draws the same inputs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from fuzz import damaged_files, mutated_inputs, random_domains, second_judge
from fuzz.figures import BAD, Finding, bad, table
from fuzz.strategies import FAMILIES
from trifold.processes import available_cores

ENDLESS = 10**9
Rows = dict[str, Counter[str]]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=(__doc__ or "").partition("\n\n")[2])
    parser.add_argument("--minutes", type=float, default=float("inf"), help="time in all")
    parser.add_argument("--count", type=int, default=ENDLESS, help="inputs of each family and harness")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default=None, help="parts with commas between, such as or,mixed,commands,files,walks")
    parser.add_argument("--corpus", type=Path, default=None, help="a folder of folders of PDDL files to mutate, too")
    parser.add_argument("--findings", type=Path, default=Path("build/fuzz"), help="a folder for what is found")
    asked = parser.parse_args(arguments)
    if asked.count == ENDLESS and asked.minutes == float("inf"):
        parser.error("give --minutes or --count")
    seed = asked.seed

    def random_family(family: str, minutes: float) -> tuple[Rows, list[Finding]]:
        workers = available_cores()
        row, found = random_domains.run(asked.count, seed, family, minutes=minutes, workers=workers)
        return {f"random domains: {family}": row}, found

    def walks(minutes: float) -> tuple[Rows, list[Finding]]:
        row, found = second_judge.run(min(asked.count, 100_000), seed, minutes=minutes)
        return {"walks, by unified-planning": row}, found

    def commands(minutes: float) -> tuple[Rows, list[Finding]]:
        rows, found = mutated_inputs.run(asked.count, seed, minutes=minutes, corpus=asked.corpus)
        return {f"mutated PDDL: {command}": row for command, row in rows.items()}, found

    def files(minutes: float) -> tuple[Rows, list[Finding]]:
        return damage(asked.count, seed, minutes), []

    # A part, and its share of the time.
    parts: dict[str, tuple[float, Callable[[float], tuple[Rows, list[Finding]]]]] = {
        family: (1.0, partial(random_family, family)) for family in FAMILIES
    }
    parts |= {"walks": (1.0, walks), "commands": (6.0, commands), "files": (2.0, files)}
    chosen = asked.only.split(",") if asked.only else list(parts)
    whole = sum(parts[name][0] for name in chosen)
    rows: Rows = {}
    for name in chosen:
        share, run = parts[name]
        found_rows, findings = run(asked.minutes * share / whole)
        rows |= found_rows
        print(table(found_rows), flush=True)
        for finding in findings:
            path = finding.save(asked.findings)
            if finding.outcome in BAD:
                print(
                    f"  {finding.outcome}: {len(finding.numbers)} × {finding.cause or finding.example}\n    {path}",
                    flush=True,
                )
    print(f"\n{table(rows | {'all': sum(rows.values(), Counter())})}")
    return 1 if bad(rows) else 0


def damage(count: int, seed: int, minutes: float) -> Rows:
    """Damaged files, so many or as many as there is time for."""
    if count != ENDLESS:
        return {f"damaged: {kind}": row for kind, row in damaged_files.main(count, seed).items()}
    rows: Rows = {}
    deadline = time.monotonic() + 60 * minutes
    while time.monotonic() < deadline:
        for kind, row in damaged_files.main(50, seed).items():
            rows.setdefault(f"damaged: {kind}", Counter()).update(row)
        seed += 1
    return rows


if __name__ == "__main__":
    sys.exit(main())

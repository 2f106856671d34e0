"""Does what a training reports rank its models as larger problems do? Validation coverage and loss, side by side.

    python experiments/validation_ranks.py --domain ferry:ferry:ferry/larger --steps 10 20 40 80 160 --runs runs/ranks

A domain is a name, a folder to train on, and a folder of fresh, larger problems. For each number of steps a model is
trained by the recipe, and its policy is judged on the fresh problems, without search. Then the rank correlation
(Spearman's, ties share their mean rank) with the coverage there is told, of the coverage that the training reported, on
held-out problems and on those of its folder that are too large to be labelled (--set max_states says which), and of its
validation loss, less being better. What is trained or judged is not done again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from trifold.evaluation import read_records


class Training(NamedTuple):
    """What a training reported of its model, and what that solves of the fresh problems, as shares."""

    steps: int
    loss: float
    coverage: float
    fresh: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domain", action="append", required=True, metavar="NAME:DIR:FRESH")
    parser.add_argument("--steps", type=int, nargs="+", required=True)
    parser.add_argument("--recipe", default="small")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="changes of the recipe")
    parser.add_argument("--runs", type=Path, default=Path("runs/ranks"))
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for each fresh problem")
    parser.add_argument("--max-steps", type=int, default=300, help="of the policy on each fresh problem")
    options = parser.parse_args()
    print("| domain | trainings | coverage on fresh problems | ρ, reported coverage | ρ, validation loss |")
    print("|---|--:|--:|--:|--:|")
    for text in options.domain:
        name, directory, fresh = text.split(":")
        found = []
        for steps in sorted(options.steps):
            run = options.runs / f"{name}-{steps}"
            result = train(Path(directory), run, options.recipe, options.set, steps)
            solved = judge(run, Path(fresh), options.max_steps, options.timeout)
            found.append(Training(steps, result["validation_loss"], reported_coverage(result), solved))
            print(name, found[-1], file=sys.stderr, flush=True)
        print(table_line(name, found), flush=True)


def train(folder: Path, run: Path, recipe: str, changes: Sequence[str], steps: int) -> dict[str, Any]:
    """Train a model, or go on with its training; what the command reports."""
    if (run / "config.json").exists():
        words: tuple[object, ...] = ("--resume", run)
    else:
        settings = [word for change in changes for word in ("--set", change)]
        words = (folder, "--run", run, "--recipe", recipe, *settings, "--steps", steps)
    result: dict[str, Any] = json.loads(trifold("train", *words, "--device", "cpu", "--json", "--quiet"))
    return result


def reported_coverage(result: dict[str, Any]) -> float:
    """The share of problems that the training saw its policy solve: held-out ones, and larger ones of its folder."""
    seen = [part for part in (result["coverage"], result["larger"]) if part is not None]
    return float(sum(part["solved"] for part in seen) / sum(part["problems"] for part in seen))


def judge(run: Path, problems: Path, max_steps: int, timeout: float) -> float:
    """The share of the problems that the policy of the run's model solves."""
    records = run / "fresh.jsonl"
    limits = ("--max-steps", max_steps, "--timeout", timeout)
    trifold(
        "evaluate", run / "model.safetensors", problems, "--records", records, *limits, "--device", "cpu", "--quiet"
    )
    outcomes = [record["plan_length"] is not None for record in read_records(records)]
    return sum(outcomes) / len(outcomes)


def table_line(name: str, found: Sequence[Training]) -> str:
    """A line of the table."""
    fresh = [one.fresh for one in found]
    by_coverage = rank_correlation([one.coverage for one in found], fresh)
    by_loss = rank_correlation([-one.loss for one in found], fresh)
    shares = f"{min(fresh):.0%} to {max(fresh):.0%}"
    return f"| {name} | {len(found)} | {shares} | {spell(by_coverage)} | {spell(by_loss)} |"


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's ρ; None where all of one side are alike, and nothing is ranked.

    >>> rank_correlation([1, 2, 3], [10, 20, 30]), rank_correlation([1, 2, 3], [5, 5, 5])
    (1.0, None)
    """
    ranks = np.stack([mean_ranks(np.asarray(side, dtype=float)) for side in (first, second)])
    if any(np.ptp(side) == 0 for side in ranks):
        return None
    return round(float(np.corrcoef(ranks)[0, 1]), 12)


def mean_ranks(numbers: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The rank of each number; equal ones share the mean of theirs."""
    _, where, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: np.ndarray[Any, np.dtype[np.float64]] = (last - (counts - 1) / 2)[where]
    return ranks


def spell(number: float | None) -> str:
    """A correlation in a table."""
    return "–" if number is None else f"{number:+.2f}"


def trifold(*words: object) -> str:
    """Run a command, which says itself what is wrong, and return what it printed."""
    command = [sys.executable, "-m", "trifold", *map(str, words)]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout


if __name__ == "__main__":
    main()

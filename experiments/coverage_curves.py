"""How many larger problems a policy solves after trainings of so many steps: by values, and by scores of actions.

    python experiments/coverage_curves.py logistics --suite build/suite --problems drawn/logistics/test \
        --steps 500 1000 2000 4000 8000 16000 --runs runs/curves --out docs/coverage-logistics.png

For each number of steps two models are trained by the domain's recipe, whose schedule ends with these steps: one with
values alone, and one with both heads. The first is judged by the policy `values`, the second by `actions`, on problems
that were drawn for validation. What is trained or judged is not done again. The picture has both curves.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from trifold.evaluation import Record, read_records

HEADS = {"values": "values", "both": "actions"}
"""What is trained, and the policy that it is judged by."""


class Point(NamedTuple):
    """What a policy did after a training: steps, problems solved, problems attempted, and the length of the plans."""

    steps: int
    solved: int
    attempted: int
    length: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("domain")
    parser.add_argument("--suite", type=Path, required=True, help="the folder of the suite, or of such folders")
    parser.add_argument("--problems", type=Path, required=True, help="larger problems, which are no test problems")
    parser.add_argument("--steps", type=int, nargs="+", required=True)
    parser.add_argument("--runs", type=Path, default=Path("runs/curves"))
    parser.add_argument("--out", type=Path, required=True, help="the picture to draw")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for each attempt")
    options = parser.parse_args()
    curves: dict[str, list[Point]] = {policy: [] for policy in HEADS.values()}
    for steps in sorted(options.steps):
        for heads, policy in HEADS.items():
            run = options.runs / f"{options.domain}-{heads}-{steps}"
            train(options.domain, options.suite / options.domain, run, heads, steps, options.device)
            records = judge(run, options.problems, policy, options.timeout, options.device)
            curves[policy].append(measure(steps, records))
            print(f"{policy:8} {curves[policy][-1]}", flush=True)
            draw(options.domain, curves, options.out)


def train(domain: str, folder: Path, run: Path, heads: str, steps: int, device: str) -> None:
    """Train a model, or go on with its training."""
    if (run / "config.json").exists():
        trifold("train", "--resume", run, "--device", device, "--quiet")
    else:
        words = ("--recipe", domain, "--set", f"heads={heads}", "--steps", steps, "--seeds", 1)
        trifold("train", folder, "--run", run, *words, "--device", device, "--quiet")


def judge(run: Path, problems: Path, policy: str, timeout: float, device: str) -> list[Record]:
    """Attempt the problems by a policy of the run's model, and return the records."""
    records = run / "coverage.jsonl"
    words = ("--policy", policy, "--records", records, "--timeout", timeout, "--device", device, "--quiet")
    trifold("evaluate", run / "model.safetensors", problems, *words)
    return read_records(records)


def measure(steps: int, records: Sequence[Record]) -> Point:
    """What the records say of the policy."""
    lengths = [record["plan_length"] for record in records if record["plan_length"] is not None]
    return Point(steps, len(lengths), len(records), sum(lengths))


def draw(domain: str, curves: dict[str, list[Point]], file: Path) -> None:
    """Draw the share of problems that each policy solves over the steps of its training."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot(xscale="log", xlabel="training steps", ylabel="problems solved", title=domain)
    for policy, points in curves.items():
        if points:
            shares = [point.solved / max(point.attempted, 1) for point in points]
            axes.plot([point.steps for point in points], shares, marker="o", label=f"policy {policy}")
    axes.set_xticks(sorted({point.steps for points in curves.values() for point in points}))
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(lambda steps, _: f"{steps:,.0f}")
    axes.set_ylim(-0.03, 1.03)
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.grid(alpha=0.3)
    axes.legend()
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=150)


def trifold(*words: object) -> None:
    """Run a command, which says itself what is wrong."""
    done = subprocess.run([sys.executable, "-m", "trifold", *map(str, words)], check=False, stdout=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()

"""What Trifold does, in a few minutes: solve large problems with the models in the box, then train one. `make demo`.

First the shipped models solve test problems of all domains on the CPU, beside the lengths of LAMA's plans. Then nothing
is stored: Gripper problems are generated, states labelled, a model is trained, and larger problems are solved with it.
Every plan is replayed.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from trifold.domains import PAPER, draw_problems, split_sizes, write_problems
from trifold.evaluation import best_of_each, read_records, read_references
from trifold.shipped import shipped_models

HERE = Path(__file__).parent
TIMEOUT = 60.0
"""Seconds that a problem may take: a hundred times what it takes."""

# At these sizes a second thread gains little on an idle machine and loses far more on a busy one.
ENVIRONMENT = {"OMP_NUM_THREADS": "1"} | os.environ

TRAINING_BALLS = [1, 2, 3, 4, 5, 6]
VALIDATION_BALLS = [7]
TEST_BALLS = range(8, 19)  # 7 balls make 11 objects, 18 make 22: twice as many


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path("runs/demo"))
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    use_shipped_models(options.folder / "shipped")
    train_live(options.folder, options.seed)


def use_shipped_models(folder: Path) -> None:
    """Solve a small, a middle and the largest test problem of each shipped model's domain."""
    names = [name for name in PAPER if name in shipped_models()]
    if not names:
        print("No models are shipped with this version: the demo trains one.")
        return
    print(
        "Test problems of the suite, solved on one CPU core by the models in the box (`trifold models`). Beside their"
    )
    print("plans stand LAMA's first ones, and the best that Fast Downward found, from the records in experiments/.\n")
    print(
        f"{'':12} {'objects':>7} {'steps':>6} {'LAMA':>6} {'best':>6} {'seconds':>8} {'a step':>8}  found by",
        flush=True,
    )
    known = read_known()
    for name in names:
        problems = sorted(draw_problems(name, split_sizes(name, "test"), 0, "test"), key=lambda drawn: drawn.objects)
        for index in (0, len(problems) // 2, -1):
            file = folder / name / problems[index].file
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(problems[index].text, encoding="utf-8")
            solve(name, file, known.get(sha256(file.read_bytes()).hexdigest(), Known()))
    print()


class Known(NamedTuple):
    """The length of LAMA's first plan for a problem, and of the best plan of Fast Downward."""

    lama: int | None = None
    best: int | None = None


def read_known() -> dict[str, Known]:
    """What the records in the repository know of the suite's test problems, by their SHA-256."""
    best = best_of_each(read_references(HERE / "references.jsonl"))
    found = {problem: Known(best=reference["length"]) for problem, reference in best.items()}
    for file in sorted((HERE / "lama" / "suite").glob("*.jsonl")):
        for record in read_records(file):
            problem = record["problem_sha256"]
            found[problem] = found.get(problem, Known())._replace(lama=record["plan_length"])
    return found


def solve(name: str, file: Path, known: Known) -> None:
    """Solve a problem with a shipped model, and say how it went."""
    words = ["solve", name, str(file), "--device", "cpu", "--timeout", f"{TIMEOUT:.0f}", "--json", "--quiet"]
    command = [sys.executable, "-m", "trifold", *words]
    done = subprocess.run(command, capture_output=True, check=False, env=ENVIRONMENT)
    if not done.stdout:
        sys.exit(done.stderr.decode())
    found = json.loads(done.stdout)
    steps = len(found["actions"]) if found["outcome"] == "solved" else found["outcome"]
    lengths = " ".join(f"{'-' if length is None else length:>6}" for length in known)
    pace = "-" if found["seconds_per_step"] is None else f"{1000 * found['seconds_per_step']:.1f} ms"
    print(
        f"{name:12} {found.get('objects', '?'):>7} {steps:>6} {lengths} {found['seconds']:>8.2f} {pace:>8}  "
        f"{found.get('found_by') or '-'}",
        flush=True,
    )


def train_live(folder: Path, seed: int) -> None:
    """The main job on a small scale: learn from small Gripper problems, then solve larger ones."""
    start = time.monotonic()
    problems = folder / "gripper"
    write_problems(problems, "gripper", TRAINING_BALLS, seed)
    write_problems(problems, "gripper", VALIDATION_BALLS, seed, split="validation")
    write_problems(problems, "gripper", TEST_BALLS, seed, split="test", start="classic")
    print(
        f"Gripper: {TRAINING_BALLS[0]} to {VALIDATION_BALLS[-1]} balls to learn from, {TEST_BALLS[0]} to 18 to solve."
    )

    run = folder / "run"
    cache = str(folder / "cache")  # nothing that was labelled before is used
    # After a constant rate the policy still wanders: plans of 735 steps in all, here of 423, which are the shortest.
    settings = ("--recipe", "small", "--steps", 500, "--set", "schedule=cosine", "--seed", seed)
    trifold("train", problems, *settings, "--run", run, cache=cache)
    records = folder / "records.jsonl"
    trifold("evaluate", run / "model.safetensors", problems / "test", "--records", records, cache=cache)
    print(f"Learned and solved in {time.monotonic() - start:.0f} s. Curves: {run}/curves.png")

    outcomes = [line for line in records.read_text().splitlines() if '"outcome": "solved"' in line]
    if len(outcomes) < len(TEST_BALLS):
        sys.exit(f"only {len(outcomes)} of {len(TEST_BALLS)} problems were solved")


def trifold(*arguments: object, cache: str) -> None:
    """Show a command as a user would type it, and run it."""
    words = [str(argument) for argument in arguments]
    print(f"\n$ trifold {shlex.join(words)}", flush=True)
    subprocess.run([sys.executable, "-m", "trifold", *words], check=True, env=ENVIRONMENT | {"TRIFOLD_CACHE": cache})


if __name__ == "__main__":
    main()

"""The main job on a small scale: learn from small Gripper problems, then solve larger ones. Run by `make demo`.

Nothing here is stored: problems are generated, states labelled, a model is trained, every plan is found and replayed.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from trifold.domains import write_problems

TRAINING_BALLS = [1, 2, 3, 4, 5, 6]
VALIDATION_BALLS = [7]
TEST_BALLS = range(8, 19)  # 7 balls make 11 objects, 18 make 22: twice as many


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path("runs/demo"))
    options = parser.parse_args()
    start = time.monotonic()

    shutil.rmtree(options.folder, ignore_errors=True)
    problems = options.folder / "gripper"
    write_problems(problems, "gripper", TRAINING_BALLS, options.seed)
    write_problems(problems, "gripper", VALIDATION_BALLS, options.seed, split="validation")
    write_problems(problems, "gripper", TEST_BALLS, options.seed, split="test", start="classic")
    print(
        f"Gripper: {TRAINING_BALLS[0]} to {VALIDATION_BALLS[-1]} balls to learn from, {TEST_BALLS[0]} to 18 to solve."
    )

    run, seed = options.folder / "run", ["--seed", str(options.seed)]
    cache = str(options.folder / "cache")  # nothing that was labelled before is used
    trifold("train", problems, "--preset", "small", "--steps", 500, "--run", run, *seed, cache=cache)
    records = options.folder / "records.jsonl"
    trifold("evaluate", run / "model.safetensors", problems / "test", "--records", records, cache=cache)
    print(f"Done in {time.monotonic() - start:.0f} s. Curves: {run}/curves.png")

    outcomes = [line for line in records.read_text().splitlines() if '"outcome": "solved"' in line]
    if len(outcomes) < len(TEST_BALLS):
        sys.exit(f"only {len(outcomes)} of {len(TEST_BALLS)} problems were solved")


def trifold(*arguments: object, cache: str) -> None:
    """Show a command as a user would type it, and run it."""
    words = [str(argument) for argument in arguments]
    print(f"\n$ trifold {shlex.join(words)}", flush=True)
    # At this size a second thread gains a quarter on an idle machine and loses far more on a busy one.
    environment = {"OMP_NUM_THREADS": "1"} | os.environ | {"TRIFOLD_CACHE": cache}
    subprocess.run([sys.executable, "-m", "trifold", *words], check=True, env=environment)


if __name__ == "__main__":
    main()

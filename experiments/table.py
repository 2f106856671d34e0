"""The paper's whole table: every architecture in every domain, trained and evaluated side by side, over many calls.

    python experiments/table.py --suite build/suite --bench DIR --stage train --at-once 4 --deadline 560 --device cuda
    python experiments/table.py --suite build/suite --bench DIR --stage evaluate --device cpu
    python experiments/table.py --plan --at-once 4 --minutes 4.5

A cell is a domain and an architecture. All of a domain have the same problems, the recipe DOMAIN-values, one seed and
as many minutes; only the architecture differs, k = 32 for R-GNN₂, the learning rate of ET, and the batch where a step
takes much of the card. They are evaluated by the paper's policy on the paper's own files (--bench) where these are
public, and on the suite elsewhere. The same command goes on where it was stopped, by its deadline, by Ctrl-C or by
SIGTERM: trainings from their last save, at most a minute old, evaluations with the next problem. What is done is not
done again. What cannot be done, or fails, is written down with its reason in results/reasons.jsonl, and is tried again
with --again alone. The names of the first three architectures are those of the study ``paper.toml``. How many are
trained at once decides how many steps they take in their minutes: keep it. They share a card far better where CUDA's
MPS runs (``nvidia-cuda-mps-control -d``). ET is to be trained apart from the others (--model et): its hundreds of small
launches wait for their large ones.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from attempts import main_set
from cells import ARCHITECTURES, REASONS, SCHEMA, Cell, Reason, choose_cells, outcome_of, read_reasons, refusal
from table_plan import print_plan
from trifold.domains import PAPER
from trifold.errors import TrifoldError
from trifold.evaluation.records import file_sha256, read_records
from trifold.files import in_turn
from trifold.lines import append_line
from trifold.outcomes import Outcome
from trifold.pddl import find_problems

GRACE = 30.0
"""Seconds that a command has to end when it is asked to; then it is killed, which loses no more than its last save."""

POLL = 0.05
"""Seconds between two looks at what runs."""


@dataclass(frozen=True)
class Step:
    """A command that is due for a cell.

    stage    "train", or "evaluate" and the policy: what reasons call it
    claimed  the file of records that it writes to, which takes one command at a time
    """

    cell: Cell
    stage: str
    words: tuple[str, ...]
    claimed: Path | None = None

    def __str__(self) -> str:
        return f"{self.stage} {self.cell}"


@dataclass(frozen=True)
class Running:
    """A step under way."""

    step: Step
    process: subprocess.Popen[bytes]
    log: Path
    since: float


class Table:
    """What there is of the table in a folder, and what is due."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.out = options, options.out
        self.results = self.out / "results"
        self.tried: set[tuple[Cell, str]] = set()  # in this call: nothing is tried twice in one
        self.known = {} if options.again else read_reasons(self.results / REASONS)
        self.workers = str(options.workers or max(1, (os.cpu_count() or 1) // options.at_once))

    def run_folder(self, cell: Cell) -> Path:
        """Where a cell is trained."""
        return Path(self.out / "runs" / str(cell))

    def note(self, cell: Cell, stage: str, outcome: Outcome, message: str, words: Sequence[str] | None = None) -> None:
        """Write down why a cell has no number."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        command = shlex.join(["trifold", *words]) if words else None
        reason = Reason(
            schema=SCHEMA,
            timestamp=now,
            domain=cell.domain,
            model=cell.architecture.label,
            stage=stage,
            outcome=str(outcome),
            message=message,
            command=command,
        )
        self.results.mkdir(parents=True, exist_ok=True)
        append_line(self.results / REASONS, dict(reason))
        self.known.setdefault(cell.key, []).append(reason)

    def refuse_unreadable(self, cells: Sequence[Cell]) -> None:
        """Write down which architectures cannot read which domains, where that is not known yet."""
        written = read_reasons(self.results / REASONS)
        for cell in cells:
            if message := refusal(cell):
                if cell.key not in written:
                    self.note(cell, "train", Outcome.BAD_INPUT, message)
                    print(f"train {cell}: {message}", flush=True)
                self.tried.add((cell, "train"))

    def due(self, cells: Sequence[Cell], busy: Collection[Cell], claimed: Collection[Path]) -> Step | None:
        """The first step that can be taken now, if any."""
        for cell in cells:
            if cell not in busy:
                for step in self._steps(cell):
                    failed = any(reason["stage"] == step.stage for reason in self.known.get(cell.key, ()))
                    if not failed and (cell, step.stage) not in self.tried and step.claimed not in claimed:
                        return step
        return None

    def _steps(self, cell: Cell) -> Iterator[Step]:
        """What is left to do for a cell: to train, and only then to evaluate."""
        run, options = self.run_folder(cell), self.options
        if not (run / "done").exists():
            if options.stage != "evaluate":
                yield Step(cell, "train", (*self._training(cell, run), "--device", options.device, "--quiet"))
            return
        if options.stage == "train":
            return
        test_set = main_set(cell.domain)
        tests = (options.bench if test_set == "public" else options.suite) / cell.domain / "test"
        records, model = self.results / test_set / f"{cell.domain}.jsonl", run / "model.safetensors"
        for policy in ("strict", "values") if cell.domain == "navig-xy" else ("values",):
            if is_evaluated(model, tests, records, policy):
                continue
            words = ["evaluate", model, tests, "--records", records, "--policy", policy, "--timeout", options.timeout]
            words += [] if options.memory is None else ["--memory", options.memory]
            words += ["--workers", self.workers, "--device", options.device, "--quiet"]
            yield Step(cell, f"evaluate {policy}", tuple(map(str, words)), records)

    def _training(self, cell: Cell, run: Path) -> tuple[str, ...]:
        """The words that begin a training, or go on with it."""
        if (run / "config.json").exists():
            return "train", "--resume", str(run), "--workers", self.workers
        # What is merged takes long to find where elements are all pairs, and batches are drawn alike without.
        changes = [word for setting in (*cell.settings, "merge=false") for word in ("--set", setting)]
        folder, minutes = str(self.options.suite / cell.domain), f"{self.options.minutes:g}"
        words = ("train", folder, "--run", str(run), "--recipe", f"{cell.domain}-values", *changes)
        return *words, "--minutes", minutes, "--seeds", "1", "--seed", "0", "--workers", self.workers

    def start(self, step: Step) -> Running:
        """Start a step."""
        self.tried.add((step.cell, step.stage))
        if step.claimed:
            step.claimed.parent.mkdir(parents=True, exist_ok=True)
        log = self.out / "logs" / f"{step.cell}-{step.stage.replace(' ', '-')}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        threads = {"OMP_NUM_THREADS": self.workers}
        with log.open("wb") as file:
            process = subprocess.Popen(
                [*program(), *step.words], stdout=file, stderr=subprocess.STDOUT, env=threads | os.environ
            )
        return Running(step, process, log, time.monotonic())

    def finish(self, ended: Running, stopped: str | None) -> None:
        """Note how a step has ended, and say so in a line; `stopped` says why it was asked to end, if it was."""
        step, code = ended.step, ended.process.returncode
        if code == 0:
            said = "done"
            if step.stage == "train":
                (self.run_folder(step.cell) / "done").touch()
        elif stopped == "deadline":
            said = "stopped, to be gone on with"
        else:
            outcome, message = outcome_of(code), last_words(ended.log, code)
            if stopped:
                outcome, message = Outcome.TIMEOUT, stopped
            said = f"{outcome}: {message}"
            self.note(step.cell, step.stage, outcome, message, step.words)
        print(f"{step}: {said} ({time.monotonic() - ended.since:.0f} s)", flush=True)


def is_evaluated(model: Path, tests: Path, records: Path, policy: str) -> bool:
    """Whether there are records of all test problems by a policy of this model; a crash may be luck, and is none."""
    if not records.exists():
        return False
    name = file_sha256(model)
    found = {
        one["problem"]
        for one in read_records(records)
        if (one["model_sha256"], one["policy"]) == (name, policy) and one["outcome"] != Outcome.CRASH
    }
    return found >= {file.name for file in find_problems(tests)}


def last_words(log: Path, code: int) -> str:
    """What a command that failed said of it, without the place and the remedy."""
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    if code < 0:
        return f"killed by signal {-code}"
    return errors[-1] if errors else f"exit code {code}: {lines[-1] if lines else 'no word'}"


def program() -> list[str]:
    """The command line of Trifold; $TRIFOLD names another."""
    return [os.environ["TRIFOLD"]] if os.environ.get("TRIFOLD") else [sys.executable, "-m", "trifold"]


def fill(table: Table, cells: Sequence[Cell]) -> bool:
    """Take all steps that are due, as many at once as asked for; False if the deadline came first."""
    options = table.options
    ends = time.monotonic() + options.deadline if options.deadline else float("inf")
    running: list[Running] = []
    try:
        while time.monotonic() < ends:
            for one in [one for one in running if one.process.poll() is not None]:
                running.remove(one)
                table.finish(one, None)
            for one in [one for one in running if time.monotonic() - one.since > 60 * options.patience]:
                stop([one])
                running.remove(one)
                table.finish(one, f"not done after {options.patience:g} minutes")
            busy, claimed = (
                {one.step.cell for one in running},
                [one.step.claimed for one in running if one.step.claimed],
            )
            step = table.due(cells, busy, claimed) if len(running) < options.at_once else None
            if step:
                running.append(table.start(step))
            elif not running:
                return True
            else:
                time.sleep(POLL)
        return False
    finally:
        stop(running)
        for one in running:
            table.finish(one, "deadline")


def stop(running: Sequence[Running]) -> None:
    """Ask commands to end as after Ctrl-C, and kill those that do not."""
    for one in running:
        if one.process.poll() is None:
            one.process.terminate()
    ends = time.monotonic() + GRACE
    for one in running:
        try:
            one.process.wait(max(0.0, ends - time.monotonic()))
        except subprocess.TimeoutExpired:
            one.process.kill()
            one.process.wait()


def check_folders(options: argparse.Namespace, cells: Sequence[Cell]) -> None:
    """Raise unless all folders with problems are there: a wrong path is no reason for a cell to have no number."""
    for domain in dict.fromkeys(cell.domain for cell in cells):
        folders = [options.suite / domain / "train"] if options.stage != "evaluate" else []
        if options.stage != "train":
            test_set = options.suite if main_set(domain) == "suite" else options.bench
            if test_set is None:
                raise TrifoldError(
                    f"the paper's own files of {domain} are public, and it is they that the table is about",
                    remedy="give their folder with --bench (docs/instances.md), or only --stage train",
                )
            folders.append(test_set / domain / "test")
        for folder in folders:
            find_problems(folder)


@contextmanager
def alone(options: argparse.Namespace) -> Iterator[None]:
    """Hold the folder for one call that trains: a second would find its run folders held, and call that a reason."""

    def refuse() -> NoReturn:
        raise TrifoldError(
            "another process is training the table here",
            place=str(options.out),
            remedy="wait for it, or take another --out",
        )

    if options.stage == "evaluate":
        yield
        return
    options.out.mkdir(parents=True, exist_ok=True)
    with in_turn(options.out / ".lock", refuse):
        yield


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [architecture.name for architecture in ARCHITECTURES]
    parser.add_argument("--domain", action="append", default=[], choices=PAPER, help="may be given several times")
    parser.add_argument("--model", action="append", default=[], choices=names, help="may be given several times")
    parser.add_argument("--stage", choices=("train", "evaluate", "both"), default="both")
    parser.add_argument("--suite", type=Path, default=Path("build/suite"), help="from `trifold generate --suite paper`")
    parser.add_argument("--bench", type=Path, help="the public test files, as BENCH/DOMAIN/test")
    parser.add_argument("--out", type=Path, default=Path("runs/table"), help="where runs, results and logs go")
    parser.add_argument("--minutes", type=float, default=4.5, help="of each training")
    parser.add_argument("--at-once", type=int, default=1, help="commands that run side by side")
    parser.add_argument("--deadline", type=float, help="seconds after which all is stopped; up to half a minute more")
    parser.add_argument("--patience", type=float, default=60.0, help="minutes after which a command is given up")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for each attempt at a problem")
    parser.add_argument("--memory", type=float, help="GiB of address space for each attempt (cuda reserves far more)")
    parser.add_argument("--workers", type=int, help="processes of each command; the cores, divided, if not given")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--again", action="store_true", help="also what has failed before")
    parser.add_argument("--plan", action="store_true", help="run nothing: print what it would cost, in leases")
    options = parser.parse_args()
    cells = choose_cells(options.domain, options.model)

    def end(number: int, frame: FrameType | None) -> Any:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    try:
        table = Table(options)
        if options.plan:
            trained = {cell for cell in cells if (table.run_folder(cell) / "done").exists()}
            print_plan([cell for cell in cells if cell not in trained], options.minutes, options.at_once)
            return
        check_folders(options, cells)
        with alone(options):
            table.refuse_unreadable(cells)
            if not fill(table, cells):
                print("the deadline has come: the same command goes on", flush=True)
    except TrifoldError as error:
        raise SystemExit(str(error)) from None
    except KeyboardInterrupt:
        raise SystemExit("stopped: the same command goes on") from None


if __name__ == "__main__":
    main()

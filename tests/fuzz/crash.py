"""Ends commands at random moments, runs them again, and counts what was lost, torn or left behind.

    python tests/fuzz/crash.py --count 200 --seed 0

A case is a command in a folder of its own. It is started and ended by a signal up to eight times, at any moment or just
when it writes, each time going on from what the last one left; then it runs to its end, and what it has made is
compared with what an undisturbed run makes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO, NamedTuple, NoReturn
from uuid import uuid4

from safetensors import SafetensorError
from safetensors.numpy import load_file

from trifold.__main__ import main as trifold
from trifold.domains import write_problems
from trifold.evaluation import read_records

KILLS_PER_CASE = 8
SIGNALS = {signal.SIGKILL: 3, signal.SIGTERM: 1, signal.SIGINT: 1}
"""With these weights a signal is drawn."""

COLD = 0.1
"""So many of the commands are started as a user starts them; the others are forked, without the time for imports."""

MARK = "TRIFOLD_CRASH"
"""The variable in the environment by which all processes of a case are known, whoever their parent is."""

FAULTS = ("lost", "torn", "different", "alive", "left", "traceback", "failed")
"""What must not be: work that was done before, half a file, another result, a process, a temporary file, …"""


class Command(NamedTuple):
    """A command to end.

    share   of the kills that fall to it
    begin   its words, in a folder
    again   its words after a kill
    result  what it has made in the folder, to be compared
    """

    share: int
    begin: Callable[[Path, Path], list[str]]
    again: Callable[[Path, Path], list[str]]
    result: Callable[[Path], object]


def train(data: Path, folder: Path) -> list[str]:
    sizes = ["--set", "dim=4", "--set", "layers=2", "--set", "batch=8"]
    words = ["--recipe", "small", *sizes, "--steps", "250", "--seeds", "2"]
    return ["train", str(data / "pddl"), "--run", str(folder / "run"), *words, "--device", "cpu", "--quiet"]


def resume(data: Path, folder: Path) -> list[str]:
    if (folder / "run" / "config.json").exists():
        return ["train", "--resume", str(folder / "run"), "--quiet"]
    return train(data, folder)


def trained(folder: Path) -> object:
    """Every weight, every state of the optimizer and every loss."""
    tensors = {str(file.relative_to(folder)): load_file(file) for file in sorted(folder.glob("run/**/*.safetensors"))}
    losses = [json.loads(line) for file in sorted(folder.glob("run/*/*.jsonl")) for line in file.open()]
    exact = {file: {name: value.tobytes() for name, value in found.items()} for file, found in tensors.items()}
    return exact, [{name: value for name, value in line.items() if "second" not in name} for line in losses]


def label(data: Path, folder: Path) -> list[str]:
    return ["label", str(data / "pddl"), "--quiet"]


def labelled(folder: Path) -> object:
    files = sorted(folder.glob("cache/*"))
    return [(file.name, file.read_bytes() if file.suffix == ".safetensors" else b"") for file in files]


def generate(data: Path, folder: Path) -> list[str]:
    return ["generate", "gripper", "--out", str(folder / "out"), "--count", "60"]


def generated(folder: Path) -> object:
    return {file.name: file.read_bytes() for file in folder.glob("out/*")}


def solve(data: Path, folder: Path) -> list[str]:
    problem = next((data / "large" / "train").iterdir())
    return ["solve", "gripper", str(problem), "-o", str(folder / "plan"), "--device", "cpu", "--quiet"]


def solved(folder: Path) -> object:
    return (folder / "plan").read_bytes()


def evaluate(data: Path, folder: Path) -> list[str]:
    words = ["--records", str(folder / "records.jsonl"), "--plans", str(folder / "plans"), "--workers", "2"]
    return ["evaluate", "gripper", str(data / "pddl" / "train"), *words, "--device", "cpu", "--quiet"]


def evaluated(folder: Path) -> object:
    """Each record but for its times, however many there are, and each plan."""
    records = sorted((record["problem"], record["outcome"]) for record in read_records(folder / "records.jsonl"))
    return records, {file.name: file.read_bytes() for file in folder.glob("plans/*")}


COMMANDS = {
    "train": Command(8, train, resume, trained),
    "label": Command(6, label, label, labelled),
    "generate": Command(3, generate, generate, generated),
    "solve": Command(2, solve, solve, solved),
    "evaluate": Command(3, evaluate, evaluate, evaluated),
}


class Bench:
    """The data that all cases share, and for each command what it makes and how long it takes undisturbed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, folder / "data"
        write_problems(self.data / "pddl", "gripper", [1, 2, 3, 4], 0)
        write_problems(self.data / "large", "gripper", [8], 0)
        self.known: dict[str, tuple[object, float]] = {}

    def undisturbed(self, name: str) -> tuple[object, float]:
        if name not in self.known:
            case = Case(self, name, "undisturbed")
            start = time.monotonic()
            code, errors = case.run(COMMANDS[name].begin(self.data, case.folder))
            assert code == 0, errors
            self.known[name] = COMMANDS[name].result(case.folder), time.monotonic() - start
        return self.known[name]


class Fork:
    """A command in a process that is forked from this one, which has loaded what it needs: it starts at once."""

    def __init__(self, words: Sequence[str], environment: dict[str, str], errors: IO[bytes]) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # until the command can take them
        self.code: int | None = None
        self.pid = os.fork()
        if not self.pid:
            self._run(words, environment, errors)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    def _run(self, words: Sequence[str], environment: dict[str, str], errors: IO[bytes]) -> NoReturn:
        code: int | str | None = 1
        try:
            os.environ.update(environment)
            tempfile.tempdir = None
            nothing = os.open(os.devnull, os.O_RDWR)
            for number, file in enumerate((nothing, nothing, errors.fileno())):
                os.dup2(file, number)
            sys.argv = ["trifold", *words]
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
            trifold()
        except SystemExit as end:
            code = end.code
        except KeyboardInterrupt:  # before the command had begun
            code = 128 + signal.SIGINT
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code if isinstance(code, int) else 0 if code is None else 1)

    def poll(self) -> int | None:
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.code = os.waitstatus_to_exitcode(status) if pid else None
        return self.code

    def wait(self, seconds: float) -> int:
        end = time.monotonic() + seconds
        while (code := self.poll()) is None:
            assert time.monotonic() < end, "the command hangs"
            time.sleep(0.005)
        return code

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)


class Case:
    """A folder for a command, with its cache and its temporary files."""

    def __init__(self, bench: Bench, name: str, label: str) -> None:
        self.bench, self.name, self.mark = bench, name, uuid4().hex
        self.place = bench.folder / f"{name}-{label}"
        self.folder, self.temporary, self.errors = self.place / "work", self.place / "temporary", self.place / "errors"
        self.folder.mkdir(parents=True)
        self.temporary.mkdir()

    def start(self, words: Sequence[str], *, cold: bool = False) -> Fork | subprocess.Popen[bytes]:
        own = {"TMPDIR": str(self.temporary), "TRIFOLD_CACHE": str(self.folder / "cache"), MARK: self.mark}
        own |= {"OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "trifold", *words]
        with self.errors.open("wb") as errors:
            if not cold:
                return Fork(words, own, errors)
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, env=os.environ | own
            )

    def run(self, words: Sequence[str]) -> tuple[int, str]:
        code = self.start(words).wait(600)
        return code, self.errors.read_text(errors="replace")

    def kill(self, rng: random.Random, number: signal.Signals) -> int | None:
        """Run the command and end it; its exit status, or None if it was too quick."""
        command, (_, seconds) = COMMANDS[self.name], self.bench.undisturbed(self.name)
        started = bool(list(self.folder.iterdir()))
        words = (command.again if started else command.begin)(self.bench.data, self.folder)
        process = self.start(words, cold=rng.random() < COLD)
        end = time.monotonic() + seconds
        if rng.random() < 0.5:  # when it writes, or soon after
            before = self.snapshot()
            while process.poll() is None and time.monotonic() < end and self.snapshot() == before:
                time.sleep(0.001)
            time.sleep(rng.choice([0.0, 0.001, 0.01, 0.1]) * rng.random())
        else:
            time.sleep(rng.random() * seconds)
        ended = process.poll() is not None
        if not ended:
            process.send_signal(number)
        code = process.wait(60)
        return None if ended else code

    def snapshot(self) -> list[tuple[str, int, int]]:
        found = []
        for file in self.folder.rglob("*"):
            with suppress(FileNotFoundError):
                about = file.stat()
                found.append((str(file), about.st_size, about.st_mtime_ns))
        return found

    def survivors(self) -> list[str]:
        """The processes of this case that live, after some time to go."""
        for _ in range(100):
            if not (found := list(self.processes())):
                return []
            time.sleep(0.05)
        return found

    def processes(self) -> Iterator[str]:
        mark = f"{MARK}={self.mark}".encode()
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mark in (process / "environ").read_bytes().split(b"\0"):
                    yield process.name

    def done(self) -> set[str]:
        """What is finished, and must stay so."""
        done = {str(file) for file in self.folder.rglob("*") if file.is_file() and not is_temporary(file)}
        if (records := self.folder / "records.jsonl").exists():
            done |= {f"record of {record['problem']}" for record in read_records(records)}
        return {file for file in done if not file.endswith((".lock", ".jsonl"))}

    def torn(self) -> list[str]:
        """The files that cannot be read, or are no part of what an undisturbed run makes."""
        return [str(file) for file in self.folder.rglob("*") if file.is_file() and not self.is_whole(file)]

    def is_whole(self, file: Path) -> bool:
        whole = self.bench.folder / f"{self.name}-undisturbed" / "work" / file.relative_to(self.folder)
        try:
            if is_temporary(file) or file.name == ".lock":
                return True
            if file.suffix == ".safetensors":
                load_file(file)
            elif file.suffix == ".json":
                json.loads(file.read_text())
            elif file.suffix == ".jsonl":
                *lines, _ = file.read_text().split("\n")  # the last one may be torn, and is then no line
                for line in lines:
                    json.loads(line)
            elif file.suffix != ".png":
                return file.read_bytes() == whole.read_bytes()
        except (ValueError, OSError, SafetensorError):
            return False
        return True

    def left(self) -> list[str]:
        return [str(file) for place in (self.folder, self.temporary) for file in place.rglob("*") if is_temporary(file)]


def is_temporary(file: Path) -> bool:
    """Whether we made it for a while; torch makes a folder for its own cache there, and Python tries with four letters
    whether it can write there."""
    if file.name.endswith(".part"):
        return True
    theirs = "torchinductor" in file.name or (file.is_file() and file.read_bytes() in (b"", b"blat"))
    return file.parent.name == "temporary" and not theirs


def end_and_go_on(case: Case, rng: random.Random, kills: int) -> Counter[str]:
    """End a command so often, let it run to its end, and count its faults."""
    counts, done = Counter[str](), set[str]()
    while counts["kills"] < kills:
        number = rng.choices(list(SIGNALS), list(SIGNALS.values()))[0]
        code = case.kill(rng, number)
        if code is None:  # it was too quick: there is nothing more to end
            counts["too quick"] += 1
            break
        counts.update(["kills", number.name])
        told = case.errors.read_text(errors="replace")
        if "Traceback" in told or code not in (-number, 128 + number, 0):
            print(f"{case.place}: {number.name}, exit status {code}\n{told}", file=sys.stderr, flush=True)
            counts.update(["traceback"] if "Traceback" in told else ["failed"])
        counts["alive"] += bool(case.survivors())
        counts["torn"] += bool(case.torn())
        counts["lost"] += not done <= (done := case.done())
        counts["left at once"] += bool(case.left())
    command, (whole, _) = COMMANDS[case.name], case.bench.undisturbed(case.name)
    code, told = case.run(command.again(case.bench.data, case.folder))
    counts["reruns"] += 1
    counts["failed"] += code != 0
    counts["traceback"] += "Traceback" in told
    counts["different"] += code == 0 and command.result(case.folder) != whole
    counts["lost"] += not done <= case.done()
    counts["left"] += bool(case.left())
    if faults := {fault: counts[fault] for fault in FAULTS if counts[fault]}:
        print(f"{case.place}: {faults}\n{told}", file=sys.stderr, flush=True)
    return counts


def main(count: int, seed: int, names: Sequence[str] = tuple(COMMANDS), folder: Path | None = None) -> int:
    """End commands so often, print what came of it, and return the number of faults."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it, as its children do
    if {"train", "label"} & set(names):
        import_module("trifold.training")  # so that what is forked has it
    rng, counts = random.Random(seed), {name: Counter[str]() for name in names}
    with tempfile.TemporaryDirectory() as temporary:
        bench, number = Bench(folder or Path(temporary)), 0
        while (left := count - sum(found["kills"] for found in counts.values())) > 0:
            name = rng.choices(names, [COMMANDS[name].share for name in names])[0]
            number += 1
            case = Case(bench, name, str(number))
            counts[name] += end_and_go_on(case, rng, min(left, rng.randint(2, KILLS_PER_CASE)))
            print(f"{count - left} of {count}", file=sys.stderr, flush=True)
    counts["all"] = sum(counts.values(), Counter[str]())
    columns = ["kills", *(number.name for number in SIGNALS), "reruns", "left at once", *FAULTS]
    print("".join(f"{word:>13}" for word in ["", *columns]))
    for name, found in counts.items():
        print(f"{name:>13}" + "".join(f"{found[column]:13}" for column in columns))
    return sum(counts["all"][fault] for fault in FAULTS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="how many signals to send")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--command", action="append", choices=COMMANDS, help="only this one; again for more")
    asked = parser.parse_args()
    sys.exit(bool(main(asked.count, asked.seed, asked.command or tuple(COMMANDS))))

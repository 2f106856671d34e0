"""Labels and records of a Ray cluster that loses a node, then its head, beside those that are made here.

    trifold generate --suite paper --out build/suite
    python benchmarks/lost_nodes.py build/suite [--max-states 20000] [--attempts 200] [--nodes 3]

It starts a head and its nodes on this machine, each of one CPU, and runs `trifold label` and `trifold evaluate` on
them with the models in the box. All processes of a node are killed in the middle of one pass, those of the head in
another, after which a new head is started and the same commands are repeated. What is compared is all arrays of all
labels, by their hashes, and all of each record but what tells of time.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from safetensors.numpy import load_file

from instance import note
from trifold.bench.timing import conditions
from trifold.evaluation import aligned_text, read_records
from trifold.sealed import SEAL

HEADER = ["pass", "seconds", "jobs", "done twice", "as here", "what was said"]
LARGE = ("grid", "rovers")
"""Domains of the suite whose labels take hours."""

TIMES = ("timestamp", "seconds", "seconds_per_step", "peak_gib", "hardware", "command")
"""What of a record depends on when, where and how it was made."""

HEAD_SECONDS = 90.0
"""How long a node may take to start: Ray itself asks for 30 of a busy machine."""


class Nodes:
    """A head and nodes of one CPU each, as `ray start` makes them, in processes of their own."""

    def __init__(self, folder: Path, port: int) -> None:
        self._folder, self._port = folder, port
        self._started: list[subprocess.Popen[bytes]] = []
        self.address = f"127.0.0.1:{port}"

    def start(self, count: int) -> None:
        """Start so many nodes, of which the first is the head if there is none."""
        for _ in range(count):
            is_head = not self._started
            own = ["--head", f"--port={self._port}", "--include-dashboard=false", f"--temp-dir={self._folder}"]
            self._start(own if is_head else [f"--address={self.address}"])
            self._wait()

    def _start(self, options: Sequence[str]) -> None:
        words = ["--block", "--num-cpus=1", f"--memory={8 * 2**30}", f"--object-store-memory={80 * 2**20}"]
        words += ["--min-worker-port=0", "--max-worker-port=0", "--disable-usage-stats"]  # several share a machine
        own = os.environ | {"RAY_worker_niceness": "0"}  # Ray's is 15: little is left to it where others work, too
        log = open(self._folder / f"node-{len(self._started)}.txt", "wb")  # noqa: SIM115 (the node writes to it)
        ray = [sys.executable, "-m", "ray.scripts.scripts", "start"]
        with log:
            started = subprocess.Popen([*ray, *words, *options], stdout=log, stderr=subprocess.STDOUT, env=own)
        self._started.append(started)

    def _wait(self) -> None:
        """Wait until all nodes have joined."""
        deadline = time.monotonic() + HEAD_SECONDS
        ask = [sys.executable, "-m", "ray.scripts.scripts", "status", f"--address={self.address}"]
        while time.monotonic() < deadline:
            told = subprocess.run(ask, capture_output=True, text=True, check=False).stdout
            if told.count(" node_") >= len(self._started):
                return
            time.sleep(0.5)
        raise SystemExit(f"node {len(self._started)} did not start; {self._folder} says why")

    def kill(self, number: int) -> None:
        """Kill all processes of a node, by their numbers; 0 is the head, without which the others are of no use."""
        process = self._started.pop(number)
        for each in (process.pid, *descendants(process.pid, process_parents())):
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        process.wait()

    def close(self) -> None:
        """Kill all nodes that are left."""
        while self._started:
            self.kill(-1)


def process_parents() -> dict[int, int]:
    """The parent of each process."""
    told = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    return {int(pid): int(parent) for pid, parent in map(str.split, told.splitlines())}


def descendants(process: int, parents: Mapping[int, int]) -> list[int]:
    """All that came of a process."""
    own = [pid for pid, parent in parents.items() if parent == process]
    return [*own, *chain.from_iterable(descendants(pid, parents) for pid in own)]


class Labels:
    """Labelling a suite: one command, whose labels are in the cache, and whose table is on standard output."""

    name = "label"

    def __init__(self, suite: Path, max_states: int) -> None:
        self._words = ["label", str(suite), "--max-states", str(max_states), "--memory", "2", "--json"]

    def commands(self, out: Path) -> list[list[str]]:
        """The command lines."""
        return [self._words]

    def count(self, out: Path) -> int:
        """How many problems are done."""
        return len(list(out.glob("cache/*.json")))

    def found(self, out: Path) -> list[tuple[str, str]]:
        """Each problem's entry, and a hash of all that it says but for its time; and so of the table."""
        entries = [(file.stem, digest(read_label(file))) for file in sorted(out.glob("cache/*.json"))]
        table = (out / "label-0.txt").read_text()  # of a command that was stopped there is none
        rows = [without(row, ("seconds", "folder")) for row in json.loads(table)] if table else None
        return [*entries, ("table", digest(rows))] if table else entries


class Records:
    """Evaluating the models in the box: a command for each domain, which has the name of its model."""

    name = "evaluate"

    def __init__(self, tests: Path, domains: Sequence[str]) -> None:
        self._tests, self._domains = tests, domains

    def commands(self, out: Path) -> list[list[str]]:
        """The command lines."""
        tests, records = self._tests, out / "records"
        own = ["--device", "cpu", "--memory", "4"]
        return [
            ["evaluate", one, str(tests / one), "--records", str(records / f"{one}.jsonl"), *own]
            for one in self._domains
        ]

    def count(self, out: Path) -> int:
        """How many problems are done."""
        return sum(file.read_bytes().count(b"\n") for file in out.glob("records/*.jsonl"))

    def found(self, out: Path) -> list[tuple[str, str]]:
        """Each record's problem, and a hash of all that it says but for times."""
        records = [record for file in sorted(out.glob("records/*.jsonl")) for record in read_records(file)]
        return [(f"{one['model_path']} {one['problem']}", digest(without(one, TIMES))) for one in records]


Work = Labels | Records


def read_label(file: Path) -> dict[str, Any]:
    """An entry of the cache: its facts, and hashes of its arrays."""
    arrays = file.with_suffix(".safetensors")
    hashes = {
        name: [str(array.dtype), list(array.shape), hashlib.sha256(array.tobytes()).hexdigest()]
        for name, array in (load_file(arrays) if arrays.exists() else {}).items()
    }
    return without(json.loads(file.read_text()), ("seconds", SEAL)) | {"arrays": hashes}


def without(values: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """What is left of a dict."""
    return {name: value for name, value in values.items() if name not in names}


def digest(value: object) -> str:
    """A hash of JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


@dataclass
class Pass:
    """One way through the work: how long it took, what is there then, and what was said on the way."""

    name: str
    seconds: float
    found: list[tuple[str, str]]
    said: list[str]

    def row(self, here: Pass) -> list[str]:
        """A line of the table: what is done twice, and what is as it was made here."""
        twice = len(self.found) - len(dict(self.found))
        same = len(set(self.found) & set(here.found))
        said = [f"{count} x {words}" for words, count in Counter(self.said).items()]
        counts = [str(len(self.found)), str(twice), f"{same} of {len(here.found)}"]
        return [self.name, f"{self.seconds:.0f}", *counts, "; ".join(said)]


Disturb = Callable[[], object]


def follow(work: Work, out: Path, address: str | None, at: int = 0, disturb: Disturb | None = None) -> tuple[int, str]:
    """Run the commands until one fails, and disturb them when so many problems are done. Returns what they say."""
    said = []
    code = 0
    for number, words in enumerate(work.commands(out)):
        there = [] if address is None else ["--cluster", address]
        own = os.environ | {"TRIFOLD_CACHE": str(out / "cache")}
        with open(out / f"{work.name}-{number}.txt", "wb") as result, open(out / "said.txt", "w+b") as errors:
            command = [sys.executable, "-m", "trifold", *words, *there]
            with subprocess.Popen(command, stdout=result, stderr=errors, env=own) as process:
                while process.poll() is None:
                    if disturb is not None and work.count(out) >= at:
                        disturb()
                        disturb = None
                    time.sleep(0.1)
            errors.seek(0)
            said.append(errors.read().decode())
        code = process.returncode
        if code:
            break
    return code, "".join(said)


def notices(told: str) -> list[str]:
    """What a command said of losses."""
    signs = ("was lost", "no Ray cluster to join")  # the latter where it was lost between two commands
    return [line.strip() for line in told.splitlines() if any(sign in line for sign in signs)]


class Trials:
    """The passes of one work: here, on the nodes, with a node killed, and with the head killed."""

    def __init__(self, work: Work, folder: Path, nodes: Nodes, count: int) -> None:
        self._work, self._folder, self._nodes, self._count = work, folder / work.name, nodes, count

    def rows(self) -> Generator[list[str], None, None]:
        """A line of each pass."""
        here = self._pass("here")
        yield here.row(here)
        half = self._work.count(self._folder / "here") // 2
        yield self._pass("on the nodes").row(here)
        yield self._pass("a node killed", half, lambda: self._nodes.kill(self._count)).row(here)
        self._nodes.start(1)
        lost = self._pass("the head killed", half, lambda: self._nodes.kill(0))
        yield lost.row(here)
        self._nodes.close()
        self._nodes.start(self._count + 1)
        yield self._pass("the head killed", name="the same again").row(here)

    def _pass(self, place: str, at: int = 0, disturb: Disturb | None = None, name: str = "") -> Pass:
        """Do the work in a folder, where what is done is not done again."""
        out = self._folder / place.replace(" ", "-")
        (out / "records").mkdir(parents=True, exist_ok=True)
        name = f"{self._work.name}, {name or place}"
        note(f"{name} …")
        began = time.monotonic()
        address = None if place == "here" else self._nodes.address
        code, told = follow(self._work, out, address, at, disturb)
        said = notices(told) + ([f"exit code {code}"] if code else [])
        done = Pass(name, time.monotonic() - began, self._work.found(out), said)
        if code and (address is None or not said[:-1]):  # but for what was to be lost nothing may fail
            raise SystemExit(told)
        return done


def choose(problems: Mapping[str, Sequence[Path]], count: int) -> list[tuple[str, Path]]:
    """So many problems, in turns of the domains."""
    named = [[(domain, file) for file in files] for domain, files in problems.items()]
    return [one for turn in zip_longest(*named) for one in turn if one is not None][:count]


def prepare(suite: Path, folder: Path, domains: Sequence[str], attempts: int) -> tuple[Path, Path]:
    """A suite of these domains alone, and their test problems, so many in all."""
    for domain in domains:
        shutil.copytree(suite / domain, folder / "suite" / domain, ignore=shutil.ignore_patterns("test"))
        (folder / "tests" / domain).mkdir(parents=True)
        shutil.copy(suite / domain / "domain.pddl", folder / "tests" / domain)
    for domain, file in choose({one: sorted((suite / one / "test").glob("*.pddl")) for one in domains}, attempts):
        shutil.copy(file, folder / "tests" / domain)
    return folder / "suite", folder / "tests"


@contextmanager
def started(folder: Path, port: int, count: int) -> Generator[Nodes, None, None]:
    """A head and so many other nodes, that are gone afterwards."""
    nodes = Nodes(folder, port)
    try:
        nodes.start(count + 1)
        yield nodes
    finally:
        nodes.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=Path, help="what `trifold generate --suite paper` has written")
    parser.add_argument("--domains", nargs="+", help="(default: all but grid and rovers, whose labels take hours)")
    parser.add_argument("--max-states", type=int, default=20_000, help="larger spaces are left out (default: 20000)")
    parser.add_argument("--attempts", type=int, default=200, help="test problems in all (default: 200)")
    parser.add_argument("--nodes", type=int, default=2, help="besides the head, each of one CPU (default: 2)")
    parser.add_argument("--work", nargs="+", default=["label", "evaluate"], help="(default: label evaluate)")
    parser.add_argument("--port", type=int, default=26379, help="of the head (default: 26379)")
    arguments = parser.parse_args()
    domains = arguments.domains or sorted(
        place.parent.name for place in arguments.suite.glob("*/test") if place.parent.name not in LARGE
    )
    rows = [HEADER]
    with tempfile.TemporaryDirectory(prefix="lost-") as place:
        folder = Path(place)
        suite, tests = prepare(arguments.suite, folder, domains, arguments.attempts)
        with started(folder, arguments.port, arguments.nodes) as nodes:
            works: list[Work] = [Labels(suite, arguments.max_states), Records(tests, domains)]
            for work in [work for work in works if work.name in arguments.work]:
                for row in Trials(work, folder, nodes, arguments.nodes).rows():
                    note("  ".join(row))
                    rows.append(row)
    print(f"{conditions()}\n{aligned_text(rows, names=1)}", end="")


if __name__ == "__main__":
    main()

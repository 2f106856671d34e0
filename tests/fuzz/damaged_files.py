"""Files of Trifold, damaged in many ways and then read: what was damaged must be refused, or computed again.

``python -m fuzz.damaged_files --count 500 --seed 0``, with ``tests`` on the path, prints a line for each kind of file:

refused     a TrifoldError
recomputed  a cached label that was noticed to be damaged, and computed again with the same result
equal       read, and all of it is what was written
accepted    read, and something else: an edit whose checksum was made right again, or of a file that has none, so that
            it is no damage but another file; all that can be done with it worked or was refused
traceback   any other exception, or no answer in a minute
silent      read, and not what was written

Exit code 1 if there is any of the last two.
"""

from __future__ import annotations

import argparse
import json
import pickle
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import torch
from typer.testing import CliRunner

from trifold.commands import app
from trifold.data import Labelled, label
from trifold.domains import write_problems
from trifold.errors import TrifoldError
from trifold.evaluation import RENDERERS, SolveJob, read_records, summarise
from trifold.evaluation.job import describe_job
from trifold.model import Model
from trifold.nn import REFERENCE
from trifold.pddl import load_problem
from trifold.provenance import Origin
from trifold.sealed import BLANK, seal
from trifold.training import resume, train
from trifold.training.run import SeedFolder
from trifold.training.step import build_optimizer

RECORDS = Path(__file__).parents[2] / "experiments" / "results" / "suite" / "gripper.jsonl"
OUTCOMES = ("refused", "recomputed", "equal", "accepted", "traceback", "silent")
SECONDS = 60

ODD: list[Any] = [
    None, True, 0, -1, 1, 2.5, 10**30, 10**400, 1e308, "", "text", "inf", "nan", "\ud800", "\0", "x" * 3000,
    "/etc/passwd", "/dev/zero", "(define", [], [[]], [None], {}, {"": None}, {"a": {"b": []}}, [["on", 2]],
    ["", 5], [0] * 1000,
]  # fmt: skip
"""Values that a header does not have where they are put."""

TEXTS = ["[" * 100_000, '{"a":' * 100_000, "[]", "", "{", "null", '{"a": 1, "a": 2}', '{"a": NaN}', '{"a": 1e999}']
"""Texts in the place of a JSON object."""


@dataclass(frozen=True)
class Damage:
    """What was done to a file: ``is_edit`` if it may be read, because it is consistent in itself."""

    content: bytes
    what: str
    is_edit: bool = False


@dataclass
class TensorFile:
    """A safetensors file taken apart, to be put together otherwise."""

    outline: dict[str, Any]
    header: dict[str, Any]
    data: bytes

    @classmethod
    def of(cls, content: bytes) -> TensorFile:
        end = 8 + int.from_bytes(content[:8], "little")
        outline = json.loads(content[8:end])
        header = json.loads(outline.pop("__metadata__")["trifold"])
        return cls(outline, {name: value for name, value in header.items() if name != "sha256"}, content[end:])

    def join(self, header: str | None = None, outline: str | None = None, *, sealed: bool = True) -> bytes:
        """The file, with a right checksum if it is to have one, or with another text in the place of one of its own."""
        if header is None:
            header = json.dumps(({"sha256": BLANK} if sealed else {}) | self.header)
        if outline is None:
            outline = json.dumps({"__metadata__": {"trifold": header}} | self.outline)
        text = outline.encode()
        content = len(text).to_bytes(8, "little") + text + self.data
        return seal(content) if sealed else content


def damage_bytes(random: Random, content: bytes) -> Damage:
    """Damage that knows nothing of the format: bits, cuts, blocks."""
    place = random.randrange(len(content))
    head = random.randrange(min(len(content), 4096))
    block = slice(place, place + random.choice([1, 8, 512, 4096]))
    kinds: list[Callable[[], Damage]] = [
        lambda: Damage(flip(content, place, random.randrange(8)), "a bit"),
        lambda: Damage(flip(content, head, random.randrange(8)), "a bit of the header"),
        lambda: Damage(flip(flip(content, head, random.randrange(8)), place, random.randrange(8)), "two bits"),
        lambda: Damage(content[:place], "a cut"),
        lambda: Damage(content + random.randbytes(random.randrange(1, 100)), "more bytes"),
        lambda: Damage(content[:place] + content[block.stop :], "a block gone"),
        lambda: Damage(content[:place] + bytes(len(content[block])) + content[block.stop :], "a block of zeros"),
        lambda: Damage(random.choice([b"", b"\0" * 100, random.randbytes(1000)]), "garbage"),
        lambda: Damage(pickle.dumps({"weights": [0.0] * 100}), "a pickle"),
    ]
    return random.choice(kinds)()


def flip(content: bytes, place: int, bit: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


def damage_tensors(random: Random, content: bytes) -> Damage:
    """Damage that knows the format: headers, shapes, names; with a right checksum in some of the cases."""
    file, names = TensorFile.of(content), sorted(TensorFile.of(content).outline)
    one, other = random.choice(names), random.choice(names)
    choice = random.randrange(9)
    if choice < 3:
        what = edit_somewhere(random, file.header)
        return Damage(file.join(), f"{what}, with its checksum", is_edit=True)
    if choice == 3:  # as the first format was, without a checksum
        file.header["format"] = 1
        what = edit_somewhere(random, file.header)
        return Damage(file.join(sealed=False), f"{what}, of format 1", is_edit=True)
    if choice == 4:
        return Damage(file.join(header=random.choice(TEXTS)), "another header")
    if choice == 5:
        return Damage(file.join(outline=random.choice(TEXTS)), "another outline")
    if choice == 6:
        what = edit_somewhere(random, file.outline)
        return Damage(file.join(), f"{what} of the outline", is_edit=True)
    if choice == 7:
        file.outline[one], file.outline[other] = file.outline[other], file.outline[one]
        whole = content == replace_checksum(file.join(), content)
        return Damage(replace_checksum(file.join(), content), "two tensors swapped", is_edit=whole)
    file.header["kind"] = random.choice(["training", "model", "trifold state space", 5])
    return Damage(file.join(), "another kind", is_edit=True)


def replace_checksum(content: bytes, before: bytes) -> bytes:
    """The content with the checksum of another, as damage leaves it."""
    ours, theirs = (json.loads(json.loads(text[8 : 8 + int.from_bytes(text[:8], "little")])["__metadata__"]["trifold"])
                    for text in (content, before))  # fmt: skip
    return content.replace(ours["sha256"].encode(), theirs["sha256"].encode(), 1)


def damage_json(random: Random, content: bytes, *, of_lines: bool) -> Damage:
    """Damage to a JSON file, or to the last line of a file of such lines, that has no checksum."""
    *lines, last = content.splitlines(keepends=True) if of_lines else [content]
    if random.random() < 0.5:
        text = random.choice([*TEXTS, "\udcff", "5"]).encode(errors="surrogateescape")
        return Damage(b"".join(lines) + text + b"\n", "another text", is_edit=True)
    values = json.loads(last)
    what = edit_somewhere(random, values)
    return Damage(b"".join(lines) + json.dumps(values).encode() + b"\n", what, is_edit=True)


def edit_somewhere(random: Random, values: Any) -> str:
    """Put something odd somewhere into nested JSON, or take something out; say where."""
    place, path = values, []
    while True:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        key = random.choice(keys)
        path.append(str(key))
        if not isinstance(place[key], (dict, list)) or not place[key] or random.random() < 0.4:
            break
        place = place[key]
    if random.random() < 0.2:
        del place[key]
    elif random.random() < 0.1 and isinstance(place, dict):
        place["more"] = random.choice(ODD)
    else:
        place[key] = random.choice(ODD)
    return f"an edit at {'.'.join(path)}"


class Workshop:
    """Whole files of each kind, made once, and a reader for each, which names the outcome of reading damaged ones."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.made = folder, 0
        write_problems(folder / "gripper", "gripper", [1, 2], 0)
        self.problems = sorted((folder / "gripper" / "train").glob("*.pddl"))
        self.run, self.cache = folder / "run", folder / "cache"
        train(folder / "gripper", self.run, "small", dim=4, layers=1, steps=2, batch=4, validate_every=1)
        self.model = Model.load(self.run / "model.safetensors")
        self.labelled = self.label()
        self.entries = sorted(file.with_suffix("") for file in self.cache.glob("*.json"))
        self.last = self.read_last(self.run / "seed-0")
        self.records = b"".join(RECORDS.read_bytes().splitlines(keepends=True)[:3])

    def label(self) -> list[Labelled]:
        return label(self.folder / "gripper" / "domain.pddl", self.problems, workers=1, cache=self.cache)

    def read_model(self, damage: Damage) -> str:
        self.made += 1
        path = self.folder / f"model-{self.made}.safetensors"  # a child process keeps what it loaded from a path
        path.write_bytes(damage.content)
        try:
            model = Model.load(path)
            same = is_same(model, self.model)
            self.use(model, path)
        finally:
            path.unlink()
        return "equal" if same else "accepted" if damage.is_edit else "silent"

    def use(self, model: Model, path: Path) -> None:
        """All that reads a model: each may refuse it."""
        Origin.of(model.provenance)
        shown = CliRunner().invoke(app, ["models", str(path)])
        if shown.exception and not isinstance(shown.exception, (SystemExit, TrifoldError)):
            raise shown.exception
        describe_job(asdict(SolveJob(str(path), "", device="cpu")), lambda event: None)
        problem = load_problem(model.domain, self.problems[0])
        model.check(problem)
        model.values([problem.initial_state])

    def read_last(self, seed: Path) -> Any:
        """The training state of a seed's folder, with all tensors."""
        model = Model.load(self.run / "model.safetensors")
        optimizer = build_optimizer(model.network, 1e-3, REFERENCE)
        state = SeedFolder(seed).load(model, optimizer)
        moments = {i: {n: v.tolist() for n, v in e.items()} for i, e in optimizer.state_dict()["state"].items()}
        return state, {n: w.tolist() for n, w in model.network.state_dict().items()}, moments

    def read_save(self, damage: Damage) -> str:
        seed = self.folder / "seed"
        shutil.copytree(self.run / "seed-0", seed)
        try:
            (seed / "last.safetensors").write_bytes(damage.content)
            SeedFolder(seed).saved_state()
            return "equal" if self.read_last(seed) == self.last else "accepted" if damage.is_edit else "silent"
        finally:
            shutil.rmtree(seed)

    def read_run(self, name: str, damage: Damage) -> str:
        """Resume a run that has ended: nothing is left to be done, if all of it is in order."""
        run = self.folder / "resumed"
        shutil.copytree(self.run, run)
        try:
            (run / name).write_bytes(damage.content)
            result = resume(run, steps=2, cache=self.cache, device="cpu", workers=1)
            same = is_same(result.load(), self.model)
            return "equal" if same else "accepted" if damage.is_edit else "silent"
        finally:
            shutil.rmtree(run)

    def read_entry(self, file: Path, damage: Damage) -> str:
        whole = file.read_bytes()
        file.write_bytes(damage.content)
        try:
            found = self.label()
        finally:
            file.write_bytes(whole)
        facts = [
            [replace(item, space=None, seconds=0.0, cached=False) for item in items] for items in (found, self.labelled)
        ]
        spaces = [[item.space for item in items if item.space] for items in (found, self.labelled)]
        if facts[0] != facts[1] or not all(map(are_equal, *spaces)):
            return "accepted" if damage.is_edit and all(item.cached for item in found) else "silent"
        return "equal" if all(item.cached for item in found) else "recomputed"

    def damage_records(self, random: Random) -> Damage:
        """Damage to the last of some records, or to any bytes: they have no checksum, and a torn line is left out."""
        if random.random() < 0.3:
            return replace(damage_bytes(random, self.records), is_edit=True)
        return damage_json(random, self.records, of_lines=True)

    def read_records(self, damage: Damage) -> str:
        """Read records, and make tables of them, as `table` does."""
        file = self.folder / "records.jsonl"
        file.write_bytes(damage.content)
        found = read_records(file)
        for render in RENDERERS.values():
            render(summarise(found)).encode(errors="replace")
        same = found == [json.loads(line) for line in self.records.splitlines()]
        return "equal" if same else "accepted" if damage.is_edit else "silent"

    def targets(self, random: Random) -> dict[str, Callable[[], tuple[Damage, Callable[[Damage], str]]]]:
        """For each kind of file, a way to damage one and to read it."""

        def tensors(path: Path) -> Damage:
            return random.choice([damage_bytes, damage_tensors])(random, path.read_bytes())

        entry = random.choice(self.entries)
        space, facts = entry.with_suffix(".safetensors"), entry.with_suffix(".json")
        name = random.choice(["config.json", "data.json", "seed-0/metrics.jsonl"])
        return {
            "model": lambda: (tensors(self.run / "model.safetensors"), self.read_model),
            "last save": lambda: (tensors(self.run / "seed-0" / "last.safetensors"), self.read_save),
            "labels": lambda: (tensors(space), lambda damage: self.read_entry(space, damage)),
            "facts": lambda: (damage_bytes(random, facts.read_bytes()), lambda damage: self.read_entry(facts, damage)),
            "records": lambda: (self.damage_records(random), self.read_records),
            "run folder": lambda: (
                damage_json(random, (self.run / name).read_bytes(), of_lines=name.endswith("l")),
                lambda damage: self.read_run(name, damage),
            ),
        }


def is_same(model: Model, other: Model) -> bool:
    facts = ("config", "signature", "domain_text", "training_atoms", "provenance")
    ours, theirs = model.network.state_dict(), other.network.state_dict()
    return all(getattr(model, name) == getattr(other, name) for name in facts) and (
        ours.keys() == theirs.keys() and all(torch.equal(ours[name], theirs[name]) for name in ours)
    )


def are_equal(space: Any, other: Any) -> bool:
    arrays = ("offsets", "indices", "distances", "transition_offsets", "targets")
    rest = ("domain", "problem", "objects", "initial", "states", "listed", "engine")
    return all(getattr(space, name).tolist() == getattr(other, name).tolist() for name in arrays) and (
        all(getattr(space, name) == getattr(other, name) for name in rest)
        and space.structures().arguments.equal(other.structures().arguments)
    )


def try_one(read: Callable[[Damage], str], damage: Damage) -> tuple[str, str]:
    """The outcome of reading a damaged file, and the traceback if there was one."""
    try:
        with at_most(SECONDS):
            return read(damage), ""
    except TrifoldError:
        return "refused", ""
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return "traceback", traceback.format_exc()


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise a TimeoutError in what takes longer."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"no answer in {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def main(count: int, seed: int) -> dict[str, Counter[str]]:
    """Damage and read so many files, of each kind in turn; the figures by kind."""
    with tempfile.TemporaryDirectory(prefix="trifold-fuzz-") as folder:
        return run(Workshop(Path(folder)), count, seed)


def run(workshop: Workshop, count: int, seed: int) -> dict[str, Counter[str]]:
    """The same with files that are there; what must not be is printed at once."""
    figures: dict[str, Counter[str]] = {}
    for number in range(count):
        random = Random(f"{seed} {number}")
        targets = workshop.targets(random)
        kind = list(targets)[number % len(targets)]
        damage, read = targets[kind]()
        outcome, trace = try_one(read, damage)
        figures.setdefault(kind, Counter()).update(["tried", outcome])
        if outcome in ("traceback", "silent"):
            print(f"{kind}, {number} of seed {seed}: {outcome}: {damage.what}\n{trace}", flush=True)
    return figures


def table(figures: dict[str, Counter[str]]) -> str:
    heads = ("file", "tried", *OUTCOMES)
    total = sum(figures.values(), Counter())
    rows = [
        heads,
        *((kind, *(str(row[head]) for head in heads[1:])) for kind, row in (figures | {"all": total}).items()),
    ]
    return "\n".join("  ".join(f"{cell:>10}" for cell in row) for row in rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m fuzz.damaged_files", description="Damage files, and read them.")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    found = main(asked.count, asked.seed)
    print(table(found))
    sys.exit(any(row["traceback"] + row["silent"] for row in found.values()))

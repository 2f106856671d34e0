"""Whole splits of problems, drawn so that no two are alike; the suite ``paper`` is every split of every domain.

The problems of a domain are drawn in a fixed order, tests first, then training. One that is isomorphic to an earlier
one, but for the names of objects, is drawn again with the next number of its own seed. So is a validation problem that
has the base of a training problem: the same objects, static atoms and goal, again but for names. So no problem of one
split is in another, no state of a validation problem is one of a training problem, and what is trained on never changes
the tests. Where a size has fewer problems than a split asks for, the split repeats one; where two splits would have to
share one, drawing them fails, so the domains keep such sizes apart (as Gripper does, where a size is a base).

Everything is a function of the seed and the options: the same files on every machine. The hashes of the suite's
domains are frozen in ``suite_hashes.json``.
"""

from __future__ import annotations

import errno
import hashlib
import json
import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

from trifold.domains import DOMAINS, SPLITS, Options, Split, domain_text
from trifold.domains.isomorphism import base, certificate, read_structure, varying_predicates

SEED = 0
"""The seed of the suite ``paper``."""
DRAWS = 200
"""How often a problem is drawn until it is unlike all others."""
MANIFEST = "MANIFEST.json"
ORDER: tuple[Split, ...] = ("test", "train", "validation")
"""In which order splits are drawn: each is unlike those before it."""
FIRST_DRAWS = {
    "gripper/0/train/3": 1,
    "grid/0/train/9": 2,
    "grid/0/train/10": 1,
    "grid/0/train/165": 1,
    "grid/0/train/1697": 1,
}
"""Problems of the frozen suite that have a later number than the first that is unlike all others, from when validation
was drawn before training."""


@dataclass(frozen=True)
class Drawn:
    """A problem: the name of its file, with its number in the split and its size, its text and how many objects."""

    file: str
    text: str
    objects: int


def draw_splits(
    name: str, seed: int = SEED, splits: Sequence[Split] = SPLITS, on_problem: Callable[[], object] | None = None
) -> dict[str, list[Drawn]]:
    """Draw splits of a domain, with the sizes of the suite ``paper``; all of them if not told which.

    on_problem  is called when a problem is drawn, also for a split that is only to be unlike
    """
    taken: dict[str, str] = {}
    drawn: dict[Split, list[Drawn]] = {}
    for split in drawn_for(splits):
        trained = {base_certificate(name, problem.text) for problem in drawn["train"]} if split == "validation" else ()
        drawn[split] = draw_problems(name, DOMAINS[name].suite(split), seed, split, taken, trained, on_problem)
    return {split: drawn[split] for split in SPLITS if split in splits}


def drawn_for(splits: Iterable[Split]) -> tuple[Split, ...]:
    """The splits that have to be drawn for these: they, and those before them."""
    return ORDER[: max(map(ORDER.index, splits)) + 1]


def draw_problems(
    name: str,
    problems: Sequence[Options],
    seed: int,
    split: str = "",
    taken: dict[str, str] | None = None,
    trained: Collection[str] = (),
    on_problem: Callable[[], object] | None = None,
) -> list[Drawn]:
    """Draw a problem for each of the options, unlike each other where there are enough of them.

    taken       the certificates of the problems drawn before, each with its split; those of the new ones are added
    trained     the certificates of bases that no problem may have
    on_problem  is called when a problem is drawn
    """
    taken = {} if taken is None else taken
    drawn = []
    for number, options in enumerate(problems, start=1):
        place = f"{name}/{seed}/{split}/{number}"
        for attempt in range(FIRST_DRAWS.get(place, 0), DRAWS):
            text = DOMAINS[name].generate(random.Random(f"{place}/{attempt}"), **options)
            structure = read_structure(text)
            key = certificate(structure)
            is_trained = bool(trained) and base_certificate(name, text) in trained
            if key not in taken and not is_trained:
                break
        if is_trained:
            raise ValueError(f"{name}: every problem of the {split} split with {options} has states of training")
        if taken.setdefault(key, split) != split:
            raise ValueError(
                f"{name}: every problem of the {split} split with {options} is in that of {taken[key]} too"
            )
        size = [f"{option}-{value}" for option, value in islice(options.items(), 2)]  # the first two tell it
        drawn.append(Drawn(f"{'-'.join([name, f'{number:03d}', *size])}.pddl", text, len(structure.objects)))
        if on_problem is not None:
            on_problem()
    return drawn


def base_certificate(name: str, problem: str) -> str:
    """Give the same text for problems of a domain that may share states."""
    return certificate(base(read_structure(problem), _varying(name)))


@cache
def _varying(name: str) -> frozenset[str]:
    return varying_predicates(domain_text(name))


def split_texts(name: str, splits: Mapping[str, Sequence[Drawn]]) -> dict[str, str]:
    """The text of each file of a domain's folder by its path in it; a split without a name has no folder of its own."""
    problems = {f"{split}/{problem.file}".lstrip("/"): problem.text for split in splits for problem in splits[split]}
    return {"domain.pddl": domain_text(name), **problems}


def write_texts(directory: Path, texts: Mapping[str, str]) -> None:
    """Write files by their paths in a directory: all, or none where another file would be lost or would mingle.

    That is other text under the path of a file, or another problem in the folder of a split.
    """
    contents = {directory / place: text.encode() for place, text in texts.items()}  # bytes: no machine's line ends
    folders = {path.parent for path in contents} - {directory}
    for path in sorted({*contents, *(path for folder in folders for path in folder.glob("*.pddl"))}):
        if path.exists() and not (path.is_file() and path.read_bytes() == contents.get(path)):
            raise FileExistsError(errno.EEXIST, "another file is there", str(path))
    for path, content in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.part")  # so that a file is there whole or not at all
        try:
            part.write_bytes(content)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def write_suite(
    directory: Path, domains: Iterable[str] | None = None, on_problem: Callable[[], object] | None = None
) -> dict[str, Any]:
    """Write the suite ``paper``, or some of its domains, a folder each, and its manifest; return the manifest.

    files    the sha256 of each file, by its path
    splits   per domain and split, the hash of its problems
    domains  per domain, the hash of all its files: what ``frozen_hashes`` says of this version

    The hash of several files is that of their lines "sha256  path", sorted by path.
    """
    names = sorted(set(DOMAINS if domains is None else domains))
    drawn = {name: draw_splits(name, on_problem=on_problem) for name in names}
    texts = {f"{name}/{place}": text for name in names for place, text in split_texts(name, drawn[name]).items()}
    hashes = text_hashes(texts)
    manifest: dict[str, Any] = {
        "suite": "paper",
        "domains": {name: _hash_under(f"{name}/", hashes) for name in names},
        "splits": {name: {split: _hash_under(f"{name}/{split}/", hashes) for split in SPLITS} for name in names},
        "files": hashes,
    }
    write_texts(Path(directory), {**texts, MANIFEST: json.dumps(manifest, indent=1, sort_keys=True) + "\n"})
    return manifest


def text_hashes(texts: Mapping[str, str]) -> dict[str, str]:
    """The sha256 of each file, by its path."""
    return {place: hashlib.sha256(text.encode()).hexdigest() for place, text in texts.items()}


def frozen_hashes() -> dict[str, str]:
    """The hash of each domain of the suite ``paper``, as it was frozen before anything was trained on it."""
    text = files("trifold.domains").joinpath("suite_hashes.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def _hash_under(folder: str, hashes: Mapping[str, str]) -> str:
    lines = [f"{value}  {place}\n" for place, value in sorted(hashes.items()) if place.startswith(folder)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()

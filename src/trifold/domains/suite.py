"""Files of problems and their hashes; the suite ``paper`` is every split of every domain of the paper.

The same files on every machine: the hashes of the suite's domains are frozen in ``suite_hashes.json``.
"""

from __future__ import annotations

import errno
import hashlib
import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from trifold.domains.catalogue import DOMAINS, PAPER, domain_text
from trifold.domains.drawing import NO_DRAFTS, SEED, Draft, Drawn, draw_problems, draw_splits
from trifold.domains.generator import SPLITS, Split
from trifold.files import write_whole

MANIFEST = "MANIFEST.json"


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
        if not path.exists():  # what is there is the same
            write_whole(path, content, durable=False)


def generate(
    domain: str,
    out: Path | str,
    *,
    splits: Sequence[Split] | None = None,
    count: int | None = None,
    seed: int = SEED,
    **sizes: int | str,
) -> list[Path]:
    """Draw problems of a domain and write them, with its domain.pddl; return their paths. No two are alike.

    Without sizes these are the domain's splits, in folders of their own; all of them, or those that are named. With
    some, or a count, as many problems of one size stand beside domain.pddl.

    >>> paths = generate("gripper", "five", count=2, balls=5)  # and five/domain.pddl
    >>> [path.name for path in paths]
    ['gripper-001-balls-5-start-random.pddl', 'gripper-002-balls-5-start-random.pddl']
    """
    if domain not in DOMAINS:
        raise ValueError(f"there is no domain {domain}: one of {', '.join(DOMAINS)}")
    options = {name: option.default for name, option in DOMAINS[domain].options.items()}
    if unknown := sorted(sizes.keys() - options.keys()):
        raise ValueError(f"{domain} has no option {unknown[0]}: one of {', '.join(options)}")
    if sizes or count is not None:
        if splits is not None:
            raise ValueError("a split has sizes of its own: leave out the splits, or sizes and count")
        drawn = {"": draw_problems(domain, [options | sizes] * (1 if count is None else count), seed)}
    else:
        drawn = draw_splits(
            domain, seed, splits or [split for split in SPLITS if DOMAINS[domain].sizes(split)] or SPLITS
        )
    texts = split_texts(domain, drawn)
    write_texts(Path(out), texts)
    return [Path(out) / place for place in texts if place != "domain.pddl"]


def write_problems(
    directory: Path,
    name: str,
    sizes: Iterable[int],
    seed: int,
    *,
    per_size: int = 1,
    split: str = "train",
    **options: int | str,
) -> list[Path]:
    """Write ``domain.pddl``, and ``per_size`` problems of each size in the folder ``split``; return their paths.

    Each problem has its own random numbers, seeded by its domain, seed, split, size and index. So a file stays
    the same whatever is written beside it, and the splits of one seed are drawn independently of each other.
    """
    domain = DOMAINS[name]
    folder = Path(directory) / split
    folder.mkdir(parents=True, exist_ok=True)
    (Path(directory) / "domain.pddl").write_text(domain_text(name), encoding="utf-8")
    paths = []
    for size in sizes:
        for index in range(per_size):
            rng = random.Random(f"{name}/{seed}/{split}/{size}/{index}")
            path = folder / f"{name}-{size:02d}-{index:02d}.pddl"
            path.write_text(domain.problem(rng, size, **options), encoding="utf-8")
            paths.append(path)
    return paths


def write_suite(
    directory: Path,
    domains: Iterable[str] = PAPER,
    on_problem: Callable[[], object] | None = None,
    drafts: Mapping[str, Draft] = NO_DRAFTS,
) -> dict[str, Any]:
    """Write the suite ``paper``, or some of its domains, a folder each, and its manifest; return the manifest.

    files    the sha256 of each file, by its path
    splits   per domain and split, the hash of its problems
    domains  per domain, the hash of all its files: what ``frozen_hashes`` says of this version

    The hash of several files is that of their lines "sha256  path", sorted by path.
    """
    names = sorted(set(domains))
    drawn = {name: draw_splits(name, SEED, on_problem=on_problem, drafts=drafts) for name in names}
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

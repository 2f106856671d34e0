"""Which problems a benchmark runs on: generated ones of a domain by name, or those of a folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trifold.data import read_folder
from trifold.domains import DOMAINS, draw_problems, split_sizes, split_texts, write_texts
from trifold.errors import TrifoldError
from trifold.pddl import problem_files

PROBLEMS = 4
"""So many training problems are labelled, and their states are what is encoded and trained on."""


@dataclass(frozen=True)
class Files:
    """The PDDL files of a benchmark: a domain, small problems, and a large one for the policy step."""

    domain: Path
    training: list[Path]
    large: Path


def find_files(place: str, temporary: Path, problem: Path | None = None, seed: int = 0) -> Files:
    """The files of a folder, or of a domain of ``DOMAINS``, whose training and test splits are written to a folder.

    Of the training problems a few are taken, spread over all of them. The large problem is the given one, or else the
    one with the longest text in test/; in a folder without tests, among all of them.
    """
    if place in DOMAINS:
        sizes = {"train": split_sizes(place, "train"), "test": split_sizes(place, "test")}
        splits = {split: draw_problems(place, sizes[split], seed, split) for split in sizes}
        write_texts(temporary, split_texts(place, splits))
        folder = temporary
    elif Path(place).is_dir():
        folder = Path(place)
    else:
        raise TrifoldError(
            f"there is neither a domain nor a folder {place}", remedy=f"a folder, or one of {', '.join(DOMAINS)}"
        )
    files = read_folder(folder)
    if problem is not None and not problem.is_file():
        raise TrifoldError("there is no such file", place=str(problem), remedy="check the path")
    candidates = problem_files(folder / "test") or [*files.training, *files.validation]
    large = problem or max(candidates, key=lambda path: path.stat().st_size)
    return Files(files.domain, spread(files.training, PROBLEMS), large)


def spread(files: Sequence[Path], count: int) -> list[Path]:
    """So many of the files, evenly over their order, or all.

    >>> [str(path) for path in spread([Path(letter) for letter in "abcdef"], 2)]
    ['b', 'e']
    """
    count = min(count, len(files))
    return [files[(2 * number + 1) * len(files) // (2 * count)] for number in range(count)]

"""What came of labelling many problems: one row of counts for each folder of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trifold.data.extent import Extent
from trifold.data.labels import Labelled
from trifold.errors import TrifoldError
from trifold.outcomes import Outcome
from trifold.pddl import DOMAIN, check_folder, problem_files

SPLITS = ("train", "validation")
"""The folders that are labelled. Test problems are too large for it, and not for learning."""


@dataclass(frozen=True)
class Summary:
    """The problems of one folder.

    around         how many of the labelled ones are so around a plan, as they have more states than the limit
    states         of all labelled problems, and how many of them are kept
    left_out       outcome → how many problems
    largest_value  the largest V*
    seconds        of child processes, added up
    extent         what the labelled problems have
    """

    folder: str
    problems: int
    labelled: int
    around: int
    states: int
    kept: int
    dead_ends: int
    largest_value: int
    seconds: float
    left_out: dict[str, int]
    extent: Extent


def summarise_labels(folder: str, labelled: Sequence[Labelled]) -> Summary:
    """Add up what was labelled in a folder."""
    done = [item for item in labelled if item.outcome is Outcome.LABELLED]
    return Summary(
        folder,
        len(labelled),
        len(done),
        sum(item.space.is_bound for item in done if item.space),
        sum(item.states for item in done),
        sum(item.kept for item in done),
        sum(item.dead_ends for item in done),
        max((item.max_distance for item in done), default=0),
        sum(item.seconds for item in labelled),
        dict(Counter(item.outcome for item in labelled if item.outcome is not Outcome.LABELLED)),
        Extent.of_labelled(labelled),
    )


def find_splits(folder: Path) -> list[tuple[str, Path, list[Path]]]:
    """(name, domain, problems) of each folder of problems: of a folder with a domain.pddl, or of a suite of such."""
    check_folder(folder)
    roots = [folder] if (folder / DOMAIN).is_file() else sorted(path.parent for path in folder.glob(f"*/{DOMAIN}"))
    if not roots:
        raise TrifoldError(
            f"there is no {DOMAIN} here, nor one folder down",
            place=str(folder),
            remedy="put the PDDL domain there, and problems in train/ or beside it",
        )
    found = []
    for root in roots:
        splits = [split for split in SPLITS if (root / split).is_dir()]
        for name, part in [(f"{root.name}/{split}", root / split) for split in splits] or [(root.name, root)]:
            if problems := problem_files(part):
                found.append((name, root / DOMAIN, problems))
    if not found:
        raise TrifoldError("there are no problems to label", place=str(folder), remedy="put *.pddl files in train/")
    return found

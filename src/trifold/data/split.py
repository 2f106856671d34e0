"""Which labelled problems are learned from, and which are held out."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, sqrt
from pathlib import Path
from typing import Any

from trifold.data.families import find_alike, find_families
from trifold.data.labels import Labelled
from trifold.errors import TRY, TrifoldError
from trifold.outcomes import Outcome

VALIDATION_SHARE = 5
"""Without a validation folder, one family of so many is held out, and at least one."""

LIMITS = {
    Outcome.STATE_LIMIT: "max_states (--max-states)",
    Outcome.TIMEOUT: "seconds (--timeout)",
    Outcome.MEMORY_LIMIT: "memory_gib (--memory)",
}
"""The outcomes of problems that are too large: a key of recipes, and the option of `trifold label`."""

GIVEN, HELD_OUT, SHARED = "given", "held out", "shared"
"""How problems for validation are chosen: the folder has them; families of problems without a state in common are
drawn; or none can be held out, as all problems are of one family, and so all serve for both."""


@dataclass(frozen=True)
class Split:
    """The usable problems for training and for validation, and how they were chosen.

    rule      GIVEN, HELD_OUT or SHARED
    families  how many sets of problems there are of which none has a state of another
    sharing   the given validation files that have, or may have, states of training problems
    alike     sets of files that are the same but for the names of objects: {"files": …, "equal": to the letter}
    """

    training: list[Labelled]
    validation: list[Labelled]
    rule: str
    families: int
    sharing: list[str]
    alike: list[dict[str, Any]]

    def to_json(self) -> dict[str, Any]:
        """What is recorded of it, the roles aside."""
        return {name: getattr(self, name) for name in ("rule", "families", "sharing", "alike")}

    def roles(self, labelled: Sequence[Labelled]) -> list[str]:
        """What each problem serves for: training, validation, both, or it is left out."""
        training, validation = ({item.path for item in items} for items in (self.training, self.validation))
        names = {(True, True): "both", (True, False): "training", (False, True): "validation"}
        return [names.get((item.path in training, item.path in validation), "left out") for item in labelled]


def split(labelled: Sequence[Labelled], training: int, seed: int) -> Split:
    """Split the problems of a domain that could be labelled; the first ``training`` items are the training files.

    Without validation files, problems are put into families that have no state in common, up to the names of objects.
    One family of five is held out, drawn with the seed over sizes and V*. A single family serves for both.
    """
    usable = [item for item in labelled[:training] if item.space is not None]
    given = [item for item in labelled[training:] if item.space is not None]
    if not usable:
        raise TrifoldError(
            "no training problem could be labelled: " + count_outcomes(labelled[:training]),
            remedy=remedy_of(labelled[:training]),
        )
    if len(labelled) > training and not given:
        raise TrifoldError(
            "no validation problem could be labelled: " + count_outcomes(labelled[training:]),
            remedy=f"{remedy_of(labelled[training:])}; or leave out the validation folder",
        )
    items = usable + given
    spaces = [item.space for item in items if item.space is not None]
    family_of = find_families(spaces).tolist()
    families: dict[int, list[Labelled]] = {}
    for item, family in zip(items, family_of, strict=True):
        families.setdefault(family, []).append(item)
    alike = [
        {
            "files": [_name(items[member].path) for member in members],
            "equal": len({items[member].digest for member in members}) == 1,
        }
        for members in find_alike(spaces)
    ]
    if given:
        trained, validated = set(family_of[: len(usable)]), family_of[len(usable) :]
        sharing = [_name(item.path) for item, family in zip(given, validated, strict=True) if family in trained]
        return Split(usable, given, GIVEN, len(families), sharing, alike)
    if len(families) == 1:
        return Split(usable, usable, SHARED, 1, [], alike)
    held_out = {item.path for family in draw_families(list(families.values()), seed) for item in family}
    return Split(
        [item for item in usable if item.path not in held_out],
        [item for item in usable if item.path in held_out],
        HELD_OUT,
        len(families),
        [],
        alike,
    )


def recorded_split(labelled: Sequence[Labelled], roles: Sequence[str], about: dict[str, Any]) -> Split:
    """The split that was recorded: by ``Split.roles`` of the same files, and ``Split.to_json``."""
    training, validation = (
        [item for item, role in zip(labelled, roles, strict=True) if role in (wanted, "both")]
        for wanted in ("training", "validation")
    )
    return Split(training, validation, **about)


def draw_families(families: Sequence[Sequence[Labelled]], seed: int) -> list[Sequence[Labelled]]:
    """Draw one family of five, evenly over the sizes of problems and, among those of like size, over V*.

    Of each five it is one with at most a fifth of all problems, where there is such, or else the one with the fewest:
    most problems are left to learn from.
    """
    count = max(len(families) // VALIDATION_SHARE, 1)
    by_size = sorted(families, key=lambda family: max(item.states for item in family))
    ordered: list[Sequence[Labelled]] = []
    for row, like in enumerate(_cut(by_size, ceil(sqrt(count)))):  # to and fro over V*, so that neighbours are alike
        ordered += sorted(like, key=lambda family: max(item.max_distance for item in family), reverse=row % 2 == 1)
    problems = sum(map(len, families))
    rng = random.Random(seed)
    drawn = []
    for stratum in _cut(ordered, count):
        few = [family for family in stratum if len(family) * VALIDATION_SHARE <= problems]
        drawn.append(rng.choice(few or [min(stratum, key=len)]))
    return drawn


def count_outcomes(labelled: Sequence[Labelled]) -> str:
    """The outcomes and how often each occurred, in words."""
    outcomes = [item.outcome for item in labelled]
    return ", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in sorted(set(outcomes)))


def remedy_of(labelled: Sequence[Labelled]) -> str:
    """What to do about problems that could not be labelled, by why they could not."""
    outcomes = {item.outcome for item in labelled}
    first = {item.outcome: item for item in reversed(labelled)}
    found = []
    if Outcome.BAD_INPUT in outcomes:
        reason, *more = first[Outcome.BAD_INPUT].message.splitlines()
        own = next((line.removeprefix(TRY) for line in more if line.startswith(TRY)), "mend the PDDL")
        found.append(f"{own} ({_name(first[Outcome.BAD_INPUT].path)}: {reason})")
    if Outcome.UNSOLVABLE in outcomes:
        found.append("give problems that have a plan: no state of an unsolvable one has a distance to the goal")
    if limits := outcomes & LIMITS.keys():
        keys = [LIMITS[outcome] for outcome in LIMITS if outcome in limits]
        found.append(f"use smaller problems, or raise {' and '.join(keys)} of the recipe, or of `trifold label`")
        if Outcome.STATE_LIMIT in limits:
            found[-1] += ", or put a plan beside each, p1.plan beside p1.pddl"
    if Outcome.CRASH in outcomes:
        found.append(f"report the crash of {_name(first[Outcome.CRASH].path)}, with both files")
    return "; ".join(found)


def _cut(families: Sequence[Sequence[Labelled]], parts: int) -> list[Sequence[Sequence[Labelled]]]:
    """Cut a sequence into parts of about the same length."""
    ends = [len(families) * part // parts for part in range(parts + 1)]
    return [families[start:end] for start, end in pairwise(ends)]


def _name(path: Path) -> str:
    """A file with its folder, as training and validation may have files of one name."""
    return f"{path.parent.name}/{path.name}"

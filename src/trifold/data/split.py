"""Which labelled problems are learned from, and which are held out."""

from __future__ import annotations

import random
from collections.abc import Sequence

from trifold.data.labels import Labelled
from trifold.errors import TrifoldError

VALIDATION_SHARE = 5
"""Without a validation folder, one problem of so many is held out."""


def split(labelled: Sequence[Labelled], training: int, seed: int) -> tuple[list[Labelled], list[Labelled]]:
    """The usable problems for training and for validation.

    The first ``training`` items come from the training files. Without validation files one problem of five is held out,
    drawn with the seed; a single problem serves for both.
    """
    usable = [item for item in labelled[:training] if item.space is not None]
    given = [item for item in labelled[training:] if item.space is not None]
    if not usable:
        raise TrifoldError(
            "no training problem could be labelled: " + count_outcomes(labelled[:training]),
            remedy="use smaller problems, or raise --max-states, --timeout or --memory",
        )
    if len(labelled) > training:
        if not given:
            raise TrifoldError(
                "no validation problem could be labelled: " + count_outcomes(labelled[training:]),
                remedy="use smaller problems, or leave out the validation folder",
            )
        return usable, given
    if len(usable) == 1:
        return usable, usable
    held_out = set(random.Random(seed).sample(range(len(usable)), max(1, len(usable) // VALIDATION_SHARE)))
    return (
        [item for i, item in enumerate(usable) if i not in held_out],
        [item for i, item in enumerate(usable) if i in held_out],
    )


def count_outcomes(labelled: Sequence[Labelled]) -> str:
    """The outcomes and how often each occurred, in words."""
    outcomes = [item.outcome for item in labelled]
    return ", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in sorted(set(outcomes)))

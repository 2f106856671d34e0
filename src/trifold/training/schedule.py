"""The learning rate of each step: the paper's constant one, or one that rises, then falls to zero."""

from __future__ import annotations

import math

SCHEDULES = ("constant", "cosine")

WARM_UP = 0.02
"""The part of a training in which the cosine schedule rises: the first gradients are far larger than all later ones."""


def learning_rate(schedule: str, peak: float, done: float) -> float:
    """The rate when so much of the training is done, from 0 to 1. Cosine goes beyond the paper.

    >>> [round(learning_rate("cosine", 1.0, done), 3) for done in (0.01, 0.02, 0.51, 1.0)]
    [0.5, 1.0, 0.5, 0.0]
    """
    if schedule == "constant":
        return peak
    if done < WARM_UP:
        return peak * done / WARM_UP
    return peak * 0.5 * (1 + math.cos(math.pi * (min(done, 1.0) - WARM_UP) / (1 - WARM_UP)))

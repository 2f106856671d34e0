"""The learning rate of each step: the paper's constant one, or one that rises, then falls to zero."""

from __future__ import annotations

import math

SCHEDULES = ("constant", "cosine")

WARM_UP = 0.02
"""The part of the steps in which the cosine schedule rises: the first gradients are far larger than all later ones."""


def learning_rate(schedule: str, peak: float, step: int, steps: int) -> float:
    """The rate of a step, counted from 0. Beyond the paper, cosine trades the last steps' noise for accuracy.

    >>> [round(learning_rate("cosine", 1.0, step, 100), 3) for step in (0, 1, 50, 99)]
    [0.5, 1.0, 0.508, 0.0]
    """
    if schedule == "constant":
        return peak
    rise = max(1, round(WARM_UP * steps))
    if step < rise:
        return peak * (step + 1) / rise
    return peak * 0.5 * (1 + math.cos(math.pi * (step + 1 - rise) / (steps - rise + 1)))

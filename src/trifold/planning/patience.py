"""Patience with a policy: one that sees no lesser V for long is lost, and a search may do better."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from trifold.outcomes import Outcome
from trifold.planning.policy import Budget, Step


@dataclass(frozen=True)
class Patience(Budget):
    """A budget that also ends, as stuck, for a policy that has not seen a lesser V for a number of steps.

    >>> patience = Patience(steps=9, most=2)
    >>> for number, value in enumerate([5.0, 4.0, 4.5, 4.0]):
    ...     patience.see(Step(number, None, value))
    >>> patience.end(3), patience.end(4).value, patience.end(9).value
    (None, 'stuck', 'step limit')
    """

    most: float = math.inf
    seen: list[tuple[float, int]] = field(default_factory=lambda: [(math.inf, 0)])  # the least V last, and its step

    def see(self, step: Step) -> None:
        """Take notice of a step; where V is not known, every step is as good as a lesser V."""
        least, _ = self.seen[-1]
        if math.isnan(step.value):
            self.seen[-1] = least, step.number
        elif step.value < least:
            self.seen[-1] = step.value, step.number

    def end(self, steps: int) -> Outcome | None:
        """How an attempt ends that has taken this many steps and wants another one; None: it may."""
        is_lost = steps - self.seen[-1][1] > self.most
        return super().end(steps) or (Outcome.STUCK if is_lost else None)

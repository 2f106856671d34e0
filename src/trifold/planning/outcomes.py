"""Every way in which an attempt at a problem can end, and the exit code that tells it to a shell."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """How an attempt ended: the first kinds are the policy's own, the others befall the process that runs it.

    >>> Outcome("step limit").exit_code
    3
    """

    SOLVED = "solved"
    STEP_LIMIT = "step limit"  # the policy took as many steps as it was allowed
    STUCK = "stuck"  # no successor, or none that is unvisited
    CYCLE = "cycle"  # the strict policy chose a state that it has visited: it would loop for ever
    TIMEOUT = "timeout"
    MEMORY_LIMIT = "memory limit"
    CRASH = "crash"  # the process died, or raised what nobody expected
    INVALID_PLAN = "invalid plan"  # the policy reached a goal, but replaying its actions does not
    DISAGREEMENT = "disagreement"  # the plan replays in pymimir, but not in our own executor
    BAD_INPUT = "bad input"

    @property
    def exit_code(self) -> int:
        """The exit code of a process that ends in this way."""
        return EXIT_CODES[self]


# 1 is what Python exits with when it is surprised, and 2 is what command lines say about wrong usage.
EXIT_CODES: dict[Outcome, int] = {
    Outcome.SOLVED: 0,
    Outcome.BAD_INPUT: 2,
    Outcome.STEP_LIMIT: 3,
    Outcome.STUCK: 4,
    Outcome.CYCLE: 5,
    Outcome.TIMEOUT: 6,
    Outcome.MEMORY_LIMIT: 7,
    Outcome.CRASH: 8,
    Outcome.INVALID_PLAN: 9,
    Outcome.DISAGREEMENT: 10,
}

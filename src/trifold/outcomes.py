"""The one vocabulary of ends: how a process, a labelling, an attempt, a planner's search or a reference ended."""

from __future__ import annotations

from enum import StrEnum

OLD_WORDS = {"time limit": "timeout", "input error": "bad input", "failed": "crash"}
"""What caches of labels, run folders and references made before may say: the word of today."""


class Outcome(StrEnum):
    """How something that was asked for ended, and the exit code of a command that ends so.

    >>> Outcome("step limit").exit_code
    3

    Words that older files have are read as those of today:

    >>> Outcome("time limit").value
    'timeout'
    """

    exit_code: int

    def __new__(cls, word: str, exit_code: int = 1) -> Outcome:
        """A word that equals itself as a text."""
        outcome = str.__new__(cls, word)
        outcome._value_, outcome.exit_code = word, exit_code
        return outcome

    # 1 is what Python exits with when it is surprised, and 2 is what command lines say about wrong usage.
    FINISHED = "finished", 0  # a process or a search came to its own end, and its answer says the rest
    SOLVED = "solved", 0
    LABELLED = "labelled", 0
    OPTIMAL = "optimal", 0  # a plan, and there is no shorter one
    BEST_KNOWN = "best known", 0  # a plan; there may be a shorter one
    STEP_LIMIT = "step limit", 3  # the policy took as many steps as it was allowed
    STUCK = "stuck", 4  # no successor, or none that is unvisited
    CYCLE = "cycle", 5  # the strict policy chose a state that it has visited: it would loop for ever
    TIMEOUT = "timeout", 6
    MEMORY_LIMIT = "memory limit", 7
    CRASH = "crash", 8  # the process died, or raised what nobody expected
    INVALID_PLAN = "invalid plan", 9  # the policy reached a goal, but replaying its actions does not
    DISAGREEMENT = "disagreement", 10  # one engine takes the plan, and another does not
    UNSOLVABLE = "unsolvable", 11  # there is no plan
    STATE_LIMIT = "state limit", 12  # the problem has more states than were allowed
    NO_PLAN = "no plan", 13  # a search found none, which proves nothing
    BAD_INPUT = "bad input", 2  # a `TrifoldError`, which the user can mend

    @classmethod
    def _missing_(cls, value: object) -> Outcome | None:
        return cls(OLD_WORDS[value]) if isinstance(value, str) and value in OLD_WORDS else None

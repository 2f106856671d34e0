"""The one error that a user sees: what is wrong, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterable

TRY = "  try: "
"""How the line of an error begins that says what to do."""


def did_you_mean(word: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """What may be meant by a word that is not known; or else all that could be, or what is said instead of that.

    >>> did_you_mean("seed", ["seeds", "grid"]), did_you_mean("lap", ["laptop"])
    ('did you mean seeds?', 'did you mean laptop?')
    >>> did_you_mean("gpu", ["seeds", "grid"])
    'one of seeds, grid'
    """
    from difflib import get_close_matches

    names = list(known)
    near = get_close_matches(word, names, n=1, cutoff=0.7) or [name for name in names if word and name.startswith(word)]
    return f"did you mean {near[0]}?" if near else otherwise or f"one of {', '.join(names)}"


class TrifoldError(Exception):
    """Something that the user can mend. It is shown without a traceback.

    >>> print(TrifoldError("no problems found", place="problems/", remedy="put .pddl files there"))
    no problems found
      in: problems/
      try: put .pddl files there
    """

    exit_code = 2
    """Of a command that ends with it."""

    def __init__(self, message: str, *, place: str | None = None, remedy: str | None = None) -> None:
        super().__init__(message)
        self.message, self.place, self.remedy = message, place, remedy

    def __str__(self) -> str:
        lines = [self.message]
        if self.place:
            lines.append(f"  in: {self.place}")
        if self.remedy:
            lines.append(f"{TRY}{self.remedy}")
        return "\n".join(lines)

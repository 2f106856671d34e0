"""The one error that a user sees: what is wrong, where, and what to do."""

from __future__ import annotations

TRY = "  try: "
"""How the line of an error begins that says what to do."""


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

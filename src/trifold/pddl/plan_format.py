"""The text of a plan in the format of the planning competitions: an action in parentheses on each line."""

from __future__ import annotations

from collections.abc import Sequence

from trifold.errors import TrifoldError


def plan_text(actions: Sequence[str]) -> str:
    """The plan in the format of the planning competitions.

    >>> print(plan_text(["(pick-up a)", "(stack a b)"]), end="")
    (pick-up a)
    (stack a b)
    ; cost = 2 (unit cost)
    """
    return "".join(f"{line}\n" for line in [*actions, f"; cost = {len(actions)} (unit cost)"])


def parse_plan(text: str, *, place: str | None = None) -> list[str]:
    """The actions of a plan in IPC format; comments, blank lines, case and spacing do not matter.

    >>> parse_plan("; found by hand\\n(PICK-UP  A) ; first\\n\\n( stack a b )")
    ['(pick-up a)', '(stack a b)']
    """
    actions = []
    for number, line in enumerate(text.splitlines(), start=1):
        action = line.partition(";")[0].strip()
        if not action:
            continue
        inside = action[1:-1]
        if action[0] != "(" or action[-1] != ")" or not inside.split() or "(" in inside or ")" in inside:
            raise TrifoldError(
                f"line {number} is not an action: {action!r}",
                place=place,
                remedy="write one action per line, such as (pick-up a)",
            )
        actions.append(canonical(action))
    return actions


def canonical(action: str) -> str:
    """One spelling for an action: lower case, single spaces."""
    return f"({' '.join(action.strip()[1:-1].lower().split())})"

"""Plans without the actions that they can do without."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

S = TypeVar("S")


def eliminate(
    initial: S, steps: Sequence[Callable[[S], S | None]], is_goal: Callable[[S], bool], most: int | None = None
) -> list[int]:
    """The numbers of those steps of a plan that are needed, in their order: they alone are a plan.

    Action elimination (Nakhost and Müller, ICAPS 2010): from the first step on, each is left out, and with it those
    later ones that are no longer applicable then; where the goal is reached all the same, they stay out. So a step that
    is needed for nothing goes, and a detour with all that it takes, wherever between others its steps are. That is done
    until nothing more goes. What is left need not be the shortest plan, nor the shortest of these steps. Where more
    than ``most`` applications of steps would be needed for the next one, the rest stays.
    """
    kept, applied, before = list(range(len(steps))), 0, len(steps) + 1
    while len(kept) < before:
        before, position, state = len(kept), 0, initial
        while position < len(kept):
            if most is not None and applied + len(kept) - position > most:
                return kept
            applied += len(kept) - position
            rest, after = list[int](), state
            for number in kept[position + 1 :]:
                following = steps[number](after)
                if following is not None:
                    after = following
                    rest.append(number)
            if is_goal(after):
                kept[position:] = rest
                continue
            own = steps[kept[position]](state)
            assert own is not None, "the steps are a plan"
            state, position = own, position + 1
    return kept

"""What labelling one problem, a policy and a search may use: the defaults of every command and recipe."""

from __future__ import annotations

from dataclasses import dataclass

from trifold.errors import TrifoldError

MAX_STEPS = 1000
"""Steps after which a policy gives up, as in the paper."""

KNOWN_STATES = 5_000_000
"""States that a search may know."""

LABEL_STATES, LABEL_SECONDS = 1_000_000, 30.0
"""States of a problem, and seconds, up to which an explanation looks for V*."""


@dataclass(frozen=True)
class LabelLimits:
    """The limits of the expansion of one problem; None is no limit.

    max_states  problems with more states are left out
    keep        of a larger space this many states are sampled evenly over V*, and kept with their successors
    seconds     of its child process
    memory_gib  of its child process
    detour      sample only what is on a way from the initial state to a goal that is longer than the shortest by at
                most this much
    """

    max_states: int = 10_000_000
    keep: int | None = 200_000
    seconds: float | None = 300.0
    memory_gib: float | None = 4.0
    detour: int | None = None

    def __post_init__(self) -> None:
        ranges = {"max_states": (1, 1e18), "keep": (1, 1e18), "seconds": (0, 1e9), "memory_gib": (0, 1e6)}
        for name, (least, most) in (ranges | {"detour": (0, 1e18)}).items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise TrifoldError(
                    f"{name} lies between {least} and {most:g}, not at {value}", remedy="in recipes, inf is no limit"
                )

"""The ladder: the cheapest architecture that suffices, found by training and judging some from the cheapest on."""

from trifold.ladder.climb import climb, is_climb, resume_climb
from trifold.ladder.judge import Judge
from trifold.ladder.plot import plot_ladder
from trifold.ladder.result import FAILED, KEPT, NOT_TRIED, RULED_OUT, Climbed, RungReport
from trifold.ladder.rungs import RUNGS, Rung
from trifold.ladder.watcher import ClimbWatcher

__all__ = [
    "FAILED",
    "KEPT",
    "NOT_TRIED",
    "RULED_OUT",
    "RUNGS",
    "ClimbWatcher",
    "Climbed",
    "Judge",
    "Rung",
    "RungReport",
    "climb",
    "is_climb",
    "plot_ladder",
    "resume_climb",
]

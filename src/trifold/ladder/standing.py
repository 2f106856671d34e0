"""What is kept: of the rungs whose policy is as good as the best, the cheapest. Nothing here trains or solves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

NEAR = 1.05
"""Plans that are longer by at most this factor are as good: for one step in twenty no dearer network is worth it."""


@dataclass(frozen=True)
class Standing:
    """What the policy of one rung did.

    lengths   of its plans for the problems that all rungs are judged on; None for one that it did not solve
    held_out  labelled problems that it solved of those that no rung was trained on
    seconds   a step took in each problem, where that was measured
    """

    lengths: Mapping[str, int | None]
    held_out: int
    seconds: Mapping[str, float]

    @property
    def solved(self) -> set[str]:
        """The problems that it solved."""
        return {problem for problem, length in self.lengths.items() if length is not None}

    def length(self, problems: Iterable[str]) -> int:
        """Of its plans for problems that it solved."""
        return sum(self.lengths[problem] or 0 for problem in problems)

    @property
    def coverage(self) -> tuple[int, int]:
        """How much it solves: problems that it is judged on, and of equals held-out ones."""
        return len(self.solved), self.held_out


def milliseconds(standings: Mapping[str, Standing]) -> dict[str, float]:
    """What a step of each rung takes: the mean over the problems in which all were measured, or else over its own.

    A rung that was measured nowhere has no entry.

    >>> first, second = Standing({}, 0, {"a": 0.002, "b": 0.004}), Standing({}, 0, {"b": 0.008})
    >>> milliseconds({"first": first, "second": second, "third": Standing({}, 0, {})})
    {'first': 4.0, 'second': 8.0}
    """
    measured = {name: standing.seconds for name, standing in standings.items() if standing.seconds}
    shared = set.intersection(*(set(seconds) for seconds in measured.values())) if measured else set()
    return {
        name: 1000 * sum(seconds[problem] for problem in shared or seconds) / len(shared or seconds)
        for name, seconds in measured.items()
    }


def as_good_as_the_best(standings: Mapping[str, Standing]) -> list[str]:
    """The rungs that solve as much as any, with plans that are at most ``NEAR`` times the shortest.

    Lengths are summed over the problems that all of those solve that solve as much as any.
    """
    most = max(standing.coverage for standing in standings.values())
    top = {name: standing for name, standing in standings.items() if standing.coverage == most}
    shared = set.intersection(*(standing.solved for standing in top.values()))
    shortest = min(standing.length(shared) for standing in top.values())
    return [name for name, standing in top.items() if standing.length(shared) <= NEAR * shortest]


def keep(standings: Mapping[str, Standing]) -> str:
    """The cheapest of the rungs that are as good as the best, by the time of a step; of equals the first.

    >>> cheap = Standing({"a": 10, "b": 21}, 4, {"a": 0.001})
    >>> dear, short = Standing({"a": 10, "b": 20}, 4, {"a": 0.1}), Standing({"a": 9, "b": None}, 4, {"a": 0.001})
    >>> keep({"cheap": cheap, "dear": dear, "short": short})
    'cheap'
    """
    costs = milliseconds(standings)
    return min(as_good_as_the_best(standings), key=lambda name: costs.get(name, float("inf")))


def is_enough(standing: Standing, held_out: int, ratio: float | None) -> bool:
    """Whether a dearer rung is not worth a training: nothing is left to solve, and plans are near-optimal.

    held_out  how many held-out problems there are
    ratio     of plan lengths over V*, where that is known; None where it is of no problem
    """
    solves_all = len(standing.solved) == len(standing.lengths) and standing.held_out == held_out
    return solves_all and ratio is not None and ratio <= NEAR

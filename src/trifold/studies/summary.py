"""The table of a study: of each recipe on each test set, means over its seeds, and how far these lie apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import mean, stdev
from typing import Any

from trifold.evaluation import Record
from trifold.outcomes import Outcome


@dataclass(frozen=True)
class Spread:
    """Some numbers: their mean, their standard deviation (of a sample; None of one number), the least and the largest.

    >>> str(Spread.of([3, 5])), str(Spread.of([4.0])), Spread.of([])
    ('4.0 ± 1.4', '4.0', None)
    """

    mean: float
    deviation: float | None
    least: float
    most: float

    @classmethod
    def of(cls, numbers: Iterable[float]) -> Spread | None:
        """The spread of some numbers, if there are any."""
        found = list(numbers)
        return cls(mean(found), stdev(found) if len(found) > 1 else None, min(found), max(found)) if found else None

    def __str__(self) -> str:
        return f"{self.mean:.1f}" + ("" if self.deviation is None else f" ± {self.deviation:.1f}")


@dataclass(frozen=True)
class Tried:
    """What one cell did on one test set.

    acts      the policy, and what follows it
    training  seconds
    records   of all problems of the set
    """

    domain: str
    recipe: str
    test: str
    acts: str
    training: float | None
    records: Sequence[Record]

    @property
    def lengths(self) -> dict[str, int]:
        """The lengths of its plans, by the hashes of the problems."""
        return {
            record["problem_sha256"]: record["plan_length"] or 0
            for record in self.records
            if record["outcome"] == Outcome.SOLVED
        }


@dataclass(frozen=True)
class Line:
    """What the seeds of a recipe did on a test set.

    seeds     how many are done
    solved    of the problems
    length    mean length of plans, over those problems of the set that all recipes and seeds solve which solve any
    shared    how many problems these are
    training  seconds
    """

    domain: str
    recipe: str
    test: str
    acts: str
    seeds: int
    problems: int
    solved: Spread
    length: Spread | None
    shared: int
    training: Spread | None

    def to_json(self) -> dict[str, Any]:
        """The line as JSON."""
        return asdict(self)


def summarise(tried: Sequence[Tried]) -> list[Line]:
    """A line for each domain, test set, recipe and policy, in the order in which they come."""
    groups: dict[tuple[str, str, str, str], list[Tried]] = {}
    for one in tried:
        groups.setdefault((one.domain, one.test, one.recipe, one.acts), []).append(one)
    order = {name: number for number, name in enumerate(dict.fromkeys((one.domain, one.test) for one in tried))}
    lines = []
    for (domain, test, recipe, acts), group in sorted(groups.items(), key=lambda item: order[item[0][:2]]):
        shared = _shared(one for one in tried if (one.domain, one.test) == (domain, test))
        lengths = [mean(one.lengths[name] for name in shared) for one in group if shared and one.lengths]
        solved = Spread.of(len(one.lengths) for one in group)
        assert solved is not None
        lines.append(
            Line(
                domain,
                recipe,
                test,
                acts,
                len(group),
                max(len(one.records) for one in group),
                solved,
                Spread.of(lengths),
                len(shared),
                Spread.of(one.training for one in group if one.training is not None),
            )
        )
    return lines


def _shared(tried: Iterable[Tried]) -> set[str]:
    """The problems that all solve which solve any: only there can lengths be compared."""
    solved = [set(one.lengths) for one in tried if one.lengths]
    return set.intersection(*solved) if solved else set()

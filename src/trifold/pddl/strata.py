"""Strata: the order in which derived predicates can be computed, each after those whose negation it needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

from trifold.errors import TrifoldError

MAX_STRATA = 100
"""More are taken for a predicate that depends on its own negation, and would need infinitely many."""


def stratify(dependencies: Iterable[tuple[str, str, bool]], derived: Collection[str], domain: str) -> dict[str, int]:
    """The stratum of each derived predicate, or an error if one depends on its own negation.

    dependencies  (predicate, another that a rule of it asks for, whether positively)
    derived       the predicates of the text, for the error
    domain        its name, for the error

    >>> stratify([("above", "on", True), ("above", "above", True), ("free", "above", False)], {}, "blocks")
    {'above': 0, 'free': 1}
    """
    needed_by: dict[str, set[tuple[str, bool]]] = defaultdict(set)
    strata: dict[str, int] = {}
    for predicate, other, positive in dependencies:
        needed_by[other].add((predicate, positive))
        strata[predicate] = 0
    pending = list(strata)
    while pending:
        other = pending.pop()
        for predicate, positive in needed_by[other]:
            least = strata[other] + (not positive)
            if strata[predicate] < least:
                strata[predicate] = least
                pending.append(predicate)
            if least > MAX_STRATA:
                names = sorted(name for name, stratum in strata.items() if stratum >= least - 2 and name in derived)
                raise TrifoldError(
                    f"a derived predicate depends on its own negation, or a forall over itself: {', '.join(names)}",
                    place=f"the domain {domain}",
                    remedy="write its rules so that what they negate does not depend on them",
                )
    return strata

"""Strata: the order in which derived predicates can be computed, each after those whose negation it needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

from trifold.errors import TrifoldError

MAX_STRATA = 100
"""More are refused: a predicate that depends on its own negation would need infinitely many."""


def stratify(
    dependencies: Iterable[tuple[str, str, bool]], derived: Collection[str], domain: str, invented: Iterable[str] = ()
) -> dict[str, int]:
    """The stratum of each derived predicate, or an error if one depends on its own negation.

    dependencies  (predicate, another that a rule of it asks for, whether positively)
    derived       the derived predicates of the domain
    domain        its name, for the error
    invented      derived predicates that the error does not name

    >>> stratify([("above", "on", True), ("above", "above", True), ("free", "above", False)], ["above", "free"], "d")
    {'above': 0, 'free': 1}
    """
    strata = dict.fromkeys([*derived, *invented], 0)
    needed_by: dict[str, set[tuple[str, bool]]] = defaultdict(set)
    for predicate, other, positive in dependencies:
        if other in strata:
            needed_by[other].add((predicate, positive))
    pending = list(strata)
    while pending:
        other = pending.pop()
        for predicate, positive in needed_by[other]:
            least = strata[other] + (not positive)
            if strata[predicate] < least:
                strata[predicate] = least
                pending.append(predicate)
            if least > MAX_STRATA:
                names = sorted(name for name in derived if strata[name] >= least - 2)
                raise TrifoldError(
                    "a derived predicate depends on its own negation, on a forall over itself, "
                    f"or on more than {MAX_STRATA} negations one in another: {', '.join(names)}",
                    place=f"the domain {domain}",
                    remedy="write its rules so that what they negate does not depend on them",
                )
    return strata

"""The guarded fragment of J₃, for which some R-GNN[t] computes every join. The argument is in docs/theorem.md."""

from __future__ import annotations

import math
from collections.abc import Iterable

from trifold.errors import TrifoldError
from trifold.logic.formulas import Atom, Conjunction, Disjunction, Formula, Join, Negation, subformulas


def reaches(formulas: Iterable[Formula]) -> dict[Formula, float]:
    """How far apart the pairs of each subformula can be, in steps from an object to one that shares an atom with it.

    1 for an atom, ∞ for a negated atom, the least over a conjunction, the most over a disjunction, the sum over a join.
    A pair of which φ holds is at most reach(φ) steps apart in every structure.
    """
    found: dict[Formula, float] = {}
    for part in subformulas(formulas):
        match part:
            case Atom():
                found[part] = 1
            case Negation():
                found[part] = math.inf
            case Conjunction(operands):
                found[part] = min(found[operand] for operand in operands)
            case Disjunction(operands):
                found[part] = max(found[operand] for operand in operands)
            case Join(left, right):
                found[part] = found[left] + found[right]
    return found


def required_t(formulas: Iterable[Formula]) -> int:
    """The least t such that every operand of a join lies in R_t: its reach is at most 2^(t−1). 0 without joins.

    Refuses joins outside the fragment: those with an operand of unbounded reach.

    >>> near = Atom("near")
    >>> required_t([near]), required_t([Join(near, near)]), required_t([Join(Join(near, near), near & ~near)])
    (0, 1, 2)
    """
    found = reaches(formulas)
    joins = [part for part in found if isinstance(part, Join)]
    for join in joins:
        for operand in join.parts:
            if found[operand] == math.inf:
                raise TrifoldError(
                    f"this join is outside the fragment that R-GNN[t] computes: its operand {operand!r} can hold of"
                    " pairs that are in no atom of any A_t, and no network tells those apart",
                    place=repr(join),
                    remedy="guard the operand: conjoin an atom that holds of all the pairs it is meant for",
                )
    widest = max((int(found[operand]) for join in joins for operand in join.parts), default=0)
    return 1 + (widest - 1).bit_length() if joins else 0


def holds_apart(formula: Formula) -> bool:
    """Whether φ, of the fragment, holds of the pairs that are in no atom of A_t: it does of all of them or of none.

    No atom holds there, and no join: a join holds only of pairs in R_t ∘ R_t, which are in a △.
    """
    match formula:
        case Negation():
            return True
        case Conjunction(operands):
            return all(map(holds_apart, operands))
        case Disjunction(operands):
            return any(map(holds_apart, operands))
        case _:
            return False

"""Random relational joins, and their truth spelt out pair by pair: an oracle without sets."""

from __future__ import annotations

from hypothesis import strategies as st

from oracles import Naive
from trifold.logic import Atom, Conjunction, Disjunction, Formula, Join, Negation, reaches

ATOMS = [Atom(relation, arguments) for relation in ("edge", "goal@goal") for arguments in ("xy", "yx")]
atoms = st.sampled_from(ATOMS)
literals = atoms | atoms.map(lambda atom: ~atom)


def chains(parts: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    operands = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return operands.map(Conjunction) | operands.map(Disjunction)


any_joins = st.recursive(literals, lambda parts: chains(parts) | st.builds(Join, parts, parts), max_leaves=8)
"""All of J₃, the fragment or not."""


def guard(operand: Formula, atom: Formula) -> Formula:
    """The operand itself if its reach is small, else with an atom as its guard."""
    return operand if reaches([operand])[operand] <= 2 else atom & operand


def guarded_joins(depth: int) -> st.SearchStrategy[Formula]:
    """Formulas of the fragment with joins nested to this depth."""
    if depth == 0:
        return literals | chains(literals)
    parts = guarded_joins(depth - 1)
    operands = st.builds(guard, parts, atoms)
    joins = st.builds(Join, operands, operands)
    return joins | chains(joins | literals)


def holds(formula: Formula, structure: Naive, u: int, v: int) -> bool:
    """𝔄 ⊨ φ(u,v), by recursion on φ."""
    n, true = structure
    match formula:
        case Atom(relation, arguments):
            return (relation, (u, v) if arguments == "xy" else (v, u)) in true
        case Negation(atom):
            return not holds(atom, structure, u, v)
        case Conjunction(operands):
            return all(holds(operand, structure, u, v) for operand in operands)
        case Disjunction(operands):
            return any(holds(operand, structure, u, v) for operand in operands)
        case Join(left, right):
            return any(holds(left, structure, u, z) and holds(right, structure, v, z) for z in range(n))
    raise TypeError(formula)

"""What a relational join denotes in a structure, by definition."""

from __future__ import annotations

from itertools import product

from trifold.errors import TrifoldError
from trifold.logic.formulas import Atom, Conjunction, Disjunction, Formula, Join, Negation, subformulas
from trifold.structures import Structures

Pair = tuple[int, int]


def evaluate(formula: Formula, structures: Structures) -> list[set[Pair]]:
    """The denotation of φ in each structure: all pairs ⟨u,v⟩ of its elements of which φ(u,v) holds.

    It is the definition, loop by loop, and the oracle of compiled networks.

    >>> from trifold.structures import Signature
    >>> path = Structures.build(Signature.of([("edge", 2)]), [3], {"edge": [[[0, 1], [2, 1]]]})
    >>> sorted(evaluate(Join(Atom("edge"), Atom("edge")), path)[0])
    [(0, 0), (0, 2), (2, 0), (2, 2)]
    """
    return [_denotation(formula, structures, index) for index in range(len(structures))]


def _denotation(formula: Formula, structures: Structures, index: int) -> set[Pair]:
    elements = range(int(structures.element_counts[index]))
    denotations: dict[Formula, set[Pair]] = {}
    for part in subformulas([formula]):
        match part:
            case Atom(relation, arguments):
                atoms = _atoms(structures, index, relation)
                denotations[part] = {(u, v) if arguments == "xy" else (v, u) for u, v in atoms}
            case Negation(atom):
                denotations[part] = set(product(elements, elements)) - denotations[atom]
            case Conjunction(operands):
                denotations[part] = set.intersection(*(denotations[operand] for operand in operands))
            case Disjunction(operands):
                denotations[part] = set.union(*(denotations[operand] for operand in operands))
            case Join(left, right):
                one, other = denotations[left], denotations[right]
                denotations[part] = {
                    (u, v)
                    for u, v in product(elements, elements)
                    if any((u, z) in one and (v, z) in other for z in elements)
                }
    return denotations[formula]


def _atoms(structures: Structures, index: int, relation: str) -> list[Pair]:
    signature = structures.signature
    if relation not in signature or signature[relation].arity != 2:
        raise TrifoldError(f"the structures have no binary relation {relation}")
    counts = structures.atom_counts[signature.index(relation)].tolist()
    start = sum(counts[:index])
    return [(u, v) for u, v in structures.atoms(relation)[start : start + counts[index]].tolist()]

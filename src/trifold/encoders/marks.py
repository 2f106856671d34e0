"""State and goal as marks on pairs of objects: what the Edge Transformer and the 2-GNN read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from trifold.encoders import square
from trifold.errors import TrifoldError
from trifold.structures import MARK, OBJECT, READOUT, Relation, Signature, Structures


@dataclass(frozen=True)
class Marks:
    """S ↦ the marks of S on O², without any atom that sends: the input of the Edge Transformer (ET).

    p(o,o') marks ⟨o,o'⟩ with p, and p(o), read as p(o,o), marks ⟨o,o⟩. The mark of Obj is on every ⟨o,o⟩. Predicates
    of more arguments are refused: no pair could bear their mark.

    >>> state = Structures.build(Signature.of([("on", 2), ("clear", 1)]), [2], {"on": [[[0, 1]]], "clear": [[[0]]]})
    >>> encoded = Marks()(state)
    >>> [(name, encoded.atoms(name).flatten().tolist()) for name in encoded.signature.names]
    [('on@mark', [1]), ('clear@mark', [0]), ('@object@mark', [0, 3]), ('@readout', [0, 3])]
    """

    label = "ET"

    def signature(self, objects: Signature) -> Signature:
        """The signature of the encoded structures."""
        return mark_signature(objects, (), self.label)

    def __call__(self, structures: Structures) -> Structures:
        return mark(structures, self.signature(structures.signature), [], [])


def mark_signature(objects: Signature, senders: Sequence[Relation], label: str) -> Signature:
    """A mark for each relation over objects and for Obj, the relations that send, and the readout."""
    if refused := [relation for relation in objects if relation.arity > 2]:
        # p@goal is refused with p: saying so of p is enough.
        told = sorted({f"{name.partition('@')[0]}/{arity}" for name, arity in refused})
        raise TrifoldError(
            f"{label} reads predicates of at most two arguments, and this domain has {', '.join(told)}",
            remedy="use the encoder plain, pairs or compositions",
        )
    marks = [Relation(name + MARK, 1) for name in (*objects.names, OBJECT)]
    return Signature((*marks, *senders, Relation(READOUT, 1)))


def mark(
    structures: Structures, signature: Signature, senders: Sequence[Tensor], counts: Sequence[Tensor]
) -> Structures:
    """Structures over O² with the marks of these, atoms that send, and ⟨o,o⟩ read out.

    senders and counts  per relation that sends, its (atoms, arity) elements and (structures,) numbers of atoms
    """
    sizes = structures.element_counts
    marked = [rows[:, :1] * n + rows[:, -1:] for rows, n in square.atoms_over_objects(structures)]
    diagonal = square.diagonal(structures)
    return Structures.join(
        signature,
        [*marked, diagonal, *senders, diagonal],
        [*structures.atom_counts, sizes, *counts, sizes],
        sizes**2,
        square.pairs(structures),
    )

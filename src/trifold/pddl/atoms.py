"""From atom indices to structures: the atoms of one problem as arrays, without any planner."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from trifold.structures import Signature, Structures

Integers = NDArray[np.integer]

EVERY_OBJECT = -1
"""The argument of a nullary atom p(), which stands for p(o) for every object o."""


class AtomRows(NamedTuple):
    """The atoms of some states of one problem. A row is a relation and its arguments, padded, as in ``AtomTable``.

    fixed    (S, 1 + m) the atoms that are true in every state
    varying  (A, 1 + m) those that are true in some
    offsets  (states + 1,) and indices (Σ atoms,): state i has the varying atoms ``indices[offsets[i]:offsets[i + 1]]``
    """

    fixed: Integers
    varying: Integers
    offsets: Integers
    indices: Integers


@dataclass(frozen=True)
class AtomTable:
    """The atoms that states of one problem are made of.

    relations         (name, arity) of the R relations, in the signature's order
    objects           names of the objects; an argument is an index into them
    relation          (A,)    the relation of each varying atom
    arguments         (A, m)  its arguments, padded to the greatest arity m; EVERY_OBJECT first if it is nullary
    static_relation   (S,)    likewise for the atoms that are true in every state: static, type, constant and goal atoms
    static_arguments  (S, m)

    The atoms of a relation are either all varying or all static. A state is a list of varying atoms.
    """

    relations: tuple[tuple[str, int], ...]
    objects: tuple[str, ...]
    relation: Integers
    arguments: Integers
    static_relation: Integers
    static_arguments: Integers

    def __post_init__(self) -> None:
        both = np.intersect1d(self.relation, self.static_relation)
        if both.size:
            raise ValueError(f"static and varying atoms of one relation: {self.relations[int(both[0])][0]}")

    @property
    def signature(self) -> Signature:
        """The relations as a signature."""
        from trifold.structures import Signature

        return Signature.of(self.relations)

    @cached_property
    def rank(self) -> Integers:
        """(A,) the position of each varying atom in the order by relation, then arguments."""
        order = np.lexsort((*self.arguments.T[::-1], self.relation))
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return rank

    def structures(self, offsets: Integers, indices: Integers) -> Structures:
        """One structure over the objects per state, its atoms sorted by relation and arguments.

        offsets (states + 1,), indices (Σ atoms,): state i has the varying atoms ``indices[offsets[i]:offsets[i + 1]]``.
        """
        import torch

        from trifold.structures import Structures, narrowest_dtype

        states, objects = len(offsets) - 1, len(self.objects)
        dtype = np.dtype(str(narrowest_dtype(objects)).removeprefix("torch."))
        owner = np.repeat(np.arange(states), np.diff(offsets))
        keys = self.relation[indices].astype(np.int64) * states + owner
        order = np.argsort(keys * max(len(self.relation), 1) + self.rank[indices])
        sorted_indices = indices[order]
        counts = np.bincount(keys, minlength=len(self.relations) * states).reshape(len(self.relations), states)
        counts = counts.astype(np.int32)
        ends = np.cumsum(counts.sum(1))

        blocks = []
        for r, (_, arity) in enumerate(self.relations):
            static = self.static_arguments[self.static_relation == r, :arity]
            if len(static):
                counts[r] = len(static)
            rows = (
                static if len(static) else self.arguments[sorted_indices[ends[r] - counts[r].sum() : ends[r]], :arity]
            )
            if len(rows) and rows[0, 0] == EVERY_OBJECT:
                counts[r] *= objects
                rows = np.tile(np.arange(objects), len(rows))
            block = rows.astype(dtype).reshape(-1)
            blocks.append(np.tile(block, states) if len(static) else block)
        flat = np.concatenate(blocks) if blocks else np.empty(0, dtype)
        return Structures(
            self.signature,
            torch.from_numpy(flat),
            torch.from_numpy(counts),
            torch.full((states,), objects, dtype=torch.int64),
        )

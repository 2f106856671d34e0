"""The ground actions of one problem as arrays, and the applicable ones of its states as queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trifold.pddl.atoms import Integers

if TYPE_CHECKING:
    from trifold.structures import Structures

GroundName = tuple[str, tuple[str, ...]]
"""What a plan calls a ground action: the schema and its objects."""


@dataclass(frozen=True)
class ActionTable:
    """Ground actions of one problem.

    schemas    (name, arity) of the domain's action schemas, sorted by name
    schema     (A,) the schema of each action
    arguments  (A, m) its objects, as indices, padded with 0 to the greatest arity m
    """

    schemas: tuple[tuple[str, int], ...]
    schema: Integers
    arguments: Integers

    @classmethod
    def of(cls, schemas: Sequence[tuple[str, int]], objects: Sequence[str], names: Iterable[GroundName]) -> ActionTable:
        """The table of these actions, in their order."""
        schema_of = {(name, arity): index for index, (name, arity) in enumerate(schemas)}
        object_of = {name: index for index, name in enumerate(objects)}
        width = max((arity for _, arity in schemas), default=0)
        rows = [
            [schema_of[name, len(items)], *(object_of[item] for item in items), *[0] * (width - len(items))]
            for name, items in names
        ]
        table = np.array(rows, np.int32).reshape(-1, 1 + width)
        return cls(tuple(schemas), table[:, 0], table[:, 1:])

    def __len__(self) -> int:
        """How many actions there are."""
        return len(self.schema)

    def add_queries(
        self, structures: Structures, counts: Integers, actions: Integers, optimal: Integers | None = None
    ) -> Structures:
        """The structures with their actions as queries: atoms that send nothing, and ask for a score each.

        counts   (structures,) how many actions each structure has
        actions  (Σ,) which, structure by structure
        optimal  (Σ,) 1 for those that are known to be optimal; None if nothing is known

        Queries keep their order within a structure and a schema. What a state has not is not asked.
        """
        import torch

        from trifold.structures import Signature, Structures, query_relations

        states = len(structures)
        owner = np.repeat(np.arange(states), counts)
        relation = 2 * self.schema[actions].astype(np.int64) + (0 if optimal is None else optimal)
        keys = relation * states + owner
        order = np.argsort(keys, kind="stable")
        relations = query_relations(self.schemas)
        numbers = np.bincount(keys, minlength=len(relations) * states).reshape(len(relations), states)
        dtype = structures.arguments.dtype
        blocks, start = [structures.arguments], 0
        for (_, arity), count in zip(relations, numbers.sum(1).tolist(), strict=True):
            rows = self.arguments[actions[order[start : start + count]], :arity]
            if rows.shape[1] < arity:  # no schema of the domain has arguments
                rows = np.zeros((count, arity), np.int32)
            blocks.append(torch.from_numpy(np.ascontiguousarray(rows)).to(dtype).reshape(-1))
            start += count
        return Structures(
            Signature((*structures.signature.relations, *relations)),
            torch.cat(blocks),
            torch.cat([structures.atom_counts, torch.from_numpy(numbers.astype(np.int32))]),
            structures.element_counts,
            structures.pairs,
        )


def parse_action(text: str) -> GroundName:
    """The name of an action from its text.

    >>> parse_action("(stack a b)"), parse_action("(wait)")
    (('stack', ('a', 'b')), ('wait', ()))
    """
    schema, *objects = text[1:-1].split()
    return schema, tuple(objects)

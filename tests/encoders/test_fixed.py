"""What is encoded in arrays of fixed size is what ``Queried(Pairs(t))`` encodes."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest
import torch

from trifold.encoders import FixedPairs, Pairs, Queried
from trifold.structures import Signature, Structures, query_relations

SIGNATURE = Signature(
    (*Signature.of([("red", 1), ("edge", 2), ("triple", 3)]), *query_relations([("go", 2), ("mix", 3), ("wait", 0)]))
)


def random_structure(rng: random.Random, objects: int) -> Structures:
    """A structure over the signature with a few atoms and queries."""

    def atoms(name: str, arity: int) -> list[list[list[int]]]:
        few = rng.randrange(4) if name != "wait()@applicable" else rng.randrange(2)
        return [[[rng.randrange(objects) if "()" not in name else 0 for _ in range(arity)] for _ in range(few)]]

    found = {name: atoms(name, arity) for name, arity in SIGNATURE if not name.endswith("@optimal")}
    return Structures.build(SIGNATURE, [objects], found)


def lay_out(structure: Structures, room: int) -> torch.Tensor:
    """The arguments of a structure, with none beyond what it has."""
    none, bounds = int(structure.element_counts[0]), structure.relation_bounds
    flat = torch.full((sum(room * arity for _, arity in SIGNATURE),), none)
    start = 0
    for r, (_, arity) in enumerate(SIGNATURE):
        part = structure.arguments[bounds[r] : bounds[r + 1]]
        flat[start : start + len(part)] = part.long()
        start += room * arity
    return flat


@pytest.mark.parametrize("t", [0, 1, 2, math.inf])
@pytest.mark.parametrize("seed", range(8))
def test_the_same_elements_are_in_the_same_atoms(t: float, seed: int) -> None:
    rng = random.Random(seed)
    structure = random_structure(rng, rng.randrange(1, 7))
    expected = Queried(Pairs(t))(structure)
    fixed = FixedPairs(Pairs(t), SIGNATURE, int(structure.element_counts[0]), [5] * len(SIGNATURE), 40, 300)
    found, counts, alive, related = fixed(lay_out(structure, 5), structure.atom_counts[:, 0].long())
    assert counts.tolist() == expected.atom_counts[:, 0].tolist()
    assert int(expected.element_counts[0]) - int(alive) in (0, 1)  # the one for pairs that are not live
    assert int(related) <= 40
    bounds = pairwise(fixed.encoded)
    for (start, end), count, (name, arity) in zip(bounds, counts.tolist(), expected.signature, strict=True):
        if "()" not in name:  # nobody reads what these have
            assert found[start:end].view(-1, arity)[:count].tolist() == expected.atoms(name).tolist(), name


def test_what_has_no_room_is_counted() -> None:
    """A path over four objects: R_1 has 10 pairs, which make 26 triangles."""
    structure = Structures.build(SIGNATURE, [4], {"edge": [[[0, 1], [1, 2], [2, 3]]]})
    for room, triangles in ((5, 99), (10, 6)):
        fixed = FixedPairs(Pairs(1), SIGNATURE, 4, [5] * len(SIGNATURE), room, triangles)
        _, counts, _, related = fixed(lay_out(structure, 5), structure.atom_counts[:, 0].long())
        assert int(related) == 10 and (room < 10 or int(counts[4]) == 26)

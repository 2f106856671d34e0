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


def pack(fixed: FixedPairs, structure: Structures) -> torch.Tensor:
    out = torch.full((fixed.packed,), -7)
    assert fixed.pack(structure, out)
    return out


@pytest.mark.parametrize("t", [0, 1, 2, math.inf])
@pytest.mark.parametrize("seed", range(8))
def test_the_same_elements_are_in_the_same_atoms(t: float, seed: int) -> None:
    rng = random.Random(seed)
    structure = random_structure(rng, rng.randrange(1, 7))
    expected = Queried(Pairs(t))(structure)
    fixed = FixedPairs(Pairs(t), SIGNATURE, int(structure.element_counts[0]), [5] * len(SIGNATURE), 40, 300)
    found, counts, (alive, related, triangles) = fixed(pack(fixed, structure))
    assert counts.tolist() == expected.atom_counts[:, 0].tolist()
    assert int(expected.element_counts[0]) - int(alive) in (0, 1)  # the one for pairs that are not live
    assert int(related) <= 40 and int(triangles) == (counts[4] if t else 0)
    bounds = pairwise(fixed.encoded)
    for (start, end), count, (name, arity) in zip(bounds, counts.tolist(), expected.signature, strict=True):
        if "()" not in name:  # nobody reads what these have
            assert found[start:end].view(-1, arity)[:count].tolist() == expected.atoms(name).tolist(), name


def test_what_has_no_room_is_counted() -> None:
    """A path over four objects: R_1 has 10 pairs, which make 26 triangles."""
    structure = Structures.build(SIGNATURE, [4], {"edge": [[[0, 1], [1, 2], [2, 3]]]})
    for room, triangles in ((5, 99), (10, 6)):
        fixed = FixedPairs(Pairs(1), SIGNATURE, 4, [5] * len(SIGNATURE), room, triangles)
        _, _, (_, related, found) = fixed(pack(fixed, structure))
        assert int(related) == 10 and (room < 10 or int(found) == 26)


def test_what_cannot_be_packed_is_refused() -> None:
    """Too many atoms of a relation, or another number of objects."""
    fixed = FixedPairs(Pairs(1), SIGNATURE, 4, [2] * len(SIGNATURE), 9, 9)
    out = torch.zeros(fixed.packed, dtype=torch.int64)
    for objects, edges, fits in ((4, 2, True), (4, 3, False), (5, 2, False), (3, 2, False)):
        structure = Structures.build(SIGNATURE, [objects], {"edge": [[[0, 1]] * edges]})
        assert fixed.pack(structure, out) is fits

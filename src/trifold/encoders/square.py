"""O²: every pair of objects is an element, row by row, so that of n objects ⟨u,v⟩ is element u·n + v."""

from __future__ import annotations

import torch
from torch import Tensor

from trifold.errors import TrifoldError
from trifold.structures import Structures, expand_segments


def pairs(structures: Structures) -> Tensor:
    """(Σ n², 2) the pair of objects that each element is."""
    index, n = _indices(structures.element_counts, 2)
    return torch.stack([index // n, index % n], dim=1).to(structures.arguments.dtype)


def diagonal(structures: Structures) -> Tensor:
    """(Σ n, 1) the elements ⟨o,o⟩."""
    index, n = _indices(structures.element_counts, 1)
    return (index * n + index)[:, None]


def atoms_over_objects(structures: Structures) -> list[tuple[Tensor, Tensor]]:
    """Per relation the atoms' arguments, and the number of objects of each atom's structure.

    Shapes: per relation, (atoms, arity) and (atoms, 1).
    """
    return [
        (
            structures.atoms(name).to(torch.int64),
            torch.repeat_interleave(structures.element_counts, structures.atom_counts[r])[:, None],
        )
        for r, (name, _) in enumerate(structures.signature)
    ]


def triples(structures: Structures, limit: int, label: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(Σ n³,) each: u, v, w for all triples of objects of each structure, and n. Above the limit it raises first."""
    count = int((structures.element_counts**3).sum())
    if count > limit:
        raise TrifoldError(
            f"{label} needs {count:,} triples of objects at once, more than the limit of {limit:,}",
            remedy="use the encoder pairs, smaller problems or fewer states at once, or raise max_triples",
        )
    index, n = _indices(structures.element_counts, 3)
    return index // (n * n), index // n % n, index % n, n


def _indices(sizes: Tensor, power: int) -> tuple[Tensor, Tensor]:
    """(Σ n^power,) each: 0 … n^power − 1 of each structure, end to end, and n."""
    lengths = sizes**power
    return expand_segments(torch.zeros_like(lengths), lengths), torch.repeat_interleave(sizes, lengths)

"""A_t(S): atoms over pairs of objects, and the compositions △ that R_t allows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from trifold.errors import TrifoldError
from trifold.memory import MAX_TRIPLES
from trifold.structures import (
    OBJECT,
    READOUT,
    TRIANGLE,
    Relation,
    Signature,
    Structures,
    expand_segments,
    segment_starts,
)


@dataclass(frozen=True)
class Pairs:
    """S ↦ A_t(S): the input that turns an R-GNN into R-GNN[t] (the paper's section on R-GNN[t]).

    A_0(S): each atom p(o₁…o_m) becomes p over the m² pairs ⟨o_i,o_j⟩, row by row; Obj(⟨o,o⟩) holds of each object.
    A_t(S): A_0(S) and △(⟨o,o'⟩,⟨o',o''⟩,⟨o,o''⟩) for all ⟨o,o'⟩,⟨o',o''⟩ ∈ R_t, where R_1 holds the pairs of objects
    that share an atom, R_t = R_{t−1} ∘ R_{t−1}, and R_∞ is the transitive closure.

    One difference from the paper: only *live* pairs become elements, those that occur in an atom of A_t(S). Any other
    pair neither sends a message nor reaches the readout, so no value changes. Since R_t is reflexive and △ holds every
    composition of it, the live pairs are R_1 for t = 0 and R_t ∘ R_t for t ≥ 1.

    ``t`` is 0, 1, 2, … or ``math.inf``; more than ``max_triangles`` in one call raise before they are built.

    >>> state = Structures.build(Signature.of([("on", 2)]), [3], {"on": [[[0, 1], [1, 2]]]})
    >>> encoded = Pairs(t=1)(state)
    >>> encoded.pairs.tolist()[:4], encoded.atoms("on")[0].tolist()
    ([[0, 0], [0, 1], [0, 2], [1, 0]], [0, 1, 3, 4])
    """

    t: float = 1
    max_triangles: int = MAX_TRIPLES

    def __post_init__(self) -> None:
        if self.t != math.inf and not (self.t >= 0 and float(self.t).is_integer()):
            raise TrifoldError(f"t is 0, 1, 2, … or inf, not {self.t}")

    @property
    def label(self) -> str:
        """The architecture that reads what this makes."""
        return f"R-GNN[{'∞' if self.t == math.inf else int(self.t)}]"

    def signature(self, objects: Signature) -> Signature:
        """The signature of the encoded structures."""
        relations = [Relation(name, arity * arity) for name, arity in objects]
        relations.append(Relation(OBJECT, 1))
        if self.t > 0:
            relations.append(Relation(TRIANGLE, 3))
        return Signature((*relations, Relation(READOUT, 1)))

    def __call__(self, structures: Structures) -> Structures:
        grid = _Grid.of(structures)
        diagonal = grid.diagonal[:, None]
        atoms = [*grid.atoms, diagonal]  # cells of the grid, (atoms, arity²)
        counts = [*structures.atom_counts, structures.element_counts]
        live = grid.related
        if self.t > 0:
            relation = self._relation(grid)
            triangles = self._compose(relation)
            live = torch.zeros_like(live)
            live[triangles[:, 2]] = True
            atoms.append(triangles)
            counts.append(relation.per_structure(relation.compositions))
        atoms.append(diagonal)  # the readout
        counts.append(structures.element_counts)

        elements = grid.relate(live)
        element_counts = elements.per_structure(torch.ones_like(elements.cells))
        starts = segment_starts(element_counts)
        element = torch.cumsum(live, 0) - 1  # (cells,) the one that each live cell is, over all structures
        local = [
            element[cells] - torch.repeat_interleave(starts, count, output_size=len(cells))[:, None]
            for cells, count in zip(atoms, counts, strict=True)
        ]
        pairs = torch.stack([grid.local(elements.first), grid.local(elements.second)], dim=1)
        return Structures.join(
            self.signature(structures.signature),
            local,
            counts,
            element_counts,
            pairs.to(structures.arguments.dtype),
        )

    def _relation(self, grid: _Grid) -> _Related:
        """R_t over the cells of the grid, by squaring R_1."""
        related, t = grid.related, 1
        while t < self.t:
            squared = related.clone()
            squared[self._compose(grid.relate(related))[:, 2]] = True
            if torch.equal(squared, related):
                break  # closed under composition: R_t is R_∞
            related, t = squared, t + 1
        return grid.relate(related)

    def _compose(self, relation: _Related) -> Tensor:
        """(triangles, 3) the cells ⟨o,o'⟩, ⟨o',o''⟩, ⟨o,o''⟩ for all ⟨o,o'⟩, ⟨o',o''⟩ of the relation."""
        triangles = int(relation.compositions.sum())
        if triangles > self.max_triangles:
            raise TrifoldError(
                f"{self.label} needs {triangles:,} triangles at once, more than the limit of {self.max_triangles:,}",
                remedy="use a smaller t, smaller problems or fewer states at once, or raise max_triangles",
            )
        left = torch.repeat_interleave(
            torch.arange(len(relation.cells), device=relation.cells.device),
            relation.compositions,
            output_size=triangles,
        )
        right = expand_segments(relation.row_starts[relation.second], relation.compositions)
        grid = relation.grid
        third = grid.rows[relation.first[left]] + grid.local(relation.second[right])
        return torch.stack([relation.cells[left], relation.cells[right], third], dim=1)


@dataclass(frozen=True)
class _Grid:
    """All pairs of objects of each structure as the cells of one array: structure by structure, row by row.

    rows       (objects,) the cell of ⟨o, first object⟩ for each absolute object o
    starts     (objects,) the first absolute object of o's structure
    owners     (objects,) o's structure
    diagonal   (objects,) the cell of ⟨o,o⟩
    atoms      per relation, (atoms, arity²) the cells of A_0
    related    (cells,) bool: R_1, with its diagonal
    """

    structures: int
    rows: Tensor
    starts: Tensor
    owners: Tensor
    diagonal: Tensor
    atoms: list[Tensor]
    related: Tensor

    @classmethod
    def of(cls, structures: Structures) -> _Grid:
        sizes = structures.element_counts
        starts = torch.repeat_interleave(segment_starts(sizes), sizes)
        owners = torch.repeat_interleave(torch.arange(len(sizes), device=sizes.device), sizes)
        local = torch.arange(len(starts), device=sizes.device) - starts
        rows = segment_starts(sizes * sizes)[owners] + local * sizes[owners]
        diagonal = rows + local
        union = structures.disjoint_union()
        atoms = [
            (rows[union.atoms(name)][:, :, None] + structures.atoms(name)[:, None, :]).reshape(-1, arity * arity)
            for name, arity in structures.signature
        ]
        related = torch.zeros(int((sizes * sizes).sum()), dtype=torch.bool, device=sizes.device)
        related[diagonal] = True
        for cells in atoms:
            related[cells.reshape(-1)] = True
        return cls(len(structures), rows, starts, owners, diagonal, atoms, related)

    def local(self, objects: Tensor) -> Tensor:
        return objects - self.starts[objects]

    def relate(self, related: Tensor) -> _Related:
        """The pairs of a relation, sorted, with what a join on their shared object needs."""
        cells = torch.nonzero(related).reshape(-1)
        first = torch.searchsorted(self.rows, cells, right=True) - 1
        second = self.starts[first] + cells - self.rows[first]
        degrees = torch.bincount(first, minlength=len(self.rows))
        return _Related(self, cells, first, second, segment_starts(degrees), degrees[second])


@dataclass(frozen=True)
class _Related:
    """A binary relation over objects, and its composition with itself before it is built.

    cells          (pairs,) ⟨o,o'⟩ as cells of the grid, ascending
    first, second  (pairs,) o and o' as absolute objects
    row_starts     (objects,) where the pairs ⟨o,·⟩ start among the pairs
    compositions   (pairs,) how many pairs ⟨o',·⟩ there are for the pair ⟨o,o'⟩
    """

    grid: _Grid
    cells: Tensor
    first: Tensor
    second: Tensor
    row_starts: Tensor
    compositions: Tensor

    def per_structure(self, counts: Tensor) -> Tensor:
        """(structures,) the sum over each structure of one count per pair."""
        sums = counts.new_zeros(self.grid.structures)
        return sums.index_add_(0, self.grid.owners[self.first], counts)

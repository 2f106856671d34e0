"""From embeddings to what heads read of a structure, and to V."""

from __future__ import annotations

from torch import Tensor, nn

from trifold.native import SHARPNESS
from trifold.nn.aggregate import smooth_max
from trifold.nn.mlp import MLP
from trifold.structures import DisjointUnion


class Readout(nn.Module):
    """V(S) = MLP(Σ f_L(o)) over the elements that the encoder marked: all objects, or the pairs ⟨o,o⟩.

    Shapes: embeddings (elements, dim) → (structures,).
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.mlp = MLP(dim, 1)

    def forward(self, embeddings: Tensor, union: DisjointUnion) -> Tensor:
        """V of each structure."""
        return self.of_sums(sum_readout(embeddings, union))

    def of_sums(self, sums: Tensor) -> Tensor:
        """V of each structure, of whose embeddings the sums are given. Shapes: (structures, dim) → (structures,)."""
        values: Tensor = self.mlp(sums).squeeze(1)
        return values


def pool_readout(embeddings: Tensor, union: DisjointUnion, sharpness: float = SHARPNESS) -> Tensor:
    """smax f_L(o) over the elements of each structure that are read out. Shapes: → (structures, dim)."""
    elements, owners = union.readout()
    return smooth_max(embeddings[elements], owners, len(union.structures), sharpness)


def sum_readout(embeddings: Tensor, union: DisjointUnion) -> Tensor:
    """Σ f_L(o) over the elements of each structure that are read out. Shapes: → (structures, dim)."""
    elements, owners = union.readout()
    sums = embeddings.new_zeros((len(union.structures), embeddings.shape[1]))
    return sums.index_add(0, owners, embeddings[elements])

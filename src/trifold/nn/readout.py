"""From embeddings to one value per structure."""

from __future__ import annotations

from torch import Tensor, nn

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
        elements, owners = union.readout()
        sums = embeddings.new_zeros((len(union.structures), embeddings.shape[1]))
        return self.mlp(sums.index_add(0, owners, embeddings[elements])).squeeze(1)

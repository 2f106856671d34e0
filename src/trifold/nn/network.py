"""What all networks have in common: embeddings of the elements of a disjoint union."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn

from trifold.nn.initial import InitialEmbeddings
from trifold.structures import DisjointUnion, Relation


class Network(nn.Module):
    """A network over relational structures, as its paper writes it: calling it is its reference backend.

    dim        k, the width of an embedding
    layers     L, which share their weights
    initial    the embeddings before the first layer
    relations  those whose atoms send messages
    folklore   whether it tells pairs apart as 2-FWL does, by all ⟨u,w⟩, ⟨w,v⟩ at once, and not by its atoms

    Shapes: a disjoint union → (elements, dim).
    """

    folklore: ClassVar[bool] = False
    dim: int
    layers: int
    initial: InitialEmbeddings
    relations: tuple[Relation, ...] = ()

    def forward(self, union: DisjointUnion) -> Tensor:
        """The embedding of each element."""
        raise NotImplementedError

"""The value function as a torch module: embeddings, then readout."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from trifold.model.config import ModelConfig
from trifold.nn import REFERENCE, Backend, Readout
from trifold.structures import DisjointUnion, Relation, Structures


class ValueNetwork(nn.Module):
    """V(S) for encoded structures, with parameters for each of the given relations.

    Shapes: encoded structures → (structures,).
    """

    def __init__(self, relations: Sequence[Relation], config: ModelConfig) -> None:
        super().__init__()
        self.embed = config.build_network(relations)
        self.readout = Readout(config.dim)

    @classmethod
    def seeded(cls, relations: Sequence[Relation], config: ModelConfig, seed: int) -> ValueNetwork:
        """A fresh network whose weights depend on the seed alone."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return cls(relations, config)

    def forward(self, structures: Structures, backend: Backend = REFERENCE) -> Tensor:
        """V of each structure, by the reference unless another backend is given."""
        return self.values(structures.disjoint_union(), backend)

    def values(self, union: DisjointUnion, backend: Backend) -> Tensor:
        """V of each structure of a union."""
        return self.readout(backend.embed(self.embed, union), union)

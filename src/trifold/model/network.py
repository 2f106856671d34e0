"""The value function as a torch module: embeddings, then readout."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from trifold.model.config import ModelConfig
from trifold.nn import RGNN, EdgeTransformer, Readout
from trifold.structures import Relation, Structures


class ValueNetwork(nn.Module):
    """V(S) for encoded structures, with parameters for each of the given relations.

    Shapes: encoded structures → (structures,).
    """

    def __init__(self, relations: Sequence[Relation], config: ModelConfig) -> None:
        super().__init__()
        self.embed: RGNN | EdgeTransformer
        if config.network == "edge-transformer":
            self.embed = EdgeTransformer(relations, config.dim, config.layers)
        else:
            self.embed = RGNN(relations, config.dim, config.layers, config.sharpness)
        self.readout = Readout(config.dim)

    @classmethod
    def seeded(cls, relations: Sequence[Relation], config: ModelConfig, seed: int) -> ValueNetwork:
        """A fresh network whose weights depend on the seed alone."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return cls(relations, config)

    def forward(self, structures: Structures) -> Tensor:
        union = structures.disjoint_union()
        return self.readout(self.embed(union), union)

"""The network of a model as a torch module: embeddings, and the heads that read them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from trifold.model.config import ModelConfig
from trifold.nn import REFERENCE, ActionScores, Backend, Readout, Scored, find_queries, pool_readout
from trifold.structures import DisjointUnion, Relation, Structures


class HeadedNetwork(nn.Module):
    """V(S) of encoded structures and q(S, a) of their queries, with parameters for each of the given relations.

    readout  the head of values, or None
    scores   the head of actions, or None

    Shapes: encoded structures → (structures,).
    """

    def __init__(self, relations: Sequence[Relation], config: ModelConfig) -> None:
        super().__init__()
        self.embed = config.build_network([relation for relation in relations if not relation.is_query])
        self.readout = Readout(config.dim) if config.has_values else None
        queries = [relation for relation in relations if relation.is_query]
        self.scores = ActionScores(queries, config.dim, config.sharpness) if config.has_actions else None

    @classmethod
    def seeded(cls, relations: Sequence[Relation], config: ModelConfig, seed: int) -> HeadedNetwork:
        """A fresh network whose weights depend on the seed alone."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return cls(relations, config)

    def forward(self, structures: Structures, backend: Backend = REFERENCE) -> Tensor:
        """V of each structure, by the reference unless another backend is given."""
        return self.values(structures.disjoint_union(), backend)

    def values(self, union: DisjointUnion, backend: Backend) -> Tensor:
        """V of each structure of a union."""
        assert self.readout is not None
        return self.readout(backend.embed(self.embed, union), union)

    def read(self, union: DisjointUnion, backend: Backend) -> tuple[Tensor | None, Scored | None]:
        """V of each structure of a union, and the scores of its queries: what the network has heads for."""
        embeddings = backend.embed(self.embed, union)
        values = None if self.readout is None else self.readout(embeddings, union)
        if self.scores is None:
            return values, None
        return values, self.scores(
            embeddings, pool_readout(embeddings, union, self.scores.sharpness), find_queries(union)
        )

"""The network of a model as a torch module: embeddings, and the heads that read them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from trifold.model.config import ModelConfig
from trifold.nn import (
    REFERENCE,
    ActionScores,
    Backend,
    Batcher,
    Capacity,
    FixedNetwork,
    Found,
    Layout,
    Readout,
    Scored,
    find_queries,
    pool_readout,
    smooth_max,
)
from trifold.structures import READOUT, DisjointUnion, Relation, Structures


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

    def names(self) -> list[str]:
        """Those of the state dict, in its order, with relations by name: numbers depend on what others there are."""
        initial = getattr(self.embed, "initial", None)
        lists = {
            "embed.messages.": getattr(self.embed, "relations", None),
            "embed.initial.vectors.": getattr(initial, "marks", None),
            "scores.mlps.": self.scores and self.scores.queries,
        }

        def named(name: str) -> str:
            for prefix, relations in lists.items():
                if relations and name.startswith(prefix):
                    number, *rest = name.removeprefix(prefix).split(".")
                    return ".".join([prefix + relations[int(number)].name, *rest])
            return name

        return list(map(named, self.state_dict()))

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


class LaidOutNetwork:
    """``HeadedNetwork.read`` by kernels, on batches in arrays of fixed size, so that it can be captured.

    batcher   lays out batches of the given structures
    capacity  of these batches
    fixed     the embeddings by kernels
    """

    def __init__(
        self,
        network: HeadedNetwork,
        backend: Backend,
        structures: Structures,
        measure: Callable[[Tensor], list[int]],
        precision: str,
    ) -> None:
        """``measure`` says how much a batch may hold of each thing: relations that are read, and elements.

        It is given how much each structure has: (things, structures) → (things,).
        """
        self.network, signature = network, structures.signature
        embed = network.embed
        queries = [relation for relation in signature if relation.is_query] if network.scores else []
        aside = [Relation(READOUT, 1), *embed.initial.marks, *queries]
        names = [name for name, _ in (*embed.relations, *aside)]
        counts = structures.atom_counts[[signature.index(name) for name in names]]
        *atoms, elements = measure(torch.cat([counts.double(), structures.element_counts.double()[None]]))
        senders = len(embed.relations)
        self.capacity = Capacity.of(embed.relations, atoms[:senders], elements)
        self.batcher = Batcher(structures, self.capacity, dict(zip(aside, atoms[senders:], strict=True)))
        assert backend.fixed is not None
        self.fixed: FixedNetwork = backend.fixed(embed, self.capacity, precision)
        self.queries = [query.name for query in queries]

    def read(self, layout: Layout, found: Found, batch: int) -> tuple[Tensor | None, Scored | None]:
        """V of each structure of a batch, and the scores of all queries that there is room for."""
        f = self.fixed(layout, self._initial(found))
        elements, owners = found[READOUT]
        chosen, network = f[elements.view(-1)], self.network
        sums = f.new_zeros((batch + 1, f.shape[1])).index_add(0, owners, chosen)  # the last is unused
        values = None if network.readout is None else network.readout.of_sums(sums[:batch])
        if network.scores is None:
            return values, None
        pooled = smooth_max(chosen, owners, batch + 1, network.scores.sharpness)
        return values, network.scores(f, pooled, {name: found[name] for name in self.queries})

    def _initial(self, found: Found) -> Tensor | None:
        """The embeddings before the first layer, or None if all are 0."""
        initial = self.network.embed.initial
        if not initial.marks:
            return None
        brackets = torch.zeros((self.capacity.elements, len(initial.marks)), device=found[READOUT][0].device)
        for p, (name, _) in enumerate(initial.marks):
            brackets[:, p].index_fill_(0, found[name][0].view(-1), 1.0)
        return brackets @ torch.stack(list(initial.vectors))

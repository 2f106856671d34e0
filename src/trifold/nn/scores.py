"""From embeddings to a score for each action, and the loss that trains them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from trifold.native import SHARPNESS
from trifold.nn.mish import mish
from trifold.nn.mlp import MLP
from trifold.structures import APPLICABLE, NULLARY, OPTIMAL, DisjointUnion, Relation

Found = Mapping[str, tuple[Tensor, Tensor]]
"""By relation, the elements of its atoms (atoms, arity), and the structure of each atom (atoms,)."""


class Scored(NamedTuple):
    """The scores of actions (actions,), the structure of each (actions,), and whether it is known to be optimal."""

    scores: Tensor
    owners: Tensor
    optimal: Tensor


class ActionScores(nn.Module):
    """q(S, a(o₁…o_m)) = MLP_a(f_L(e₁), …, f_L(e_r), smax f_L(o)): the score of an action that is applicable in S.

    e₁ … e_r are the elements that its query reads: objects, or pairs of them (see ``Queried``). The smooth maximum is
    over the elements of the readout: what is so of some object of the state, whatever the number of objects. (Their sum
    grows with it, and scores of larger states are then of no use.) Each schema has an MLP; its hidden layer has 2k
    neurons, whatever the schema's arity. Actions of schemas that have none, for no training state had such an action,
    score −∞: any other comes before them.

    Shapes: embeddings (elements, dim), pooled (structures, dim) → (actions,), relation by relation.
    """

    def __init__(self, queries: Sequence[Relation], dim: int, sharpness: float = SHARPNESS) -> None:
        """Take the encoded queries of the schemas that are to have parameters; what is optimal is scored alike."""
        super().__init__()
        self.dim, self.sharpness = dim, sharpness
        self.queries = tuple(query for query in queries if query.name.endswith(APPLICABLE))
        self.mlps = nn.ModuleList(MLP((query.reads + 1) * dim, 1, 2 * dim) for query in self.queries)
        self.schemas = {query.name.removesuffix(APPLICABLE): index for index, query in enumerate(self.queries)}

    def knows(self, schema: str) -> bool:
        """Whether actions of this schema have parameters."""
        return schema in self.schemas or schema + NULLARY in self.schemas

    def forward(self, embeddings: Tensor, pooled: Tensor, found: Found) -> Scored:
        """The scores of all queries that were found."""
        none = torch.empty(0, dtype=torch.int64, device=embeddings.device)
        scores, owners, optimal = [embeddings.new_empty(0)], [none], [none.bool()]
        for name, (elements, of) in found.items():
            schema, at, ending = name.rpartition("@")
            scores.append(self._score(schema, embeddings, pooled, elements, of))
            owners.append(of)
            optimal.append(torch.full_like(of, at + ending == OPTIMAL, dtype=torch.bool))
        return Scored(torch.cat(scores), torch.cat(owners), torch.cat(optimal))

    def _score(self, schema: str, embeddings: Tensor, pooled: Tensor, elements: Tensor, owners: Tensor) -> Tensor:
        if schema not in self.schemas:
            return embeddings.new_full((len(elements),), -torch.inf)
        index = self.schemas[schema]
        mlp, reads = self.mlps[index], self.queries[index].reads
        assert isinstance(mlp, MLP)
        own = reads * embeddings.shape[1]
        # The part of what is pooled is computed once for each structure.
        hidden = functional.linear(pooled, mlp.inner.weight[:, own:], mlp.inner.bias).index_select(0, owners)
        if reads:
            read = embeddings.index_select(0, elements.reshape(-1)).view(len(elements), own)
            hidden = hidden + functional.linear(read, mlp.inner.weight[:, :own])
        scores: Tensor = mlp.outer(mish(hidden)).squeeze(1)
        return scores


def find_queries(union: DisjointUnion) -> Found:
    """The queries of a union, relation by relation."""
    structures = union.structures
    owners = torch.arange(len(structures), device=structures.device)
    return {
        relation.name: (union.atoms(relation.name), torch.repeat_interleave(owners, structures.atom_counts[r]))
        for r, relation in enumerate(structures.signature)
        if relation.is_query
    }


def action_loss(scored: Scored, structures: int) -> Tensor:
    """The mean over structures of mean −log σ(q_a) over optimal actions a, plus mean −log σ(−q_b) over all others b.

    So whether an action is optimal is a question about this action, and its answer can be compared between actions of
    any schema and states of any size. The usual −log Σ_{a ∈ A*} softmax(q)_a is content if one optimal action comes
    first, wherever the others are; in larger problems one of the many others does (``experiments/tried.md``).

    Structures without an optimal action count nowhere, for they are goals or dead ends, nor do actions of schemas
    without parameters, which score −∞, and actions of a structure beyond the last. 0 if there is nothing to learn.
    """
    counts = scored.scores != -torch.inf  # NaN counts: a training must see it
    errors = functional.softplus(torch.where(scored.optimal, -scored.scores, scored.scores).masked_fill(~counts, 0.0))
    means, some = [], []
    for kind in (counts & scored.optimal, counts & ~scored.optimal):
        weights = kind.to(errors.dtype)
        number = weights.new_zeros(structures + 1).index_add(0, scored.owners, weights)[:structures]
        sums = weights.new_zeros(structures + 1).index_add(0, scored.owners, errors * weights)[:structures]
        means.append(sums / number.clamp(min=1))
        some.append(number > 0)
    losses = torch.where(some[0], means[0] + means[1], 0)
    return losses.sum() / some[0].sum().clamp(min=1)


@torch.no_grad()
def best_are_optimal(scored: Scored, structures: int) -> tuple[int, int]:
    """In how many structures the best-scored action is optimal, or as good, and how many have an optimal action."""
    asked, is_best = has_best_action(scored, structures)
    return int((asked & is_best).sum()), int(asked.sum())


def has_best_action(scored: Scored, structures: int) -> tuple[Tensor, Tensor]:
    """(structures,) whether each has an optimal action, and whether the best-scored one is optimal, or as good."""
    among, best = (
        scores.new_full((structures,), -torch.inf).scatter_reduce(0, scored.owners, scores, "amax")
        for scores in (scored.scores, scored.scores.masked_fill(~scored.optimal, -torch.inf))
    )
    return best.isfinite(), best == among

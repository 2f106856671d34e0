"""From embeddings to a score for each action, and the loss that trains them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from trifold.nn.mish import mish
from trifold.nn.mlp import MLP
from trifold.structures import APPLICABLE, OPTIMAL, DisjointUnion, Relation

Found = Mapping[str, tuple[Tensor, Tensor]]
"""By relation, the elements of its atoms (atoms, arity), and the structure of each atom (atoms,)."""


class Scored(NamedTuple):
    """The scores of actions (actions,), the structure of each (actions,), and whether it is known to be optimal."""

    scores: Tensor
    owners: Tensor
    optimal: Tensor


class ActionScores(nn.Module):
    """q(S, a(o₁…o_m)) = MLP_a(f_L(e₁), …, f_L(e_r), Σ f_L(o)): the score of an action that is applicable in S.

    e₁ … e_r are the elements that its query reads: objects, or pairs of them (see ``Queried``). The sum is that of the
    readout. Each schema has an MLP; its hidden layer has 2k neurons, whatever the schema's arity. Actions of schemas
    that have none, for no training state had such an action, score −∞: any other comes before them.

    Shapes: embeddings (elements, dim), sums (structures, dim) → (actions,), relation by relation.
    """

    def __init__(self, queries: Sequence[Relation], dim: int) -> None:
        """Take the encoded queries of the schemas that are to have parameters; what is optimal is scored alike."""
        super().__init__()
        self.dim = dim
        self.queries = tuple(query for query in queries if query.name.endswith(APPLICABLE))
        self.mlps = nn.ModuleList(MLP((query.reads + 1) * dim, 1, 2 * dim) for query in self.queries)
        self.schemas = {query.name.removesuffix(APPLICABLE): index for index, query in enumerate(self.queries)}

    def forward(self, embeddings: Tensor, sums: Tensor, found: Found) -> Scored:
        """The scores of all queries that were found."""
        none = torch.empty(0, dtype=torch.int64, device=embeddings.device)
        scores, owners, optimal = [embeddings.new_empty(0)], [none], [none.bool()]
        for name, (elements, of) in found.items():
            schema, at, ending = name.rpartition("@")
            scores.append(self._score(schema, embeddings, sums, elements, of))
            owners.append(of)
            optimal.append(torch.full_like(of, at + ending == OPTIMAL, dtype=torch.bool))
        return Scored(torch.cat(scores), torch.cat(owners), torch.cat(optimal))

    def _score(self, schema: str, embeddings: Tensor, sums: Tensor, elements: Tensor, owners: Tensor) -> Tensor:
        if schema not in self.schemas or not len(elements):
            return embeddings.new_full((len(elements),), -torch.inf)
        index = self.schemas[schema]
        mlp, reads = self.mlps[index], self.queries[index].reads
        assert isinstance(mlp, MLP)
        own = reads * embeddings.shape[1]
        # The part of the sum is computed once for each structure.
        hidden = functional.linear(sums, mlp.inner.weight[:, own:], mlp.inner.bias).index_select(0, owners)
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
    """The mean of log(1 + Σ_{b ∉ A*(S)} exp(q_b − q_a)) over the optimal actions a ∈ A*(S), and over structures.

    That is −log softmax(q)_a among a and all actions that are not optimal: *each* optimal action must come before all
    others. The usual −log Σ_{a ∈ A*} softmax(q)_a is content if one of them does, the others may be anywhere; then the
    best of the many other actions of a larger problem comes before all that are optimal (``experiments/tried.md``).

    Structures without an optimal action count nowhere, nor do actions of schemas without parameters, which score −∞,
    and actions of a structure beyond the last. 0 if there is nothing to learn.
    """
    others = _log_sum_exp(scored.scores.masked_fill(scored.optimal, -torch.inf), scored.owners, structures)
    counts = (scored.optimal & scored.scores.isfinite()).to(scored.scores.dtype)
    margins = torch.where(counts > 0, others[scored.owners] - scored.scores, 0)
    number = counts.new_zeros(structures + 1).index_add(0, scored.owners, counts)
    sums = counts.new_zeros(structures + 1).index_add(0, scored.owners, functional.softplus(margins) * counts)
    means = (sums / number.clamp(min=1))[:structures]
    return means.sum() / (number[:structures] > 0).sum().clamp(min=1)


@torch.no_grad()
def best_are_optimal(scored: Scored, structures: int) -> tuple[int, int]:
    """In how many structures the best-scored action is optimal, or as good, and how many have an optimal action."""
    among, best = (
        scores.new_full((structures,), -torch.inf).scatter_reduce(0, scored.owners, scores, "amax")
        for scores in (scored.scores, scored.scores.masked_fill(~scored.optimal, -torch.inf))
    )
    counts = best.isfinite()
    return int((counts & (best == among)).sum()), int(counts.sum())


def _log_sum_exp(scores: Tensor, owners: Tensor, structures: int) -> Tensor:
    """(structures + 1,) log Σ exp over the scores that each owns, and what is beyond; −∞ where there are none."""
    highest = scores.new_full((structures + 1,), -torch.inf)
    highest = highest.scatter_reduce(0, owners, scores.detach(), "amax")
    highest = torch.where(highest.isfinite(), highest, 0)
    sums = scores.new_zeros(structures + 1).index_add(0, owners, torch.exp(scores - highest[owners]))
    some = sums > 0
    return torch.where(some, highest + torch.log(torch.where(some, sums, 1)), -torch.inf)

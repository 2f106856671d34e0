"""Relational graph neural networks: the paper's Algorithm 1."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from trifold.native import SHARPNESS
from trifold.nn.incidence import Incidence
from trifold.nn.initial import InitialEmbeddings
from trifold.nn.mlp import MLP
from trifold.nn.network import Network
from trifold.structures import DisjointUnion, Relation


class RGNN(Network):
    """R-GNN(S, O): embeddings of the elements of a relational structure, by Algorithm 1.

    f₀(o) = 0, or with marks Σ_p e_p · [p(o)] over the marks p of o
    m_{q,o_j} = [MLP_p(f_i(o₁), …, f_i(o_m))]_j                     for each atom q = p(o₁…o_m)
    f_{i+1}(o) = f_i(o) + MLP_U(f_i(o), smax{{m_{q,o} : o ∈ q}})     for each element o

    All L layers share their weights. Atoms of relations that the network was not built with send nothing.
    Among the given relations, those that send get a message MLP and marks get an initial embedding.

    Shapes: a disjoint union → (elements, dim).
    """

    def __init__(self, relations: Sequence[Relation], dim: int, layers: int, sharpness: float = SHARPNESS) -> None:
        super().__init__()
        self.relations = tuple(relation for relation in relations if relation.sends)
        self.dim, self.layers, self.sharpness = dim, layers, sharpness
        # A list, not a dict: torch refuses PDDL names such as `clear` as module keys.
        self.messages = nn.ModuleList(MLP(arity * dim, arity * dim) for _, arity in self.relations)
        self.update = MLP(2 * dim, dim)
        self.initial = InitialEmbeddings([relation for relation in relations if relation.is_mark], dim)

    def forward(self, union: DisjointUnion) -> Tensor:
        """Algorithm 1, with gradients, on any device."""
        senders = [(mlp, union.atoms(name)) for mlp, (name, _) in zip(self.messages, self.relations, strict=True)]
        senders = [(mlp, atoms) for mlp, atoms in senders if len(atoms)]
        sizes = [atoms.numel() for _, atoms in senders]
        rows = torch.cat([union.arguments.new_empty(0), *(atoms.reshape(-1) for _, atoms in senders)])
        incidence = Incidence(rows, union.elements)

        f = self.initial(union)
        for _ in range(self.layers):
            arguments = incidence.gather(f).split(sizes) if sizes else ()  # (atoms · arity, dim) each
            messages = [
                mlp(argument.view(len(atoms), -1)).view(-1, self.dim)
                for (mlp, atoms), argument in zip(senders, arguments, strict=True)
            ]
            received = incidence.smooth_max(torch.cat([f[:0], *messages]), self.sharpness)  # (elements, dim)
            f = f + self.update(torch.cat([f, received], dim=1))
        return f

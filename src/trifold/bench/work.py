"""How much work V and scores of some structures are: counted from atoms and elements, so that no padding counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import torch

from trifold.model import HeadedNetwork
from trifold.nn import RGNN, ActionScores, EdgeTransformer
from trifold.structures import APPLICABLE, OPTIMAL, DisjointUnion, Structures

FLOAT, INDEX = 4, 4
"""Bytes of a number and of an element's index."""


@dataclass(frozen=True)
class Work:
    """What one forward pass takes at the least, and what training adds to it.

    products    (inputs, outputs) of a weight matrix → how many rows it is applied to
    mish        to how many numbers Mish is applied
    embeddings  numbers in the embeddings of all layers
    rows        arguments of atoms that all layers read
    parameters  of the network
    """

    products: dict[tuple[int, int], float]
    mish: float
    embeddings: float
    rows: float
    parameters: int

    @property
    def flops(self) -> float:
        """Of the products: a multiplication and an addition for each weight and row."""
        return sum(2 * inputs * outputs * rows for (inputs, outputs), rows in self.products.items())

    def bytes(self, *, training: bool) -> float:
        """Traffic with memory if all that lies between the embeddings of two layers stays on the chip.

        Forward, each layer reads and writes the embeddings and reads the rows' indices. Backward, it reads the
        embeddings and their gradients, writes gradients, and reads the indices again. Adam reads weights, gradients
        and two moments, and writes all but the gradients.
        """
        forward = 2 * FLOAT * self.embeddings + INDEX * self.rows
        backward = 3 * FLOAT * self.embeddings + INDEX * self.rows + 7 * FLOAT * self.parameters
        return forward + (backward if training else 0)

    def share(self, parts: int) -> Work:
        """The mean of so many equal parts of the work, each of which has all parameters."""
        products = {shape: rows / parts for shape, rows in self.products.items()}
        return Work(products, self.mish / parts, self.embeddings / parts, self.rows / parts, self.parameters)


def count_work(network: HeadedNetwork, structures: Structures, *, hoisted: bool = False) -> Work:
    """Count the work of V on encoded structures, and of the scores of their queries if the network has that head.

    With ``hoisted`` the first layer of a message MLP is counted once per element and position, for it is a sum:
    W[f₁; …; f_m] = Σ Wᵢfᵢ. That is the least that is known; without, Algorithm 1 is counted as it is written.
    """
    union = structures.disjoint_union()
    embed, readout = network.embed, network.readout
    products: Counter[tuple[int, int]] = Counter()
    if isinstance(embed, EdgeTransformer):
        rows = _count_edge_transformer(embed, structures, products)
        hidden = union.elements * embed.dim
    else:
        assert isinstance(embed, RGNN)
        rows, hidden = _count_rgnn(embed, union, products, hoisted)
    products = Counter({shape: embed.layers * count for shape, count in products.items()})
    if embed.initial.marks:
        products[len(embed.initial.marks), embed.dim] += union.elements
    for linear in () if readout is None else (readout.mlp.inner, readout.mlp.outer):
        products[linear.in_features, linear.out_features] += len(structures)
    asked = 0 if network.scores is None else _count_scores(network.scores, structures, products)
    return Work(
        products=dict(products),
        mish=embed.layers * hidden + len(structures) * embed.dim + asked,
        embeddings=embed.layers * union.elements * embed.dim,
        rows=embed.layers * rows,
        parameters=sum(parameter.numel() for parameter in network.parameters()),
    )


def _count_rgnn(
    network: RGNN, union: DisjointUnion, products: Counter[tuple[int, int]], hoisted: bool
) -> tuple[int, int]:
    """The rows of a layer, and to how many numbers it applies Mish; its products are added to the others."""
    dim, all_rows, hidden = network.dim, 0, 2 * union.elements * network.dim
    for name, arity in network.relations:
        atoms = union.atoms(name)
        if not len(atoms):
            continue
        width = arity * dim
        all_rows += atoms.numel()
        hidden += len(atoms) * width
        if hoisted:
            products[dim, width] += sum(len(torch.unique(column)) for column in atoms.unbind(1))
        else:
            products[width, width] += len(atoms)
        products[width, width] += len(atoms)
    products[2 * dim, 2 * dim] += union.elements
    products[2 * dim, dim] += union.elements
    return all_rows, hidden


def _count_scores(head: ActionScores, structures: Structures, products: Counter[tuple[int, int]]) -> int:
    """To how many numbers the head of actions applies Mish; what is pooled is read once for each structure."""
    dim, hidden = head.dim, 0
    for query in head.queries:
        for name in (query.name, query.name.replace(APPLICABLE, OPTIMAL)):
            count = len(structures.atoms(name))
            products[query.reads * dim, 2 * dim] += count
            products[dim, 2 * dim] += len(structures)
            products[2 * dim, 1] += count
            hidden += 2 * dim * count
    return hidden


def _count_edge_transformer(
    network: EdgeTransformer, structures: Structures, products: Counter[tuple[int, int]]
) -> int:
    """The triples of a layer; its two sums over triples count as weight matrices with as much arithmetic."""
    dim, elements = network.dim, int(structures.element_counts.sum())
    triples = round(float((structures.element_counts.double() ** 1.5).sum()))
    products[dim, 4 * dim] += elements
    products[dim, dim] += 3 * elements + 2 * triples // dim
    return triples

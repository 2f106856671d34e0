"""networkx's WL on the graph of atoms and objects, as an independent oracle for what a plain R-GNN sees."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

from oracles import to_naive
from trifold.domains import DOMAINS, domain_text
from trifold.encoders import Plain
from trifold.pddl import expand
from trifold.wl import refine

SIZES = {"gripper": 3, "blocks-m": 4, "logistics": 2, "miconic": 3, "navig-xy": 3}


def incidence_graph(
    n: int,
    atoms: set[tuple[str, tuple[int, int]] | tuple[str, tuple[int]]]
    | set[tuple[str, tuple[int, int]]]
    | set[tuple[str, tuple[int]]],
) -> Any:
    """A vertex for each object and each atom; an edge tells at which positions of the atom the object is."""
    import networkx

    graph = networkx.Graph()
    graph.add_nodes_from(range(n), label="<object>")
    for name, args in atoms:
        graph.add_node((name, args), label=f"<{name}>")
        for o in set(args):
            graph.add_edge((name, args), o, label=f"<{[j for j, other in enumerate(args) if other == o]}>")
    return graph


@pytest.mark.parametrize("domain", SIZES)
def test_class_counts_of_every_round_are_those_of_networkx(domain: str) -> None:
    """An object hears of its atoms' relations in the first iteration, and of their other objects every second one."""
    from networkx import weisfeiler_lehman_graph_hash

    structures = expand(
        domain_text(domain), DOMAINS[domain].problem(random.Random(5), SIZES[domain]), 50_000
    ).structures()
    chosen = random.Random(2).sample(range(len(structures)), min(80, len(structures)))
    states = structures.take(torch.tensor(chosen))
    graphs = [incidence_graph(n, atoms) for n, atoms in to_naive(states)]
    found = refine(Plain()(states), 4)
    for rounds in range(1, 5):
        hashes = [
            weisfeiler_lehman_graph_hash(graph, edge_attr="label", node_attr="label", iterations=2 * rounds - 1)
            for graph in graphs
        ]
        pairs = set(zip(hashes, found.history[rounds].tolist(), strict=True))
        assert len(set(hashes)) == found.classes[rounds] == len(pairs)

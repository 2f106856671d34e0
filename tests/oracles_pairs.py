"""The paper's baselines over all pairs of objects, written with nested loops: R-GNN₂, 2-GNN and the Edge Transformer.

As in ``oracles``, a structure is (n, atoms); encoded atoms are over pairs.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from oracles import Atom, Naive, naive_pairs, related, to_naive
from trifold.structures import READOUT, Signature, Structures

BINARY = Signature.of([("edge", 2), ("edge@goal", 2), ("red", 1), ("blue@goal-not", 1)])


@st.composite
def binary_structures(draw: st.DrawFn, max_objects: int = 5, max_atoms: int = 7) -> Naive:
    """A random structure over BINARY, of arity two at most."""
    n = draw(st.integers(1, max_objects))
    atom = st.sampled_from(BINARY.relations).flatmap(
        lambda relation: st.tuples(
            st.just(relation.name), st.tuples(*[st.integers(0, n - 1) for _ in range(relation.arity)])
        )
    )
    return n, set(draw(st.lists(atom, max_size=max_atoms)))


binary_batches = st.lists(binary_structures(), min_size=1, max_size=4)


def square(n: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(n) for b in range(n)]


def decode(encoded: Structures) -> list[tuple[list[Any], set[Atom]]]:
    """Encoded structures as lists of pairs and sets of atoms over pairs."""
    assert encoded.pairs is not None
    result, start = [], 0
    for n, atoms in to_naive(encoded):
        pairs = [tuple(pair) for pair in encoded.pairs[start : start + n].tolist()]
        result.append((pairs, {(name, tuple(pairs[i] for i in args)) for name, args in atoms}))
        start += n
    return result


def naive_compositions(structure: Naive) -> set[Atom]:
    """A_0(S) and every △ over O³."""
    triangles: set[Atom] = set()
    for a, b, c in itertools.product(range(structure[0]), repeat=3):
        triangles.add(("@triangle", ((a, b), (b, c), (a, c))))
    return naive_pairs(structure, 0) | triangles


def naive_marks(structure: Naive) -> set[Atom]:
    """The marks of atoms of arity one and two, of Obj, and the readout."""
    n, atoms = structure
    marks: set[Atom] = {(name + "@mark", ((args[0], args[-1]),)) for name, args in atoms}
    for o in range(n):
        marks |= {("@object@mark", ((o, o),)), (READOUT, ((o, o),))}
    return marks


def naive_oblivious(structure: Naive) -> set[Atom]:
    """p₁ and p₂ over all triples of objects, and the marks."""
    encoded = naive_marks(structure)
    for u, v, w in itertools.product(range(structure[0]), repeat=3):
        encoded |= {("@left", ((w, v), (u, v))), ("@right", ((u, w), (u, v)))}
    return encoded


def connected(structure: Naive) -> bool:
    """Whether the Gaifman graph, in which objects of an atom are neighbours, is connected."""
    neighbours, reached = related(structure, 1), {0}
    while more := {b for a, b in neighbours if a in reached} - reached:
        reached |= more
    return len(reached) == structure[0]


def initial(network: Any, structure: Naive) -> dict[tuple[int, int], Tensor]:
    """f₀(⟨o,o'⟩): the sum of the vectors of its marks."""
    vectors = {
        name: vector
        for (name, _), vector in zip(network.embed.initial.marks, network.embed.initial.vectors, strict=True)
    }
    zero = torch.zeros(network.embed.dim, dtype=network.readout.mlp.inner.weight.dtype)
    marks = sorted(naive_marks(structure))
    return {
        pair: sum((vectors[name] for name, args in marks if args == (pair,) and name in vectors), zero)
        for pair in square(structure[0])
    }


def naive_two_gnn(network: Any, structure: Naive) -> Tensor:
    """V of the 2-GNN: each pair hears of ⟨w,v⟩ and ⟨u,w⟩, and every sender of its receiver."""
    embed, n = network.embed, structure[0]
    mlps = {name: mlp for (name, _), mlp in zip(embed.relations, embed.messages, strict=True)}
    f = initial(network, structure)
    for _ in range(embed.layers):
        inbox: dict[tuple[int, int], list[Tensor]] = {pair: [] for pair in f}
        for u, v, w in itertools.product(range(n), repeat=3):
            for name, sender in (("@left", (w, v)), ("@right", (u, w))):
                there, back = mlps[name](torch.cat([f[sender], f[u, v]])).chunk(2)
                inbox[sender].append(there)
                inbox[u, v].append(back)
        received = {
            pair: torch.logsumexp(embed.sharpness * torch.stack(messages), 0) / embed.sharpness
            for pair, messages in inbox.items()
        }
        f = {pair: f[pair] + embed.update(torch.cat([f[pair], received[pair]])) for pair in f}
    return read_out(network, f, n)


def naive_edge_transformer(network: Any, structure: Naive) -> Tensor:
    """V of the Edge Transformer: triple by triple, head by head."""
    embed, n = network.embed, structure[0]
    heads, width = embed.attention.heads, embed.dim // embed.attention.heads
    f = initial(network, structure)
    for _ in range(embed.layers):
        projected = {pair: embed.attention.project(embed.norm_before(x)).view(4, heads, width) for pair, x in f.items()}
        following = {}
        for u, v in f:
            parts = []
            for head in range(heads):
                scores, values = [], []
                for w in range(n):
                    query, _, left, _ = projected[u, w][:, head]
                    _, key, _, right = projected[w, v][:, head]
                    scores.append((query * key).sum() / math.sqrt(width))
                    values.append(left * right)
                total = sum(torch.exp(score) for score in scores)
                parts.append(sum(torch.exp(s) / total * value for s, value in zip(scores, values, strict=True)))
            attended = embed.attention.output(torch.cat(parts))
            following[u, v] = embed.update(embed.norm_after(f[u, v] + attended))
        f = following
    return read_out(network, f, n)


def read_out(network: Any, f: dict[tuple[int, int], Tensor], n: int) -> Tensor:
    return network.readout.mlp(torch.stack([f[o, o] for o in range(n)]).sum(0)).squeeze()

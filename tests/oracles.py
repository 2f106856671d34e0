"""The paper's definitions, written with nested loops over sets: slow, obvious, and independent of the package.

A structure is (n, atoms): elements 0 … n−1 and a set of (relation, arguments).
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from trifold.structures import READOUT, Signature, Structures

Atom = tuple[str, tuple[Any, ...]]
Naive = tuple[int, set[Atom]]

SIGNATURE = Signature.of([("edge", 2), ("goal@goal", 2), ("red", 1), ("triple", 3)])


def to_naive(structures: Structures) -> list[Naive]:
    """Structures as sets of atoms over local elements."""
    result: list[Naive] = [(int(n), set()) for n in structures.element_counts]
    for r, (name, _) in enumerate(structures.signature):
        rows = structures.atoms(name).tolist()
        for s, count in enumerate(structures.atom_counts[r].tolist()):
            taken, rows = rows[:count], rows[count:]
            assert len({tuple(row) for row in taken}) == len(taken), "an atom occurs twice"
            result[s][1].update((name, tuple(row)) for row in taken)
        assert not rows
    return result


def from_naive(naive: list[Naive], signature: Signature = SIGNATURE) -> Structures:
    """Sets of atoms as structures."""
    atoms = {
        name: [sorted(list(args) for rel, args in atoms if rel == name) for _, atoms in naive] for name, _ in signature
    }
    return Structures.build(signature, [n for n, _ in naive], atoms)


@st.composite
def naive_structures(draw: st.DrawFn, max_objects: int = 5, max_atoms: int = 7) -> Naive:
    """A random structure over SIGNATURE: few objects, few atoms, repeated arguments allowed."""
    n = draw(st.integers(1, max_objects))
    atom = st.sampled_from(SIGNATURE.relations).flatmap(
        lambda relation: st.tuples(
            st.just(relation.name), st.tuples(*[st.integers(0, n - 1) for _ in range(relation.arity)])
        )
    )
    return n, set(draw(st.lists(atom, max_size=max_atoms)))


batches = st.lists(naive_structures(), min_size=1, max_size=4)


def random_structures(count: int, objects: int, atoms: int, seed: int) -> list[Naive]:
    """Random structures without hypothesis, for larger sizes."""
    rng = random.Random(seed)
    result = []
    for _ in range(count):
        chosen = [rng.choice(SIGNATURE.relations) for _ in range(atoms)]
        result.append((objects, {(name, tuple(rng.choices(range(objects), k=arity))) for name, arity in chosen}))
    return result


def related(structure: Naive, t: float) -> set[tuple[int, int]]:
    """R_t, by its definition."""
    n, atoms = structure
    pairs = {(o, o) for o in range(n)}
    for _, args in atoms:
        pairs |= set(itertools.product(args, repeat=2))
    rounds = n if t == math.inf else int(t) - 1
    for _ in range(rounds):
        pairs = {(a, c) for a, b in pairs for b2, c in pairs if b == b2}
    return pairs


def naive_pairs(structure: Naive, t: float) -> set[Atom]:
    """A_t(S) with pairs as elements, by its definition, Obj and the readout included."""
    n, atoms = structure
    encoded: set[Atom] = {(name, tuple((a, b) for a in args for b in args)) for name, args in atoms}
    encoded |= {("@object", ((o, o),)) for o in range(n)}
    encoded |= {(READOUT, ((o, o),)) for o in range(n)}
    if t > 0:
        pairs = related(structure, t)
        encoded |= {("@triangle", ((a, b), (b, c), (a, c))) for a, b in pairs for b2, c in pairs if b == b2}
    return encoded


def naive_rgnn(network: Any, elements: Sequence[Any], atoms: set[Atom]) -> tuple[dict[Any, Tensor], Tensor]:
    """Algorithm 1 and the readout, atom by atom: embeddings of the elements, and V."""
    mlps = {name: mlp for (name, _), mlp in zip(network.embed.relations, network.embed.messages, strict=True)}
    weight = network.embed.update.outer.weight
    sharpness = network.embed.sharpness
    f = {o: weight.new_zeros(network.embed.dim) for o in elements}
    for _ in range(network.embed.layers):
        inbox: dict[Any, list[Tensor]] = {o: [] for o in elements}
        for name, args in sorted(atoms, key=repr):
            if name in mlps:
                messages = mlps[name](torch.cat([f[o] for o in args])).view(len(args), -1)
                for o, message in zip(args, messages, strict=True):
                    inbox[o].append(message)
        received = {
            o: torch.logsumexp(sharpness * torch.stack(messages), 0) / sharpness if messages else torch.zeros_like(f[o])
            for o, messages in inbox.items()
        }
        f = {o: f[o] + network.embed.update(torch.cat([f[o], received[o]])) for o in elements}
    readout = [args[0] for name, args in sorted(atoms, key=repr) if name == READOUT]
    return f, network.readout.mlp(torch.stack([f[o] for o in readout]).sum(0)).squeeze()

"""Colour refinement as its definitions say, without hashes: the slow twin of ``trifold.wl`` and its oracle.

1-WL, k-FWL and k-OWL on graphs are as the paper defines them; relational refinement goes atom by atom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import torch

from trifold.structures import Structures
from trifold.wl import Colouring
from trifold.wl.hashing import ALL, Positions
from trifold.wl.refinement import sending

Tuple = tuple[int, ...]
"""A k-tuple of vertices."""

Colours = dict[Tuple, int]
"""The colour of each k-tuple of vertices of a graph; vertices are 1-tuples."""


class Relabel(dict[Hashable, int]):
    """The paper's RELABEL: equal structures over colours get the same natural number, others another.

    >>> relabel = Relabel()
    >>> relabel["a", 1], relabel["b", 1], relabel["a", 1]
    (0, 1, 0)
    """

    def __missing__(self, structure: Hashable) -> int:
        self[structure] = len(self)
        return self[structure]


def refine_exactly(
    structures: Structures,
    rounds: int | None,
    *,
    relations: Collection[str] | None = None,
    receivers: Positions = ALL,
) -> Colouring:
    """The classes that ``refine`` returns, by its definition, with multisets as sorted tuples.

    Only the order in which classes are numbered differs.
    """
    union = structures.disjoint_union()
    senders = sending(structures.signature, relations, receivers)

    def refined(colours: list[int], senders: Positions) -> list[int]:
        received: list[list[tuple[str, int, tuple[int, ...]]]] = [[] for _ in colours]
        for name, positions in senders.items():
            for atom in union.atoms(name).tolist():
                seen = tuple(colours[element] for element in atom)
                for position in positions:
                    received[atom[position]].append((name, position, seen))
        relabel = Relabel()
        return [relabel[colour, tuple(sorted(multiset))] for colour, multiset in zip(colours, received, strict=True)]

    def read(colours: list[int]) -> list[int]:
        multisets: list[list[int]] = [[] for _ in range(len(structures))]
        for element, owner in zip(*(column.tolist() for column in union.readout()), strict=True):
            multisets[owner].append(colours[element])
        relabel = Relabel()
        return [relabel[tuple(sorted(multiset))] for multiset in multisets]

    marks = {one.name: range(one.arity) for one in structures.signature if one.is_mark}
    colours = refined([0] * union.elements, marks)
    history = [read(colours)]
    while rounds is None or len(history) <= rounds:
        following = refined(colours, senders)
        if rounds is None and len(set(following)) == len(set(colours)):
            break
        colours = following
        history.append(read(colours))
    return Colouring(torch.tensor(colours, dtype=torch.int64), torch.tensor(history, dtype=torch.int64))


@dataclass(frozen=True)
class Graph:
    """A directed graph on the vertices 0 … n−1, optionally vertex-coloured.

    An undirected graph has each edge in both directions. There are no loops: their vertices can have a colour.

    >>> triangle = Graph.undirected(3, [(0, 1), (1, 2), (2, 0)])
    >>> len(triangle.edges)
    6
    """

    vertices: int
    edges: frozenset[tuple[int, int]]
    colours: tuple[Hashable, ...] | None = None

    def __post_init__(self) -> None:
        if any(u == v or not {u, v} <= set(range(self.vertices)) for u, v in self.edges):
            raise ValueError(f"an edge has two different ends among the {self.vertices} vertices")
        if self.colours is not None and len(self.colours) != self.vertices:
            raise ValueError(f"{self.vertices} vertices have {len(self.colours)} colours")

    @classmethod
    def undirected(
        cls, vertices: int, edges: Iterable[tuple[int, int]], colours: tuple[Hashable, ...] | None = None
    ) -> Graph:
        return cls(vertices, frozenset(direction for u, v in edges for direction in ((u, v), (v, u))), colours)

    def colour(self, vertex: int) -> Hashable:
        return self.colours[vertex] if self.colours else None

    def tuples(self, k: int) -> Iterable[Tuple]:
        return product(range(self.vertices), repeat=k)


def one_wl(graphs: Sequence[Graph], rounds: int | None = None) -> list[Colours]:
    """1-WL: C_{i+1}(v) = RELABEL(⟨C_i(v), {{C_i(u) | u ∈ N(v)}}⟩), from the given vertex colours.

    The graphs share one RELABEL, so their colours can be compared. Without ``rounds``, to the fixed point. One addition
    to the paper: where edges have a direction, the neighbours along it and against it form two multisets.
    """

    def see(graph: Graph, colours: Colours, vertex: Tuple) -> Hashable:
        (v,) = vertex
        following = multiset(colours[target,] for source, target in graph.edges if source == v)
        preceding = multiset(colours[source,] for source, target in graph.edges if target == v)
        return following, preceding

    relabel = Relabel()
    initial: list[Colours] = [{(v,): relabel[graph.colour(v)] for v in range(graph.vertices)} for graph in graphs]
    return _refine(graphs, initial, see, rounds)


def k_fwl(graphs: Sequence[Graph], k: int, rounds: int | None = None) -> list[Colours]:
    """Folklore k-WL, k ≥ 2: v sees the multiset {{(C_i(φ_1(v,w)), …, C_i(φ_k(v,w))) | w ∈ V}}.

    φ_j(v,w) is v with its j-th component replaced by w. Graphs are coloured together, as in ``one_wl``.
    """

    def see(graph: Graph, colours: Colours, v: Tuple) -> Hashable:
        return multiset(tuple(colours[replace(v, j, w)] for j in range(k)) for w in range(graph.vertices))

    return _refine(graphs, _tuple_colours(graphs, k), see, rounds)


def k_owl(graphs: Sequence[Graph], k: int, rounds: int | None = None) -> list[Colours]:
    """Oblivious k-WL, k ≥ 2: v sees, for each j, the multiset {{C_i(φ_j(v,w)) | w ∈ V}}."""

    def see(graph: Graph, colours: Colours, v: Tuple) -> Hashable:
        return tuple(multiset(colours[replace(v, j, w)] for w in range(graph.vertices)) for j in range(k))

    return _refine(graphs, _tuple_colours(graphs, k), see, rounds)


def separated(first: Colours, second: Colours) -> bool:
    """Whether two graphs that were coloured together have different multisets of colours."""
    return Counter(first.values()) != Counter(second.values())


def multiset(items: Iterable[Hashable]) -> Hashable:
    """{{ … }}: what is in it, and how often."""
    return frozenset(Counter(items).items())


def replace(v: Tuple, j: int, w: int) -> Tuple:
    """φ_j(v,w), with positions counted from 0."""
    return (*v[:j], w, *v[j + 1 :])


def _tuple_colours(graphs: Sequence[Graph], k: int) -> list[Colours]:
    """The first colour of v: which of its components are equal or adjacent, and the colour of each, in their order."""
    if k < 2:
        raise ValueError(f"tuples have k ≥ 2 components, not {k}: for vertices there is 1-WL")

    def induced(graph: Graph, v: Tuple) -> Hashable:
        pairs = tuple((a == b, (a, b) in graph.edges) for a, b in product(v, repeat=2))
        return pairs, tuple(graph.colour(a) for a in v)

    relabel = Relabel()
    return [{v: relabel[induced(graph, v)] for v in graph.tuples(k)} for graph in graphs]


def _refine(
    graphs: Sequence[Graph],
    colours: list[Colours],
    see: Callable[[Graph, Colours, Tuple], Hashable],
    rounds: int | None,
) -> list[Colours]:
    """C_{i+1}(v) = RELABEL(⟨C_i(v), see(v)⟩), for this many rounds or until no class of the graphs together splits."""
    done = 0
    while rounds is None or done < rounds:
        relabel = Relabel()
        refined = [
            {v: relabel[old[v], see(graph, old, v)] for v in old} for graph, old in zip(graphs, colours, strict=True)
        ]
        if rounds is None and len(relabel) == len({colour for old in colours for colour in old.values()}):
            break
        colours, done = refined, done + 1
    return colours

"""1-WL, k-OWL and k-FWL on graphs: who separates what, and the classical pairs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, permutations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles_wl import Graph, k_fwl, k_owl, one_wl, separated


def cycles(*lengths: int) -> Graph:
    """Disjoint undirected cycles."""
    edges, start = [], 0
    for length in lengths:
        edges += [(start + i, start + (i + 1) % length) for i in range(length)]
        start += length
    return Graph.undirected(start, edges)


def cayley(*steps: tuple[int, int]) -> Graph:
    """The graph on Z₄ × Z₄ in which vertices are adjacent that differ by one of the steps or its negative."""
    cells = list(product(range(4), repeat=2))
    edges = [(i, cells.index(((x + dx) % 4, (y + dy) % 4))) for i, (x, y) in enumerate(cells) for dx, dy in steps]
    return Graph.undirected(16, edges)


HEXAGON, TWO_TRIANGLES = cycles(6), cycles(3, 3)
ROOK = cayley((0, 1), (0, 2), (1, 0), (2, 0))
SHRIKHANDE = cayley((0, 1), (1, 0), (1, 1))


@st.composite
def graphs(draw: Callable[..., Any], max_vertices: int = 5) -> Graph:
    n = draw(st.integers(1, max_vertices))
    directed = draw(st.booleans())
    pairs = list(permutations(range(n), 2)) if directed else list(combinations(range(n), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    colours = tuple(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))) if draw(st.booleans()) else None
    return Graph(n, frozenset(edges), colours) if directed else Graph.undirected(n, edges, colours)


@st.composite
def alike(draw: Callable[..., Any]) -> tuple[Graph, Graph]:
    """Two graphs of the same size and degrees: one, and itself with two of its edges' ends exchanged."""
    graph = draw(graphs(6))
    edges = sorted(graph.edges)
    if len(edges) > 1 and all((v, u) in graph.edges for u, v in edges):
        (a, b), (c, d) = draw(st.lists(st.sampled_from(edges), min_size=2, max_size=2, unique=True))
        if len({a, b, c, d}) == 4 and not {(a, d), (c, b)} & graph.edges:
            rest = [edge for edge in edges if set(edge) not in ({a, b}, {c, d})]
            return graph, Graph.undirected(graph.vertices, [*rest, (a, d), (c, b)], graph.colours)
    return graph, draw(graphs(6))


pairs_of_graphs = st.one_of(st.tuples(graphs(), graphs()), alike())


@settings(max_examples=200)
@given(pairs_of_graphs)
def test_oblivious_pairs_separate_what_1_wl_does(pair: tuple[Graph, Graph]) -> None:
    assert separated(*one_wl(pair)) == separated(*k_owl(pair, 2))


@given(pairs_of_graphs)
def test_oblivious_pairs_never_separate_more_than_folklore_pairs(pair: tuple[Graph, Graph]) -> None:
    assert separated(*k_owl(pair, 2)) <= separated(*k_fwl(pair, 2))


@settings(max_examples=25)
@given(alike())
def test_folklore_pairs_separate_what_oblivious_triples_do(pair: tuple[Graph, Graph]) -> None:
    assert separated(*k_fwl(pair, 2)) == separated(*k_owl(pair, 3))


@given(graphs(), st.data())
def test_renaming_the_vertices_of_a_graph_changes_no_colour(graph: Graph, data: st.DataObject) -> None:
    names = data.draw(st.permutations(range(graph.vertices)))
    colours = graph.colours and tuple(graph.colours[names.index(v)] for v in range(graph.vertices))
    renamed = Graph(graph.vertices, frozenset((names[u], names[v]) for u, v in graph.edges), colours)
    for algorithm in (one_wl, lambda pair: k_owl(pair, 2), lambda pair: k_fwl(pair, 2)):
        before, after = algorithm([graph, renamed])
        assert {tuple(names[v] for v in vertices): colour for vertices, colour in before.items()} == after


def test_two_triangles_and_a_hexagon_need_folklore_pairs() -> None:
    pair = HEXAGON, TWO_TRIANGLES
    assert not separated(*one_wl(pair)) and not separated(*k_owl(pair, 2))
    assert separated(*k_fwl(pair, 2)) and separated(*k_owl(pair, 3))


def test_folklore_pairs_cannot_separate_rooks_from_shrikhande() -> None:
    """Both are strongly regular with the same parameters, yet only a rook's neighbours form two triangles."""
    pair = ROOK, SHRIKHANDE
    triangles = []
    for graph in pair:
        around = {v for u, v in graph.edges if u == 0}
        assert len(around) == 6
        triangles.append(sum({(a, b), (b, c), (a, c)} <= graph.edges for a, b, c in combinations(around, 3)))
    assert triangles == [2, 0]
    assert not separated(*one_wl(pair)) and not separated(*k_owl(pair, 2)) and not separated(*k_fwl(pair, 2))


def test_a_direction_is_seen() -> None:
    star_out, star_in = Graph(3, frozenset({(0, 1), (0, 2)})), Graph(3, frozenset({(1, 0), (2, 0)}))
    assert separated(*one_wl([star_out, star_in]))


def test_rounds_are_counted() -> None:
    """On a path, the news of its ends travels one vertex a round."""
    path = Graph.undirected(7, [(i, i + 1) for i in range(6)])
    assert [len(set(one_wl([path], rounds)[0].values())) for rounds in range(5)] == [1, 2, 3, 4, 4]
    assert one_wl([path]) == one_wl([path], 3)


@pytest.mark.parametrize(("edges", "colours"), [({(0, 0)}, None), ({(0, 2)}, None), (set(), (1,))])
def test_a_graph_is_checked(edges: set[tuple[int, int]], colours: tuple[int] | None) -> None:
    with pytest.raises(ValueError, match="vertices"):
        Graph(2, frozenset(edges), colours)


@pytest.mark.parametrize("algorithm", [k_fwl, k_owl])
def test_tuples_have_at_least_two_components(algorithm: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="k ≥ 2"):
        algorithm([HEXAGON], 1)

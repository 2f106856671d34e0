"""All compositions, told to the composed pair alone, are 2-FWL."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles_wl import Graph, k_fwl
from trifold.encoders import Marks
from trifold.structures import Signature, Structures
from trifold.wl import FOLKLORE, add_compositions, refine


@st.composite
def graphs(draw: Callable[..., Any]) -> Graph:
    n = draw(st.integers(2, 5))
    return Graph.undirected(n, draw(st.lists(st.sampled_from(list(combinations(range(n), 2))), unique=True)))


@given(st.lists(graphs(), min_size=1, max_size=3), st.integers(0, 3))
def test_classes_of_pairs_are_those_of_2_fwl(batch: list[Graph], rounds: int) -> None:
    sizes, edges = [graph.vertices for graph in batch], [[list(edge) for edge in sorted(g.edges)] for g in batch]
    encoded = add_compositions(Marks()(Structures.build(Signature.of([("edge", 2)]), sizes, {"edge": edges})))
    found = refine(encoded, rounds, receivers=FOLKLORE).elements.tolist()
    expected = [
        colours[v] for graph, colours in zip(batch, k_fwl(batch, 2, rounds), strict=True) for v in graph.tuples(2)
    ]
    assert len(set(zip(found, expected, strict=True))) == len(set(found)) == len(set(expected))


def test_elements_must_be_pairs() -> None:
    with pytest.raises(ValueError, match="pairs"):
        add_compositions(Structures.build(Signature.of([("@readout", 1)]), [3], {}))

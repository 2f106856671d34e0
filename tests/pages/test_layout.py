"""Layouts: grids are found without names, and other graphs are spread so that nothing covers anything."""

from __future__ import annotations

import math
import random
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from trifold.domains import DOMAINS, domain_text
from trifold.pages.layout import grid_cells, spread
from trifold.pddl import load_domain, load_problem


@given(st.integers(1, 6), st.integers(1, 6), st.randoms(use_true_random=False))
def test_a_grid_with_shuffled_names_is_a_grid_again(width: int, height: int, rng: random.Random) -> None:
    cells = [(x, y) for x in range(width) for y in range(height)]
    names = [f"p{i}" for i in range(len(cells))]
    rng.shuffle(names)
    name = dict(zip(cells, names, strict=True))
    edges = [(name[x, y], name[u, v]) for x, y in cells for u, v in ((x + 1, y), (x, y + 1)) if (u, v) in name]
    found = grid_cells(sorted(names), edges)
    assert found is not None and len(set(found.values())) == len(cells)
    assert {max(x for x, _ in found.values()) + 1, max(y for _, y in found.values()) + 1} == {width, height}


def test_rooms_with_doors_are_on_cells_and_joined_cells_are_neighbours() -> None:
    for seed in range(6):
        text = DOMAINS["grid"].problem(random.Random(seed), 2, columns=3, side=3, loops=1)
        problem = load_problem(load_domain(domain_text("grid")), text)
        edges = [
            (a, b)
            for name, a, b in (
                atom[1:-1].split() for atom in problem.atoms(problem.initial_state) if atom.startswith("(conn ")
            )
        ]
        names = sorted({name for edge in edges for name in edge})
        found = grid_cells(names, edges)
        assert found is not None and len(set(found.values())) == len(names)
        assert all(math.dist(found[a], found[b]) == 1 for a, b in edges)


def test_what_is_no_grid_is_not_taken_for_one() -> None:
    assert grid_cells(["a", "b", "c"], [("a", "b"), ("b", "c"), ("c", "a")]) is None
    assert grid_cells(list("abcdef"), [("a", other) for other in "bcdef"]) is None
    assert grid_cells(["a", "b"], []) is None
    assert grid_cells([], []) is None


@given(st.integers(0, 12), st.data())
def test_a_spread_graph_keeps_its_nodes_apart_and_is_the_same_each_time(size: int, data: st.DataObject) -> None:
    names = [f"o{i}" for i in range(size)]
    pairs = list(combinations(names, 2))
    edges = data.draw(st.lists(st.sampled_from(pairs), max_size=20)) if pairs else []
    found = spread(names, edges)
    assert found == spread(names, edges) and list(found) == names
    assert all(math.isfinite(x) and x >= 0 and y >= 0 for x, y in found.values())
    assert all(math.dist(found[a], found[b]) > 0.45 for a, b in pairs)

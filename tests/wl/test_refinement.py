"""Relational colour refinement: the fast one equals its definition, and both the algorithms on graphs."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import SIGNATURE, Naive, batches, from_naive, naive_structures, random_structures
from oracles_wl import Graph, k_fwl, k_owl, one_wl, refine_exactly
from trifold.domains import DOMAINS, domain_text
from trifold.encoders import Pairs, Plain
from trifold.pddl import expand
from trifold.structures import MARK, READOUT, Signature, Structures, concatenate
from trifold.wl import Colouring, digest, number_classes, refine
from trifold.wl import refinement as module
from trifold.wl.hashing import mix

ENCODERS: dict[str, Any] = {"plain": Plain(), "t=0": Pairs(0), "t=1": Pairs(1), "t=2": Pairs(2), "t=∞": Pairs(math.inf)}
PROBLEMS = {
    "gripper": DOMAINS["gripper"].problem(random.Random(3), 2),
    "blocks-m": DOMAINS["blocks-m"].problem(random.Random(5), 3),
    "miconic": DOMAINS["miconic"].problem(random.Random(1), 2),
    "logistics": DOMAINS["logistics"].problem(random.Random(2), 2),
}


def same_partition(first: Sequence[object], second: Sequence[object]) -> bool:
    """Whether two lists of colours merge the same positions."""
    return len(set(first)) == len(set(second)) == len(set(zip(first, second, strict=True)))


def assert_same(fast: Colouring, exact: Colouring) -> None:
    assert fast.rounds == exact.rounds and fast.classes == exact.classes
    assert same_partition(fast.elements.tolist(), exact.elements.tolist())
    for row, other in zip(fast.history.tolist(), exact.history.tolist(), strict=True):
        assert same_partition(row, other)


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("rounds", [0, 2, None])
@settings(max_examples=25)
@given(naive=batches)
def test_equals_its_definition_on_random_structures(name: str, rounds: int | None, naive: list[Naive]) -> None:
    encoded = ENCODERS[name](from_naive(naive))
    assert_same(refine(encoded, rounds), refine_exactly(encoded, rounds))


@pytest.mark.parametrize("piece", [1, 100, 2**17])
def test_equals_its_definition_on_many_structures_in_pieces_of_any_size(
    piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PIECE", piece)
    naive = random_structures(60, 4, 4, seed=1) + random_structures(20, 7, 12, seed=2) + [(1, set()), (3, set())]
    encoded = Pairs(1)(from_naive(naive))
    assert_same(refine(encoded, None), refine_exactly(encoded, None))


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_equals_its_definition_on_real_states(name: str, problem: str) -> None:
    structures = expand(domain_text(problem), PROBLEMS[problem], 10_000).structures()
    chosen = random.Random(0).sample(range(len(structures)), min(20, len(structures)))
    encoded = ENCODERS[name](structures.take(torch.tensor(chosen)))
    assert_same(refine(encoded, None), refine_exactly(encoded, None))


@given(
    naive=batches, relations=st.sets(st.sampled_from(SIGNATURE.names)), marks=st.sets(st.sampled_from(["red", "edge"]))
)
def test_equals_its_definition_for_some_relations_marks_and_receivers(
    naive: list[Naive], relations: set[str], marks: set[str]
) -> None:
    encoded = Plain()(from_naive(naive))
    names = [(name + MARK if name in marks else name, arity) for name, arity in encoded.signature]
    encoded = replace(encoded, signature=Signature.of(names))
    senders, receivers = relations - marks, {"triple": (2, 0)}
    fast, exact = (way(encoded, None, relations=senders, receivers=receivers) for way in (refine, refine_exactly))
    assert_same(fast, exact)


@pytest.mark.parametrize("name", ENCODERS)
@given(naive=naive_structures(), data=st.data())
def test_renaming_objects_changes_no_colour(name: str, naive: Naive, data: st.DataObject) -> None:
    n, atoms = naive
    names = data.draw(st.permutations(range(n)))
    renamed = (n, {(relation, tuple(names[o] for o in args)) for relation, args in atoms})
    encoded = ENCODERS[name](from_naive([naive, renamed]))
    found = refine(encoded, None)
    assert found.structures[0] == found.structures[1]
    halves = [encoded.take(torch.tensor([i])) for i in range(2)]
    assert torch.equal(*(digest(half, 3) for half in halves))
    if encoded.pairs is None:
        colours, others = found.elements[:n].tolist(), found.elements[n:].tolist()
        assert [others[names[o]] for o in range(n)] == colours
    else:
        tables = [
            dict(zip(map(tuple, half.pairs.tolist()), colours.tolist(), strict=True))
            for half, colours in zip(halves, found.elements.split(encoded.element_counts.tolist()), strict=True)
        ]
        assert {(names[a], names[b]): colour for (a, b), colour in tables[0].items()} == tables[1]


@given(naive=batches)
def test_rounds_only_split_and_the_fixed_point_stays(naive: list[Naive]) -> None:
    encoded = Pairs(1)(from_naive(naive))
    found = refine(encoded, None)
    for i in range(found.rounds):
        fewer, more = refine(encoded, i), refine(encoded, i + 1)
        assert len(fewer.elements.unique()) < len(more.elements.unique())
        assert same_partition(
            more.elements.tolist(), list(zip(more.elements.tolist(), fewer.elements.tolist(), strict=True))
        )
    later = refine(encoded, found.rounds + 3)
    assert same_partition(found.elements.tolist(), later.elements.tolist())
    assert torch.equal(later.history[: found.rounds + 1], found.history)


@given(naive=batches)
def test_digests_of_pieces_are_those_of_the_whole_and_number_its_classes(naive: list[Naive]) -> None:
    encoded = Pairs(1)(from_naive(naive))
    pieces = [Pairs(1)(from_naive([structure])) for structure in naive]
    whole = digest(encoded, 4)
    assert torch.equal(whole, torch.cat([digest(piece, 4) for piece in pieces]))
    assert torch.equal(number_classes(whole), refine(concatenate(pieces), 4).structures)


def test_digests_depend_on_names_of_relations_and_not_on_their_order() -> None:
    forward = Structures.build(
        Signature.of([("a", 2), ("b", 1), (READOUT, 1)]), [2], {"a": [[[0, 1]]], READOUT: [[[0]]]}
    )
    backward = Structures.build(
        Signature.of([(READOUT, 1), ("b", 1), ("a", 2)]), [2], {"a": [[[0, 1]]], READOUT: [[[0]]]}
    )
    assert torch.equal(digest(forward, 2), digest(backward, 2))


def test_digests_never_change() -> None:
    """They hold in every process and on every machine, and may be stored."""
    atoms = {"on": [[[0, 1]]], READOUT: [[[0], [1]]]}
    structure = Structures.build(Signature.of([("on", 2), (READOUT, 1)]), [2], atoms)
    assert digest(structure, 3).tolist() == [[-2062576982250305184, -3389521787727946962]]


def test_the_second_stream_tells_apart_what_collides_in_the_first() -> None:
    rows = torch.tensor([[1, 5], [1, 6], [2, 5], [1, 5]])
    assert same_partition(number_classes(rows).tolist(), [0, 1, 2, 0])


def test_mixing_loses_nothing() -> None:
    """A shift that keeps the sign would map x and its complement to the same word."""
    words = np.random.default_rng(0).integers(0, 2**64, 1000, np.uint64)
    assert len(np.unique(mix(np.concatenate([words, ~words])))) == 2000


MARKS = ("equal@mark", "edge@mark", "back@mark")


def pair_structures(graphs: list[Graph]) -> Structures:
    """All pairs of vertices with their equality and edges as marks, both relations of 2-OWL, and all compositions."""
    atoms: dict[str, list[list[list[int]]]] = {name: [] for name in (*MARKS, "left", "right", "triangle", READOUT)}
    for graph in graphs:
        n = graph.vertices
        v, vv, vvv = (list(product(range(n), repeat=k)) for k in (1, 2, 3))
        atoms["equal@mark"].append([[u * n + u] for (u,) in v])
        atoms["edge@mark"].append([[a * n + b] for a, b in graph.edges])
        atoms["back@mark"].append([[b * n + a] for a, b in graph.edges])
        atoms["left"].append([[w * n + b, a * n + b] for a, b, w in vvv])
        atoms["right"].append([[a * n + w, a * n + b] for a, b, w in vvv])
        atoms["triangle"].append([[a * n + w, w * n + b, a * n + b] for a, b, w in vvv])
        atoms[READOUT].append([[a * n + b] for a, b in vv])
    arities = {"left": 2, "right": 2, "triangle": 3}
    signature = Signature.of([(name, arities.get(name, 1)) for name in atoms])
    return Structures.build(signature, [graph.vertices**2 for graph in graphs], atoms)


def random_graphs(seed: int) -> list[Graph]:
    rng = random.Random(seed)
    sizes = [rng.randint(2, 6) for _ in range(6)]
    return [
        Graph(n, frozenset(edge for edge in permutations(range(n), 2) if rng.random() < rng.choice([0.2, 0.5])))
        for n in sizes
    ]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rounds", [0, 1, 2, None])
def test_on_graphs_it_is_1_wl_2_owl_and_2_fwl(seed: int, rounds: int | None) -> None:
    graphs = random_graphs(seed)
    plain = Structures.build(
        Signature.of([("edge", 2), (READOUT, 1)]),
        [graph.vertices for graph in graphs],
        {
            "edge": [[list(edge) for edge in graph.edges] for graph in graphs],
            READOUT: [[[v] for v in range(graph.vertices)] for graph in graphs],
        },
    )
    pairs = pair_structures(graphs)
    for colouring, expected in (
        (refine(plain, rounds), one_wl(graphs, rounds)),
        (refine(pairs, rounds, relations=("left", "right")), k_owl(graphs, 2, rounds)),
        (
            refine(pairs, rounds, relations=("triangle",), receivers={"triangle": (2,)}),
            k_fwl(graphs, 2, rounds),
        ),
    ):
        colours = [colour for table in expected for colour in table.values()]
        assert same_partition(colouring.elements.tolist(), colours)


def test_what_is_missing_is_named() -> None:
    bare = from_naive([(2, {("edge", (0, 1))})])
    with pytest.raises(ValueError, match="@readout"):
        refine(bare, 1)
    with pytest.raises(ValueError, match="blue"):
        refine(Plain()(bare), 1, relations=["blue"])
    with pytest.raises(ValueError, match="-1"):
        refine(Plain()(bare), -1)


def test_no_structures_have_no_classes() -> None:
    nothing = Plain()(from_naive([(2, set())])).take(torch.empty(0, dtype=torch.int64))
    for rounds in (2, None):
        assert refine(nothing, rounds).elements.tolist() == refine(nothing, rounds).structures.tolist() == []

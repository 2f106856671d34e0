"""Compiled networks compute their joins: coordinate j is 1 where join j holds and 0 elsewhere, in every structure."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from join_strategies import ATOMS, guarded_joins
from oracles import SIGNATURE, Naive, batches, from_naive, naive_pairs, naive_rgnn, naive_structures, random_structures
from trifold.encoders import TRIANGLE, Pairs
from trifold.errors import TrifoldError
from trifold.logic import (
    TOLERANCE,
    Atom,
    Conjunction,
    Disjunction,
    Join,
    compile_joins,
    compiler,
    evaluate,
    holds_apart,
    linear_readout,
    parameters,
    parse,
)
from trifold.nn import RGNN, SHARPNESS
from trifold.structures import READOUT, Structures

EXAMPLES = {
    "atom": "edge(x,y)",
    "converse": "edge(y,x)",
    "negated atom": "¬edge(x,y)",
    "guarded negation": "¬edge(x,y) ∧ goal@goal(y,x)",
    "conjunction": "edge(x,y) ∧ edge(y,x) ∧ goal@goal(x,y)",
    "disjunction": "edge(x,y) ∨ ¬goal@goal(x,y) ∨ goal@goal(y,x)",
    "chains": "(edge(x,y) ∨ ¬edge(y,x)) ∧ (goal@goal(x,y) ∨ edge(y,x)) ∧ ¬goal@goal(y,x)",
    "join": "∃z[edge(x,z) ∧ goal@goal(y,z)]",
    "join of converses": "∃z[edge(z,x) ∧ edge(z,y)]",
    "disjunction of joins": "∃z[edge(x,z) ∧ edge(y,z)] ∨ ∃z[edge(z,x) ∧ edge(z,y)] ∨ edge(x,y) ∨ ¬edge(y,x)",
    "conjunction of joins": "∃z[edge(x,z) ∧ edge(z,y)] ∧ ¬edge(x,y) ∧ ∃z[edge(z,x) ∧ goal@goal(z,y)]",
    "depth 2": "∃z[∃y[edge(x,y) ∧ edge(y,z)] ∧ goal@goal(z,y)]",
    "depth 2, guarded": "∃z[∃y[edge(x,y) ∧ edge(y,z)] ∧ edge(x,z) ∧ (¬edge(z,y) ∨ edge(y,z)) ∧ goal@goal(z,y)]",
    "depth 3": "∃z[∃y[∃z[edge(x,z) ∧ edge(z,y)] ∧ edge(y,z)] ∧ ∃x[edge(z,x) ∧ edge(x,y)]]",
}
LARGER = random_structures(count=4, objects=9, atoms=14, seed=1) + random_structures(
    count=2, objects=6, atoms=40, seed=2
)


def network_for(formulas: Any, t: float) -> RGNN:
    return compile_joins(formulas, [relation for relation in Pairs(t).signature(SIGNATURE) if relation.name != READOUT])


def check(
    formulas: Any, naive: list[Naive], t: float, dtype: torch.dtype = torch.float64, tolerance: float = TOLERANCE
) -> None:
    """The network says of each pair what the denotation says; of pairs that it leaves out, ``holds_apart`` does."""
    structures = from_naive(naive)
    encoded = Pairs(t)(structures)
    with torch.no_grad():
        found = network_for(formulas, t).to(dtype)(encoded.disjoint_union())
    pairs = [tuple(pair) for pair in encoded.pairs.tolist()]
    for j, formula in enumerate(formulas):
        start = 0
        for (n, _), count, denotation in zip(naive, encoded.element_counts, evaluate(formula, structures), strict=True):
            here = slice(start, start := start + int(count))
            expected = torch.tensor([float(pair in denotation) for pair in pairs[here]], dtype=dtype)
            torch.testing.assert_close(found[here, j], expected, rtol=0, atol=tolerance)
            for pair in set(itertools.product(range(n), repeat=2)).difference(pairs[here]):
                assert (pair in denotation) == holds_apart(formula)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("more", [0, 1, math.inf])
def test_a_network_computes_its_join_for_every_t_that_is_large_enough(name: str, more: float) -> None:
    formula = parse(EXAMPLES[name])
    check([formula], LARGER, parameters([formula]).t + more)


def test_one_network_computes_all_joins_at_once() -> None:
    formulas = [parse(text) for text in EXAMPLES.values()]
    check(formulas, LARGER, parameters(formulas).t)
    check(formulas[::-1] + formulas[:2], LARGER, parameters(formulas).t)


def test_single_precision_is_enough() -> None:
    formulas = [parse(text) for text in EXAMPLES.values()]
    check(formulas, LARGER, parameters(formulas).t, torch.float32, 1e-3)


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@settings(max_examples=25, deadline=None)
@given(data=st.data(), naive=batches)
def test_networks_compute_random_joins(depth: int, data: st.DataObject, naive: list[Naive]) -> None:
    formulas = data.draw(st.lists(guarded_joins(depth), min_size=1, max_size=3))
    check(formulas, naive, parameters(formulas).t)


@settings(max_examples=10, deadline=None)
@given(formula=guarded_joins(2), naive=naive_structures(max_objects=4))
def test_over_all_pairs_the_network_computes_the_whole_denotation(
    formula: Conjunction | Disjunction | Join, naive: Naive
) -> None:
    """The paper's network embeds every pair of O², also those that are in no atom."""
    t = parameters([formula]).t
    network = network_for([formula], t).double()
    readout = linear_readout(network.dim, [1.0], 0.0).double()
    pairs = list(itertools.product(range(naive[0]), repeat=2))
    dense = SimpleNamespace(embed=network, readout=readout)
    with torch.no_grad():
        embeddings, value = naive_rgnn(dense, pairs, naive_pairs(naive, t))
    (denotation,) = evaluate(formula, from_naive([naive]))
    for pair in pairs:
        assert abs(float(embeddings[pair][0]) - (pair in denotation)) <= TOLERANCE
    assert float(value) == pytest.approx(sum(u == v for u, v in denotation), abs=naive[0] * TOLERANCE)


@pytest.mark.parametrize("leaves", [1, 10, 150])
def test_the_number_of_messages_does_not_matter(leaves: int) -> None:
    star = (leaves + 1, {("edge", (0, leaf)) for leaf in range(1, leaves + 1)} | {("goal@goal", (0, 1))})
    texts = ["∃z[edge(x,z) ∧ goal@goal(y,z)]", "∃z[edge(z,x) ∧ goal@goal(z,y)]", "∃z[goal@goal(z,x) ∧ goal@goal(z,y)]"]
    check([parse(text) for text in [*texts, "edge(x,y) ∧ ¬goal@goal(x,y)"]], [star], 1)


def test_a_crowd_of_messages_that_say_nothing_is_no_message() -> None:
    """A quarter of a million messages raise the smooth maximum by one; a message of truth is far louder."""
    crowd = 250_000
    arguments = torch.cat([torch.tensor([0, 1]), torch.zeros(crowd, dtype=torch.int64)])
    counts = torch.tensor([[1], [0], [crowd], [0]], dtype=torch.int32)
    structures = Pairs(0)(Structures(SIGNATURE, arguments, counts, torch.tensor([2])))
    network = network_for([parse("edge(x,y)"), parse("¬edge(x,y)")], 0).double()
    with torch.no_grad():
        found = network(structures.disjoint_union())
    assert structures.pairs.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    expected = torch.tensor([[0, 1], [1, 0], [0, 1], [0, 1]], dtype=torch.float64)
    torch.testing.assert_close(found, expected, rtol=0, atol=TOLERANCE)


def test_more_layers_change_nothing() -> None:
    formulas = [parse(text) for text in EXAMPLES.values()]
    t = parameters(formulas).t
    network = network_for(formulas, t).double()
    union = Pairs(t)(from_naive(LARGER)).disjoint_union()
    with torch.no_grad():
        before = network(union)
        network.layers += 20
        torch.testing.assert_close(network(union), before, rtol=0, atol=TOLERANCE)


def test_many_joins_of_few_operands_fit_into_the_hidden_layer() -> None:
    formula = Disjunction(tuple(Join(left, right) for left in ATOMS for right in ATOMS))
    assert parameters([formula]).dim == 6  # four atoms and the disjunction would be five, with 15 units for 16 joins
    check([formula], LARGER, 1)


def test_a_join_of_long_reach_is_not_seen_by_a_smaller_t() -> None:
    """The pair at distance 3 is in no atom of A_1, so t = 2 is the least that can do."""
    path = (4, {("edge", (o, o + 1)) for o in range(3)})
    formula = parse(EXAMPLES["depth 2"].replace("goal@goal", "edge"))
    assert parameters([formula]).t == 2
    assert evaluate(formula, from_naive([path])) == [{(0, 3)}]
    assert [0, 3] not in Pairs(1)(from_naive([path])).pairs.tolist()
    check([formula], [path], 2)


def test_the_network_is_an_ordinary_one() -> None:
    formulas = [parse(EXAMPLES["depth 3"])]
    network = network_for(formulas, 2)
    needed = parameters(formulas)
    assert (network.dim, network.layers, network.sharpness) == (needed.dim, needed.layers, SHARPNESS)
    assert compiler.TRIANGLE == TRIANGLE


def test_refusals() -> None:
    relations = Pairs(0).signature(SIGNATURE).relations
    with pytest.raises(TrifoldError, match="no binary relation red"):
        compile_joins([Atom("red")], relations)
    with pytest.raises(TrifoldError, match="no binary relation blue"):
        compile_joins([Atom("edge") & Atom("blue")], relations)
    with pytest.raises(TrifoldError, match="joins need compositions"):
        compile_joins([Join(Atom("edge"), Atom("edge"))], relations)
    with pytest.raises(TrifoldError, match="can hold of pairs that are in no atom"):
        compile_joins([Join(Atom("edge"), ~Atom("edge"))], Pairs(1).signature(SIGNATURE).relations)

"""The theorem as printed is too broad; the guarded fragment says for which joins it holds, and with which t."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from join_strategies import any_joins, guarded_joins
from oracles import Naive, from_naive, naive_pairs, naive_rgnn, naive_structures, related
from trifold.encoders import Pairs
from trifold.errors import TrifoldError
from trifold.logic import (
    Atom,
    Conjunction,
    Disjunction,
    Formula,
    Join,
    Parameters,
    converse,
    evaluate,
    holds_apart,
    parameters,
    parse,
    reaches,
    required_t,
    subformulas,
)
from trifold.logic.navig_xy import near_goal
from trifold.model import HeadedNetwork, ModelConfig
from trifold.structures import READOUT, Signature

COUNTEREXAMPLE = parse("∃z[¬r(x,z) ∧ s(y,z)]")
A, B, C = range(3)
STRUCTURE = (3, {("s", (B, C))})
SIGNATURE = Signature.of([("r", 2), ("s", 2)])
LEVELS = [0, 1, 2, 3, math.inf]


@pytest.mark.parametrize("t", LEVELS)
def test_the_theorem_as_printed_fails(t: float) -> None:
    """φ holds of ⟨a,b⟩ and not of ⟨a,c⟩, yet both pairs are in no atom of A_t: every network embeds them alike."""
    (denotation,) = evaluate(COUNTEREXAMPLE, from_naive([STRUCTURE], SIGNATURE))
    assert (A, B) in denotation and (A, C) not in denotation

    encoded = naive_pairs(STRUCTURE, t)
    assert {(A, B), (A, C)}.isdisjoint({pair for _, pairs in encoded for pair in pairs})
    live = Pairs(t)(from_naive([STRUCTURE], SIGNATURE)).pairs.tolist()
    assert [A, B] not in live and [A, C] not in live

    relations = [relation for relation in Pairs(t).signature(SIGNATURE) if relation.name != READOUT]
    for seed in range(3):
        network = HeadedNetwork.seeded(relations, ModelConfig(t=t, dim=4, layers=3), seed).double()
        embeddings, _ = naive_rgnn(network, list(itertools.product(range(3), repeat=2)), encoded)
        assert torch.equal(embeddings[A, B], embeddings[A, C])
        assert not torch.equal(embeddings[A, B], embeddings[B, C])


def test_the_counterexample_is_refused_with_its_reason() -> None:
    for function in (lambda: required_t([COUNTEREXAMPLE]), lambda: parameters([COUNTEREXAMPLE])):
        with pytest.raises(TrifoldError, match=r"operand ¬r\(x,y\) can hold of pairs that are in no atom") as refusal:
            function()
        assert refusal.value.place == "∃z[¬r(x,z) ∧ s(y,z)]"
        assert "guard" in str(refusal.value.remedy)


@pytest.mark.parametrize(
    ("text", "reach", "t"),
    [
        ("r(x,y)", 1, 0),
        ("¬r(x,y)", math.inf, 0),
        ("¬r(x,y) ∧ s(y,x)", 1, 0),
        ("¬r(x,y) ∨ s(y,x)", math.inf, 0),
        ("∃z[r(x,z) ∧ s(y,z)]", 2, 1),
        ("∃z[r(x,z) ∧ ¬s(x,z) ∧ s(y,z)] ∨ ¬s(x,y)", math.inf, 1),
        ("∃z[(r(x,z) ∨ s(x,z)) ∧ (¬r(y,z) ∨ s(y,z)) ∧ r(y,z)]", 2, 1),
        ("∃z[∃y[r(x,y) ∧ s(z,y)] ∧ s(y,z)]", 3, 2),
        ("∃z[∃y[r(x,y) ∧ s(z,y)] ∧ r(x,z) ∧ s(y,z)]", 2, 1),
        ("∃z[∃y[r(x,y) ∧ s(z,y)] ∧ ∃x[r(y,x) ∧ s(z,x)]]", 4, 2),
        ("∃z[∃y[∃z[r(x,z) ∧ s(y,z)] ∧ s(z,y)] ∧ s(y,z)]", 4, 3),
    ],
)
def test_reach_and_t(text: str, reach: float, t: int) -> None:
    formula = parse(text)
    assert reaches([formula])[formula] == reach
    assert required_t([formula]) == t


@pytest.mark.parametrize("text", ["∃z[r(x,z) ∧ ¬s(y,z)]", "∃z[(r(x,z) ∨ ¬s(x,z)) ∧ s(y,z)] ∧ r(x,y)"])
def test_an_unguarded_operand_is_refused_wherever_it_is(text: str) -> None:
    with pytest.raises(TrifoldError, match="can hold of pairs that are in no atom"):
        required_t([Atom("r"), parse(text)])


@given(any_joins, naive_structures())
def test_pairs_of_a_formula_are_within_its_reach(formula: Any, naive: Naive) -> None:
    reach = reaches([formula])[formula]
    (denotation,) = evaluate(formula, from_naive([naive]))
    within = {(o, o) for o in range(naive[0])} | related(naive, 1)
    for _ in range(int(min(reach, naive[0]))):
        within = {(a, c) for a, b in within for b2, c in related(naive, 1) if b == b2}
    assert reach == math.inf or denotation <= within


@settings(max_examples=50)
@given(guarded_joins(2), naive_structures())
def test_a_formula_of_the_fragment_is_true_of_all_pairs_without_atoms_or_of_none(
    formula: Conjunction | Disjunction | Join, naive: Naive
) -> None:
    (denotation,) = evaluate(formula, from_naive([naive]))
    live = {pair for _, pairs in naive_pairs(naive, required_t([formula])) for pair in pairs}
    apart = set(itertools.product(range(naive[0]), repeat=2)) - live
    assert denotation & apart == (apart if holds_apart(formula) else set())


def test_nesting_without_guards_needs_the_paper_s_t() -> None:
    """A join of atoms nested to depth q on both sides has operands of reach 2^(q−1): t is the quantifier depth."""
    formula: Formula = Atom("r")
    for depth in range(1, 6):
        formula = Join(formula, formula)
        assert required_t([formula]) == depth


def test_the_formulas_of_navig_xy_need_their_guard_for_t_1() -> None:
    printed: Formula = Atom("at@goal")
    for _ in range(16):  # as the paper prints φ_k
        x = Join(Atom("succ-x") | Atom("succ-x", "yx"), converse(printed))
        y = Join(printed, Atom("succ-y") | Atom("succ-y", "yx"))
        printed = ~Atom("blocked") & (x | y)
    assert (reaches([printed])[printed], required_t([printed])) == (17, 5)
    assert required_t(near_goal(16)) == 1


def test_the_parameters_of_several_joins() -> None:
    join = parse("∃z[r(x,z) ∧ s(z,y)]")
    assert parameters([join]) == Parameters(t=1, dim=3, layers=2)
    assert parameters([join, Atom("r")]) == Parameters(t=1, dim=3, layers=2)
    assert parameters([Join(join, join)]) == Parameters(t=2, dim=7, layers=3)
    assert parameters([]) == Parameters(t=0, dim=0, layers=0)


@given(st.lists(guarded_joins(2), min_size=1, max_size=3))
def test_the_parameters_are_bounded_by_the_subformulas(formulas: Any) -> None:
    needed, distinct = parameters(formulas), subformulas(formulas)
    assert needed.dim <= len(formulas) + 2 * len(distinct)
    assert needed.layers <= len(distinct)


def test_the_example_of_the_page_runs() -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "theorem.md"
    (example,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[Any, Any] = {}
    exec(example, names)
    assert f"# {names['needed']}\n" in example

"""Relational joins are read as they are printed, denote what their truth says, and outside J₃ they are refused."""

from __future__ import annotations

import copy
import itertools
import pickle
from typing import Any

import pytest
from hypothesis import given, settings

from join_strategies import any_joins, holds
from oracles import Naive, batches, from_naive, naive_structures
from trifold.errors import TrifoldError
from trifold.logic import Atom, Conjunction, Disjunction, Formula, Join, converse, evaluate, parse, subformulas

R, S = Atom("r"), Atom("s")


@given(any_joins)
def test_what_is_printed_is_read_back(formula: Any) -> None:
    assert parse(str(formula)) is formula
    plain = str(formula).translate({ord("∧"): "&", ord("∨"): "|", ord("¬"): "~", ord("∃"): "exists "})
    assert parse(plain) is formula


@given(any_joins)
def test_three_variables_are_enough_to_print_any_join(formula: Any) -> None:
    names = set("".join(c if c.isalnum() or c in "@-" else " " for c in str(formula)).split())
    assert names <= {"x", "y", "z", "edge", "goal@goal"}


@settings(max_examples=50)
@given(any_joins, batches)
def test_a_denotation_holds_the_pairs_of_which_the_formula_is_true(formula: Any, naive: list[Naive]) -> None:
    for structure, denotation in zip(naive, evaluate(formula, from_naive(naive)), strict=True):
        pairs = itertools.product(range(structure[0]), repeat=2)
        assert denotation == {(u, v) for u, v in pairs if holds(formula, structure, u, v)}


@given(any_joins, naive_structures())
def test_the_converse_holds_of_the_pairs_turned_round(formula: Any, naive: Naive) -> None:
    structures = from_naive([naive])
    ((there,), (back,)) = evaluate(formula, structures), evaluate(converse(formula), structures)
    assert back == {(v, u) for u, v in there}
    assert converse(converse(formula)) is formula


@given(any_joins)
def test_formulas_that_look_alike_are_one_object(formula: Any) -> None:
    assert copy.deepcopy(formula) is formula
    assert pickle.loads(pickle.dumps(formula)) is formula


def test_a_formula_costs_as_much_as_its_distinct_parts() -> None:
    formula: Formula = R
    for _ in range(100):  # as a tree it has 2^100 leaves
        formula = Join(formula, converse(formula))
    assert len(subformulas([formula])) == 201  # two of each level, and the last
    assert len(repr(formula)) < 1000


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("r(x,y) & s(y,x) & ~r(x,y)", R & Atom("s", "yx") & ~R),
        ("r(x,y) ∨ s(x,y) ∧ r(x,y)", R | (S & R)),
        ("(r(x,y) ∨ s(x,y)) ∧ r(x,y)", (R | S) & R),
        ("(r(x,y) ∧ s(x,y)) ∧ r(x,y)", Conjunction((R & S, R))),
        ("∃z[r(x,z) ∧ s(y,z)]", Join(R, S)),
        ("∃z[s(y,z) ∧ r(x,z)]", Join(R, S)),
        ("∃z[s(z,y) ∧ r(z,x) ∧ ¬s(x,z)]", Join(Atom("r", "yx") & ~S, Atom("s", "yx"))),
        ("∃z[∃y[r(x,y) ∧ s(z,y)] ∧ r(y,z)]", Join(Join(R, S), R)),
        ("exists z[exists other[r(x,other) & s(z,other)] & (r(y,z) | s(y,z))]", Join(Join(R, S), Disjunction((R, S)))),
        ("succ-x(x,y) | at@goal(y,x)", Atom("succ-x") | Atom("at@goal", "yx")),
    ],
)
def test_a_text_means_its_formula(text: str, formula: Conjunction | Disjunction | Join) -> None:
    assert parse(text) is formula


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "an atom, ¬, ∃ or a bracket should stand here"),
        ("r(x,y) s(x,y)", "should end here"),
        ("r(x,y", r"'\)' should stand here"),
        ("r(x)", "',' should stand here"),
        ("r(x,y) ∧ $", "should stand here"),
        ("r(x,x)", r"r\(x,x\) should have the variables x and y"),
        ("r(x,z)", "should have the variables x and y"),
        ("¬(r(x,y) ∧ s(x,y))", "only an atom can be negated"),
        ("¬¬r(x,y)", "only an atom can be negated"),
        ("∃z[r(x,z)]", "each conjunct has the variables x and z or y and z"),
        ("∃z[r(x,z) ∨ s(y,z)]", "should be a conjunction"),
        ("∃z[r(x,z) ∧ s(y,z) ∧ r(x,y)]", "each conjunct"),
        ("∃x[r(x,y) ∧ s(y,x)]", "binds a variable that is free"),
    ],
)
def test_what_is_no_join_is_refused(text: str, reason: str) -> None:
    with pytest.raises(TrifoldError, match=reason):
        parse(text)


def test_operators_refuse_what_j3_lacks() -> None:
    with pytest.raises(TrifoldError, match=r"negated atoms only.*r\(x,y\) ∧ s\(x,y\)"):
        ~(R & S)
    with pytest.raises(ValueError, match="at least two operands"):
        Conjunction((R,))


@pytest.mark.parametrize("name", ["red", "triple", "nothing"])
def test_only_binary_relations_of_the_structure_are_evaluated(name: str) -> None:
    with pytest.raises(TrifoldError, match=f"no binary relation {name}"):
        evaluate(Atom(name), from_naive([(2, set())]))

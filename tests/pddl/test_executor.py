"""The executor: what each construct of PDDL means, on states that can be checked by hand."""

from __future__ import annotations

import pytest

from trifold.pddl.executor import Executor


def task(rules: str, init: str = "", goal: str = "(g)", objects: str = "a1 a2 - a b1 - b") -> Executor:
    return Executor.load(
        f"""(define (domain d) (:types a b c - object sub - a) (:constants k - sub c1 - c)
          (:predicates (p ?x) (q ?x ?y) (r) (g) (e ?x) (t ?x ?y)) {rules})""",
        f"(define (problem x) (:domain d) (:objects {objects}) (:init {init}) (:goal {goal}))",
    )


def condition(formula: str, init: str = "") -> bool:
    found = task(f"(:action go :parameters () :precondition {formula} :effect (g))", init)
    assert found.applicable(found.initial) == (["(go)"] if found.is_applicable(found.initial, "(go)") else [])
    return found.is_applicable(found.initial, "(go)")


@pytest.mark.parametrize(
    ("formula", "init", "holds"),
    [
        ("(and)", "", True),
        ("(or)", "", False),
        ("()", "", True),
        ("(p k)", "(p k)", True),
        ("(not (p k))", "(p k)", False),
        ("(or (r) (p k))", "(p k)", True),
        ("(imply (r) (g))", "", True),
        ("(imply (r) (g))", "(r)", False),
        ("(exists (?x - a) (p ?x))", "(p b1)", False),
        ("(exists (?x - a) (p ?x))", "(p k)", True),  # of a type below
        ("(exists (?x - (either b c)) (p ?x))", "(p c1)", True),
        ("(exists (?x - (either b c)) (p ?x))", "(p a1)", False),
        ("(forall (?x - (either b c)) (p ?x))", "(p c1)", False),
        ("(forall (?x - (either b c)) (p ?x))", "(p c1) (p b1)", True),
        ("(forall (?x ?y - b) (= ?x ?y))", "", True),
        ("(forall (?x ?y - a) (= ?x ?y))", "", False),
        ("(exists (?x) (and (p ?x) (exists (?x) (and (not (p ?x)) (q ?x ?x)))))", "(p a1) (q b1 b1)", True),
        ("(exists (?x) (and (p ?x) (exists (?x) (and (not (p ?x)) (q ?x ?x)))))", "(p a1) (q a1 a1)", False),
        ("(not (or (r) (not (p k))))", "(p k)", True),
        ("(and (or (r) (g)) (or (p k) (p c1)))", "(r)", False),
    ],
)
def test_a_condition_means_what_pddl_says(formula: str, init: str, holds: bool) -> None:
    assert condition(formula, init) is holds


def test_parameters_take_objects_of_their_types_and_of_those_below() -> None:
    found = task("(:action go :parameters (?x - a ?y - (either b c)) :precondition (not (= ?x k)) :effect (q ?x ?y))")
    assert found.applicable(found.initial) == ["(go a1 b1)", "(go a1 c1)", "(go a2 b1)", "(go a2 c1)"]
    for wrong in ("(go k b1)", "(go b1 b1)", "(go a1 a1)", "(go a1)", "(go a1 b1 c1)", "(stay a1)", "(go a1 z)", "()"):
        assert not found.is_applicable(found.initial, wrong)
        with pytest.raises(ValueError, match="is not applicable"):
            found.apply(found.initial, wrong)
    assert found.is_applicable(found.initial, "( GO  A1 b1 )")


def test_effects_look_at_the_state_before_and_what_is_added_stays() -> None:
    found = task(
        """(:action go :parameters (?x - a) :effect (and (not (p ?x)) (p ?x) (when (r) (not (r))) (when (not (r)) (r))
          (forall (?y - b) (and (when (exists (?z) (q ?z ?y)) (e ?y)) (not (q ?x ?y))))))""",
        "(q a1 b1)",
    )
    first = found.apply(found.initial, "(go a1)")
    assert first == {("p", "a1"), ("r",), ("e", "b1")}
    assert found.apply(first, "(go a1)") == {("p", "a1"), ("e", "b1")}


def test_derived_atoms_are_the_least_fixed_point_stratum_by_stratum() -> None:
    found = task(
        """(:derived (t ?x ?y) (or (q ?x ?y) (exists (?z) (and (q ?x ?z) (t ?z ?y)))))
           (:derived (e ?x) (and (p ?x) (not (exists (?y) (t ?x ?y)))))
           (:derived (g) (forall (?x - a) (or (= ?x k) (e ?x) (t ?x c1))))
           (:action go :parameters (?x ?y) :precondition (e ?y) :effect (q ?x ?y))""",
        "(q a1 b1) (q b1 a2) (q a2 b1) (p c1) (p a1) (p k)",
    )
    closure = found.closure(found.initial)
    assert {fact for fact in closure if fact[0] == "t"} == {
        ("t", x, y) for x in ("a1", "b1", "a2") for y in ("b1", "a2")
    }
    assert {fact for fact in closure if fact[0] == "e"} == {("e", "c1"), ("e", "k")}
    assert not found.is_goal(found.initial)
    assert found.is_goal(found.apply(found.initial, "(go b1 c1)"))
    assert found.closure(frozenset()) == frozenset()


def test_goals_have_negated_literals_and_constants() -> None:
    found = task("(:action go :parameters () :effect (r))", "(p k)", "(and (p k) (not (r)))")
    assert found.is_goal(found.initial) and not found.is_goal(found.apply(found.initial, "(go)"))


def test_what_holds_of_everything_is_known_before_its_negation() -> None:
    found = task("(:derived (e ?x) (and)) (:derived (p ?x) (not (forall (?y) (e ?y))))")
    assert found.closure(frozenset()) == {("e", name) for name in ("a1", "a2", "b1", "c1", "k")}

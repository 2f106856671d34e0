"""Rewriting: whatever a condition says, and wherever it stands, pymimir sees what the executor sees."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from trifold.errors import TrifoldError
from trifold.pddl import Problem, expand, load_domain, load_problem
from trifold.pddl.engine import Engine, create_context
from trifold.pddl.executor import Executor

UPSTREAM = Path(__file__).parent / "upstream"


def successors(task: Executor, state: frozenset[tuple[str, ...]]) -> dict[str, frozenset[tuple[str, ...]]]:
    return {action: task.apply(state, action) for action in task.applicable(state)}


def atoms(problem: Problem, state: object) -> set[tuple[str, ...]]:
    return {tuple(atom[1:-1].split()) for atom in problem.atoms(state)}  # type: ignore[arg-type]


def assert_alike(domain: str, text: str, most: int = 300) -> int:
    """Walk both engines through all states together; how many there are."""
    problem, task = load_problem(load_domain(domain), text), Executor.load(domain, text)
    seen, queue = {task.initial}, [(problem.initial_state, task.initial)]
    for handle, state in queue:
        assert atoms(problem, handle) == task.closure(state)
        assert problem.is_goal(handle) == task.is_goal(state)
        ours, theirs = successors(task, state), dict(problem.successors(handle))
        assert list(theirs) == sorted(ours)
        for action, successor in ours.items():
            if successor not in seen and len(seen) < most:
                seen.add(successor)
                queue.append((theirs[action], successor))
    return len(seen)


# All states over four atoms, and a condition in every place where there can be one.
FLIPS = "".join(
    f"(:action {verb}-{p} :parameters () :precondition (and) :effect {effect})"
    for p in "pqrs"
    for verb, effect in (("set", f"({p})"), ("clear", f"(not ({p}))"))
)
PLACES = {
    "precondition": "(:action go :parameters () :precondition {} :effect (g))",
    "when": "(:action go :parameters () :effect (and (when {} (g)) (when (g) (not (g)))))",
    "derived": "(:derived (d) {}) (:action go :parameters () :precondition (d) :effect (g))",
    "not derived": "(:derived (d) {}) (:action go :parameters () :precondition (not (d)) :effect (g))",
    "exists": "(:action go :parameters () :precondition (exists (?y) (and (u ?y) {})) :effect (g))",
    "forall": "(:action go :parameters () :precondition (forall (?y) (or (u ?y) {})) :effect (g))",
    "not": "(:action go :parameters () :precondition (not {}) :effect (g))",
}
HEAD = "(define (domain d) (:predicates (p) (q) (r) (s) (g) (d) (u ?y))"
PROBLEM = "(define (problem x) (:domain d) (:objects a b) (:init (u a)) (:goal (g)))"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("shape", ["(and (or {} {}) (or {} {}))", "(and (imply {} {}) (imply {} {}))"])
def test_two_disjunctions_are_read_rightly_whatever_their_signs_and_place(place: str, shape: str) -> None:
    for signs in product((True, False), repeat=4):
        literals = (f"({p})" if sign else f"(not ({p}))" for p, sign in zip("pqrs", signs, strict=True))
        text = f"{HEAD} {FLIPS} {PLACES[place].format(shape.format(*literals))})"
        assert assert_alike(text, PROBLEM) >= 16


@pytest.mark.parametrize(
    "condition",
    [
        "(or)",
        "(and)",
        "()",
        "(or (p) (not (p)))",
        "(and (p) (not (p)))",
        "(or (p) (and (p) (p)))",
        "(and (p) (or (q) (r)) (or (not (q)) (s)))",
        "(not (or (p) (and (q) (not (r)))))",
        "(imply (or (p) (q)) (and (r) (s)))",
        "(exists (?y) (or (u ?y) (p)))",
        "(forall (?y) (or (u ?y) (p)))",
        "(forall (?y) (exists (?z) (or (= ?y ?z) (p))))",
        "(exists (?y) (forall (?z) (imply (u ?z) (= ?y ?z))))",
        "(not (exists (?y ?z) (and (u ?y) (not (= ?y ?z)) (p))))",
        "(exists (?y) (and (u ?y) (exists (?y) (and (not (u ?y)) (p)))))",
        "(and (forall (?y) (or (u ?y) (p))) (forall (?y) (or (u ?y) (q))))",
        "(or (forall (?y) (u ?y)) (not (forall (?y) (imply (p) (u ?y)))))",
    ],
)
@pytest.mark.parametrize("place", PLACES)
def test_formulas_of_every_kind_are_read_rightly(place: str, condition: str) -> None:
    assert assert_alike(f"{HEAD} {FLIPS} {PLACES[place].format(condition)})", PROBLEM) >= 16


EITHER = """(define (domain d) (:types a b c e - object d - b)
  (:predicates (m ?x) (n ?x - (either a b)) (g))
  (:action mark :parameters (?x - (either a b)) :precondition (not (m ?x)) :effect (m ?x))
  (:action both :parameters (?x - (either a b) ?y - (either b c)) :precondition (and (m ?x) (not (= ?x ?y)))
   :effect (and (n ?x) (forall (?z - (either a c)) (when (m ?z) (not (m ?z))))))
  (:action go :parameters () :precondition (and (exists (?x - (either a b)) (n ?x))
    (forall (?x - (either b a)) (or (m ?x) (n ?x)))) :effect (g)))"""


def test_a_variable_of_several_types_stands_for_objects_of_any_of_them() -> None:
    text = "(define (problem x) (:domain d) (:objects o - a u v - d w - c t - e) (:init (m w)) (:goal (g)))"
    assert assert_alike(EITHER, text) > 10


def test_a_predicate_may_be_the_only_one_that_takes_several_types() -> None:
    domain = "(define (domain d) (:types a b) (:predicates (p ?x - (either a b)) (g)) (:action go :effect (g)))"
    assert assert_alike(domain, "(define (problem x) (:domain d) (:objects o - a) (:init (p o)) (:goal (g)))") == 2


def test_types_and_definitions_may_have_names_that_pymimir_would_not_take() -> None:
    domain = """(define (domain 1.d) (:types number a - object) (:predicates (p ?x) (a ?x) (g))
      (:action go :parameters (?x - (either number a)) :precondition (and (a ?x) (not (p ?x))) :effect (p ?x))
      (:action end :parameters (?x - number) :precondition (p ?x) :effect (g)))"""
    text = "(define (problem 2#q) (:domain 1.d) (:objects o - number u v - a w) (:init (a o) (a u) (a w)) (:goal (g)))"
    assert assert_alike(domain, text) == 6


def test_what_is_invented_gets_names_that_nothing_else_has() -> None:
    domain = EITHER.replace("(g))", "(g) (invented) (either-type) (a))", 1)
    text = "(define (problem x) (:domain d) (:objects o - a u v - d w - c t - e) (:init (m w) (a)) (:goal (g)))"
    assert assert_alike(domain, text) > 10


def disjunctions(count: int) -> str:
    names = [f"{letter}{i}" for i in range(count) for letter in "pq"]
    sets = "".join(f"(:action set-{name} :parameters () :effect ({name}))" for name in names)
    both = " ".join(f"(or (p{i}) (q{i}))" for i in range(count))
    predicates = " ".join(f"({name})" for name in names)
    return (
        f"(define (domain d) (:predicates (g) {predicates}) {sets} (:action go :precondition (and {both}) :effect (g)))"
    )


def test_many_disjunctions_are_derived_instead_of_multiplied_out() -> None:
    text = "(define (problem x) (:domain d) (:objects o) (:init) (:goal (g)))"
    assert ":derived" not in load_domain(disjunctions(5)).rewritten
    large = load_domain(disjunctions(20)).rewritten
    assert ":derived" in large and len(large) < 100 * len(disjunctions(20))
    task = Executor.load(disjunctions(20), text)
    problem = load_problem(load_domain(disjunctions(20)), text)
    state, handle = task.initial, problem.initial_state
    for i in range(20):
        action = f"(set-{'pq'[i % 2]}{i})"
        assert "(go)" not in dict(problem.successors(handle)) and not task.is_applicable(state, "(go)")
        state, handle = task.apply(state, action), dict(problem.successors(handle))[action]
    assert "(go)" in dict(problem.successors(handle)) and task.is_applicable(state, "(go)")


def test_what_stands_before_effects_is_not_repeated_for_hundreds_of_disjuncts() -> None:
    names = [f"p{i}" for i in range(200)]
    many, predicates = (" ".join(f"({name})" for name in names) for _ in range(2))
    domain = f"""(define (domain d) (:predicates {predicates} (g) (h)) (:action set :effect (p7))
      (:action go :precondition (or {many}) :effect (and (when (or {many}) (and {many})) (g))))"""
    assert len(load_domain(domain).rewritten) < 30 * len(domain)
    assert assert_alike(domain, "(define (problem x) (:domain d) (:objects o) (:init) (:goal (g)))") == 3


def test_heads_may_have_other_types_than_their_predicate_and_variables_any_name() -> None:
    domain = """(define (domain d) (:types t) (:predicates (q ?x - t) (p ?1) (g)) (:derived (q ?x@y) (p ?x@y))
      (:action go :parameters (?é ?_) :precondition (and (q ?é) (not (p ?_))) :effect (p ?_)))"""
    text = "(define (problem x) (:domain d) (:objects a b - t c) (:init (p a)) (:goal (p c)))"
    assert assert_alike(domain, text) == 4


def test_what_would_grow_too_large_is_refused_at_once() -> None:
    pairs = " ".join(f"(or (p{i}) (q{i}))" for i in range(5))
    many = " ".join(f"(and (x{i}) {pairs})" for i in range(2000))
    predicates = " ".join(f"({name})" for name in [f"{c}{i}" for c in "pq" for i in range(5)])
    flags = " ".join(f"(x{i})" for i in range(2000))
    with pytest.raises(TrifoldError, match="without disjunctions"):
        load_domain(f"(define (domain d) (:predicates {predicates} {flags}) (:action go :precondition (or {many})))")


@pytest.mark.parametrize("rule", ["(not (d))", "(forall (?y) (or (u ?y) (d)))", "(and (p) (imply (d) (q)))"])
def test_a_derived_predicate_that_depends_on_its_negation_is_refused(rule: str) -> None:
    with pytest.raises(TrifoldError, match=r"its own negation.*: d"):
        load_domain(f"{HEAD} (:derived (d) {rule}) {FLIPS})")


@pytest.mark.parametrize(
    "rules",
    [
        "(:derived (d) (p)) (:derived (e ?y) (not (d))) (:derived (e ?y) (d))",
        "(:derived (d) (p)) (:derived (e ?y) (or (not (d)) (and (d) (q))))",
        "(:derived (d) (or (d) (p))) (:derived (e ?y) (or (not (d)) (d)))",
        "(:derived (e ?y) (or (d) (and (not (d)) (or (f ?y) (q))))) (:derived (f ?y) (e ?y)) (:derived (d) (p))",
        "(:derived (e ?y - a) (p)) (:derived (e ?y - b) (q)) (:derived (f ?y) (exists (?z) (and (e ?z) (not (e ?y)))))",
    ],
)
def test_a_derived_predicate_may_need_another_and_its_negation(rules: str) -> None:
    domain = f"(define (domain d) (:types a b) (:predicates (p) (q) (r) (s) (d) (e ?y) (f ?y)) {FLIPS} {rules})"
    assert assert_alike(domain, "(define (problem x) (:domain d) (:objects o - a u - b) (:init) (:goal (p)))") == 16


def plan_length_by_pymimir(name: str) -> int | None:
    """The length of a shortest plan, if there is one, where pymimir reads the files as they are."""
    texts = [(UPSTREAM / f"{name}-{kind}.pddl").read_text() for kind in ("domain", "problem")]
    engine = Engine(create_context(*texts))
    level, seen = [engine.repository.get_or_create_initial_state()[0]], {0}
    for depth in range(9):
        if any(engine.goal.test_dynamic_goal(state) for state in level):
            return depth
        new = {}
        for state in level:
            for action in engine.generator.generate_applicable_actions(state):
                successor = engine.repository.get_or_create_successor_state(state, action, 0.0)[0]
                new[successor.get_index()] = successor
        level = [state for index, state in new.items() if index not in seen]
        seen |= new.keys()
    return None


@pytest.mark.parametrize(("name", "wrong", "right"), [("disjunctions", 2, 3), ("either", 1, 3), ("strata", None, 1)])
def test_pymimir_alone_gets_things_wrong_that_are_right_here(name: str, wrong: int | None, right: int) -> None:
    """When the first half fails, pymimir has mended its bug: see upstream/README.md."""
    assert plan_length_by_pymimir(name) == wrong
    space = expand(UPSTREAM / f"{name}-domain.pddl", UPSTREAM / f"{name}-problem.pddl", 1000)
    assert space.distances[space.initial] == right

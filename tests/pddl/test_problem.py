"""Problems: what is read, how states become structures, and every way in which input can be wrong."""

from __future__ import annotations

import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from trifold.errors import TrifoldError
from trifold.pddl import Problem, State, load_domain, load_problem

BLOCKS = """; four operators
(define (domain BLOCKS)
  (:predicates (on ?x ?y) (ontable ?x) (clear ?x) (handempty) (holding ?x))
  (:action pick-up :parameters (?x)
    :precondition (and (clear ?x) (ontable ?x) (handempty))
    :effect (and (not (ontable ?x)) (not (clear ?x)) (not (handempty)) (holding ?x)))
  (:action put-down :parameters (?x) :precondition (holding ?x)
    :effect (and (not (holding ?x)) (clear ?x) (handempty) (ontable ?x)))
  (:action stack :parameters (?x ?y) :precondition (and (holding ?x) (clear ?y))
    :effect (and (not (holding ?x)) (not (clear ?y)) (clear ?x) (handempty) (on ?x ?y)))
  (:action unstack :parameters (?x ?y) :precondition (and (on ?x ?y) (clear ?x) (handempty))
    :effect (and (holding ?x) (clear ?y) (not (clear ?x)) (not (handempty)) (not (on ?x ?y)))))
"""
THREE = """(define (problem Three) (:domain blocks) ; upper and lower case
  (:objects A b c)
  (:INIT (clear a) (ON a B) (ontable b) (clear c) (ontable c) (handempty))
  (:goal (and (on b c) (on c A) (handempty))))
"""
# Types, constants, a nullary atom, a static predicate, derived predicates, and conditions that pymimir compiles away.
ROOMS = """(define (domain rooms)
  (:types room thing - object ball box - thing)
  (:constants hall - room)
  (:predicates (at ?t - thing ?r - room) (here ?r - room) (door ?r ?s - room) (busy) (tidy ?r - room) (clean))
  (:derived (tidy ?r - room) (not (exists (?t - thing) (at ?t ?r))))
  (:derived (clean) (forall (?r - room) (or (tidy ?r) (= ?r hall))))
  (:action go :parameters (?r ?s - room) :precondition (and (here ?r) (or (door ?r ?s) (door ?s ?r)))
    :effect (and (not (here ?r)) (here ?s)))
  (:action take :parameters (?t - thing ?r - room) :precondition (and (here ?r) (at ?t ?r) (not (busy)))
    :effect (and (not (at ?t ?r)) (busy)))
  (:action drop :parameters (?t - thing ?r - room)
    :precondition (and (here ?r) (busy) (forall (?s - room) (not (at ?t ?s))))
    :effect (and (at ?t ?r) (not (busy)))))
"""
TIDY = """(define (problem tidy) (:domain rooms)
  (:objects kitchen - room x - ball y - box)
  (:init (at x kitchen) (at y hall) (here hall) (door hall kitchen))
  (:goal (and (at x hall) (not (busy)) (not (at y hall)) (not (tidy kitchen)))))
"""


def reachable(problem: Problem, most: int = 10_000) -> list[State]:
    """States in breadth-first order."""
    found = {problem.initial_state: None}
    queue = [problem.initial_state]
    for state in queue:
        for _, successor in problem.successors(state):
            if successor not in found and len(found) < most:
                found[successor] = None
                queue.append(successor)
    return queue


def naive_atoms(problem: Problem, state: State, types: dict[str, list[str]]) -> list[tuple[str, tuple[str, ...]]]:
    """A state's atoms by DESIGN's table, one printable atom after the other."""
    texts = [text.strip("()").split() for text in problem.atoms(state)]
    for literal in problem.goal:
        name, *arguments = literal.replace("(not ", "").strip("()").split()
        texts.append([f"{name}@goal{'-not' if literal.startswith('(not') else ''}", *arguments])
    texts += [[f"@constant-{name}", name] for name in problem.domain.description.named_constants]
    texts += [[kind, name] for kind, names in types.items() for name in names]
    atoms: set[tuple[str, tuple[str, ...]]] = set()
    for name, *arguments in texts:
        atoms |= {(name, tuple(arguments))} if arguments else {(name, (each,)) for each in problem.objects}
    return sorted(atoms)


def read_atoms(problem: Problem, states: list[State]) -> list[list[tuple[str, tuple[str, ...]]]]:
    """The atoms of each structure, by name."""
    structures = problem.structures(states)
    found: list[list[tuple[str, tuple[str, ...]]]] = [[] for _ in states]
    for r, name in enumerate(structures.signature.names):
        rows = iter(structures.atoms(name).tolist())
        for s, count in enumerate(structures.atom_counts[r].tolist()):
            chunk = list(islice(rows, count))
            assert chunk == sorted(chunk)
            found[s] += [(name, tuple(problem.objects[o] for o in row)) for row in chunk]
    return [sorted(atoms) for atoms in found]


def test_names_are_case_insensitive_and_comments_are_ignored() -> None:
    problem = load_problem(load_domain(BLOCKS), THREE)
    assert (problem.domain.name, problem.name, problem.objects) == ("blocks", "three", ("a", "b", "c"))
    assert problem.domain.text == BLOCKS and problem.text == THREE
    assert problem.goal == ("(on b c)", "(on c a)", "(handempty)")
    assert problem.atoms(problem.initial_state) == [
        "(clear a)", "(clear c)", "(handempty)", "(on a b)", "(ontable b)", "(ontable c)"
    ]  # fmt: skip
    assert [text for text, _ in problem.successors(problem.initial_state)] == ["(pick-up c)", "(unstack a b)"]


@pytest.mark.parametrize("never", ["(door kitchen hall)", "(not (door hall kitchen))"])
def test_a_goal_with_a_false_static_literal_never_holds(never: str) -> None:
    goal = "(and (at x hall) (not (busy)) (not (at y hall)) (not (tidy kitchen)))"
    reached = load_problem(load_domain(ROOMS), TIDY.replace(goal, "(and (here hall))"))
    assert reached.is_goal(reached.initial_state)
    problem = load_problem(load_domain(ROOMS), TIDY.replace(goal, f"(and (here hall) {never})"))
    assert not any(map(problem.is_goal, reachable(problem)))


@pytest.mark.parametrize(("domain", "text"), [(BLOCKS, THREE), (ROOMS, TIDY)])
def test_successors_are_sorted_by_the_text_of_their_actions(domain: str, text: str) -> None:
    """Whatever the order in which the domain declares its actions, or the engine finds them."""
    names = []
    for state in reachable(problem := load_problem(load_domain(domain), text)):
        texts = [action for action, _ in problem.successors(state)]
        assert texts == sorted(texts)
        names.append([action.split()[0] for action in texts])
    assert any(len(set(each)) > 1 for each in names)


def test_a_goal_literal_given_twice_is_one() -> None:
    domain = load_domain(BLOCKS)
    once = load_problem(domain, THREE)
    twice = load_problem(domain, THREE.replace("(on c A)", "(on c A) (on b c) (and (on C a) (handempty))"))
    assert twice.goal == once.goal
    assert read_atoms(twice, [twice.initial_state]) == read_atoms(once, [once.initial_state])


def test_paths_and_texts_are_read_alike(tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").write_text(BLOCKS)
    (tmp_path / "p.pddl").write_text("\ufeff" + THREE, encoding="utf-8")
    problem = load_problem(load_domain(str(tmp_path / "domain.pddl")), tmp_path / "p.pddl")
    assert len(reachable(problem)) == len(reachable(load_problem(load_domain(BLOCKS), THREE))) == 22


def test_signature_has_predicates_types_and_goal_relations_sorted_by_name() -> None:
    assert [(name, arity) for name, arity in load_domain(ROOMS).signature if "@" not in name] == [
        ("at", 2), ("ball", 1), ("box", 1), ("busy", 1), ("clean", 1), ("door", 2), ("here", 1), ("room", 1),
        ("thing", 1), ("tidy", 1),
    ]  # fmt: skip
    names = load_domain(ROOMS).signature.names
    assert list(names) == sorted(names)
    assert {"at@goal", "at@goal-not", "busy@goal-not"} <= set(names) and "ball@goal" not in names


@pytest.mark.parametrize(
    ("domain", "text", "types"),
    [
        (BLOCKS, THREE, {}),
        (ROOMS, TIDY, {"room": ["hall", "kitchen"], "ball": ["x"], "box": ["y"], "thing": ["x", "y"]}),
    ],
)
def test_structures_equal_the_naive_construction(domain: str, text: str, types: dict[str, list[str]]) -> None:
    problem = load_problem(load_domain(domain), text)
    states = reachable(problem)
    assert len(states) > 10
    assert read_atoms(problem, states) == [naive_atoms(problem, state, types) for state in states]
    assert read_atoms(problem, [states[7]]) == [naive_atoms(problem, states[7], types)]
    assert len(problem.structures([])) == 0


def test_derived_atoms_constants_and_compiled_conditions() -> None:
    problem = load_problem(load_domain(ROOMS), TIDY)
    assert problem.objects == ("hall", "kitchen", "x", "y")
    state = dict(problem.successors(problem.initial_state))["(go hall kitchen)"]
    assert [text for text, _ in problem.successors(state)] == ["(go kitchen hall)", "(take x kitchen)"]
    state = dict(problem.successors(state))["(take x kitchen)"]
    assert {"(tidy kitchen)", "(clean)", "(busy)"} <= set(problem.atoms(state))
    assert not any("axiom" in atom for atom in problem.atoms(state))


def test_the_goal_holds_exactly_where_its_literals_do() -> None:
    for domain, text in ((BLOCKS, THREE), (ROOMS, TIDY)):
        problem = load_problem(load_domain(domain), text)
        goals = 0
        for state in reachable(problem):
            true = set(problem.atoms(state))
            naive = all((goal[5:-1] not in true) if goal.startswith("(not") else goal in true for goal in problem.goal)
            assert problem.is_goal(state) == naive
            goals += naive
        assert goals


def test_equal_states_are_one_object() -> None:
    problem = load_problem(load_domain(BLOCKS), THREE)
    there = dict(problem.successors(problem.initial_state))["(pick-up c)"]
    back = dict(problem.successors(there))["(put-down c)"]
    assert back is problem.initial_state and back.problem is problem
    other = load_problem(problem.domain, THREE).initial_state
    assert other != back and len({other, back, there}) == 3


def test_a_type_with_the_name_of_a_predicate_gets_a_name_of_its_own() -> None:
    domain = load_domain(
        "(define (domain d) (:types room) (:predicates (room ?r) (p ?r - room))"
        "(:action a :parameters (?r - room) :precondition (room ?r) :effect (p ?r)))"
    )
    assert {"room", "room@type", "room@goal"} <= set(domain.signature.names)
    problem = load_problem(
        domain, "(define (problem q) (:domain d) (:objects k l - room) (:init (room k)) (:goal (p k)))"
    )
    structures = problem.structures([problem.initial_state])
    assert structures.atoms("room").tolist() == [[0]] and structures.atoms("room@type").tolist() == [[0], [1]]


@pytest.mark.parametrize("cost", ["5", "(weight ?x)"])
def test_total_cost_is_ignored_with_a_note(cost: str) -> None:
    costly = BLOCKS.replace(
        "(:action pick-up", "(:functions (total-cost) (weight ?x) - number)\n(:action pick-up"
    ).replace("(holding ?x)))\n  (:action put", f"(holding ?x) (increase (total-cost) {cost})))\n  (:action put")
    text = THREE.replace("(:INIT", "(:init (= (total-cost) 0) (= (weight a) 3)").replace(
        "(handempty))))", "(handempty))) (:metric minimize (total-cost)))"
    )
    problem = load_problem(load_domain(costly), text)
    assert problem.notes == ("costs are ignored: plans are counted in steps",)
    assert len(reachable(problem)) == 22
    assert load_problem(load_domain(BLOCKS), THREE).notes == ()


DOMAIN_ERRORS = {
    "empty": ("; nothing (\n", "empty"),
    "not pddl": ("hello (world)", "not PDDL"),
    "unclosed": (BLOCKS.rstrip()[:-1], "never closed"),
    "closed twice": (BLOCKS + ")", "never opened"),
    "trailing": (BLOCKS + "(define)", "text after"),
    "a problem": (THREE, "this is a problem"),
    "numeric condition": (BLOCKS.replace(":precondition (holding ?x)", ":precondition (>= (fuel) 1)"), "numeric"),
    "numeric effect": (BLOCKS.replace("(holding ?x)))", "(holding ?x) (increase (fuel) 1)))", 1), "numeric fluents"),
    "syntax": (BLOCKS.replace(":effect (and (not (ontable", ":efect (and (not (ontable"), "pick-up cannot be read"),
    "predicate": (BLOCKS.replace("(and (clear ?x) (ontable", "(and (cleer ?x) (ontable"), "cleer is not declared"),
    "arity": (BLOCKS.replace("(and (clear ?x) (ontable", "(and (on ?x) (ontable"), "on takes 2 arguments, not 1"),
    "variable": (BLOCKS.replace(":precondition (holding ?x)", ":precondition (holding ?z)"), "?z is not declared"),
    "constant": (BLOCKS.replace(":precondition (holding ?x)", ":precondition (holding z)"), "z is not declared"),
    "type": (BLOCKS.replace("(ontable ?x)", "(ontable ?x - blck)", 1), "blck is not declared"),
    "a variable's type": (BLOCKS.replace(":parameters (?x)", ":parameters (?x - b)", 1), "type b is not declared"),
    "a type above itself": (BLOCKS.replace("(:pred", "(:types a - b b - a) (:pred"), "above itself"),
    "requirement": (BLOCKS.replace("(:pred", "(:requirements :psychic) (:pred"), ":psychic is not supported"),
    "time": (
        BLOCKS.replace("(:pred", "(:requirements :durative-actions) (:pred"),
        "durative actions (:durative-actions)",
    ),
    "section": (BLOCKS.replace("(:action pick-up", "(:durative-action pick-up"), "durative actions (:durative-action)"),
    "numeric equation": (BLOCKS.replace(":precondition (holding ?x)", ":precondition (= (fuel ?x) 1)"), "numeric"),
    "one name twice": (BLOCKS.replace(":action put-down", ":action pick-up"), "two actions are called pick-up"),
    "one variable twice": (
        BLOCKS.replace("(?x ?y)\n", "(?x ?x)\n").replace(":parameters (?x ?y)", ":parameters (?x ?x)"),
        "?x is declared twice",
    ),
    "no name": (BLOCKS.replace("(:action pick-up", "(:action 1st"), "'1st' is not a name"),
    "not": (BLOCKS.replace(":precondition (holding ?x)", ":precondition (not)"), "'not' is used wrongly"),
    "a disjunctive effect": (
        BLOCKS.replace(":effect (and (holding", ":effect (or (holding"),
        "cannot stand in an effect",
    ),
    "a predicate of no name": (BLOCKS.replace("(:predicates", "(:predicates (object ?x)"), "object is a word of PDDL"),
    "dash": (BLOCKS.replace(":parameters (?x)", ":parameters (?x -)", 1), "syntax error"),
    "nameless": ("(define (domain) (:predicates))", "PDDL syntax error"),
}
PROBLEM_ERRORS = {
    "unclosed": (THREE.rstrip()[:-1], "never closed", "line 1"),
    "a domain": (BLOCKS, "this is a domain", "line 2"),
    "another domain": (THREE.replace("blocks", "gripper"), "of gripper, not of blocks", "line 1"),
    "object": (THREE.replace("(ON a B)", "(on a zz)"), "object zz is not declared", "line 3: (on a zz)"),
    "goal object": (THREE.replace("(on b c)", "(on b zz)"), "object zz is not declared", "line 4: (on b zz)"),
    "predicate": (THREE.replace("(ON a B)", "(over a b)"), "predicate over is not declared", "line 3"),
    "arity": (THREE.replace("(on b c)", "(on b)"), "on takes 2 arguments, not 1", "line 4"),
    "type": (THREE.replace("A b c", "a b c - block"), "type block is not declared", "line 2"),
    "twice": (THREE.replace("A b c", "a b c a"), "declared twice", "line 2"),
    "section": (THREE.replace("(:goal", "(:constraints (and)) (:goal"), "(:constraints) are not supported", "line 4"),
    "timed": (THREE.replace("(ON a B)", "(at 5 (on a b))"), "timed initial literals", "line 3: (at 5 (on a b))"),
    "no goal": (THREE.split("(:goal")[0] + ")", "no goal", "line 1"),
    "empty goal": (THREE.split("(:goal")[0] + "(:goal (and)))", "no goal", "line 4"),
    "empty goal, bare": (THREE.split("(:goal")[0] + "(:goal ()))", "no goal", "line 4"),
    "or": (THREE.replace("(on b c)", "(or (on b c) (on c b))"), "not a conjunction of literals", "line 4: (or"),
    "exists": (THREE.replace("(on b c)", "(exists (?x) (on ?x c))"), "where (on a c) does, and also where", "line 4"),
    "imply": (THREE.replace("(on b c)", "(imply (on b c) (clear c))"), "where (clear c) does, and also", "line 4"),
    "negated conjunction": (THREE.replace("(on b c)", "(not (and (on b c) (clear c)))"), "and also where", "line 4"),
    "or under forall": (THREE.replace("(on b c)", "(forall (?x) (or (clear ?x) (on ?x c)))"), "and also", "line 4"),
    "many instances": (
        THREE.replace("(on b c)", f"(forall ({' '.join(f'?x{i}' for i in range(12))}) (clear ?x1))"),
        "more than 100,000 parts",
        "line 4",
    ),
    "numeric goal": (THREE.replace("(on b c)", "(>= (fuel) 3)"), "numeric fluents", "line 4: (>= (fuel) 3)"),
    "numeric equality": (THREE.replace("(on b c)", "(not (= (fuel) 3))"), "numeric fluents", "line 4: (= (fuel) 3)"),
    "preference": (
        THREE.replace("(on b c)", "(preference p (on b c))"),
        "preferences (:preferences) are not",
        "line 4",
    ),
    "a goal that never holds": (THREE.replace("(on b c)", "(= b c)"), "it can never hold", "line 4"),
    "a goal that always holds": (
        THREE.split("(:goal")[0] + "(:goal (forall (?x) (= ?x ?x))))",
        "every state",
        "line 4",
    ),
    "a variable of no quantifier": (THREE.replace("(on b c)", "(on b ?x)"), "?x is not declared", "line 4"),
    "a type of no object": (THREE.replace("(on b c)", "(forall (?x - no) (clear ?x))"), "type no is not", "line 4"),
    "object under forall": (THREE.replace("(on b c)", "(forall (?x) (on ?x zz))"), "zz is not declared", "line 4"),
    "negated init": (THREE.replace("(ON a B)", "(not (on a b))"), "negated atom", "line 3"),
    "a word for an atom": (THREE.replace("(ON a B)", "on"), "syntax error", "line 3"),
    "no objects": ("(define (problem p) (:domain blocks) (:init) (:goal (handempty)))", "no objects", "problem text"),
    "word for a goal": (THREE.split("(:goal")[0] + "(:goal handempty))", "syntax error", "line 4"),
}


@pytest.mark.parametrize("case", DOMAIN_ERRORS)
def test_what_is_wrong_with_a_domain_is_said(case: str) -> None:
    text, message = DOMAIN_ERRORS[case]
    with pytest.raises(TrifoldError) as raised:
        load_domain(text)
    assert message in raised.value.message
    assert raised.value.place and raised.value.remedy


@pytest.mark.parametrize("case", PROBLEM_ERRORS)
def test_what_is_wrong_with_a_problem_is_said(case: str) -> None:
    text, message, place = PROBLEM_ERRORS[case]
    domain = load_domain(BLOCKS)
    with pytest.raises(TrifoldError) as raised:
        load_problem(domain, text)
    assert message in raised.value.message
    assert place in (raised.value.place or "") and raised.value.remedy


def test_a_problem_of_another_domain_is_to_be_used_with_its_own() -> None:
    with pytest.raises(TrifoldError) as raised:
        load_problem(load_domain(BLOCKS), THREE.replace("blocks", "gripper"))
    assert "a model, a domain file or a folder of gripper (`trifold models`" in (raised.value.remedy or "")


def test_objects_of_the_wrong_type_are_refused_in_the_goal_too() -> None:
    domain = load_domain(ROOMS)
    for right, wrong in (("(here hall)", "(here x)"), ("(at x hall)", "(at hall x)")):
        with pytest.raises(TrifoldError, match="is of type"):
            load_problem(domain, TIDY.replace(right, wrong))


@pytest.mark.parametrize("kind", ["missing", "folder", "binary"])
def test_files_that_cannot_be_read_are_named(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "domain.pddl"
    if kind == "folder":
        path.mkdir()
    elif kind == "binary":
        path.write_bytes(b"\xff\xfe(define")
    with pytest.raises(TrifoldError) as raised:
        load_domain(path)
    assert raised.value.place == str(path) and raised.value.remedy


@pytest.mark.parametrize(
    "ending", ["", "raise ValueError", "load_problem(domain, '(define')", "problem.successors(None)"]
)
def test_scripts_that_hold_problems_exit_in_silence(ending: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from trifold.pddl import load_domain, load_problem\n"
        f"domain = load_domain({BLOCKS!r})\nproblem = load_problem(domain, {THREE!r})\n"
        f"kept = problem.successors(problem.initial_state)\n{ending}\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.stdout == "" and "nanobind" not in done.stderr
    assert bool(ending) == bool(done.stderr)


def test_successors_and_structures_do_not_depend_on_the_process() -> None:
    """pymimir orders predicates differently from process to process."""
    script = (
        "from trifold.pddl import load_domain, load_problem\n"
        f"p = load_problem(load_domain({ROOMS!r}), {TIDY!r})\n"
        "s = p.structures([s for _, s in p.successors(p.initial_state)])\n"
        "print(p.objects, p.successors(p.initial_state), s.signature, s.arguments.tolist(), s.atom_counts.tolist())\n"
    )
    runs = [subprocess.run([sys.executable, "-c", script], capture_output=True, text=True) for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout and runs[0].stdout and not runs[0].stderr


@pytest.mark.parametrize(("domain", "problem"), [(BLOCKS, THREE), (ROOMS, TIDY)])
def test_a_state_is_told_by_its_atoms(domain: str, problem: str) -> None:
    """Of a problem that is read again, too, and then without the atoms that follow from the others."""
    one, other = (load_problem(load_domain(domain), problem) for _ in range(2))
    for state in reachable(one):
        atoms = one.atoms(state)
        assert one.state(reversed(atoms)) is state
        alike = other.state(atom for atom in atoms if not atom.startswith(("(door", "(tidy", "(clean")))
        assert other.atoms(alike) == atoms
        assert [action for action, _ in other.successors(alike)] == [action for action, _ in one.successors(state)]


@pytest.mark.parametrize(
    ("atom", "words"),
    [
        ("(lit hall)", "the predicate lit is not declared"),
        ("(here attic)", "the object attic is not declared"),
        ("(here hall kitchen)", "here takes 1 argument"),
        ("(here x)", "the object x is of type ball"),
        ("here hall", "an atom is written"),
        ("(here hall", "a parenthesis is never closed"),
        ("(door kitchen hall)", r"\(door kitchen hall\) does not hold"),
        ("(tidy kitchen)", r"\(tidy kitchen\) does not hold"),
    ],
)
def test_what_is_no_atom_of_a_state_is_refused_in_words(atom: str, words: str) -> None:
    problem = load_problem(load_domain(ROOMS), TIDY)
    with pytest.raises(TrifoldError, match=words):
        problem.state(["(at x kitchen)", "(at y hall)", atom])


def test_a_problem_and_its_states_show_themselves() -> None:
    problem = load_problem(load_domain(BLOCKS), THREE)
    assert repr(problem) == "Problem(three of blocks, 3 objects)"

"""The trace page: its data say what the explanation and the states say, and nothing in it can run but its script."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import random
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from trifold.domains import DOMAINS, domain_text
from trifold.errors import TrifoldError
from trifold.explanation import Choice, ExplainedStep, Explanation, explain
from trifold.expressions import Source
from trifold.pages import trace_page
from trifold.pages.drawing import choose_drawing
from trifold.pages.world import World
from trifold.pddl import Executor, Problem, load_domain, load_problem
from trifold.planning import goal_counts, states_along

SIZES: dict[str, tuple[int, dict[str, Any]]] = {
    "blocks-s": (4, {}),
    "blocks-m": (4, {}),
    "grid": (1, {"keys": 2, "shapes": 2, "locks": 1}),
    "gripper": (3, {}),
    "logistics": (2, {"packages": 2}),
    "miconic": (4, {"passengers": 2}),
    "navig-xy": (4, {"height": 3}),
    "rovers": (1, {"waypoints": 3}),
    "vacuum": (6, {"reach": 4}),
    "visitall": (3, {"height": 3}),
    "visitall-xy": (3, {"height": 2}),
}

NASTY = "<img src=x onerror=alert(0)></script><script>alert(1)</script><!-- \"'&\u2028\u2029\\"


class Elements(HTMLParser):
    """The elements of a page, each with its attributes and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.is_open = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), []))
        self.is_open = True

    def handle_endtag(self, tag: str) -> None:
        self.is_open = False

    def handle_data(self, data: str) -> None:
        if self.is_open:
            self.found[-1][2].append(data)

    def named(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [(attributes, "".join(texts)) for name, attributes, texts in self.found if name == tag]


def data_of(page: str) -> dict[str, Any]:
    (text,) = (text for attributes, text in Elements(page).named("script") if attributes.get("id") == "data")
    found: dict[str, Any] = json.loads(text)
    return found


def draw(name: str, seed: int = 0) -> Problem:
    size, options = SIZES[name]
    return load_problem(load_domain(domain_text(name)), DOMAINS[name].problem(random.Random(seed), size, **options))


@pytest.fixture(scope="module")
def problem() -> Problem:
    return draw("blocks-s", 5)


@pytest.fixture(scope="module")
def explanation(problem: Problem) -> Explanation:
    return explain(goal_counts(problem), problem, policy="values", max_steps=6, max_states=0)


def atoms_of(data: dict[str, Any], ids: set[int]) -> set[str]:
    objects, predicates = [name for name, _ in data["objects"]], data["predicates"]
    atoms = [[predicates[head], *(objects[i] for i in rest)] for head, *rest in data["atoms"]]
    return {f"({' '.join(atoms[i])})" for i in ids}


@pytest.mark.parametrize("name", SIZES)
def test_differences_make_the_states_and_the_drawing_knows_the_domain(name: str) -> None:
    problem = draw(name)
    found = explain(goal_counts(problem), problem, policy="values", max_steps=5, max_states=0)
    data = data_of(trace_page(problem, found))
    assert data["drawing"]["kind"] != "graph"
    ids: set[int] = set()
    for step, state in zip(data["traces"][0]["steps"], states_along(problem, found.actions), strict=True):
        assert ids.issuperset(step["less"]) and ids.isdisjoint(step["more"])
        ids = (ids - set(step["less"])) | set(step["more"])
        assert atoms_of(data, ids) == set(problem.atoms(state))
    literals = [(atoms_of(data, {i}).pop(), positive) for i, positive in data["goal"]]
    assert [text if positive else f"(not {text})" for text, positive in literals] == list(problem.goal)


def test_actions_scores_and_marks_are_those_of_the_explanation(problem: Problem) -> None:
    found = explain(goal_counts(problem), problem, policy="values", max_steps=6)
    (trace,) = (data := data_of(trace_page(problem, found)))["traces"]
    for step, told in zip(found.steps, trace["steps"], strict=True):
        assert (told["value"], told["distance"]) == (step.value, step.distance)
        for choice, (action, score, distance, bits) in zip(step.choices, told["choices"], strict=True):
            assert (data["actions"][action], score, distance) == (choice.action, choice.value, choice.distance)
            assert bits == choice.is_chosen + 2 * choice.is_visited + 4 * bool(step.is_optimal(choice))


def test_what_has_no_end_and_what_is_not_known_are_no_numbers(problem: Problem, explanation: Explanation) -> None:
    first = explanation.steps[0]
    odd = replace(first, distance=math.inf, value=None, choices=(replace(first.choices[0], value=-math.inf),))
    data = data_of(trace_page(problem.executor, replace(explanation, steps=(odd,))))
    step = data["traces"][0]["steps"][0]
    assert (step["value"], step["distance"], step["choices"][0][1]) == (None, "inf", "-inf")


def test_what_is_no_model_is_not_named_as_one(problem: Problem, explanation: Explanation) -> None:
    """A function V, or a way that a notebook shows, of whose model nothing is known any more."""
    (trace,) = data_of(trace_page(problem, explanation))["traces"]
    assert (trace["name"], trace["architecture"]) == ("policy values", None)


def test_names_are_text_whatever_they_hold(problem: Problem, explanation: Explanation) -> None:
    facts: dict[str, Any] = dict.fromkeys(("problem", "domain", "model_file", "problem_file", "plan_file"), NASTY)
    page = trace_page(problem, replace(explanation, **facts), replace(explanation, **facts))
    plain = Elements(trace_page(problem, explanation, explanation))
    found = Elements(page)
    assert [tag for tag, _, _ in found.found] == [tag for tag, _, _ in plain.found]
    assert data_of(page)["problem"] == NASTY
    assert found.named("title")[0][1] == f"{NASTY}: a trace"
    (data,) = (text for attributes, text in found.named("script") if attributes.get("id") == "data")
    assert not re.search("[<>&\u2028\u2029]", data)


def test_a_page_asks_for_nothing_and_runs_only_what_its_policy_names(
    problem: Problem, explanation: Explanation
) -> None:
    page = trace_page(problem, explanation)
    found = Elements(page)
    assert not [
        value for _, attributes, _ in found.found for value in (attributes.get("src"), attributes.get("href")) if value
    ]
    assert not [
        name for _, attributes, _ in found.found for name in attributes if name.startswith("on") or name == "style"
    ]
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|fetch\(|url\(|@import", page
    )
    policy = next(a["content"] for a, _ in found.named("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None and policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    for kind, text in (("script", found.named("script")[-1][1]), ("style", found.named("style")[0][1])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def long_page(explanation: Explanation, blocks: int = 100, steps: int = 500) -> str:
    """Blocks that are picked up and put down again, each state with an action for each block."""
    names = [f"block{i}" for i in range(blocks)]
    table = " ".join(f"(ontable {name}) (clear {name})" for name in names)
    text = f"""(define (problem many) (:domain blocks) (:objects {" ".join(names)})
      (:init (handempty) {table}) (:goal (and (on block0 block1))))"""

    def step(number: int) -> ExplainedStep:
        here, verbs = number // 2 % blocks, ("pick-up", "put-down")
        choices = (
            Choice(f"({verbs[number % 2]} {name})", -i / 7, None, 9.0, False, i == here and number < steps)
            for i, name in enumerate(names)
        )
        return ExplainedStep(number, 1 / (number + 3), tuple(choices), 8.0)

    return trace_page(
        Executor.load(Source(domain_text("blocks-s"), "domain"), Source(text, "problem")),
        replace(explanation, steps=tuple(map(step, range(steps + 1)))),
    )


def test_long_traces_of_many_objects_make_small_pages(explanation: Explanation) -> None:
    assert len(long_page(explanation).encode()) < 5_000_000


def test_variants_are_drawn_alike_and_other_domains_as_graphs() -> None:
    text = domain_text("blocks-s").replace("blocks", "cubes").replace("BLOCKS", "cubes")
    assert "ontable" in text
    own = """(define (domain own) (:requirements :strips) (:predicates (near ?a ?b) (lit ?a))
      (:action light :parameters (?a ?b) :precondition (and (near ?a ?b) (lit ?a)) :effect (lit ?b)))"""
    lamps = """(define (problem p) (:domain own) (:objects a b c)
      (:init (near a b) (near b c) (lit a)) (:goal (and (lit c))))"""
    cubes = """(define (problem p) (:domain cubes) (:objects a b)
      (:init (ontable a) (clear a) (ontable b) (clear b) (handempty)) (:goal (and (on a b))))"""
    for domain, source, kind in ((text, cubes, "towers"), (own, lamps, "graph")):
        problem = load_problem(load_domain(domain), source)
        data = data_of(trace_page(problem, explain(goal_counts(problem), problem, policy="values", max_states=0)))
        assert data["drawing"]["kind"] == kind


def bare(name: str) -> Problem:
    """A problem in which nothing holds, and an atom is asked for over objects that it alone needs."""
    domain = load_domain(domain_text(name))
    predicate, parameters = next((name, own) for name, own in domain.description.predicates.items() if own)
    objects = [(f"a{i}", "" if types == ("object",) else f" - {types[0]}") for i, types in enumerate(parameters)]
    declared, goal = " ".join(map("".join, objects)), " ".join(own for own, _ in objects)
    text = f"(define (problem p) (:domain {domain.name}) (:objects {declared}) (:init) (:goal ({predicate} {goal})))"
    return load_problem(domain, text)


@pytest.mark.parametrize("name", SIZES)
def test_a_problem_in_which_nothing_holds_has_a_page(name: str) -> None:
    problem = bare(name)
    page = trace_page(problem, explain(goal_counts(problem), problem, policy="values", max_states=0))
    assert data_of(page)["traces"][0]["outcome"] == "stuck"


def test_a_page_refuses_other_problems_and_more_than_two_ways(problem: Problem, explanation: Explanation) -> None:
    with pytest.raises(TrifoldError, match="of one problem"):
        trace_page(problem, explanation, replace(explanation, problem="another"))
    with pytest.raises(TrifoldError, match="one trace or two"):
        trace_page(problem)
    with pytest.raises(TrifoldError, match="not applicable"):
        trace_page(draw("gripper"), explanation)


@pytest.mark.parametrize(
    ("kind", "atoms"),
    [
        ("rooms", "room . gripper . at a b . at-robby b . carry a b"),
        ("map", "can_traverse a b c . visible b c . at a b . at_lander a b . visible_from a b c"),
        ("map", "adjacent a b c . at a b . dirty"),
        ("board", "at-robot a . conn a b . key-shape a . lock-shape a b c"),
        ("cities", "in-city b c . at a b . in a b . airport . truck a b"),
    ],
)
def test_predicates_beside_those_that_choose_a_drawing_may_be_others(kind: str, atoms: str) -> None:
    """Those of another domain, which has some names in common, need not have as many arguments."""
    state = frozenset(tuple(text.split()) for text in atoms.split(" . "))
    world = World(dict.fromkeys("abc", ()), {atom[0]: len(atom) - 1 for atom in state}, (), ((state,),))
    assert choose_drawing(world)["kind"] == kind

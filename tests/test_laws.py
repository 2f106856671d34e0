"""The laws that hold on real states, end to end: from PDDL text to values and plans, against independent oracles."""

from __future__ import annotations

import math
import random
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from oracles import from_naive, naive_pairs, naive_rgnn, to_naive
from trifold.domains import DOMAINS, domain_text
from trifold.encoders import Encoder, Pairs, Plain
from trifold.model import HeadedNetwork, ModelConfig
from trifold.pddl import Problem, State, expand, load_domain, load_problem
from trifold.planning import plan_text, solve
from trifold.structures import READOUT, Signature

# Types, a constant, a nullary atom, a ternary predicate and a negated goal: what the generated domains do not have.
TYPED = """(define (domain depot) (:requirements :strips :typing :negative-preconditions)
  (:types place item - object box - item) (:constants hub - place)
  (:predicates (at ?x - item ?p - place) (road ?p ?q - place) (stamped ?x - box ?p ?q - place) (open))
  (:action unlock :parameters () :precondition (not (open)) :effect (open))
  (:action move :parameters (?x - box ?p ?q - place) :precondition (and (at ?x ?p) (road ?p ?q) (open))
    :effect (and (not (at ?x ?p)) (at ?x ?q) (stamped ?x ?p ?q))))"""
TYPED_PROBLEM = """(define (problem depot-1) (:domain depot) (:objects b c - box s t - place)
  (:init (at b hub) (at c s) (road hub s) (road s t) (road t hub))
  (:goal (and (at b t) (not (at c s)) (stamped c s t))))"""

PROBLEMS = {
    "gripper": (domain_text("gripper"), DOMAINS["gripper"].problem(random.Random(3), 3)),
    "blocks": (domain_text("blocks-m"), DOMAINS["blocks-m"].problem(random.Random(5), 4)),
    "typed": (TYPED, TYPED_PROBLEM),
}
ENCODERS: dict[str, Any] = {"plain": Plain(), "t=0": Pairs(0), "t=1": Pairs(1), "t=2": Pairs(2), "t=∞": Pairs(math.inf)}


@pytest.fixture(params=PROBLEMS)
def texts(request: pytest.FixtureRequest) -> tuple[str, str]:
    return PROBLEMS[request.param]


@pytest.fixture
def problem(texts: tuple[str, str]) -> Problem:
    domain, text = texts
    return load_problem(load_domain(domain), text)


def walk(problem: Problem, steps: Any = 6, seed: int = 0) -> list[State]:
    """States on a random walk."""
    rng, states = random.Random(seed), [problem.initial_state]
    for _ in range(steps):
        following = problem.successors(states[-1])
        if following:
            states.append(rng.choice(following)[1])
    return list(dict.fromkeys(states))


def rename(text: str, names: dict[str, str]) -> str:
    return re.sub(r"[\w-]+", lambda word: names.get(word[0], word[0]), text)


def network_for(encoder: Encoder, signature: Signature, layers: int = 3) -> HeadedNetwork:
    relations = [relation for relation in encoder.signature(signature) if relation.name != READOUT]
    return HeadedNetwork.seeded(relations, ModelConfig(dim=5, layers=layers), 1).double()


@pytest.mark.parametrize("name", ENCODERS)
def test_values_of_real_states_equal_the_naive_algorithm(problem: Problem, name: str) -> None:
    encoder = ENCODERS[name]
    structures = problem.structures(walk(problem))
    network = network_for(encoder, structures.signature)
    values = network(encoder(structures))
    for value, (n, atoms) in zip(values, to_naive(structures), strict=True):
        if name == "plain":
            elements: list[Any] = list(range(n))
            encoded = atoms | {(READOUT, (o,)) for o in range(n)}
        else:
            elements, encoded = [(a, b) for a in range(n) for b in range(n)], naive_pairs((n, atoms), encoder.t)
        torch.testing.assert_close(value, naive_rgnn(network, elements, encoded)[1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ENCODERS)
def test_renaming_the_objects_of_a_problem_changes_no_value(
    texts: tuple[str, str], problem: Problem, name: str
) -> None:
    objects = [o for o in problem.objects if o != "hub"]
    names = [f"zz{index}" for index in random.Random(4).sample(range(len(objects)), len(objects))]
    fresh = dict(zip(objects, names, strict=True))
    head, tail = texts[1].split("(:objects", 1)
    other = load_problem(problem.domain, f"{head}(:objects{rename(tail, fresh)}")
    assert set(other.objects).isdisjoint(objects)
    encoder = ENCODERS[name]
    network = network_for(encoder, problem.domain.signature)
    pairs = [(problem.initial_state, other.initial_state)]
    actions = dict(other.successors(other.initial_state))
    for action, state in problem.successors(problem.initial_state):
        pairs.append((state, actions[rename(action, fresh)]))
    left, right = (
        network(encoder(p.structures(states)))
        for p, states in zip((problem, other), zip(*pairs, strict=True), strict=True)
    )
    torch.testing.assert_close(left, right, rtol=1e-10, atol=1e-10)


def test_a_typed_state_has_every_atom_of_the_specification() -> None:
    problem = load_problem(load_domain(TYPED), TYPED_PROBLEM)
    ((n, atoms),) = to_naive(problem.structures([problem.initial_state]))
    number = {name: index for index, name in enumerate(problem.objects)}
    assert n == 5 and problem.objects[0] == "hub"
    told = {(name, tuple(problem.objects[o] for o in args)) for name, args in atoms}
    assert told == {
        ("at", ("b", "hub")),
        ("at", ("c", "s")),
        ("road", ("hub", "s")),
        ("road", ("s", "t")),
        ("road", ("t", "hub")),
        ("at@goal", ("b", "t")),
        ("at@goal-not", ("c", "s")),
        ("stamped@goal", ("c", "s", "t")),
        *(("place", (o,)) for o in ("hub", "s", "t")),
        *((kind, (o,)) for o in ("b", "c") for kind in ("box", "item")),
    }
    (_, unlocked), *_ = problem.successors(problem.initial_state)
    ((_, atoms),) = to_naive(problem.structures([unlocked]))
    assert {args for name, args in atoms if name == "open"} == {(index,) for index in number.values()}


def test_where_all_pairs_are_related_every_composition_is_there() -> None:
    """R-GNN₂'s input: every △ over O³, on a state whose objects are all connected."""
    problem = load_problem(load_domain(TYPED), TYPED_PROBLEM)
    ((n, atoms),) = to_naive(problem.structures([problem.initial_state]))
    ((_, encoded),) = to_naive(Pairs(math.inf)(from_naive([(n, atoms)], problem.domain.signature)))
    assert len([atom for atom in encoded if atom[0] == "@triangle"]) == n**3


def test_distances_are_consistent_and_tight(texts: tuple[str, str]) -> None:
    space = expand(*texts, 10_000)
    goals = alive = 0
    for state, distance in enumerate(space.distances):
        following = space.targets[space.transition_offsets[state] : space.transition_offsets[state + 1]]
        steps = [1 + int(space.distances[s]) for s in following if space.distances[s] >= 0]
        goals += distance == 0
        alive += distance > 0
        if distance > 0:
            assert distance == min(steps)
        elif distance < 0:
            assert not steps
    assert goals and alive


def test_plans_are_valid_for_an_independent_validator(texts: tuple[str, str], problem: Problem, tmp_path: Path) -> None:
    """unified-planning reads the same files and validates the plan that the policy under V* writes."""
    from unified_planning.engines import SequentialPlanValidator, ValidationResultStatus
    from unified_planning.io import PDDLReader
    from unified_planning.shortcuts import get_environment

    get_environment().credits_stream = None
    distances = optimal_distances(problem)
    found = solve(problem, lambda states: [distances.get(state, math.inf) for state in states])
    files = [tmp_path / name for name in ("domain.pddl", "problem.pddl", "plan.txt")]
    for path, content in zip(files, (*texts, plan_text(found.actions)), strict=True):
        path.write_text(content)
    reader = PDDLReader()
    task = reader.parse_problem(str(files[0]), str(files[1]))
    with SequentialPlanValidator() as validator:
        verdict = validator.validate(task, reader.parse_plan(task, str(files[2])))
    assert verdict.status is ValidationResultStatus.VALID and len(found.actions) == distances[problem.initial_state]


def optimal_distances(problem: Problem) -> dict[State, int]:
    """V* of the states that can reach a goal, by sweeping over all reachable states until nothing changes."""
    states, edges = [problem.initial_state], {}
    for state in states:
        edges[state] = [successor for _, successor in problem.successors(state)]
        states.extend(s for s in dict.fromkeys(edges[state]) if s not in edges and s not in states)
    distances = {state: 0 for state in states if problem.is_goal(state)}
    changed = True
    while changed:
        changed = False
        for state in states:
            best = 1 + min((distances.get(s, math.inf) for s in edges[state]), default=math.inf)
            if best < distances.get(state, math.inf):
                distances[state], changed = int(best), True
    return distances

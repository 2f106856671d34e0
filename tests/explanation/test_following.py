"""Explanations: what they say of a way is so, by V* that is found without them."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

import trifold
from planning.test_policy_on_pddl import optimal_distances
from trifold.domains import DOMAINS, domain_text
from trifold.errors import TrifoldError
from trifold.explanation import Explanation, Hump, Training, advise, explain
from trifold.outcomes import Outcome
from trifold.pddl import Problem, State, load_domain, load_problem
from trifold.planning import POLICIES, Scores, Trajectory, solve
from trifold.processes import Limits, Result

BRIDGE = """
(define (domain bridge) (:requirements :strips) (:predicates (home) (away) (safe) (lost ?x))
  (:action leave :parameters () :precondition (home) :effect (and (away) (not (home))))
  (:action arrive :parameters () :precondition (away) :effect (and (safe) (not (away))))
  (:action fall :parameters (?x) :precondition (and (away)) :effect (and (lost ?x) (not (away)))))
"""
CROSS = "(define (problem cross) (:domain bridge) (:objects a) (:init (home)) (:goal (and (safe))))"


@pytest.fixture(scope="module")
def problem() -> Problem:
    return load_problem(load_domain(domain_text("blocks-s")), DOMAINS["blocks-s"].problem(random.Random(5), 5))


@pytest.fixture(scope="module")
def distances(problem: Problem) -> dict[State, int]:
    return optimal_distances(problem)


def test_the_policy_under_optimal_distances_has_no_departure(problem: Problem, distances: dict[State, int]) -> None:
    found = explain(Scores(lambda states: [distances[state] for state in states]), problem)
    assert (found.outcome, found.departures, found.rises, advise(found)) == (Outcome.SOLVED, (), (), [])
    assert found.labels.outcome is Outcome.LABELLED and found.labels.states == len(distances)
    states = solve(problem, lambda states: [distances[state] for state in states]).states
    assert [step.distance for step in found.steps] == [distances[state] for state in states]
    for step, state in zip(found.steps, states, strict=True):
        after = {action: distances[successor] for action, successor in problem.successors(state)}
        assert {choice.action: choice.distance for choice in step.choices} == after
        assert step.choices[0].value == min(after.values())
    assert "which is optimal" in str(found) and repr(found).startswith("Explanation(")


def test_a_doctored_value_is_where_the_optimal_way_is_left(problem: Problem, distances: dict[State, int]) -> None:
    way = solve(problem, lambda states: [distances[state] for state in states]).states
    near = [{after for _, after in problem.successors(state)} for state in way]
    step, trap = next(
        (i, state)
        for i in range(1, len(way))
        for state in near[i].difference(way, *near[:i])
        if distances[state] > distances[way[i]]
    )

    def doctored(states: list[State]) -> list[float]:
        return [-1.0 if state is trap else distances[state] for state in states]

    found = explain(Scores(doctored), problem)
    first = found.departures[0]
    assert first.number == step and first.loss == 2 and first.chosen is not None and not first.is_optimal(first.chosen)
    assert any(first.is_optimal(choice) for choice in first.choices)
    assert f"leaves the optimal way at step {step + 1}" in str(found)
    lost = sum(step.loss or 0 for step in found.departures)
    if found.outcome is Outcome.SOLVED:  # what departures cost is what the plan is longer by
        assert len(found.actions) == distances[problem.initial_state] + lost


def test_equal_values_are_a_tie_that_the_text_decides(problem: Problem) -> None:
    found = explain(Scores(lambda states: [1.0] * len(states)), problem, max_steps=3)
    assert found.outcome is Outcome.STEP_LIMIT and found.ties and found.plateau == 3
    assert "the limit of 3 steps was reached" in str(found)
    assert advise(found)[-1].kind == "search" and "limit" not in [one.kind for one in advise(found)]


def test_a_way_into_a_dead_end_is_told_and_so_is_where_it_is_stuck() -> None:
    cross = load_problem(load_domain(BRIDGE), CROSS)

    def careless(states: list[State]) -> list[float]:
        return [0.0 if "(lost a)" in cross.atoms(state) else 1.0 for state in states]

    found = explain(Scores(careless), cross)
    assert found.outcome is Outcome.STUCK and found.actions == ("(leave)", "(fall a)")
    assert found.dead_end is found.steps[1] and found.steps[2].distance == math.inf
    assert [one.kind for one in advise(found)] == ["dead ends", "search"]
    text = str(found)
    assert "no action is applicable" in text and "into a dead end" in text and "∞" in text
    again = Explanation.from_json(json.loads(json.dumps(found.to_json(), allow_nan=False)))
    assert again == found and str(again) == text


def test_a_way_that_has_been_everywhere_is_stuck(tmp_path: Path) -> None:
    text = BRIDGE.replace(
        "(:action fall",
        "(:action back :parameters () :precondition (away) :effect (and (home) (not (away))))\n(:action fall",
    ).replace("(safe) (not (away))", "(lost ?y) (not (away))")
    text = text.replace("arrive :parameters ()", "arrive :parameters (?y)")
    cross = load_problem(load_domain(text), CROSS)
    found = explain(Scores(lambda states: [0.0] * len(states)), cross)
    assert found.outcome is Outcome.STUCK and found.steps[0].distance == math.inf
    assert "the problem is unsolvable" in str(found)


def test_where_labels_end_the_explanation_says_so(problem: Problem, distances: dict[State, int]) -> None:
    scores = Scores[State](lambda states: [distances[state] for state in states])
    found = explain(scores, problem, max_states=10)
    assert found.labels.outcome is Outcome.STATE_LIMIT and not found.is_labelled
    assert "V* is not known: the problem has more than 10 states." in str(found)
    assert explain(scores, problem, max_states=0).steps[0].distance is None


def test_where_v_turns_the_policy_away_from_a_plan_is_told() -> None:
    cross = load_problem(load_domain(BRIDGE), CROSS)
    heights = {"(lost a)": 0.0, "(away)": 1.0, "(home)": 2.0, "(safe)": 5.0}

    def walled(states: list[State]) -> list[float]:
        return [next(heights[atom] for atom in cross.atoms(state) if atom in heights) for state in states]

    found = explain(Scores(walled), cross, max_states=0)
    assert found.hump == Hump(2, 1, "(arrive)", 1.0, 5.0, is_met=True)
    assert "where the policy turned away" in str(found)
    assert Explanation.from_json(found.to_json()) == found


def test_what_training_never_had_is_said(tmp_path: Path) -> None:
    """The models of Gripper have seen goals about balls alone; this one is older than what models say of objects."""
    text = DOMAINS["gripper"].problem(random.Random(0), 2, start="classic")
    start, end = text.index("(:goal"), text.rindex(")")
    (tmp_path / "new.pddl").write_text(f"{text[:start]}(:goal (and (free left) (at-robby roomb))){text[end:]}")
    found = trifold.explain("gripper-values", tmp_path / "new.pddl")
    assert "at-robby@goal" in found.unseen and "free@goal" in found.unseen
    assert found.training.value == 42 and found.training.objects is None
    assert "at-robby@goal" in str(found) and "the model does not say" in str(found)
    assert found.blur is not None and found.blur.conflicting == 0


def test_scores_have_no_domain_of_their_own() -> None:
    with pytest.raises(TrifoldError, match="no domain"):
        explain(Scores(lambda states: []), "problem.pddl")


def test_a_trained_model_knows_how_large_its_problems_were(example_folder: Path) -> None:
    found = explain(example_folder / "model.safetensors", example_folder / "problem.pddl")
    assert found.training == Training(
        problems=2,
        states=found.training.states,
        steps=found.training.steps,
        objects=7,
        value=found.training.value,
        dead_ends=0,
    )
    assert found.blur is not None and found.blur.states > len(found.steps)


def test_a_way_that_is_none_is_explained_as_far_as_it_goes() -> None:
    """A policy of one's own may return an action that is not applicable."""
    problem = load_problem(load_domain(BRIDGE), CROSS)

    def jump(task: Any, scores: Any, budget: Any, on_step: Any) -> Trajectory:
        return Trajectory(Outcome.SOLVED, ("(leave)", "(leave)"), (2.0, 1.0, 0.0), 2)

    POLICIES["jump"] = jump
    try:
        found = explain(Scores(lambda states: [1.0] * len(states)), problem, policy="jump")
    finally:
        del POLICIES["jump"]
    assert found.outcome is Outcome.INVALID_PLAN and [step.distance for step in found.steps] == [2, 1]


def test_the_child_that_looks_for_v_star_has_no_more_memory_than_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Limits] = []

    def run(function: str, jobs: Any, *, limits: Limits, **other: Any) -> list[Result]:
        asked.append(limits)
        return [Result(0, Outcome.TIMEOUT, None, "", 0.0)]

    monkeypatch.setattr("trifold.explanation.evidence.run_isolated", run)
    problem = load_problem(load_domain(BRIDGE), CROSS)
    for memory in (1.5, 64.0, None):
        explain(Scores(lambda states: [1.0] * len(states)), problem, memory_gib=memory)
    assert [limits.memory_gib for limits in asked] == [1.5, 4.0, 4.0]

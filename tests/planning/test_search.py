"""Searches on toy tasks: they do what naive twins do, find a plan where there is one, or prove that there is none."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from planning.test_own_policy import DOMAIN, PROBLEM
from planning.test_policy import Counter, Graph, distances, graphs
from trifold.commands import app
from trifold.domains import DOMAINS, domain_text
from trifold.model import Model, ModelConfig
from trifold.pddl import State, load_domain, load_problem
from trifold.planning import SEARCHES, Budget, Outcome, Scores, Step, Trajectory, find_policy, replay, solve
from trifold.planning.policy import Memory

values = st.lists(st.integers(0, 3), min_size=8, max_size=8)
score_tables = st.lists(st.lists(st.integers(-3, 3), min_size=4, max_size=4), min_size=8, max_size=8)


def asked(table: list[int], scores: list[list[int]] | None, batch: int = 1, *, has_values: bool = True) -> Scores[int]:
    """What tables say of states and of their actions."""

    def value(states: list[int]) -> list[float]:
        return [float(table[state]) for state in states]

    if scores is None:
        return Scores(value, batch=batch)

    def look(state: int, actions: list[str]) -> tuple[float, list[float]]:
        return float(table[state]) if has_values else math.nan, [float(q) for q in scores[state][: len(actions)]]

    def look_each(states: list[int], actions: list[list[str]]) -> list[tuple[float, list[float]]]:
        return [look(state, own) for state, own in zip(states, actions, strict=True)]

    return Scores(value, look, look_each, batch)


def naive_search(graph: Graph, table: list[int], scores: list[list[int]] | None) -> tuple[str, list[str], list[int]]:
    """Greedy best-first search, one state at a time, over a list that is searched from its first entry each time."""
    start = graph.initial_state
    plans: dict[int, list[str]] = {start: []}
    if graph.is_goal(start):
        return "solved", [], []
    open_list, expanded = [(0.0, start)], list[int]()
    while open_list:
        least = min(estimate for estimate, _ in open_list)
        index = next(i for i, (estimate, _) in enumerate(open_list) if estimate == least)
        _, state = open_list.pop(index)
        expanded.append(state)
        ways = list(enumerate(graph.successors(state)))
        if scores is not None:
            ways.sort(key=lambda way: -scores[state][way[0]])
        for i, (action, successor) in ways:
            if successor not in plans:
                plans[successor] = [*plans[state], action]
                q = 0.0 if scores is None else 1 / (1 + math.exp(-scores[state][i]))
                open_list.append((table[successor] if scores is None else table[state] + 1 - 2 * q, successor))
        goals = [successor for successor in plans if graph.is_goal(successor)]
        if goals:
            return "solved", plans[goals[0]], expanded
    return "unsolvable", [], expanded


@given(graphs(), values, st.none() | score_tables)
def test_a_greedy_search_expands_what_the_naive_one_expands(
    graph: Graph, table: list[int], scores: list[list[int]] | None
) -> None:
    expanded: list[int] = []

    class Watched(Graph):
        def successors(self, state: int) -> list[tuple[str, int]]:
            expanded.append(state)
            return super().successors(state)

    watched = Watched(graph.edges, graph.goals)
    found = find_policy("greedy")(watched, asked(table, scores), Budget(steps=None), lambda step: None)
    outcome, actions, order = naive_search(graph, table, scores)
    assert (found.outcome, list(found.actions), expanded) == (outcome, actions, order)
    assert found.steps == len(order)


@given(graphs(), values, st.none() | score_tables, st.sampled_from(SEARCHES), st.integers(1, 4), st.booleans())
def test_a_plan_is_found_wherever_there_is_one(
    graph: Graph, table: list[int], scores: list[list[int]] | None, name: str, batch: int, has_values: bool
) -> None:
    found = solve(graph, asked(table, scores, batch, has_values=has_values), policy=name)
    if graph.initial_state in distances(graph):
        assert found.outcome is Outcome.SOLVED and found.plan is not None and replay(graph, found.plan)
    else:
        assert found.outcome is Outcome.UNSOLVABLE and found.actions == ()
    assert found.found_by == name and len(found.values) == len(found.actions) + 1
    assert found.known is not None and found.known <= 8


@given(graphs(), values, score_tables, st.sampled_from(SEARCHES))
def test_a_search_after_a_policy_computes_nothing_again(
    graph: Graph, table: list[int], scores: list[list[int]], name: str
) -> None:
    given_scores, looked = asked(table, scores, 2), list[int]()
    looks: Callable[[int, list[str]], Any] = given_scores.looks  # type: ignore[assignment]

    def look(state: int, actions: list[str]) -> Any:
        looked.append(state)
        return looks(state, actions)

    watched = Scores(given_scores.function, look, lambda states, actions: map(look, states, actions), 2)
    found = solve(graph, watched, search=name)
    assert len(looked) == len(set(looked)) == found.evaluated
    is_solvable = graph.initial_state in distances(graph)
    assert found.outcome is (Outcome.SOLVED if is_solvable else Outcome.UNSOLVABLE)
    alone = solve(graph, watched)
    assert (found.found_by == "actions") == (alone.outcome is Outcome.SOLVED)


@pytest.mark.parametrize("has_looks", [True, False])
def test_what_is_remembered_is_bounded_and_the_answers_are_the_same(
    has_looks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trifold.planning.policy.REMEMBERED", 3)
    table, scores = [3, 1, 2, 3, 0, 1, 2, 3], [[1, 0, 2, 3]] * 8
    bounded = asked(table, scores if has_looks else None)
    bounded.memory = Memory()
    for states in ([0, 1], [1, 2, 3], [4, 5], [0, 5]):
        assert bounded.values(list(states)) == [table[state] for state in states]
        if has_looks:
            looked = bounded.look_each(list(states), [["(a)"]] * len(states))
            assert looked == [(table[state], [1.0]) for state in states]
    assert len(bounded.memory.values) == 4 and len(bounded.memory.looks) in (0, 4)


@given(graphs(), st.sampled_from(SEARCHES))
def test_with_the_distances_themselves_a_search_goes_straight_to_the_goal(graph: Graph, name: str) -> None:
    known = distances(graph)
    found = solve(graph, lambda states: [known.get(state, 99) for state in states], policy=name)
    if 0 in known:
        assert len(found.actions) == found.steps == known[0]


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_ends_at_its_limits(name: str) -> None:
    """Of states, of steps, and of seconds; the task has no end, and V leads away from the goal."""
    task = Counter(target=-(10**9))

    def away(states: list[int]) -> list[float]:
        return [-state for state in states]

    found = solve(task, away, policy=name, max_steps=10**9, max_states=50)
    assert found.outcome is Outcome.STATE_LIMIT and 50 < (found.known or 0) < 60 and found.actions == ()
    assert solve(task, away, policy=name, max_steps=7).outcome is Outcome.STEP_LIMIT
    assert solve(task, away, policy=name, max_steps=10**9, timeout=0.0).outcome is Outcome.TIMEOUT


def test_a_search_says_how_far_it_is() -> None:
    seen: list[Step] = []
    graph = Graph({0: [("(a)", 1), ("(b)", 2)], 2: [("(c)", 3)]}, {3})
    found = solve(graph, lambda states: [float(state) for state in states], policy="greedy", on_step=seen.append)
    assert found == Trajectory(Outcome.SOLVED, ("(b)", "(c)"), found.values, 3, 3, found.seconds, "greedy", known=4)
    assert [(step.number, step.action) for step in seen] == [(1, None), (2, "(a)"), (3, "(b)")]


def test_in_turns_the_search_that_is_right_finds_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """V leads astray at first, or all the time; what is missing of the goal then finds the plan, or is not asked."""
    problem = load_problem(load_domain(domain_text("gripper")), DOMAINS["gripper"].problem(random.Random(1), 3))
    asked: list[int] = []

    def astray(states: list[State]) -> list[float]:
        asked.append(len(states))
        return [float(problem.count_unmet([state])[0] == 0) for state in states]

    found = solve(problem, Scores(astray, batch=2), policy="turns", max_steps=10**6)
    assert found.plan is not None and replay(problem, found.plan) and 0 < len(asked) < 40
    asked.clear()
    blind = solve(problem, Scores(astray, is_blind=True), search="turns")
    assert blind.plan is not None and blind.found_by == "turns" and asked == []
    monkeypatch.setattr("trifold.planning.search.COUNTED", 0)
    monkeypatch.setattr("trifold.planning.search.RELAXED", 0)
    alone = solve(problem, Scores(problem.count_unmet, batch=1), policy="turns", max_steps=10**6)
    greedy = solve(problem, Scores(problem.count_unmet, batch=1), policy="greedy", max_steps=10**6)
    assert (alone.plan, alone.steps) == (greedy.plan, greedy.steps)


def test_a_model_is_blind_to_goals_that_no_training_state_had() -> None:
    text = DOMAINS["gripper"].problem(random.Random(1), 2)
    domain, config = load_domain(domain_text("gripper")), ModelConfig(dim=2, layers=1)
    atoms = dict.fromkeys(config.build_encoder().signature(domain.signature).names, 1)
    for missing, is_blind in (("at@goal", True), ("at", False), ("carry@goal", False)):
        model = Model.fresh(config, domain.signature, domain.text, atoms | {missing: 0}, 0)
        assert model.is_blind(load_problem(domain, text)) is is_blind


@pytest.fixture(scope="module")
def fork(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that goes the wrong way, and two problems whose ways do not join again."""
    folder = tmp_path_factory.mktemp("fork")
    for name, place in (("solvable", "goal"), ("unsolvable", "island")):
        (folder / f"{name}.pddl").write_text(PROBLEM.replace("PLACE", place))
    domain, config = load_domain(DOMAIN), ModelConfig(dim=2, layers=1)
    relations = config.build_encoder().signature(domain.signature)
    for seed in range(50):
        model = Model.fresh(config, domain.signature, DOMAIN, {name: 1 for name, _ in relations}, seed=seed)
        if solve(load_problem(domain, folder / "solvable.pddl"), model.values).outcome is Outcome.STUCK:
            model.save(folder / "model")
            return folder
    raise AssertionError("no seed goes the wrong way")


@pytest.mark.parametrize(
    ("problem", "words", "code", "said"),
    [
        ("solvable", [], 0, "solved by turns after"),
        ("solvable", ["--search", "greedy"], 0, "solved by greedy after"),
        ("solvable", ["--search", "beam"], 0, "solved by beam after"),
        ("solvable", ["--search", "none"], 4, "stuck by values after"),
        ("unsolvable", [], 11, "unsolvable by turns after"),
        ("unsolvable", ["--search", "greedy"], 11, "unsolvable by greedy after 5 steps"),
        ("unsolvable", ["--max-states", "2"], 12, "state limit by turns"),
        ("solvable", ["--search", "nonsense"], None, "there is no policy 'nonsense'"),
    ],
)
def test_solve_searches_where_the_policy_is_stuck(
    fork: Path, problem: str, words: list[str], code: int | None, said: str
) -> None:
    done = CliRunner().invoke(app, ["solve", str(fork / "model"), str(fork / f"{problem}.pddl"), *words])
    assert code is None or done.exit_code == code
    assert said in done.stderr + str(done.exception)


def test_a_policy_that_is_lost_is_followed_by_the_search_and_alone_it_goes_on() -> None:
    """V is the same everywhere on a way that has no end, and the goal is on another."""
    edges = {i: [(f"(on {i})", i + 1)] for i in range(1, 3000)}
    graph = Graph({0: [("(right)", 1), ("(wrong)", 4000)], 4000: [("(goal)", 5000)]} | edges, {5000})

    def value(states: list[int]) -> list[float]:
        return [9.0 if state == 0 else 5.0 if state < 4000 else 6.0 for state in states]

    alone = solve(graph, value)
    assert (alone.outcome, alone.steps) == (Outcome.STEP_LIMIT, 1000)
    seen: list[Step] = []
    short = solve(graph, value, search="greedy", max_states=60, on_step=seen.append)
    assert (short.outcome, short.found_by) == (Outcome.STATE_LIMIT, "greedy")
    policy_steps = [step.number for step in seen].index(1, 2)  # where the search begins to count
    assert policy_steps == 53  # the start, the first step, which had a lesser V, and 51 more

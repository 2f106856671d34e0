"""The policy by scores of actions: it does what a naive twin does, and with exact scores it is optimal."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from planning.test_policy import Counter, Graph, distances, graphs
from trifold.commands import app
from trifold.domains import DOMAINS, domain_text
from trifold.errors import TrifoldError
from trifold.model import Model, ModelConfig
from trifold.pddl import State, expand, load_domain, load_problem
from trifold.planning import (
    TIE,
    Budget,
    Outcome,
    Scores,
    Step,
    find_policy,
    follow_scores,
    follow_unvisited,
    replay,
    solve,
)

Looks = Callable[[int, list[str]], tuple[float, Iterable[float]]]
Table = list[list[float]]
"""The scores of a state's actions, by state: the first one's, the second one's, …"""


def no_values(states: list[int]) -> list[float]:
    raise AssertionError("a policy by scores asks for no V of successors")


def look_up(table: Table, value: float = 0.5) -> Looks:
    """Scores from a table, and one V for all states."""
    return lambda state, actions: (value, [table[state][i] for i in range(len(actions))])


def visited_states(graph: Graph, actions: Iterable[str]) -> list[int]:
    """The states of a way, the first one included."""
    states = [graph.initial_state]
    for action in actions:
        (following,) = (successor for name, successor in graph.successors(states[-1]) if name == action)
        states.append(following)
    return states


def naive_policy(graph: Graph, table: Table, max_steps: int) -> tuple[str, list[str]]:
    """One action at a time: the first of those to unvisited states that is as good as the best."""
    state, visited = graph.initial_state, [graph.initial_state]
    actions: list[str] = []
    while True:
        if graph.is_goal(state):
            return "solved", actions
        if len(actions) == max_steps:
            return "step limit", actions
        ways = [
            (score, action, successor)
            for score, (action, successor) in zip(table[state], graph.successors(state), strict=False)
            if successor not in visited
        ]
        if not ways:
            return "stuck", actions
        best = max(score for score, _, _ in ways)
        _, action, state = next(way for way in ways if way[0] == best or best - way[0] <= TIE * max(1, abs(best)))
        actions.append(action)
        visited.append(state)


close_scores = st.builds(lambda whole, near: whole + 0.75 * TIE * near, st.integers(-3, 0), st.integers(0, 3))
scores = close_scores | st.just(-math.inf)
tables = st.lists(st.lists(scores, min_size=4, max_size=4), min_size=8, max_size=8)


@settings(max_examples=80)
@given(graphs(), tables, st.integers(0, 6))
def test_it_goes_where_the_naive_policy_goes(graph: Graph, table: Table, max_steps: int) -> None:
    found = solve(graph, no_values, looks=look_up(table), max_steps=max_steps)
    outcome, actions = naive_policy(graph, table, max_steps)
    assert (found.outcome, list(found.actions)) == (outcome, actions)
    assert len(found.values) == len(actions) + 1 == found.steps + 1
    assert found.evaluated == found.steps + 1  # one state a step, and the first


@settings(max_examples=60)
@given(graphs(), tables)
def test_it_visits_no_state_twice(graph: Graph, table: Table) -> None:
    found = solve(graph, no_values, looks=look_up(table))
    states = visited_states(graph, found.actions)
    assert len(set(states)) == len(states)
    assert found.outcome in (Outcome.SOLVED, Outcome.STUCK)


def minus_distance(graph: Graph) -> Looks:
    """The score of an action is −V* of where it leads, and −∞ for a dead end."""
    optimal = distances(graph)
    return lambda state, actions: (
        optimal.get(state, math.inf),
        [-optimal.get(successor, math.inf) for _, successor in graph.successors(state)],
    )


def one_for_optimal(graph: Graph) -> Looks:
    """An action scores 1 if it leads one step nearer to a goal, and 0 otherwise."""
    optimal = distances(graph)
    return lambda state, actions: (
        optimal.get(state, math.inf),
        [
            float(state in optimal and optimal.get(successor) == optimal[state] - 1)
            for _, successor in graph.successors(state)
        ],
    )


@pytest.mark.parametrize("exact", [minus_distance, one_for_optimal])
@settings(max_examples=60)
@given(graph=graphs())
def test_it_is_optimal_with_exact_scores(exact: Callable[[Graph], Looks], graph: Graph) -> None:
    optimal = distances(graph)
    if graph.initial_state not in optimal:
        return
    found = solve(graph, no_values, looks=exact(graph))
    assert found.outcome is Outcome.SOLVED
    assert len(found.actions) == optimal[graph.initial_state]
    assert list(found.values) == list(range(optimal[graph.initial_state], -1, -1))
    assert replay(graph, found.actions)


@pytest.mark.parametrize(("name", "size"), [("gripper", 2), ("blocks-s", 3)])
def test_it_is_optimal_with_exact_scores_on_real_problems(name: str, size: int) -> None:
    problem = load_problem(load_domain(domain_text(name)), DOMAINS[name].problem(random.Random(0), size))
    space = expand(problem.domain.text, problem.text, 10_000)
    edges, states = {}, [problem.initial_state]
    for state in states:
        edges[state] = [successor for _, successor in problem.successors(state)]
        states.extend(s for s in dict.fromkeys(edges[state]) if s not in edges and s not in states)
    optimal = {state: 0 for state in states if problem.is_goal(state)}
    for _ in states:
        for state in states:
            best = 1 + min((optimal.get(s, math.inf) for s in edges[state]), default=math.inf)
            if best < optimal.get(state, math.inf):
                optimal[state] = int(best)
    assert optimal[problem.initial_state] == space.distances[space.initial] > 0

    def look(state: State, actions: list[str]) -> tuple[float, list[float]]:
        assert actions == sorted(actions)
        return optimal[state], [-optimal[successor] for _, successor in problem.successors(state)]

    found = solve(problem, lambda states: [], looks=look)
    assert found.outcome is Outcome.SOLVED and len(found.actions) == optimal[problem.initial_state]


@settings(max_examples=40)
@given(
    graphs(),
    st.lists(st.lists(st.integers(-900, 900), min_size=4, max_size=4), min_size=8, max_size=8),
    st.randoms(use_true_random=False),
)
def test_rounding_changes_no_choice(graph: Graph, table: list[list[int]], rng: random.Random) -> None:
    """Scores with any error below half a tie, another one each time, lead where the scores themselves lead."""

    def rounded(state: int, actions: list[str]) -> tuple[float, list[float]]:
        exact = table[state][: len(actions)]
        return 0.0, [score + rng.uniform(-0.49, 0.49) * TIE * max(1, abs(score)) for score in exact]

    exact = solve(graph, no_values, looks=lambda state, actions: (0.0, table[state][: len(actions)]))
    found = solve(graph, no_values, looks=rounded)
    assert (found.outcome, found.actions) == (exact.outcome, exact.actions)


@pytest.mark.parametrize("unit", [1.0, -1.0, 1000.0, -1000.0])
def test_of_scores_that_are_tied_the_first_is_taken(unit: float) -> None:
    graph = Graph({0: [("(a)", 1), ("(b)", 2), ("(c)", 3)]}, goals={1, 2, 3})
    for apart, taken in ((0.0, "(a)"), (0.9, "(a)"), (1.1, "(b)")):
        table = [[unit - apart * TIE * abs(unit), unit, unit]]
        assert solve(graph, no_values, looks=look_up(table)).actions == (taken,)


def test_of_two_actions_to_one_state_the_better_scored_is_taken() -> None:
    graph = Graph({0: [("(a)", 1), ("(b)", 1)]}, goals={1})
    assert solve(graph, no_values, looks=look_up([[0.0, 1.0], []])).actions == ("(b)",)


def test_a_goal_among_the_successors_gets_no_favour() -> None:
    graph = Graph({0: [("(home)", 1), ("(away)", 2)], 2: []}, goals={1})
    found = solve(graph, no_values, looks=look_up([[0.0, 1.0], [], []]))
    assert (found.outcome, found.actions) == (Outcome.STUCK, ("(away)",))


def test_minus_infinity_is_taken_only_when_nothing_else_is_left() -> None:
    never = -math.inf
    graph = Graph({0: [("(a)", 1), ("(b)", 2)], 2: [("(a)", 0), ("(b)", 1), ("(c)", 3)]}, goals={3})
    found = solve(graph, no_values, looks=look_up([[never, -1e30], [], [5.0, never, never]]))
    # From 2, what scores 5 leads back; of the two that are left, both −∞, the first leads where nothing goes on.
    assert (found.outcome, found.actions) == (Outcome.STUCK, ("(b)", "(b)"))
    found = solve(graph, no_values, looks=look_up([[never, never], [], []]))
    assert found.actions == ("(a)",)
    found = solve(graph, no_values, looks=look_up([[1e300, math.inf], [], [0.0, never, 0.0]]))
    assert (found.outcome, found.actions) == (Outcome.SOLVED, ("(b)", "(c)"))


def counting(target: int) -> Looks:
    """For `Counter`: −V* of where each action leads."""
    after = {"(add-one)": 1, "(add-two)": 2, "(take-one)": -1}
    return lambda state, actions: (abs(target - state), [-abs(target - state - after[action]) for action in actions])


def test_each_state_on_the_way_is_looked_at_once_with_all_its_actions() -> None:
    asked = []

    def look(state: int, actions: list[str]) -> tuple[float, Iterable[float]]:
        asked.append((state, actions))
        return counting(5)(state, actions)

    found = solve(Counter(5), no_values, looks=look)
    assert found.actions == ("(add-two)", "(add-two)", "(add-one)")
    assert asked == [(state, ["(add-one)", "(add-two)", "(take-one)"]) for state in (0, 2, 4, 5)]
    assert (found.evaluated, found.steps, found.values) == (4, 3, (5, 3, 1, 0))


def test_a_goal_at_the_start_needs_no_step() -> None:
    for max_steps in (0, 10):
        found = solve(Counter(0), no_values, looks=counting(0), max_steps=max_steps)
        assert (found.outcome, found.actions, found.values, found.evaluated) == (Outcome.SOLVED, (), (0.0,), 1)


def test_a_plan_of_exactly_the_step_limit_is_solved() -> None:
    assert solve(Counter(5), no_values, looks=counting(5), max_steps=3).outcome is Outcome.SOLVED
    found = solve(Counter(5), no_values, looks=counting(5), max_steps=2)
    assert (found.outcome, found.plan, found.steps) == (Outcome.STEP_LIMIT, None, 2)


def test_where_no_unvisited_successor_is_left_it_is_stuck() -> None:
    graph = Graph({0: [("(go)", 1)], 1: [("(back)", 0), ("(stay)", 1)]}, goals={7})
    found = solve(graph, no_values, looks=look_up([[0.0], [9.0, 9.0]]))
    assert (found.outcome, found.actions) == (Outcome.STUCK, ("(go)",))
    found = solve(Graph({}, goals={1}), no_values, looks=look_up([[]]))
    assert (found.outcome, found.actions, found.values) == (Outcome.STUCK, (), (0.5,))


def test_the_timeout_is_an_outcome() -> None:
    found = solve(Counter(10**9), no_values, looks=counting(10**9), timeout=0.0)
    assert (found.outcome, found.actions) == (Outcome.TIMEOUT, ())


def test_on_step_tells_the_way() -> None:
    seen: list[Step] = []
    found = solve(Counter(3), no_values, looks=counting(3), on_step=seen.append)
    assert seen == [Step(0, None, 3.0), Step(1, "(add-two)", 1.0), Step(2, "(add-one)", 0.0)]
    assert [step.value for step in seen] == list(found.values)


def test_a_state_may_have_no_v() -> None:
    """A model that scores actions alone has none: V is NaN, and nobody compares it."""
    seen: list[Step] = []
    found = solve(
        Counter(2),
        no_values,
        looks=lambda state, actions: (math.nan, counting(2)(state, actions)[1]),
        on_step=seen.append,
    )
    assert found.outcome is Outcome.SOLVED
    assert [math.isnan(value) for value in found.values] == [math.isnan(step.value) for step in seen] == [True, True]


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_a_score_that_is_not_a_number_is_refused(bad: int) -> None:
    """Even one of an action that would not be taken."""

    def look(state: int, actions: list[str]) -> tuple[float, list[float]]:
        numbers = list(counting(3)(state, actions)[1])
        if state:
            numbers[bad] = math.nan
        return 1.0, numbers

    with pytest.raises(
        TrifoldError, match=r"score of an action is not a number \(NaN\) at step 1\n.*train the model again"
    ):
        solve(Counter(3), no_values, looks=look)


@pytest.mark.parametrize("count", [0, 2, 4])
def test_another_number_of_scores_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match=f"{count} scores for 3 actions"):
        solve(Counter(3), no_values, looks=lambda state, actions: (0.0, [0.0] * count))


def test_tensors_are_scores_too() -> None:
    def look(state: int, actions: list[str]) -> tuple[float, torch.Tensor]:
        value, numbers = counting(4)(state, actions)
        return value, torch.tensor(list(numbers), dtype=torch.float32)

    found = solve(Counter(4), no_values, looks=look)
    assert found.values == (4.0, 2.0, 0.0)
    assert all(type(value) is float for value in found.values)


def test_without_a_policy_actions_are_followed_where_there_are_looks_and_values_otherwise() -> None:
    """From 0 the scores lead to 1 and the values to 2."""
    graph = Graph({0: [("(one)", 1), ("(two)", 2)]}, goals={1, 2})

    def values(states: list[int]) -> list[float]:
        return [-state for state in states]

    look = look_up([[1.0, 0.0], [], []])
    assert solve(graph, values, looks=look).actions == ("(one)",)
    assert solve(graph, Scores(values, look)).actions == ("(one)",)
    assert solve(graph, values).actions == solve(graph, Scores(values)).actions == ("(two)",)
    for policy in ("values", follow_unvisited, "strict"):
        assert solve(graph, values, looks=look, policy=policy).actions == ("(two)",)
    for policy in ("actions", follow_scores, "trifold.planning:follow_scores"):
        assert solve(graph, values, looks=look, policy=policy).actions == ("(one)",)
    assert find_policy("actions") is follow_scores


def test_what_is_counted_is_of_one_attempt() -> None:
    asked: Scores[int] = Scores(no_values, counting(5))
    assert [solve(Counter(5), asked).evaluated for _ in range(2)] == [4, 4]
    assert (asked.evaluated, asked.calls) == (8, 8)
    found = follow_scores(Counter(5), asked, Budget(), lambda step: None)
    assert (found.evaluated, asked.evaluated) == (None, 12)  # who calls the policy fills it in


def test_without_scores_the_policy_says_what_to_do() -> None:
    with pytest.raises(TrifoldError, match=r"nothing scores the actions\n  try: use --policy values, or a model that"):
        solve(Counter(1), lambda states: [0.0] * len(states), policy="actions")


def test_a_model_without_the_head_is_told_to_use_values_on_the_command_line(tmp_path: Path) -> None:
    text = DOMAINS["gripper"].problem(random.Random(0), 1)
    domain, config = load_domain(domain_text("gripper")), ModelConfig(encoder="plain", dim=4, layers=1)
    relations = config.build_encoder().signature(domain.signature)
    model = Model.fresh(config, domain.signature, domain.text, {name: 1 for name, _ in relations}, seed=0)
    model.save(tmp_path / "model.safetensors")
    (tmp_path / "problem.pddl").write_text(text, encoding="utf-8")
    words = [
        "solve",
        str(tmp_path / "model.safetensors"),
        str(tmp_path / "problem.pddl"),
        "--max-steps",
        "2",
        "--quiet",
    ]
    done = CliRunner().invoke(app, [*words, "--policy", "actions"])
    assert isinstance(done.exception, TrifoldError)
    assert "nothing scores the actions" in str(done.exception) and "use --policy values" in str(done.exception)

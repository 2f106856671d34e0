"""The policy on toy tasks: it does what a naive twin does, and under V* it is optimal."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifold.errors import TrifoldError
from trifold.planning import TIE, Outcome, Scores, Step, choose, replay, solve


@dataclass
class Graph:
    """A task over integers, given by its labelled edges."""

    edges: dict[int, list[tuple[str, int]]]
    goals: set[int]
    initial_state: int = 0

    def is_goal(self, state: int) -> bool:
        return state in self.goals

    def successors(self, state: int) -> list[tuple[str, int]]:
        return self.edges.get(state, [])


@dataclass
class Counter:
    """Reach the target from 0 by adding 1, adding 2 or taking 1 away."""

    target: int
    initial_state: int = 0
    expanded: list[int] = field(default_factory=list)

    def is_goal(self, state: int) -> bool:
        return state == self.target

    def successors(self, state: int) -> list[tuple[str, int]]:
        self.expanded.append(state)
        return [("(add-one)", state + 1), ("(add-two)", state + 2), ("(take-one)", state - 1)]


def distances(graph: Graph) -> dict[int, int]:
    """V* by breadth-first search backwards from the goals."""
    before: dict[int, list[int]] = {}
    for state, edges in graph.edges.items():
        for _, successor in edges:
            before.setdefault(successor, []).append(state)
    found = dict.fromkeys(graph.goals, 0)
    queue = deque(graph.goals)
    while queue:
        state = queue.popleft()
        for previous in before.get(state, []):
            if previous not in found:
                found[previous] = found[state] + 1
                queue.append(previous)
    return found


def naive_policy(graph: Graph, value: Callable[[int], float], max_steps: int, policy: str) -> tuple[str, list[str]]:
    """The paper's policy, one state at a time."""
    state, visited = graph.initial_state, [graph.initial_state]
    actions: list[str] = []
    while True:
        if graph.is_goal(state):
            return "solved", actions
        if len(actions) == max_steps:
            return "step limit", actions
        ways = [way for way in graph.successors(state) if policy == "strict" or way[1] not in visited]
        if not ways:
            return "stuck", actions
        least = min(value(successor) for _, successor in ways)
        action, state = next(way for way in ways if value(way[1]) - least <= TIE * max(1, value(way[1])))
        if state in visited:
            return "cycle", actions
        actions.append(action)
        visited.append(state)


@st.composite
def graphs(draw: Callable[..., Any]) -> Graph:
    size = draw(st.integers(1, 8))
    states = st.integers(0, size - 1)
    edges = {
        state: [(f"(go {i})", successor) for i, successor in enumerate(draw(st.lists(states, max_size=4)))]
        for state in range(size)
    }
    return Graph(edges, draw(st.sets(states, max_size=2)))


close_values = st.builds(lambda whole, near: whole + 0.75 * TIE * near, st.integers(0, 3), st.integers(0, 3))


policies = st.sampled_from(["values", "strict"])


@given(graphs(), st.lists(close_values, min_size=8, max_size=8), st.integers(0, 6), policies)
def test_it_goes_where_the_naive_policy_goes(graph: Graph, table: list[float], max_steps: int, policy: str) -> None:
    found = solve(graph, lambda states: [table[state] for state in states], max_steps=max_steps, policy=policy)
    outcome, actions = naive_policy(graph, lambda state: table[state], max_steps, policy)
    assert (found.outcome, list(found.actions)) == (outcome, actions)
    assert len(found.values) == len(actions) + 1 == found.steps + 1
    assert found.values[0] == table[0]


@pytest.mark.parametrize("policy", ["values", "strict"])
@given(graph=graphs())
def test_it_is_optimal_under_optimal_distances(graph: Graph, policy: str) -> None:
    optimal = distances(graph)
    if 0 not in optimal:
        return
    found = solve(graph, lambda states: [optimal.get(state, math.inf) for state in states], policy=policy)
    assert found.outcome is Outcome.SOLVED
    assert len(found.actions) == optimal[0]
    assert list(found.values) == list(range(optimal[0], -1, -1))
    assert replay(graph, found.actions)


@given(graphs(), st.lists(st.integers(-900, 900), min_size=8, max_size=8), policies, st.randoms())
def test_rounding_changes_no_choice(graph: Graph, table: list[int], policy: str, random: Random) -> None:
    """V with any error below half a tie, another one each time that it is asked, goes where V itself goes."""

    def rounded(states: list[int]) -> list[float]:
        return [table[state] + random.uniform(-0.49, 0.49) * TIE * max(1, abs(table[state])) for state in states]

    exact = solve(graph, lambda states: [table[state] for state in states], policy=policy)
    found = solve(graph, rounded, policy=policy)
    assert (found.outcome, found.actions) == (exact.outcome, exact.actions)


@pytest.mark.parametrize("unit", [1.0, -1.0, 1000.0, -1000.0])
def test_a_tie_is_relative_to_values_above_one(unit: float) -> None:
    tie = TIE * abs(unit)
    assert choose([unit + 0.9 * tie, unit, unit + 0.9 * tie]) == 0
    assert choose([unit + 1.1 * tie, unit, unit]) == 1
    assert choose([unit + 0.9 * tie, unit], tie=0.0) == 1


def test_a_tie_of_small_values_is_absolute() -> None:
    assert choose([0.9 * TIE, 0.0]) == 0
    assert choose([1.1 * TIE, 0.0]) == 1


@pytest.mark.parametrize("other", [0.0, -1e300, 1e300])
def test_an_infinite_value_is_tied_with_itself_alone(other: float) -> None:
    assert choose([math.inf, other]) == 1
    assert choose([other, -math.inf]) == 1
    assert choose([math.inf, math.inf]) == choose([-math.inf, -math.inf]) == 0


def test_all_successors_are_evaluated_by_one_call_and_visited_ones_not_at_all() -> None:
    calls = []

    def values(states: list[int]) -> list[int]:
        calls.append(list(states))
        return [abs(5 - state) for state in states]

    found = solve(Counter(5), values)
    assert found.actions == ("(add-two)", "(add-two)", "(add-one)")
    assert calls == [[0], [1, 2, -1], [3, 4, 1], [5, 6, 3]]
    assert found.evaluated == 10


def test_a_goal_among_the_successors_gets_no_favour() -> None:
    graph = Graph({0: [("(home)", 1), ("(away)", 2)], 2: []}, goals={1})
    found = solve(graph, lambda states: [{0: 1, 1: 5, 2: 4}[state] for state in states])
    assert (found.outcome, found.actions) == (Outcome.STUCK, ("(away)",))


def test_of_equal_values_the_first_successor_is_taken_and_of_two_ways_to_it_the_first() -> None:
    graph = Graph({0: [("(b)", 2), ("(a)", 1), ("(c)", 2)]}, goals={1, 2})
    assert solve(graph, lambda states: [0.0] * len(states)).actions == ("(b)",)


def test_a_plan_of_exactly_the_step_limit_is_solved() -> None:
    def values(states: list[int]) -> list[int]:
        return [abs(5 - state) for state in states]

    assert solve(Counter(5), values, max_steps=3).outcome is Outcome.SOLVED
    assert solve(Counter(5), values, max_steps=2).outcome is Outcome.STEP_LIMIT


def test_an_initial_goal_needs_no_step() -> None:
    task = Counter(0)
    found = solve(task, lambda states: [0.25] * len(states), max_steps=0)
    assert (found.outcome, found.actions, found.values) == (Outcome.SOLVED, (), (0.25,))
    assert task.expanded == []


def test_memory_leaves_a_local_minimum_and_strictness_reports_the_cycle() -> None:
    bumpy = {0: 2, 1: 5, 2: 4, -1: 3}

    def values(states: list[int]) -> list[int]:
        return [bumpy.get(state, 9 + state) for state in states]

    assert solve(Counter(100), values, policy="strict").outcome is Outcome.CYCLE
    assert solve(Counter(100), values, max_steps=50).outcome is Outcome.STEP_LIMIT


def test_the_timeout_is_an_outcome() -> None:
    found = solve(Counter(10**9), lambda states: [-state for state in states], timeout=0.0)
    assert (found.outcome, found.actions) == (Outcome.TIMEOUT, ())


def test_seconds_are_those_of_all_steps_and_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 100.0

    def values(states: list[int]) -> list[int]:
        nonlocal clock
        clock += 3.0
        return [abs(5 - state) for state in states]

    monkeypatch.setattr("time.monotonic", lambda: clock)
    found = solve(Counter(5), values)
    assert (len(found.actions), found.seconds, found.seconds_per_step) == (3, 12.0, 4.0)  # the initial state's V, too
    found = solve(Counter(0), values)
    assert (len(found.actions), found.seconds, found.seconds_per_step) == (0, 3.0, 3.0)


def test_on_step_tells_the_way() -> None:
    seen: list[Step] = []
    found = solve(Counter(3), lambda states: [abs(3 - state) for state in states], on_step=seen.append)
    assert [step.number for step in seen] == [0, 1, 2]
    assert [step.action for step in seen] == [None, *found.actions]
    assert [step.value for step in seen] == list(found.values)


@pytest.mark.parametrize("bad", [0, 1])
def test_a_value_that_is_not_a_number_is_refused(bad: int) -> None:
    with pytest.raises(TrifoldError, match="step 1"):
        solve(
            Counter(3), lambda states: [math.nan if i == bad and len(states) > 1 else 1.0 for i in range(len(states))]
        )


def test_too_few_values_are_refused() -> None:
    with pytest.raises(ValueError, match="0 values for 1 states"):
        solve(Counter(3), lambda states: [])


def test_tensors_are_values_too() -> None:
    import torch

    found = solve(Counter(4), lambda states: torch.tensor([abs(4.0 - state) for state in states]))
    assert found.values == (4.0, 2.0, 0.0)
    assert all(type(value) is float for value in found.values)


def test_a_plan_that_does_not_replay_is_not_solved() -> None:
    class Moody(Counter):
        """A broken engine: a state that was expanded once has no successors the second time."""

        def successors(self, state: int) -> list[tuple[str, int]]:
            return [] if state in self.expanded else super().successors(state)

    found = solve(Moody(3), lambda states: [abs(3 - state) for state in states])
    assert found.outcome is Outcome.INVALID_PLAN


def test_a_plan_is_only_what_solves() -> None:
    found = solve(Counter(5), lambda states: [abs(5 - state) for state in states])
    assert found.plan == found.actions and len(found.actions) == found.steps == 3
    found = solve(Counter(5), lambda states: [abs(5 - state) for state in states], max_steps=2)
    assert found.plan is None and len(found.actions) == found.steps == 2


def test_scores_count_for_one_attempt_after_another() -> None:
    scores: Scores[int] = Scores(lambda states: [abs(5 - state) for state in states])
    assert [solve(Counter(5), scores).evaluated for _ in range(2)] == [10, 10]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "blind",
            "there is no policy 'blind'(.|\n)*use actions, values, strict, turns, greedy, beam, or module:function",
        ),
        ("no_such_module:walk", "cannot be imported: No module named 'no_such_module'(.|\n)*PYTHONPATH"),
        ("trifold.planning:walk", "has no attribute 'walk'"),
        (":walk", "cannot be imported"),
    ],
)
def test_a_policy_that_is_not_there_is_an_error(name: str, message: str) -> None:
    with pytest.raises(TrifoldError, match=message):
        solve(Counter(1), lambda states: [0.0] * len(states), policy=name)

"""On real problems the policy under V* is optimal, and the plan that it writes replays to the goal."""

import random
from collections import deque
from pathlib import Path

import pytest

from trifold.domains import DOMAINS, domain_text
from trifold.pddl import load_domain, load_problem
from trifold.planning import Outcome, parse_plan, plan_text, replay, solve


def optimal_distances(problem):
    """V* of every reachable state by naive breadth-first search, forwards and then back from the goals."""
    edges, queue = {}, deque([problem.initial_state])
    while queue:
        state = queue.popleft()
        if state not in edges:
            edges[state] = [successor for _, successor in problem.successors(state)]
            queue.extend(edges[state])
    before = {state: [] for state in edges}
    for state, successors in edges.items():
        for successor in successors:
            before[successor].append(state)
    distances = {state: 0 for state in edges if problem.is_goal(state)}
    queue = deque(distances)
    while queue:
        state = queue.popleft()
        for previous in before[state]:
            if previous not in distances:
                distances[previous] = distances[state] + 1
                queue.append(previous)
    return distances


@pytest.mark.parametrize(("name", "size"), [("gripper", 3), ("blocks-s", 4), ("blocks-m", 4)])
@pytest.mark.parametrize("strict", [False, True])
def test_the_policy_under_optimal_distances_is_optimal(name, size, strict):
    domain = load_domain(domain_text(name))
    problem = load_problem(domain, DOMAINS[name].problem(random.Random(0), size))
    distances = optimal_distances(problem)
    found = solve(problem, lambda states: [distances[state] for state in states], strict=strict)
    assert found.outcome is Outcome.SOLVED
    assert len(found.actions) == distances[problem.initial_state] > 0

    plan = parse_plan(plan_text(found.actions))
    assert replay(problem, plan)
    assert not replay(problem, plan[:-1])
    assert not replay(problem, plan[1:])


def test_the_way_of_a_policy_is_always_the_same():
    domain = load_domain(domain_text("blocks-m"))
    text = DOMAINS["blocks-m"].problem(random.Random(1), 5)
    ways = {
        solve(load_problem(domain, text), lambda states: [0.0] * len(states), max_steps=30).actions for _ in range(2)
    }
    assert len(ways) == 1


UPSTREAM = Path(__file__).parents[1] / "pddl" / "upstream"


@pytest.mark.parametrize("name", ["disjunctions", "either"])
def test_a_plan_that_only_pymimir_takes_is_a_disagreement(name, monkeypatch):
    """Without our rewriting pymimir reads these files wrongly, and finds plans that are none."""
    domain, problem = (UPSTREAM / f"{name}-{kind}.pddl" for kind in ("domain", "problem"))
    honest = load_problem(load_domain(domain), problem)
    monkeypatch.setattr("trifold.pddl.problem.write_domain", lambda description: domain.read_text())
    wrong = load_problem(load_domain(domain), problem)
    distances = optimal_distances(wrong)
    found = solve(wrong, lambda states: [distances.get(state, 99) for state in states])
    assert found.outcome is Outcome.DISAGREEMENT
    assert "(go) is not applicable" in found.failure
    distances = optimal_distances(honest)
    assert solve(honest, lambda states: [distances[state] for state in states]).outcome is Outcome.SOLVED

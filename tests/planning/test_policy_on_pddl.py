"""On real problems the policy under V* is optimal, and the plan that it writes replays to the goal."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import trifold
from trifold.domains import DOMAINS, domain_text
from trifold.model import Model
from trifold.pddl import Problem, State, load_domain, load_problem
from trifold.planning import Outcome, parse_plan, plan_text, replay, solve


def optimal_distances(problem: Problem) -> dict[State, int]:
    """V* of every reachable state by naive breadth-first search, forwards and then back from the goals."""
    edges, queue = {}, deque([problem.initial_state])
    while queue:
        state = queue.popleft()
        if state not in edges:
            edges[state] = [successor for _, successor in problem.successors(state)]
            queue.extend(edges[state])
    before: dict[Any, list[Any]] = {state: [] for state in edges}
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
@pytest.mark.parametrize("policy", ["values", "strict"])
def test_the_policy_under_optimal_distances_is_optimal(name: str, size: int, policy: str) -> None:
    domain = load_domain(domain_text(name))
    problem = load_problem(domain, DOMAINS[name].problem(random.Random(0), size))
    distances = optimal_distances(problem)
    found = solve(problem, lambda states: [distances[state] for state in states], policy=policy)
    assert found.outcome is Outcome.SOLVED
    assert len(found.actions) == distances[problem.initial_state] > 0

    plan = parse_plan(plan_text(found.actions))
    assert replay(problem, plan)
    assert not replay(problem, plan[:-1])
    assert not replay(problem, plan[1:])


def test_the_way_of_a_policy_is_always_the_same() -> None:
    domain = load_domain(domain_text("blocks-m"))
    text = DOMAINS["blocks-m"].problem(random.Random(1), 5)
    ways = {
        solve(load_problem(domain, text), lambda states: [0.0] * len(states), max_steps=30).actions for _ in range(2)
    }
    assert len(ways) == 1


UPSTREAM = Path(__file__).parents[1] / "pddl" / "upstream"


@pytest.mark.parametrize("name", ["disjunctions", "either"])
def test_a_plan_that_only_pymimir_takes_is_a_disagreement(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without our rewriting pymimir reads these files wrongly, and finds plans that are none."""
    domain, problem = (UPSTREAM / f"{name}-{kind}.pddl" for kind in ("domain", "problem"))
    honest = load_problem(load_domain(domain), problem)
    monkeypatch.setattr("trifold.pddl.problem.write_domain", lambda description: domain.read_text())
    monkeypatch.setattr("trifold.pddl.problem.write_problem", lambda *descriptions: problem.read_text())
    wrong = load_problem(load_domain(domain), problem)
    distances = optimal_distances(wrong)
    found = solve(wrong, lambda states: [distances.get(state, 99) for state in states])
    assert found.outcome is Outcome.DISAGREEMENT
    assert "(go) is not applicable" in str(found.failure)
    distances = optimal_distances(honest)
    assert solve(honest, lambda states: [distances[state] for state in states]).outcome is Outcome.SOLVED


def together(model: Model, states: list[State]) -> torch.Tensor:
    return model.values(states)


def alone(model: Model, states: list[State]) -> torch.Tensor:
    return torch.cat([model.values([state]) for state in states])


def permuted(model: Model, states: list[State]) -> torch.Tensor:
    order = torch.randperm(len(states), generator=torch.Generator().manual_seed(len(states)))
    values = torch.empty(len(states))
    values[order] = model.values([states[i] for i in order])
    return values


def in_chunks(model: Model, states: list[State]) -> torch.Tensor:
    return model.values(states, max_rows=4_000)


def by_the_reference(model: Model, states: list[State]) -> torch.Tensor:
    with torch.enable_grad():
        return model.network(model.encoder(states[0].problem.structures(states))).detach()


def on_cuda(model: Any, states: Any) -> Any:
    return model.to("cuda").values(states)


needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
ways_to_evaluate = [together, alone, permuted, in_chunks, by_the_reference, pytest.param(on_cuda, marks=needs_cuda)]


@pytest.mark.parametrize("evaluate", ways_to_evaluate)
def test_of_successors_alike_the_first_by_text_is_taken_however_they_are_evaluated(
    evaluate: Callable[..., Any],
) -> None:
    """All balls in a room are alike, and so are free grippers. By text, ball1 is followed by ball10."""
    model = trifold.pretrained("gripper")
    problem = load_problem(model.domain, DOMAINS["gripper"].problem(random.Random(0), 16, start="classic"))
    found = solve(problem, lambda states: evaluate(model, states), max_steps=2)
    assert found.actions == ("(pick ball1 rooma left)", "(pick ball10 rooma right)")

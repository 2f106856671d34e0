"""A network that was never trained solves Navig-xy: its weights are compiled from the joins that say the distance.

The tests take a sample of the generated test set; ``python tests/logic/test_compiled_navig_xy.py`` solves all of it, in
half a minute.
"""

from __future__ import annotations

import pytest
import torch

from trifold.domains import Drawn, domain_text, draw_splits
from trifold.encoders import Pairs
from trifold.logic import evaluate, parameters
from trifold.logic.navig_xy import distance_network, near_goal, robot_near_goal
from trifold.model import HeadedNetwork, Model, ModelConfig
from trifold.pddl import Domain, Problem, State, load_domain, load_problem
from trifold.planning import Outcome, Trajectory, solve
from trifold.structures import READOUT

BOUND = 16
"""The longest path in the generated test set."""


def compiled_model(domain: Domain, bound: int = BOUND) -> Model:
    """A model like any other, with compiled weights instead of trained ones."""
    needed = parameters(robot_near_goal(bound))
    config = ModelConfig(t=needed.t, dim=needed.dim, layers=needed.layers)
    relations = [relation for relation in Pairs(needed.t).signature(domain.signature) if relation.name != READOUT]
    network = HeadedNetwork(relations, config)
    network.embed, network.readout = distance_network(relations, bound)
    return Model(config, domain.signature, domain.text, {name: 1 for name, _ in relations}, network)


def reachable(problem: Problem) -> list[State]:
    states = [problem.initial_state]
    for state in states:
        states.extend(successor for _, successor in problem.successors(state) if successor not in states)
    return states


def solve_greedily(model: Model, problem: Problem) -> Trajectory:
    """Follow the strictly greedy policy; V of all states is asked for at once, which is quicker than step by step."""
    states = reachable(problem)
    values = dict(zip(states, model.values(states).tolist(), strict=True))
    return solve(problem, lambda successors: [values[state] for state in successors], policy="strict")


@pytest.fixture(scope="module")
def domain() -> Domain:
    return load_domain(domain_text("navig-xy"))


@pytest.fixture(scope="module")
def drawn() -> list[Drawn]:
    return draw_splits("navig-xy")["test"]


def test_the_compiled_network_is_smaller_than_the_paper_s(domain: Domain) -> None:
    config = compiled_model(domain).config
    assert (config.label, config.dim, config.layers) == ("R-GNN[1]", 39, 18)


def test_it_solves_the_generated_tests_without_training(domain: Domain, drawn: list[Drawn]) -> None:
    """The figure's two grids, every tenth grid and a longest path: V is V*, so each step is an optimal one."""
    model = compiled_model(domain)
    moves = []
    for problem in [*drawn[:2], *drawn[2::10], drawn[-1]]:
        found = solve_greedily(model, load_problem(domain, problem.text))
        moves.append(len(found.actions))
        assert found.outcome is Outcome.SOLVED
        assert found.values == pytest.approx(list(range(len(found.actions), -1, -1)), abs=1e-3)
    assert max(moves) == BOUND


def test_states_beyond_the_bound_have_the_value_after_it(domain: Domain, drawn: list[Drawn]) -> None:
    problem = load_problem(domain, drawn[1].text)
    states = reachable(problem)
    values = compiled_model(domain, bound=3).values(states)
    distances = torch.arange(len(states) - 1, -1, -1)  # a space is its path
    torch.testing.assert_close(values, distances.clamp(max=4).float(), rtol=0, atol=1e-3)


def test_its_formulas_say_the_distance(domain: Domain, drawn: list[Drawn]) -> None:
    problem = load_problem(domain, drawn[0].text)
    structures = problem.structures(reachable(problem))
    moves = len(structures) - 1
    for distance, (near, robot) in enumerate(zip(near_goal(moves), robot_near_goal(moves), strict=True)):
        cells = evaluate(near, structures)
        assert all(len(found) == distance + 1 for found in cells)
        for state, found in enumerate(evaluate(robot, structures)):
            assert sum(u == v for u, v in found) == (moves - state <= distance)


def main() -> None:
    domain = load_domain(domain_text("navig-xy"))
    model = compiled_model(domain)
    problems = draw_splits("navig-xy")["test"]
    outcomes = [solve_greedily(model, load_problem(domain, problem.text)).outcome for problem in problems]
    print(f"{outcomes.count(Outcome.SOLVED)} of {len(problems)} problems solved without training")


if __name__ == "__main__":
    main()

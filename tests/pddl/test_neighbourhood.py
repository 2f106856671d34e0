"""States around a plan, packed: the shortest way through all of them is V*, and each way that is found is a plan."""

from __future__ import annotations

import random

import pytest

from pddl.test_problem import ROOMS, TIDY
from pddl.test_relaxation import FORK, ONE_WAY
from trifold.domains import DOMAINS, domain_text
from trifold.pddl import GroundingError, Neighbourhood, Problem, expand, load_domain, load_problem
from trifold.planning import replay


def wander(problem: Problem, rng: random.Random) -> list[str]:
    """A random way to a goal, loops and all."""
    state, plan = problem.initial_state, list[str]()
    while not problem.is_goal(state):
        action, state = rng.choice(problem.successors(state))
        plan.append(action)
    return plan


@pytest.mark.parametrize("name", ["gripper", "blocks-s", "miconic", "visitall"])
def test_rings_reach_all_states_and_the_shortest_way_gets_no_longer(name: str) -> None:
    """A ring of block size 7, so that states come in several blocks."""
    text = DOMAINS[name].problem(random.Random(name), 3)
    problem = load_problem(load_domain(domain_text(name)), text)
    space = expand(domain_text(name), text, 100_000)
    around, plan = Neighbourhood(problem), wander(problem, random.Random(name))
    around.successors.block = 7
    around.begin(plan)
    lengths = [len(plan)]
    while around.grow():
        found = around.shortest()
        if found is not None:  # before the states of the plan are expanded there may be no way
            assert replay(problem, found)
            lengths.append(len(found))
    assert lengths[-1] == int(space.distances[space.initial])
    assert sorted(lengths[1:], reverse=True) == lengths[1:]
    assert around.count == len(space)


def test_another_plan_begins_with_what_is_expanded() -> None:
    text = DOMAINS["gripper"].problem(random.Random(1), 3)
    problem = load_problem(load_domain(domain_text("gripper")), text)
    around = Neighbourhood(problem)
    around.begin(wander(problem, random.Random(2)))
    while around.grow():
        pass
    before = around.count
    around.begin(around.shortest() or ())
    assert around.grow() and around.count == before


def test_there_may_be_no_way_and_what_is_not_strips_is_refused() -> None:
    around = Neighbourhood(load_problem(load_domain(ONE_WAY), FORK.replace("(at c)", "(and (at c) (at b))")))
    around.begin([])
    while around.grow():
        assert around.shortest() is None
    assert around.count == 3
    with pytest.raises(GroundingError):
        Neighbourhood(load_problem(load_domain(ROOMS), TIDY))

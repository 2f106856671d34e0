"""The action selector in Unified Planning: step by step to the goal, and on from where the world has gone instead."""

from __future__ import annotations

from typing import Any

import pytest

up = pytest.importorskip("unified_planning.shortcuts")

from unified_planning.exceptions import UPException, UPUnsupportedProblemTypeError, UPUsageError  # noqa: E402

from trifold.up import ActionSelector  # noqa: E402
from up.test_planner import generated, route  # noqa: E402


def run(problem: Any, selector: ActionSelector, most: int = 100) -> list[str]:
    """The actions that a selector chooses one after the other, each executed by Unified Planning's simulator."""
    actions: list[str] = []
    with up.SequentialSimulator(problem) as simulator:
        state = simulator.get_initial_state()
        while not simulator.is_goal(state):
            action = selector.get_action()
            assert selector.get_action().is_semantically_equivalent(action)
            state = simulator.apply(state, action)
            assert state is not None and len(actions) < most
            actions.append(str(action))
            selector.update({})
    assert selector.is_goal()
    with pytest.raises(UPUsageError, match="the goal holds"):
        selector.get_action()
    return actions


@pytest.mark.parametrize("model", ["gripper", "gripper-values"])
def test_a_policy_goes_step_by_step_to_the_goal(model: str) -> None:
    problem = generated("gripper", 3, start="classic")
    with ActionSelector(problem, model=model, search="none") as selector:
        assert len(run(problem, selector)) == 9


def test_without_a_model_a_search_leads_to_the_goal() -> None:
    problem = route(4)
    with ActionSelector(problem) as selector:
        assert len(run(problem, selector)) == 4


def test_a_policy_by_goal_counts_does_not_go_back_to_where_it_was() -> None:
    problem = generated("visitall", 3)
    with ActionSelector(problem, policy="values") as selector:
        run(problem, selector)


def test_it_goes_on_from_what_is_observed() -> None:
    problem = route(4)
    at, places = problem.fluent("Robot At"), problem.all_objects
    with ActionSelector(problem) as selector:
        assert str(selector.get_action()) == "move!(Place 0, Place 1)"
        selector.update({at(places[1]): up.TRUE(), at(places[0]): up.FALSE()})  # as expected
        assert str(selector.get_action()) == "move!(Place 1, Place 2)"
        selector.update({at(places[2]): up.FALSE(), at(places[0]): up.TRUE()})  # it has slipped back
        found = []
        while not selector.is_goal():
            found.append(str(selector.get_action()))
            selector.update({})
        assert found == [f"move!(Place {i}, Place {i + 1})" for i in range(4)]


def test_where_no_action_leads_to_the_goal_that_is_said() -> None:
    problem = route(2, has_road=False)
    with ActionSelector(problem) as selector, pytest.raises(UPException, match="unsolvable"):
        selector.get_action()
    with (
        ActionSelector(problem, policy="values", search="none") as selector,
        pytest.raises(UPException, match="stuck: give a search"),
    ):
        selector.get_action()


def test_what_cannot_be_read_is_refused_in_unified_plannings_words() -> None:
    problem = generated("gripper", 2)
    with pytest.raises(UPUnsupportedProblemTypeError, match="the model does not fit the domain"):
        ActionSelector(problem, model="logistics")
    problem.add_fluent(up.Fluent("fuel", up.IntType()), default_initial_value=0)
    problem.add_goal(up.GE(problem.fluent("fuel")(), 0))
    with pytest.raises(UPUsageError, match="cannot establish"):
        ActionSelector(problem)

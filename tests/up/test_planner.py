"""The planner in Unified Planning: plans that its own validator takes, ends in its own words, plans that get better."""

from __future__ import annotations

import io
import random
import subprocess
import sys
import time
from importlib.util import module_from_spec, spec_from_file_location
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

up = pytest.importorskip("unified_planning.shortcuts")

from unified_planning.engines import PlanGenerationResult  # noqa: E402
from unified_planning.engines import PlanGenerationResultStatus as Status  # noqa: E402
from unified_planning.engines.plan_validator import SequentialPlanValidator  # noqa: E402
from unified_planning.environment import Environment  # noqa: E402
from unified_planning.exceptions import UPUsageError  # noqa: E402
from unified_planning.io import PDDLReader  # noqa: E402

import trifold.up  # noqa: E402
from trifold.domains import DOMAINS, domain_text  # noqa: E402
from trifold.errors import TrifoldError  # noqa: E402
from trifold.pddl import load_domain, load_problem  # noqa: E402
from trifold.planning import Budget, solve  # noqa: E402
from trifold.up.guide import Guide  # noqa: E402
from trifold.up.shorter import ShorterPlans  # noqa: E402
from trifold.up.translation import Translation  # noqa: E402


@pytest.fixture(autouse=True)
def _no_credits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(up.get_environment(), "credits_stream", None)


def generated(name: str, size: int, seed: int = 0, **options: Any) -> Any:
    """A problem of a domain in the box, as Unified Planning reads it."""
    text = DOMAINS[name].problem(random.Random(seed), size, **options)
    return PDDLReader().parse_problem_string(domain_text(name), text)


def route(length: int, *, has_road: bool = True) -> Any:
    """A robot and places in a row, as a program would write them, with names that PDDL has not."""
    place = up.UserType("Place")
    robot_at = up.Fluent("Robot At", up.BoolType(), p=place)
    road = up.Fluent("road", up.BoolType(), p=place, q=place)
    move = up.InstantaneousAction("move!", p=place, q=place)
    move.add_precondition(robot_at(move.p))
    move.add_precondition(road(move.p, move.q))
    move.add_effect(robot_at(move.p), False)
    move.add_effect(robot_at(move.q), True)
    problem = up.Problem("a route")
    problem.add_fluent(robot_at, default_initial_value=False)
    problem.add_fluent(road, default_initial_value=False)
    problem.add_action(move)
    places = [problem.add_object(f"Place {i}", place) for i in range(length + 1)]
    problem.set_initial_value(robot_at(places[0]), True)
    if has_road:
        for before, after in pairwise(places):
            problem.set_initial_value(road(before, after), True)
    problem.add_goal(robot_at(places[-1]))
    return problem


def oneshot(problem: Any, timeout: float | None = 30, **params: Any) -> PlanGenerationResult:
    with up.OneshotPlanner(name="trifold", params=params) as planner:
        return planner.solve(problem, timeout=timeout)


def told(result: PlanGenerationResult) -> str:
    return "\n".join(message.message for message in result.log_messages)


def is_valid(problem: Any, result: PlanGenerationResult) -> bool:
    return bool(SequentialPlanValidator().validate(problem, result.plan))


def test_a_problem_that_a_program_wrote_is_solved_without_a_model() -> None:
    problem = route(5)
    result = oneshot(problem)
    assert result.status is Status.SOLVED_SATISFICING and is_valid(problem, result)
    actions = result.plan.actions
    assert [str(action) for action in actions[:2]] == ["move!(Place 0, Place 1)", "move!(Place 1, Place 2)"]
    assert len(actions) == 5 and actions[0].action is problem.action("move!")


def test_a_gripper_problem_is_solved_by_the_policy_of_the_shipped_model() -> None:
    problem, stream = generated("gripper", 6, start="classic"), io.StringIO()
    with up.OneshotPlanner(name="trifold", params={"model": "gripper", "search": "none"}) as planner:
        result = planner.solve(problem, output_stream=stream)
    assert result.status is Status.SOLVED_SATISFICING and is_valid(problem, result)
    assert len(result.plan.actions) == 17
    assert "solved by actions after 17 steps" in told(result)
    assert stream.getvalue().count("step") == 18


def test_an_unsolvable_problem_is_proven_to_be_so() -> None:
    result = oneshot(route(3, has_road=False))
    assert result.status is Status.UNSOLVABLE_PROVEN and result.plan is None


def test_ends_have_the_names_of_unified_planning() -> None:
    problem = generated("gripper", 6, start="classic")
    assert oneshot(problem, max_states=10).status is Status.MEMOUT
    assert oneshot(problem, timeout=0).status is Status.TIMEOUT
    assert oneshot(problem, policy="values", search="none", max_steps=2).status is Status.UNSOLVABLE_INCOMPLETELY
    assert oneshot(route(3, has_road=False), policy="values", search="none").status is Status.UNSOLVABLE_INCOMPLETELY
    assert oneshot(route(3, has_road=False), policy="values").status is Status.UNSOLVABLE_PROVEN


def test_a_timeout_ends_a_search() -> None:
    began = time.monotonic()
    result = oneshot(generated("logistics", 12, seed=1), timeout=0.5, search="greedy")
    assert result.status is Status.TIMEOUT and result.plan is None
    assert time.monotonic() - began < 3


def either_end(length: int, **options: Any) -> Any:
    """A route whose goal is to be near its beginning, or at its end."""
    problem = route(length, **options)
    at, places = problem.fluent("Robot At"), problem.all_objects
    problem.clear_goals()
    problem.add_goal(up.Or(at(places[2]), at(places[-1])))
    problem.add_action(up.InstantaneousAction("arrive"))  # a name that is taken
    return problem


def test_a_goal_that_can_be_reached_in_several_ways_is_reached_without_a_model() -> None:
    problem = either_end(6)
    result = oneshot(problem)
    assert result.status is Status.SOLVED_SATISFICING and is_valid(problem, result)
    with up.AnytimePlanner(name="trifold") as planner:
        lengths = [len(result.plan.actions) for result in planner.get_solutions(problem)]
    assert lengths[-1] == 2  # to the nearer place, and without the action that ends every plan
    problem.set_initial_value(problem.fluent("Robot At")(problem.all_objects[2]), True)
    result = oneshot(problem)
    assert is_valid(problem, result) and not result.plan.actions
    assert oneshot(either_end(6, has_road=False)).status is Status.UNSOLVABLE_PROVEN


def test_such_a_goal_is_unsupported_with_a_model_and_with_the_reason() -> None:
    result = oneshot(either_end(6), model="gripper")
    assert result.status is Status.UNSUPPORTED_PROBLEM and result.plan is None
    assert "the goal is not a conjunction of literals: it holds where" in told(result)


def test_a_model_of_another_domain_is_unsupported_with_the_reason() -> None:
    result = oneshot(generated("gripper", 2), model="logistics")
    assert result.status is Status.UNSUPPORTED_PROBLEM
    assert "the model does not fit the domain" in told(result) and "try: give a model of this domain" in told(result)


def test_numbers_and_time_are_not_declared() -> None:
    problem = route(3)
    fuel = problem.add_fluent(up.Fluent("fuel", up.IntType()), default_initial_value=0)
    problem.add_goal(up.GE(fuel, 0))
    assert not trifold.up.Planner.supports(problem.kind)
    with pytest.warns(UserWarning, match="cannot establish"):  # an engine that is asked for by its name may try
        result = oneshot(problem)
    assert result.status is Status.UNSUPPORTED_PROBLEM
    assert "problems with INT_FLUENTS, SIMPLE_NUMERIC_PLANNING are not supported" in told(result)
    with pytest.raises(UPUsageError, match="cannot establish"):
        trifold.up.Planner().solve(problem)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"model": "unheard"}, "nor a shipped model of this name"),
        ({"policy": "unheard"}, "there is no policy 'unheard'"),
        ({"search": "unheard"}, "there is no policy 'unheard'"),
        ({"policy": "actions"}, "nothing scores the actions"),
        ({"model": "gripper-values", "policy": "actions"}, "nothing scores the actions"),
        ({"search": "none"}, "no model, no policy and no search"),
    ],
)
def test_wrong_parameters_are_told(params: dict[str, str], message: str) -> None:
    with pytest.raises(UPUsageError, match=message):
        up.OneshotPlanner(name="trifold", params=params)


def test_a_heuristic_is_ignored_with_a_warning() -> None:
    with up.OneshotPlanner(name="trifold") as planner, pytest.warns(UserWarning, match="ignores the heuristic"):
        assert planner.solve(route(2), heuristic=lambda state: 0.0).plan is not None


@pytest.mark.parametrize("has_metric", [False, True])
def test_plans_get_shorter_and_the_last_is_a_shortest(has_metric: bool) -> None:
    problem = generated("gripper", 6, start="classic")
    if has_metric:
        problem.add_quality_metric(up.MinimizeSequentialPlanLength())
    with up.AnytimePlanner(name="trifold") as planner:
        *found, last = planner.get_solutions(problem, timeout=30)
    lengths = [len(result.plan.actions) for result in found]
    assert lengths == sorted(set(lengths), reverse=True) and len(lengths) > 1
    assert {result.status for result in found} == {Status.INTERMEDIATE}
    assert all(is_valid(problem, result) for result in [*found, last])
    assert len(last.plan.actions) == lengths[-1] == 17  # three ways there, two back, and each ball picked and dropped
    assert last.status is (Status.SOLVED_OPTIMALLY if has_metric else Status.SOLVED_SATISFICING)


def test_an_improvement_ends_with_the_time() -> None:
    problem, began = generated("logistics", 5, seed=1), time.monotonic()
    with up.AnytimePlanner(name="trifold", params={"model": "logistics"}) as planner:
        results = list(planner.get_solutions(problem, timeout=3))
    assert time.monotonic() - began < 8
    assert results[-1].status is Status.SOLVED_SATISFICING and is_valid(problem, results[-1])


def test_a_problem_without_a_plan_has_one_result() -> None:
    with up.AnytimePlanner(name="trifold") as planner:
        (result,) = planner.get_solutions(route(2, has_road=False))
    assert result.status is Status.UNSOLVABLE_PROVEN


def test_with_costs_plans_get_cheaper() -> None:
    """One way of two cheap steps, one of a single dear step: the shorter plan is not the better one."""
    problem = route(2)
    first, _, last = problem.all_objects
    leap = up.InstantaneousAction("leap")
    leap.add_precondition(problem.fluent("Robot At")(first))
    leap.add_effect(problem.fluent("Robot At")(last), True)
    problem.add_action(leap)
    problem.add_quality_metric(up.MinimizeActionCosts({leap: 10, problem.action("move!"): 1}))
    assert "costs are ignored" in told(oneshot(problem))
    with up.AnytimePlanner(name="trifold") as planner:
        *found, _ = planner.get_solutions(problem)
    costs = [10 if len(result.plan.actions) == 1 else 2 for result in found]
    assert costs == sorted(set(costs), reverse=True)


def test_shorter_plans_are_those_of_one_improvement() -> None:
    problem = load_problem(load_domain(domain_text("visitall")), DOMAINS["visitall"].problem(random.Random(3), 3))
    found = solve(problem, lambda states: [0.0] * len(states), policy="greedy", max_steps=10**6)
    assert found.plan is not None
    plans = ShorterPlans(problem, found.plan, Budget(None, None, 100_000))
    lengths = [len(plan) for plan in plans]
    assert lengths == sorted(set(lengths), reverse=True) and plans.is_shortest
    stopped = ShorterPlans(problem, found.plan, Budget(None, None, 2))
    assert len(list(stopped)) <= len(lengths) and not stopped.is_shortest


def upstream_cases() -> dict[str, Any]:
    """The problems that Unified Planning tests engines on: its examples, and its cases of classical planning."""
    import up_test_cases
    from unified_planning.test.examples import get_example_problems

    cases = dict(get_example_problems())
    for file in sorted((Path(up_test_cases.__path__[0]) / "builtin" / "classical").glob("*_problems.py")):
        spec = spec_from_file_location(file.stem, file)
        assert spec is not None and spec.loader is not None
        spec.loader.exec_module(module := module_from_spec(spec))
        cases |= module.get_test_cases()
    return cases


def test_unified_plannings_own_cases_are_solved_or_proved_unsolvable() -> None:
    counts = {"solved": 0, "unsolvable": 0}
    for name, case in upstream_cases().items():
        if not trifold.up.Planner.supports(case.problem.kind):
            continue
        result = oneshot(case.problem, timeout=5)
        if case.solvable:
            counts["solved"] += 1
            assert result.status is Status.SOLVED_SATISFICING and is_valid(case.problem, result), name
        else:
            counts["unsolvable"] += 1
            assert result.status is Status.UNSOLVABLE_PROVEN, name
    assert counts["solved"] >= 20 and counts["unsolvable"] >= 1, counts


def test_an_environment_knows_the_engine_once_however_often_it_is_registered() -> None:
    environment = Environment()
    assert "trifold" not in environment.factory.engines
    for _ in range(2):
        trifold.up.register(environment)
    assert environment.factory.preference_list.count("trifold") == 1
    assert environment.factory.engine("trifold") is trifold.up.Planner


def test_a_model_computes_in_one_thread_and_leaves_torch_as_it_was() -> None:
    guide = Guide.find("gripper", None, "greedy", 10, 10, "cpu")
    torch.set_num_threads(2)
    with guide.few_threads():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2


def test_trifold_does_not_import_unified_planning() -> None:
    check = "import sys, trifold, trifold.planning, trifold.commands; sys.exit('unified_planning' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_without_unified_planning_the_import_says_what_to_install() -> None:
    check = "import sys; sys.modules['unified_planning'] = None; import trifold.up"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith('trifold.up needs Unified Planning: pip install "trifold[up]"')


def test_every_example_is_read_or_refused_in_words_whatever_its_kind() -> None:
    """Also those that Unified Planning cannot write as PDDL, and schedules, which are no problems of this kind."""
    from unified_planning.test.examples import get_example_problems

    refused = []
    for example in get_example_problems().values():
        try:
            Translation(example.problem)
        except TrifoldError as error:
            refused.append(str(error))
    assert len(refused) > 20 and all(refused)
    assert any("is no classical problem but a SchedulingProblem" in text for text in refused)
    assert any("cannot write this problem as PDDL" in text for text in refused)

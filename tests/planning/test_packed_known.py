"""Searches over packed states: step for step, and question for question, what they are over the states themselves."""

from __future__ import annotations

import gc
import math
import random
from dataclasses import replace
from zlib import crc32

import pytest

from pddl.test_packed import DOMAIN, PROBLEM
from pddl.test_problem import ROOMS, TIDY
from trifold.domains import DOMAINS, domain_text
from trifold.model import Model, ModelConfig
from trifold.pddl import PackedTask, Problem, State, grounding, load_domain, load_problem
from trifold.planning import Budget, Scores, find_policy, relaxed_plans, solve
from trifold.planning.packed_known import PackedKnown
from trifold.planning.policy import Memory
from trifold.planning.search import Greedy


class Plain:
    """A problem that does not look like one, so that its states are not packed."""

    def __init__(self, problem: Problem) -> None:
        self.initial_state, self.is_goal, self.successors = problem.initial_state, problem.is_goal, problem.successors


def draw(name: str, size: int = 3, seed: int = 0) -> Problem:
    return load_problem(load_domain(domain_text(name)), DOMAINS[name].problem(random.Random(seed), size))


def coarse(text: str, most: int) -> int:
    """A number up to `most` that depends on a text alone, so that many are equal."""
    return crc32(text.encode()) % (most + 1)


def told(asked: list[object], problem: Problem, *, looks: bool, has_values: bool, batch: int) -> Scores[State]:
    """Scores by hashes of texts, and a list of all that they are asked."""

    def values(states: list[State]) -> list[float]:
        asked.append([problem.atoms(state) for state in states])
        return [float(problem.count_unmet([state])[0] + coarse(repr(problem.atoms(state)), 2)) for state in states]

    def look(state: State, actions: list[str]) -> tuple[float, list[float]]:
        asked.append((problem.atoms(state), actions))
        scores = [(-math.inf, -1.5, 0.0, 2.0, math.inf)[coarse(action, 4)] for action in actions]
        return float(problem.count_unmet([state])[0]) if has_values else math.nan, scores

    return Scores(values, look, batch=batch) if looks else Scores(values, batch=batch)


def follow(problem: Problem, search: str, *, packed: bool, most: int = 100, **facts: bool | int) -> list[object]:
    """All that a search tells and asks."""
    heard: list[object] = []
    scores = told(heard, problem, **facts)  # type: ignore[arg-type]
    task = problem if packed else Plain(problem)
    found = find_policy(search)(task, scores, Budget(most), lambda step: heard.append(repr(step)))  # NaN is not NaN
    return [*heard, repr(found)]


def compare(problem: Problem, search: str, **facts: bool | int) -> list[object]:
    packed = follow(problem, search, packed=True, **facts)
    assert packed == follow(problem, search, packed=False, **facts)
    return packed


@pytest.mark.parametrize("search", ["greedy", "beam"])
@pytest.mark.parametrize("name", ["gripper", "blocks-s", "logistics", "miconic", "rovers", "visitall", "grid"])
def test_a_search_over_packed_states_asks_and_tells_the_same(
    name: str, search: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trifold.planning.search.PACK_FROM", 1)
    for seed, batch in enumerate((1, 3, 8)):
        problem = draw(name, 3, seed)
        for looks, has_values in ((False, True), (True, True), (True, False)):
            compare(problem, search, looks=looks, has_values=has_values, batch=batch)


@pytest.mark.parametrize("search", ["greedy", "beam"])
@pytest.mark.parametrize("looks", [False, True])
def test_several_names_of_an_action_and_several_conditions_of_a_name_are_one_way_each(search: str, looks: bool) -> None:
    domain = load_domain(DOMAIN)
    for goal in ("(and (done) (at t1 home))", "(not (flooded a))", "(flooded a)", "(and (at c1 home) (road a b))"):
        problem = load_problem(domain, PROBLEM.replace("(and (done) (at t1 home) (not (at t2 home)))", goal))
        heard = compare(problem, search, looks=looks, has_values=True, batch=8, most=10**6)
        assert ("UNSOLVABLE" in str(heard[-1])) is (goal == "(flooded a)")


@pytest.mark.parametrize("heads", ["values", "both"])
def test_a_model_gives_packed_states_the_numbers_that_it_gives_the_states(heads: str) -> None:
    problem = draw("gripper", 4)
    domain, config = problem.domain, ModelConfig(dim=4, layers=2, heads=heads)
    model = Model.fresh(config, domain.signature, domain.text, _atoms(config, problem), 3, domain.schemas)
    found = []
    for task in (problem, Plain(problem)):
        scores = replace(Scores.of(model, problem), batch=8)
        found.append(find_policy("greedy")(task, scores, Budget(40), lambda step: None))
    assert repr(found[0]) == repr(found[1])


def _atoms(config: ModelConfig, problem: Problem) -> dict[str, int]:
    names = config.build_encoder().signature(problem.domain.signature).names
    return dict.fromkeys([*names, *(f"{name}@applicable" for name, _ in problem.domain.schemas)], 1)


def test_relaxed_plans_lead_the_same_way() -> None:
    problem = draw("logistics", 4, 1)
    scores = replace(relaxed_plans(problem), batch=8)  # one by one they are not packed
    packed, plain = (solve(task, scores, policy="greedy") for task in (problem, Plain(problem)))
    assert packed.plan is not None and packed.plan == plain.plan and repr(packed.values) == repr(plain.values)
    assert (packed.steps, packed.known) == (plain.steps, plain.known)


def test_a_search_over_packed_states_remembers_what_a_policy_saw() -> None:
    """The states that it asks about are those that the policy had: nothing is computed twice."""
    problem, asked = draw("gripper", 3), list[object]()
    scores = told(asked, problem, looks=True, has_values=True, batch=8)
    scores.memory = Memory()
    find_policy("actions")(problem, scores, Budget(20), lambda step: None)
    find_policy("greedy")(problem, scores, Budget(40), lambda step: None)
    assert len(asked) == len({repr(one) for one in asked}) == scores.evaluated


def test_of_packed_states_none_is_kept_as_it_is() -> None:
    problem = draw("gripper", 4)
    scores = told([], problem, looks=True, has_values=True, batch=8)
    search = Greedy(PackedKnown(PackedTask(problem), scores), scores.batch)
    for _ in range(20):
        search.expand_batch()
    gc.collect()
    assert search.size > 100 and len(problem._states) == 1  # the initial one


def test_what_cannot_be_grounded_is_searched_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Because it is not STRIPS, or too large; and so is what is expanded one by one."""
    rooms = load_problem(load_domain(ROOMS), TIDY)
    monkeypatch.setattr("trifold.planning.packed_known.PackedKnown.expand", None)
    assert find_policy("greedy")(rooms, Scores(rooms.count_unmet, batch=8), Budget(300), lambda step: None).known
    gripper = draw("gripper")
    assert find_policy("greedy")(gripper, Scores(gripper.count_unmet), Budget(300), lambda step: None).known
    monkeypatch.setattr(grounding, "MAX_ACTIONS", 3)
    for search in ("greedy", "beam"):
        assert find_policy(search)(gripper, Scores(gripper.count_unmet, batch=8), Budget(300), lambda step: None).known

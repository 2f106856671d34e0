"""V around a plan, against V* of all states: never less, and the same where all is expanded."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from pddl.test_packed import DOMAIN as ROADS
from pddl.test_packed import PROBLEM as DRIVE
from pddl.test_problem import ROOMS, TIDY
from trifold.domains import DOMAINS, domain_text
from trifold.errors import TrifoldError
from trifold.expressions import Source
from trifold.pddl import Problem, StateSpace, expand, load_domain, load_problem
from trifold.pddl.around import MOST_DETOUR
from trifold.pddl.expansion import expand_to_file, expanded_around
from trifold.planning import improve, plan_text
from trifold.planning.policy import Budget

Atoms = frozenset[tuple[str, ...]]


def atoms(space: StateSpace, state: int) -> Atoms:
    """The varying atoms of a state, by names."""
    table = space.table
    return frozenset(
        (table.relations[table.relation[atom]][0], *(space.objects[i] for i in table.arguments[atom] if i >= 0))
        for atom in space.indices[space.offsets[state] : space.offsets[state + 1]].tolist()
    )


def steps(space: StateSpace, state: int) -> set[tuple[str, tuple[str, ...], Atoms]]:
    """The actions of a listed state, and where they lead."""
    row, table = slice(*space.action_offsets[state : state + 2]), space.actions
    found = set()
    for action, successor in zip(space.applicable[row].tolist(), space.successors[row].tolist(), strict=True):
        name, arity = table.schemas[table.schema[action]]
        arguments = tuple(space.objects[i] for i in table.arguments[action][:arity])
        found.add((name, arguments, atoms(space, successor)))
    return found


def some_way(problem: Problem, rng: random.Random) -> list[str]:
    """A way to a goal with detours: a shortest one after some random steps from which there is one."""
    while True:
        state, begun = problem.initial_state, list[str]()
        for _ in range(4):
            action, state = rng.choice(problem.successors(state))
            begun.append(action)
        way = breadth_first(problem, state)
        if way is not None:
            return begun + way


def breadth_first(problem: Problem, start: object) -> list[str] | None:
    ways, queue = {start: list[str]()}, [start]
    for state in queue:
        if problem.is_goal(state):  # type: ignore[arg-type]
            return ways[state]
        for action, successor in problem.successors(state):  # type: ignore[arg-type]
            if successor not in ways:
                ways[successor] = [*ways[state], action]
                queue.append(successor)
    return None


NAMES = ("gripper", "blocks-s", "miconic")
CASES = [
    *(
        (domain_text(name), DOMAINS[name].problem(random.Random(name), 3))
        for name in ("gripper", "blocks-s", "miconic")
    ),
    (domain_text("grid"), DOMAINS["grid"].generate(random.Random(1), columns=2, keys=1, shapes=1, locks=1)),
    (ROADS, DRIVE),
]


@pytest.mark.parametrize(("domain", "text"), CASES, ids=[*NAMES, "grid", "roads"])
def test_v_is_never_less_than_the_optimum_and_all_else_is_as_it_is(domain: str, text: str) -> None:
    whole, problem = expand(domain, text, 100_000), load_problem(load_domain(domain), text)
    number = {atoms(whole, state): state for state in range(len(whole))}
    plan = some_way(problem, random.Random(text))
    given, before = Source(plan_text(plan), "p.plan"), 0
    for budget in sorted((10, 40, len(whole) // 3, len(whole) // 2, len(whole))):
        with expanded_around(domain, text, given, budget) as (space, list_actions):
            space = list_actions(space, np.arange(space.listed))
        old = [number[atoms(space, state)] for state in range(len(space))]
        assert len(set(old)) == len(old) and old[space.initial] == whole.initial
        assert space.is_bound and space.listed <= len(space) <= space.states <= len(whole)
        optimum = whole.distances[old]
        assert ((space.distances < 0) == (optimum < 0)).all() and (space.distances >= optimum).all()
        assert space.distances[space.initial] <= len(plan)
        known = {atoms(space, state) for state in range(len(space))}
        for state in range(space.listed):
            assert steps(space, state) == {step for step in steps(whole, old[state]) if step[2] in known}
            found = space.targets[space.transition_offsets[state] : space.transition_offsets[state + 1]].tolist()
            there = whole.targets[whole.transition_offsets[old[state]] : whole.transition_offsets[old[state] + 1]]
            assert found == sorted(set(found))
            assert sorted(old[i] for i in found) == [i for i in there.tolist() if atoms(whole, i) in known]
        assert space.listed >= before
        before = space.listed
    assert len(space) == space.listed == len(whole) and (space.distances == optimum).all()


def test_near_the_plan_v_is_mostly_the_optimum_and_only_that_is_sampled(tmp_path: Path) -> None:
    """A tenth of the states of a grid, the plan of which has detours; all are sampled that are near enough."""
    domain, sizes = domain_text("grid"), {"rows": 2, "columns": 2, "locks": 2, "keys": 2, "shapes": 2, "unlocks": 2}
    text = DOMAINS["grid"].generate(random.Random(3), **sizes)
    whole, problem = expand(domain, text, 100_000), load_problem(load_domain(domain), text)
    number = {atoms(whole, state): state for state in range(len(whole))}
    plan = improve(problem, some_way(problem, random.Random(1)), Budget(None, states=len(whole) // 10))
    job = {"domain": (domain, "d"), "problem": (text, "p"), "max_states": len(whole) // 10, "keep": 1000}
    job |= {"plan": (plan_text(plan), "p.plan"), "path": str(tmp_path / "space")}
    listed = []
    for detour in (0, 2, MOST_DETOUR, 1000, None):
        facts = expand_to_file(job | {"detour": detour}, lambda event: None)
        assert facts["outcome"] == "labelled" and "around a plan" in facts["message"]
        space = StateSpace.load(tmp_path / "space")
        optimum = whole.distances[[number[atoms(space, state)] for state in range(len(space))]]
        assert space.listed < len(space) == facts["kept"] < facts["states"] < len(whole) / 5
        assert space.distances[space.initial] == optimum[space.initial]
        sampled = space.distances[: space.listed] - optimum[: space.listed]
        assert sampled.min() == 0 and (sampled == 0).mean() > 0.9
        listed.append(space.listed)
    assert listed[0] < listed[1] < listed[2] == listed[3] == listed[4]


def test_a_plan_for_another_problem_is_told() -> None:
    domain, text = CASES[0]
    for plan, why in (
        ("(pick nothing)", "an action of it is not applicable"),
        ("; none", "it does not lead to a goal"),
        ("pick", "not an action"),
    ):
        with (
            pytest.raises(TrifoldError, match=why) as error,
            expanded_around(domain, text, Source(plan, "p.plan"), 5),
        ):
            pass
        assert error.value.place == "p.plan"


def test_what_is_not_strips_is_not_expanded_around(tmp_path: Path) -> None:
    job = {
        "domain": (ROOMS, "d"),
        "problem": (TIDY, "p"),
        "max_states": 1,
        "keep": 5,
        "detour": None,
        "plan": ("", "p"),
    }
    facts = expand_to_file(job | {"path": str(tmp_path / "space")}, lambda event: None)
    assert facts["outcome"] == "state limit" and not list(tmp_path.iterdir())

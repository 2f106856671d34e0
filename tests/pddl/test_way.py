"""V* along a way is that of the whole space, whichever engine expands it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from planning.test_policy_on_pddl import optimal_distances
from trifold.domains import DOMAINS, domain_text
from trifold.outcomes import Outcome
from trifold.pddl import expansion, load_domain, load_problem
from trifold.pddl.grounding import GroundingError
from trifold.pddl.way import label_way
from trifold.planning import states_along

DOMAIN = domain_text("gripper")
PROBLEM = DOMAINS["gripper"].problem(random.Random(0), 3)


def label(actions: list[str], max_states: int = 10_000, problem: str = PROBLEM) -> dict[str, Any]:
    job = {"domain": [DOMAIN, "d"], "problem": [problem, "p"], "max_states": max_states, "actions": actions}
    return label_way(job, lambda event: None)


@pytest.mark.parametrize("engine", ["packed", "pymimir"])
def test_every_state_and_successor_has_its_distance(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if engine == "pymimir":

        def refuse(problem: Any) -> None:
            raise GroundingError("not today")

        monkeypatch.setattr(expansion, "ground", refuse)
    problem = load_problem(load_domain(DOMAIN), PROBLEM)
    distances = optimal_distances(problem)
    state, actions, rng = problem.initial_state, [], random.Random(1)
    for _ in range(12):
        action, state = rng.choice(problem.successors(state))
        actions.append(action)
    found = label(actions)
    way = states_along(problem, actions)
    assert (found["outcome"], found["states"]) == (Outcome.LABELLED, len(distances))
    assert found["distances"] == [distances[state] for state in way]
    assert found["successors"] == [
        {action: distances[after] for action, after in problem.successors(state)} for state in way
    ]


def test_a_limit_is_an_outcome(tmp_path: Path) -> None:
    found = label([], max_states=3)
    assert found["outcome"] is Outcome.STATE_LIMIT and "more than 3 states" in found["message"]

"""A look by kernels, on arrays of fixed size, gives what the reference gives; without a GPU nothing is captured."""

from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from model.test_heads import actions_of, atom_counts, problem_of
from model.test_model import some_states
from trifold.domains import DOMAINS
from trifold.model import Model, ModelConfig
from trifold.model.captured import CapturedLook
from trifold.nn import BACKENDS, RGNN
from trifold.pddl import State, load_problem

pytest.importorskip("triton")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, of lanes that are masked out
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@pytest.fixture(autouse=True)
def replayed_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a GPU a replay computes the answer anew, where a graph would write it."""

    def capture(look: CapturedLook) -> None:
        graph: Any = SimpleNamespace(replay=lambda: look.answer.copy_(look._read()))
        look.answer, look.graph = look._read(), graph

    if DEVICE == "cpu":
        monkeypatch.setattr(CapturedLook, "_capture", capture)


def fresh(name: str, heads: str, encoder: str) -> Model:
    """An untrained model whose looks are captured."""
    config = ModelConfig(encoder=encoder, dim=16, layers=1, heads=heads)
    domain = problem_of(name).domain
    facts = (config, domain.signature, domain.text, dict(atom_counts(name, encoder, True)), 0, domain.schemas)
    model = Model.fresh(*facts).to(DEVICE)
    model.backend = BACKENDS[RGNN][0]
    return model


def expected(model: Model, state: State) -> list[float]:
    """V and the scores by the reference."""
    reference = Model(
        model.config, model.signature, model.domain_text, model.training_atoms, model.network, {}, model.schemas
    )
    value, scores = reference.to(DEVICE, "reference").look(state, actions_of(state))
    return [value, *scores]


def assert_answers(model: Model, state: State) -> None:
    value, scores = model.look(state, actions_of(state))
    found, truth = torch.tensor([value, *scores]), torch.tensor(expected(model, state))
    torch.testing.assert_close(found, truth, rtol=1e-4, atol=1e-4, equal_nan=True)


@pytest.mark.parametrize(
    ("name", "heads", "encoder"),
    [("gripper", "both", "pairs"), ("depot", "actions", "plain"), ("gripper", "actions", "oblivious")],
)
def test_a_captured_look_answers_as_the_reference_does(name: str, heads: str, encoder: str) -> None:
    """Also of states that come after others, and when the weights have changed meanwhile."""
    model, problem = fresh(name, heads, encoder), problem_of(name)
    first, *others = some_states(problem, 3)
    assert_answers(model, first)
    graph = model._captured
    assert graph is not None
    with torch.no_grad():
        for weight in model.network.parameters():
            weight.mul_(1.3)
    for state in others:
        assert_answers(model, state)
    assert model._captured is graph


@pytest.mark.parametrize(
    ("encoder", "lacking"), [("plain", "limits"), ("pairs", "atoms"), ("pairs", "most"), ("plain", "use")]
)
def test_a_structure_without_room_or_with_too_much_of_it_gets_a_graph_of_its_own(
    encoder: str, lacking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, problem = fresh("gripper", "both", encoder), problem_of("gripper")
    state = problem.initial_state
    assert_answers(model, state)
    before: Any = model._captured
    if lacking == "use":
        monkeypatch.setattr("trifold.model.captured.WASTE", 0.5)
    else:
        setattr(before, lacking, [0 for _ in getattr(before, lacking)])
    assert_answers(model, state)
    assert model._captured is not before


def test_another_problem_gets_a_graph_of_its_own() -> None:
    model, problem = fresh("gripper", "both", "pairs"), problem_of("gripper")
    other = load_problem(problem.domain, DOMAINS["gripper"].problem(random.Random(1), 3))
    for state in (problem.initial_state, other.initial_state, other.successors(other.initial_state)[0][1]):
        assert_answers(model, state)


def test_a_structure_of_too_many_messages_is_read_without_a_graph() -> None:
    model, problem = fresh("gripper", "both", "pairs"), problem_of("gripper")
    model.backend = replace(model.backend, max_rows=3)
    assert_answers(model, problem.initial_state)
    assert model._captured is None

"""A look by kernels, on arrays of fixed size, gives what the reference gives; without a GPU nothing is captured."""

from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from model.test_heads import actions_of, atom_counts, problem_of
from model.test_model import some_states
from trifold.domains import DOMAINS
from trifold.encoders import Pairs, Queried
from trifold.model import Model, ModelConfig, captured
from trifold.model.captured import CapturedLook
from trifold.nn import BACKENDS, RGNN
from trifold.pddl import Problem, State, load_domain, load_problem
from trifold.structures import Signature, query_relations

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


def fresh(name: str, heads: str, encoder: str, t: float = 1) -> Model:
    """An untrained model whose looks are captured."""
    config = ModelConfig(encoder=encoder, dim=16, layers=1, heads=heads, t=t)
    domain = problem_of(name).domain
    facts = (config, domain.signature, domain.text, dict(atom_counts(name, encoder, True)), 0, domain.schemas)
    model = Model.fresh(*facts).to(DEVICE)
    model.backend = BACKENDS[type(model.network.embed)][0]
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
    [
        ("gripper", "both", "pairs"),
        ("depot", "actions", "plain"),
        ("gripper", "actions", "oblivious"),
        ("gripper", "both", "marks"),
    ],
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


@pytest.mark.parametrize("lacking", ["limits", "use"])
def test_by_other_encoders_a_state_without_room_or_with_too_much_of_it_gets_a_graph_of_its_own(
    lacking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, problem = fresh("gripper", "both", "plain"), problem_of("gripper")
    state = problem.initial_state
    assert_answers(model, state)
    before: Any = model._captured
    if lacking == "use":
        monkeypatch.setattr(captured, "WASTE", 0.5)
    else:
        before.limits = [0 for _ in before.limits]
    assert before(model.ask([state], [actions_of(state)])[0]) is None


TIES = """(define (domain ties) (:predicates (tie ?x ?y) (lone ?x))
  (:action bind :parameters (?x ?y) :precondition (lone ?x) :effect (tie ?x ?y)))"""


def ties(objects: int, *pairs: str) -> Problem:
    """A problem with so many objects, some of which are tied; the first can be tied to any."""
    names = " ".join(f"o{number}" for number in range(objects))
    initial = " ".join(f"(tie o{pair[0]} o{pair[1]})" for pair in pairs)
    text = f"(define (problem t) (:domain ties) (:objects {names}) (:init (lone o0) {initial}) (:goal (tie o0 o1)))"
    return load_problem(load_domain(TIES), text)


def fresh_ties(t: int) -> Model:
    """An untrained model of these problems, with parameters for all relations."""
    domain, config = load_domain(TIES), ModelConfig(dim=16, layers=1, heads="both", t=t)
    queries = Signature((*domain.signature, *query_relations(domain.schemas)))
    atoms = dict.fromkeys(Queried(config.build_encoder()).signature(queries).names, 1)
    model = Model.fresh(config, domain.signature, TIES, atoms, 0, domain.schemas).to(DEVICE)
    model.backend = BACKENDS[RGNN][0]
    return model


@pytest.mark.parametrize(("t", "checked"), [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)])
def test_more_pairs_or_triangles_than_there_is_room_for_need_another_graph(
    t: int, checked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many atoms, with room for one more of each thing: live pairs, pairs of R_t and triangles each tell of it."""
    monkeypatch.setattr(captured, "BLOCK", 1)
    monkeypatch.setattr(captured, "ROOM", 1.0)
    model, few, many = fresh_ties(t), ties(8, "22", "33", "44").initial_state, ties(8, "23", "34", "45").initial_state
    assert_answers(model, few)
    graph: Any = model._captured
    rooms = graph.rooms
    graph.rooms = tuple(room if index == checked else 10**9 for index, room in enumerate(rooms))
    assert graph(model.ask([many], [actions_of(many)])[0]) is None
    graph.rooms = rooms
    assert_answers(model, many)
    assert model._captured is not graph
    graph = model._captured
    assert_answers(model, few)
    assert_answers(model, many)
    assert model._captured is graph


def test_many_objects_and_actions_need_no_room_for_triangles() -> None:
    """There are more of both than the least room for triangles, of which there are none."""
    model, state = fresh_ties(0), ties(70, "12").initial_state
    for seen in (state, state.problem.successors(state)[5][1]):
        assert_answers(model, seen)
    graph = model._captured
    assert_answers(model, state)
    assert model._captured is graph


class NoHostReads(TorchDispatchMode):
    """Refuses what a graph cannot capture: operations whose results the host waits for."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(function)
        assert not any(word in name for word in ("_local_scalar_dense", "nonzero", "repeat_interleave.Tensor")), name
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("t", [0, 1, 2, float("inf")])
def test_what_is_captured_reads_nothing_back(t: float) -> None:
    model, problem = fresh("gripper", "both", "pairs", t), problem_of("gripper")
    state = problem.initial_state
    assert_answers(model, state)
    graph: Any = model._captured
    refusing: Any = NoHostReads
    with torch.inference_mode(), refusing():
        graph._encode()
        graph.batcher(graph.only)


def test_an_encoder_that_is_a_kind_of_pairs_encodes_for_itself() -> None:
    class Reversed(Pairs):
        def __call__(self, structures: Any) -> Any:
            return super().__call__(structures)

    model, problem = fresh("gripper", "both", "pairs"), problem_of("gripper")
    model.encoder = Reversed(1)
    model.queried = Queried(model.encoder)
    model.look(problem.initial_state, actions_of(problem.initial_state))
    assert type(model._captured) is CapturedLook


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

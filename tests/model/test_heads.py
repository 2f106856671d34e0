"""Models with values, with scores of actions, or with both: their files, their laws, and what each refuses."""

from __future__ import annotations

import copy
import math
import os
import random
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from model.test_model import some_states
from oracles import naive_pairs, naive_rgnn, to_naive
from oracles_pairs import square
from trifold.data import Dataset
from trifold.domains import DOMAINS, domain_text
from trifold.encoders import Queried
from trifold.errors import TrifoldError
from trifold.model import Model, ModelConfig, UntrainedRelation, checkpoint
from trifold.nn import SHARPNESS
from trifold.pddl import Problem, State, expand, load_domain, load_problem
from trifold.planning import solve
from trifold.shipped import best_policy, shipped_models
from trifold.structures import APPLICABLE, READOUT, Structures, concatenate

HEADS = ["values", "actions", "both"]
ENCODERS = ["plain", "pairs"]
GRIPPER = domain_text("gripper")

# An action without arguments, one of three, a ternary predicate, a constant, and types.
DEPOT = """(define (domain depot) (:requirements :strips :typing :negative-preconditions)
  (:types place item - object box - item) (:constants hub - place)
  (:predicates (at ?x - item ?p - place) (road ?p ?q - place) (stamped ?x - box ?p ?q - place) (open))
  (:action unlock :parameters () :precondition (not (open)) :effect (open))
  (:action move :parameters (?x - box ?p ?q - place) :precondition (and (at ?x ?p) (road ?p ?q))
    :effect (and (not (at ?x ?p)) (at ?x ?q) (stamped ?x ?p ?q)))
  (:action drop :parameters (?x - box) :precondition (and (open) (at ?x hub)) :effect (not (at ?x hub))))"""
DEPOT_PROBLEM = """(define (problem depot-1) (:domain depot) (:objects b c - box s t - place)
  (:init (at b hub) (at c s) (road hub s) (road s t) (road t hub)) (:goal (and (at b t) (stamped c s t))))"""
TYPES = {"b": "box", "c": "box", "s": "place", "t": "place"}
TEXTS = {"gripper": (GRIPPER, DOMAINS["gripper"].problem(random.Random(3), 2)), "depot": (DEPOT, DEPOT_PROBLEM)}


@cache
def atom_counts(name: str, encoder: str, with_actions: bool) -> dict[str, int]:
    """How many atoms of each relation the problem's states have, as a training counts them."""
    chosen = ModelConfig(encoder=encoder, dim=8).build_encoder()
    space = expand(*TEXTS[name], 10_000)
    return Dataset.build([space], chosen, dead_end_target=9.0, with_actions=with_actions).atom_counts


def problem_of(name: str) -> Problem:
    domain, text = TEXTS[name]
    return load_problem(load_domain(domain), text)


def fresh(name: str = "gripper", heads: str = "both", encoder: str = "pairs") -> Model:
    """An untrained model with parameters for what the problem's states have."""
    config = ModelConfig(encoder=encoder, dim=8, layers=2, heads=heads)
    atoms, domain = dict(atom_counts(name, encoder, config.has_actions)), load_domain(TEXTS[name][0])
    schemas = domain.schemas if config.has_actions else ()
    return Model.fresh(config, domain.signature, domain.text, atoms, 0, schemas)


def actions_of(state: State) -> list[str]:
    return [action for action, _ in state.problem.successors(state)]


def queried(problem: Problem, states: list[State]) -> Structures:
    """The states, each with its applicable actions as queries."""
    table = problem.action_table([action for state in states for action in actions_of(state)])
    counts = np.array([len(actions_of(state)) for state in states])
    return table.add_queries(problem.structures(states), counts, np.arange(len(table)))


def assert_equal(left: tuple[float, list[float]], right: tuple[float, list[float]], tolerance: float = 0.0) -> None:
    """V and scores are the same; NaN is NaN."""
    torch.testing.assert_close(
        torch.tensor([left[0], *left[1]], dtype=torch.float64),
        torch.tensor([right[0], *right[1]], dtype=torch.float64),
        rtol=tolerance,
        atol=tolerance,
        equal_nan=True,
    )


# Files.


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("heads", HEADS)
def test_a_saved_model_is_the_same_model(heads: str, encoder: str, tmp_path: Path) -> None:
    model, problem = fresh(heads=heads, encoder=encoder), problem_of("gripper")
    model.provenance = {"seed": 3}
    model.save(tmp_path / "m.safetensors")
    loaded = Model.load(tmp_path / "m.safetensors")
    for name in ("config", "signature", "domain_text", "training_atoms", "provenance", "schemas"):
        assert getattr(loaded, name) == getattr(model, name)
    before, after = model.network.state_dict(), loaded.network.state_dict()
    assert before.keys() == after.keys() and all(torch.equal(before[name], after[name]) for name in before)
    for state in some_states(problem, 5):
        if model.config.has_actions:
            assert_equal(loaded.look(state, actions_of(state)), model.look(state, actions_of(state)))
        if model.config.has_values:
            assert torch.equal(loaded.values([state]), model.values([state]))
    assert (loaded.schemas == ()) == (heads == "values")


@pytest.mark.parametrize("heads", HEADS)
def test_a_network_has_weights_for_the_heads_that_it_has(heads: str) -> None:
    network = fresh(heads=heads).network
    parts = {name.partition(".")[0] for name, _ in network.named_parameters()}
    assert parts == {"embed"} | ({"readout"} if heads != "actions" else set()) | (
        {"scores"} if heads != "values" else set()
    )


@pytest.mark.parametrize("encoder", ENCODERS)
def test_a_file_of_an_older_version_without_heads_and_schemas_has_values(encoder: str, tmp_path: Path) -> None:
    model, problem = fresh(heads="values", encoder=encoder), problem_of("gripper")
    path = tmp_path / "m.safetensors"
    model.save(path)
    tensors, header = checkpoint.read(path, "model")
    assert "schemas" not in header
    del header["config"]["heads"]
    checkpoint.write(path, tensors, header)
    loaded = Model.load(path)
    assert (loaded.config, loaded.schemas) == (model.config, ())
    states = some_states(problem, 5)
    assert torch.equal(loaded.values(states), model.values(states))
    assert best_policy(path) == "values"


def test_a_file_whose_weights_are_of_other_heads_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    fresh(heads="both").save(path)
    tensors, header = checkpoint.read(path, "model")
    for changes in ({"heads": "values"}, {"heads": "actions"}):
        checkpoint.write(path, tensors, {**header, "config": header["config"] | changes})
        with pytest.raises(TrifoldError, match="do not fit together"):
            Model.load(path)


RIGHT: list[Any] = [["drop", 3], ["move", 2], ["pick", 3]]
NO_LISTS: list[Any] = [None, {"pick": 3}, "pick", 3, True]
NO_ARITIES: list[Any] = ["3", True, 3.0, None, [], -1, 101, 10**9, 10**40]
NO_SCHEMAS: list[Any] = [
    *("wait", None, {}, 3, [], ["wait"], ["wait", 2, 2], ["", 2], [3, 2], [None, 2], ["o\ud800", 1]),
    *(["wait", arity] for arity in NO_ARITIES),
]
DAMAGED: list[tuple[Any, str]] = [
    *((value, "its header has no schemas of actions") for value in NO_LISTS),
    *(([*RIGHT, value], "its header has no schemas of actions") for value in NO_SCHEMAS),
    ([*RIGHT, ["drop", 3]], "a schema twice"),
    ([*RIGHT, ["drop", 2]], "a schema twice"),
    ([*RIGHT, *([f"a{i}", 0] for i in range(20_000))], "a schema twice, or too many"),
    ([*RIGHT, ["wait", 0], ["wait()", 1]], "do not fit together"),  # two schemas, and one name of their queries
    ([], "do not fit together"),
    (RIGHT[:2], "do not fit together"),
    ([["drop", 2], *RIGHT[1:]], "do not fit together"),
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Write a model with another header, and a checksum that is right."""
    path = tmp_path_factory.mktemp("heads") / "m.safetensors"
    fresh(heads="both", encoder="plain").save(path)
    tensors, header = checkpoint.read(path, "model")
    assert header["schemas"] == RIGHT

    def write(**changes: Any) -> Path:
        kept = {name: value for name, value in (header | changes).items() if value is not None}
        checkpoint.write(path, tensors, kept)
        return path

    return write


@pytest.mark.parametrize(("schemas", "message"), DAMAGED, ids=lambda value: str(value)[-40:])
def test_damaged_schemas_are_refused(schemas: Any, message: str, saved: Callable[..., Path]) -> None:
    path = saved(schemas=schemas)
    with pytest.raises(TrifoldError, match=f"damaged: .*{message}") as caught:
        Model.load(path)
    assert str(path) in str(caught.value)


def test_a_model_with_values_asks_for_no_schemas(tmp_path: Path) -> None:
    """Whatever stands there: an older version wrote none."""
    path = tmp_path / "m.safetensors"
    fresh(heads="values").save(path)
    tensors, header = checkpoint.read(path, "model")
    for schemas in ([], [["drop", 3]], "nonsense"):
        checkpoint.write(path, tensors, header | {"schemas": schemas})
        assert Model.load(path).schemas == ()


# One look.


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("name", TEXTS)
def test_renaming_the_objects_of_a_problem_permutes_the_scores(name: str, encoder: str) -> None:
    """They are declared in another order, too, so that each has another number; constants keep their names."""
    model, problem = fresh(name, encoder=encoder), problem_of(name)
    objects = [o for o in problem.objects if o != "hub"]
    numbers = random.Random(4).sample(range(len(objects)), len(objects))
    names = {o: f"zz{number}" for o, number in zip(objects, numbers, strict=True)}

    def rename(text: str) -> str:
        return re.sub(r"[\w-]+", lambda word: names.get(word[0], word[0]), text)

    head, _, tail = TEXTS[name][1].partition("(:objects")
    declared = " ".join(names[o] + (f" - {TYPES[o]}" if o in TYPES else "") for o in reversed(objects))
    other = load_problem(problem.domain, f"{head}(:objects {declared}){rename(tail.partition(')')[2])}")
    assert [names.get(o, o) for o in problem.objects] != list(other.objects)
    twins = [(problem.initial_state, other.initial_state)]
    for state, twin in twins:
        after = dict(other.successors(twin))
        assert {rename(action) for action in actions_of(state)} == after.keys()
        here, there = model.look(state, actions_of(state)), model.look(twin, list(after))
        scores = dict(zip(after, there[1], strict=True))
        assert_equal(here, (there[0], [scores[rename(action)] for action in actions_of(state)]), 1e-5)
        if len(twins) < 6:
            twins.extend((successor, after[rename(action)]) for action, successor in problem.successors(state)[:3])


@pytest.mark.parametrize("encoder", [*ENCODERS, "compositions", "oblivious", "marks"])
@pytest.mark.parametrize("heads", ["actions", "both"])
def test_the_order_of_the_actions_does_not_matter_nor_what_is_asked_beside(heads: str, encoder: str) -> None:
    model, problem = fresh(heads=heads, encoder=encoder), problem_of("gripper")
    for state in some_states(problem, 4):
        actions = actions_of(state)
        value, scores = model.look(state, actions)
        order = random.Random(1).sample(range(len(actions)), len(actions))
        shuffled = model.look(state, [actions[i] for i in order])
        assert_equal(shuffled, (value, [scores[i] for i in order]), 1e-6)
        for action, score in zip(actions, scores, strict=True):
            assert_equal(model.look(state, [action]), (value, [score]), 1e-5)
        assert_equal(model.look(state, []), (value, []), 1e-6)
        assert_equal(model.look(state, actions * 2), (value, scores * 2), 1e-6)


@pytest.mark.parametrize("encoder", [*ENCODERS, "compositions", "oblivious", "marks"])
def test_v_of_a_look_is_that_of_values_and_scores_alone_have_none(encoder: str) -> None:
    model, problem = fresh(encoder=encoder), problem_of("gripper")
    states = some_states(problem, 5)
    values = [model.look(state, actions_of(state))[0] for state in states]
    torch.testing.assert_close(torch.tensor(values), model.values(states), rtol=1e-5, atol=1e-5)
    alone = fresh(encoder=encoder, heads="actions")
    assert all(math.isnan(alone.look(state, actions_of(state))[0]) for state in states)


def by_state(model: Model, encoded: Structures, names: list[list[str]]) -> list[dict[str, float]]:
    """The scores that `Model.read` gives, as a dict of actions for each structure: queries come schema by schema."""
    _, scored = model.read(encoded)
    assert scored is not None and not scored.optimal.any()
    found: list[dict[str, float]] = [{} for _ in names]
    left = [sorted(actions, key=lambda action: action[1:-1].split()[0]) for actions in names]
    for score, owner in zip(scored.scores.tolist(), scored.owners.tolist(), strict=True):
        found[owner][left[owner].pop(0)] = score
    assert not any(left)
    return found


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("name", TEXTS)
def test_a_batch_gives_what_each_state_gives_alone(name: str, encoder: str) -> None:
    model, problem = fresh(name, encoder=encoder), problem_of(name)
    states = some_states(problem, 5)
    names = [actions_of(state) for state in states]
    whole = queried(problem, states)
    together = Queried(model.encoder)(whole)
    parts = concatenate([Queried(model.encoder)(queried(problem, [state])) for state in states])
    values, _ = model.read(together)
    assert values is not None
    for encoded in (together, parts):
        for state, actions, value, scores in zip(
            states, names, values.tolist(), by_state(model, encoded, names), strict=True
        ):
            assert_equal(model.look(state, actions), (value, [scores[action] for action in actions]), 1e-5)
    order = torch.arange(len(states) - 1, -1, -1)
    backwards = by_state(model, together.take(order), names[::-1])
    for there, back in zip(by_state(model, together, names), reversed(backwards), strict=True):
        assert there.keys() == back.keys()
        assert all(there[action] == pytest.approx(back[action], rel=1e-5, abs=1e-5) for action in there)


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("name", TEXTS)
@torch.no_grad()
def test_a_look_equals_the_naive_network_over_all_pairs(name: str, encoder: str) -> None:
    """From PDDL to scores: Algorithm 1 in float64, atom by atom, MLP_a of what each action reads and of the maximum."""
    model, problem = fresh(name, encoder=encoder), problem_of(name)
    network = copy.deepcopy(model.network).double()
    mlps = {
        query.name.removesuffix(APPLICABLE).removesuffix("()"): mlp
        for query, mlp in zip(network.scores.queries, network.scores.mlps, strict=True)
    }
    for state in some_states(problem, 6)[::2]:
        ((n, atoms),) = to_naive(problem.structures([state]))
        if encoder == "plain":
            f, value = naive_rgnn(network, range(n), atoms | {(READOUT, (o,)) for o in range(n)})
        else:
            f, value = naive_rgnn(network, square(n), naive_pairs((n, atoms), 1))
        own = torch.stack([f[o if encoder == "plain" else (o, o)] for o in range(n)])
        most = torch.logsumexp(SHARPNESS * own, 0) / SHARPNESS
        scores = []
        for action in actions_of(state):
            schema, *items = action[1:-1].split()
            objects = [problem.objects.index(item) for item in items]
            reads: list[Any] = objects if encoder == "plain" else [(a, b) for a in objects for b in objects]
            scores.append(mlps[schema](torch.cat([*(f[read] for read in reads), most])).item())
        assert_equal(model.look(state, actions_of(state)), (value.item(), scores), 1e-4)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_an_action_of_a_schema_that_training_never_had_scores_minus_infinity(encoder: str, tmp_path: Path) -> None:
    model, problem = fresh("depot", encoder=encoder), problem_of("depot")
    atoms = {name: count for name, count in model.training_atoms.items() if not name.startswith("unlock")}
    model = Model.fresh(model.config, model.signature, model.domain_text, atoms, 0, model.schemas)
    model.save(tmp_path / "m.safetensors")
    for each in (model, Model.load(tmp_path / "m.safetensors")):
        actions = actions_of(problem.initial_state)
        assert actions[-1] == "(unlock)" and len(actions) > 1
        with pytest.warns(UntrainedRelation, match="no training state had an action unlock"):
            _, scores = each.look(problem.initial_state, actions)
        assert scores[-1] == -math.inf and all(map(math.isfinite, scores[:-1]))
        assert each.look(problem.initial_state, ["(unlock)"])[1] == [-math.inf]
        found = solve(problem, each.values, looks=each.look, max_steps=2)
        assert "(unlock)" not in found.actions and found.steps == 2


def test_a_schema_whose_actions_were_all_optimal_or_never_optimal_has_parameters() -> None:
    config, domain = ModelConfig(encoder="plain", dim=4, layers=1, heads="both"), load_domain(GRIPPER)
    for ending in ("@applicable", "@optimal"):
        atoms = {"at": 1, "pick" + ending: 1, "drop" + ending: 0}
        model = Model.fresh(config, domain.signature, domain.text, atoms, 0, domain.schemas)
        assert [query.name for query in model.network.scores.queries] == ["pick@applicable"]


# What is refused.


@pytest.mark.parametrize("encoder", ENCODERS)
def test_a_model_without_values_refuses_them_and_says_what_to_do(encoder: str) -> None:
    model, problem = fresh(heads="actions", encoder=encoder), problem_of("gripper")
    with pytest.raises(TrifoldError, match=r"scores actions, and has no V\n  try: use --policy actions"):
        model.values([problem.initial_state])
    with pytest.raises(TrifoldError, match="has no V"):
        solve(problem, model.values, policy="values")
    assert solve(problem, model.values, looks=model.look, max_steps=1).steps == 1


@pytest.mark.parametrize("encoder", ENCODERS)
def test_a_model_without_scores_refuses_a_look_and_says_what_to_do(encoder: str) -> None:
    model, problem = fresh(heads="values", encoder=encoder), problem_of("gripper")
    state = problem.initial_state
    with pytest.raises(TrifoldError, match=r"has values, and scores no actions\n  try: use --policy values"):
        model.look(state, actions_of(state))
    with pytest.raises(TrifoldError, match="scores no actions"):
        solve(problem, model.values, looks=model.look)


@pytest.mark.parametrize("heads", ["actions", "both"])
def test_a_look_at_a_problem_of_another_domain_is_refused(heads: str) -> None:
    model, problem = fresh(heads=heads), problem_of("depot")
    with pytest.raises(TrifoldError, match="does not fit the domain"):
        model.look(problem.initial_state, actions_of(problem.initial_state))


@pytest.mark.parametrize("encoder", ENCODERS)
def test_another_text_of_the_domain_whose_actions_have_other_parameters_is_refused(encoder: str) -> None:
    model = fresh(encoder=encoder)
    text = re.sub(r"(\(:action move\s+:parameters \([^)]*)\)", r"\1 ?more)", GRIPPER)
    assert text != GRIPPER
    other = load_problem(load_domain(text), TEXTS["gripper"][1])
    with pytest.raises(TrifoldError):
        model.check(other)
    with pytest.raises(TrifoldError):
        model.look(other.initial_state, actions_of(other.initial_state))


def test_a_domain_without_actions_can_be_looked_at() -> None:
    domain = load_domain("(define (domain still) (:requirements :strips) (:predicates (on ?x)))")
    problem = load_problem(domain, "(define (problem p) (:domain still) (:objects a) (:init (on a)) (:goal (on a)))")
    config = ModelConfig(encoder="plain", dim=4, layers=1, heads="both")
    model = Model.fresh(config, domain.signature, domain.text, {"on": 1, "on@goal": 1}, 0, domain.schemas)
    assert solve(problem, model.values, looks=model.look).actions == ()


# The best policy of a file.


@pytest.mark.parametrize("heads", HEADS)
def test_the_best_policy_of_a_file_is_by_actions_if_it_scores_them(heads: str, tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    fresh(heads=heads).save(path)
    assert best_policy(path) == ("values" if heads == "values" else "actions")


def test_what_is_no_model_has_the_policy_values(tmp_path: Path) -> None:
    """Whoever loads it says what is wrong."""
    fresh(heads="both").save(tmp_path / "whole")
    content = (tmp_path / "whole").read_bytes()
    for name, damaged in (("cut", content[:-9]), ("empty", b""), ("text", b"a model"), ("zeros", b"\0" * 500)):
        (tmp_path / name).write_bytes(damaged)
        assert best_policy(tmp_path / name) == "values"
        with pytest.raises(TrifoldError):
            Model.load(tmp_path / name)
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "nowhere", tmp_path / "pipe", Path("/dev/zero")):
        assert best_policy(path) == "values"
    checkpoint.write(tmp_path / "training", {}, {"kind": "training"})
    assert best_policy(tmp_path / "training") == "values"
    odd: list[Any] = [None, [], "both", {"heads": ["both"]}, {"heads": None}, {"heads": 8}, {}]
    for config in odd:
        checkpoint.write(tmp_path / "odd", {}, {"kind": "model", "config": config})
        assert best_policy(tmp_path / "odd") == "values"


def test_every_shipped_model_has_a_policy_that_its_heads_allow() -> None:
    for path in shipped_models().values():
        model = Model.load(path)
        assert best_policy(path) == ("actions" if model.config.has_actions else "values")

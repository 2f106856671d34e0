"""Each architecture is one choice in the config, is saved and loaded, and refuses the domains that it cannot read."""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path

import pytest
import torch

from trifold.data import Dataset
from trifold.domains import DOMAINS, domain_text
from trifold.encoders import ENCODERS
from trifold.errors import TrifoldError
from trifold.model import Model, ModelConfig, UntrainedRelation, checkpoint
from trifold.nn import RGNN, EdgeTransformer
from trifold.pddl import StateSpace, expand, load_domain, load_problem
from trifold.training import read_recipe

LABELS = {"plain": "R-GNN", "pairs": "R-GNN[1]", "compositions": "R-GNN₂", "oblivious": "2-GNN", "marks": "ET"}
TERNARY = """(define (domain post) (:requirements :strips)
  (:predicates (at ?x ?p) (stamped ?x ?p ?q))
  (:action move :parameters (?x ?p ?q) :precondition (at ?x ?p)
    :effect (and (not (at ?x ?p)) (at ?x ?q) (stamped ?x ?p ?q))))"""


@pytest.fixture(scope="module")
def space() -> StateSpace:
    return expand(domain_text("gripper"), DOMAINS["gripper"].problem(random.Random(0), 2), 1000)


def fresh(name: str, space: StateSpace) -> tuple[Model, Dataset]:
    config = ModelConfig(encoder=name, dim=8, layers=2)
    data = Dataset.build([space], config.build_encoder(), dead_end_target=None)
    return Model.fresh(config, space.table.signature, domain_text("gripper"), data.atom_counts, 0), data


def test_one_name_is_one_architecture() -> None:
    assert {name: ModelConfig(encoder=name).label for name in ENCODERS} == LABELS
    networks = {name: type(ModelConfig(encoder=name).build_network([])) for name in ENCODERS}
    assert networks == dict.fromkeys(LABELS, RGNN) | {"marks": EdgeTransformer}


@pytest.mark.parametrize("name", LABELS)
def test_configs_survive_json_and_missing_fields_take_their_default(name: str) -> None:
    config = ModelConfig(encoder=name, dim=16, layers=3)
    assert ModelConfig.from_json(json.loads(json.dumps(config.to_json()))) == config
    assert ModelConfig.from_json({"encoder": name}) == ModelConfig(encoder=name)
    assert ModelConfig.from_json({}) == ModelConfig()


def test_heads_must_share_the_dimensions_evenly() -> None:
    with pytest.raises(TrifoldError, match="8 heads, which cannot share 12"):
        ModelConfig(encoder="marks", dim=12)
    assert ModelConfig(encoder="oblivious", dim=12).dim == 12


def test_recipes_have_the_sizes_of_the_paper() -> None:
    built = {name: read_recipe("paper", {"encoder": name}).model for name in LABELS}
    sizes = {name: (config.dim, config.layers) for name, config in built.items()}
    assert sizes == dict.fromkeys(LABELS, (64, 30)) | {"compositions": (32, 30)}
    assert read_recipe("paper", {"encoder": "compositions", "dim": 64}).model.dim == 64
    assert read_recipe("paper").model == ModelConfig()
    assert {read_recipe("small", {"encoder": name}).model.dim for name in LABELS} == {32}


@pytest.mark.parametrize("name", LABELS)
def test_a_saved_model_is_the_same_model(name: str, space: StateSpace, tmp_path: Path) -> None:
    model, _ = fresh(name, space)
    model.save(tmp_path / "m.safetensors")
    again = Model.load(tmp_path / "m.safetensors")
    problem = load_problem(again.domain, DOMAINS["gripper"].problem(random.Random(1), 3))
    states = [problem.initial_state, *(state for _, state in problem.successors(problem.initial_state))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert again.check(problem) == []
        values = again.values(states)
    assert torch.equal(values, model.values(states)) and again.name == LABELS[name]
    torch.testing.assert_close(again.values(states, max_rows=1), values)


@pytest.mark.parametrize("name", LABELS)
def test_batches_encoded_ahead_and_batches_encoded_when_taken_give_the_same_values(
    name: str, space: StateSpace
) -> None:
    model, resident = fresh(name, space)
    late = Dataset.build([space], model.encoder, dead_end_target=None, max_gib=1e-6)
    assert resident.encoder is None and late.encoder is not None and late.atom_counts == resident.atom_counts
    indices = torch.tensor([5, 0, 9])
    torch.testing.assert_close(*(model.network(data.take(indices)[0]) for data in (resident, late)))


@pytest.mark.parametrize("name", ["oblivious", "marks"])
def test_a_mark_that_was_never_trained_is_named(name: str, space: StateSpace) -> None:
    model, _ = fresh(name, space)
    del model.training_atoms["at-robby@mark"]
    problem = load_problem(model.domain, DOMAINS["gripper"].problem(random.Random(1), 3))
    assert model.check(problem) == ["no training state had an atom of at-robby: the model ignores such atoms"]
    model._warned.clear()
    with pytest.warns(UntrainedRelation, match="an atom of at-robby:"):
        model.values([problem.initial_state])


@pytest.mark.parametrize("name", ["oblivious", "marks"])
def test_domains_with_ternary_predicates_are_refused_when_a_model_is_built(
    name: str, space: StateSpace, tmp_path: Path
) -> None:
    signature = load_domain(TERNARY).signature
    with pytest.raises(TrifoldError, match=rf"{LABELS[name]} reads .* this domain has stamped/3\n"):
        Model.fresh(ModelConfig(encoder=name, dim=8), signature, TERNARY, {}, 0)
    model, _ = fresh(name, space)
    path = tmp_path / "m.safetensors"
    model.save(path)
    tensors, header = checkpoint.read(path, "model")
    checkpoint.write(path, tensors, header | {"signature": [list(relation) for relation in signature]})
    with pytest.raises(TrifoldError, match="stamped/3"):
        Model.load(path)

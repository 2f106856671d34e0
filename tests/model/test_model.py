"""A model file holds all of a model, loads without running code, and says what is wrong with it."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from trifold.domains import DOMAINS, domain_text
from trifold.errors import TrifoldError
from trifold.model import Model, ModelConfig, UntrainedRelation, checkpoint, opening
from trifold.pddl import Problem, State, load_domain, load_problem
from trifold.planning import Outcome, replay


def gripper(balls: int) -> Problem:
    domain = load_domain(domain_text("gripper"))
    return load_problem(domain, DOMAINS["gripper"].problem(random.Random(balls), balls))


def some_states(problem: Problem, count: int) -> list[State]:
    states = [problem.initial_state]
    for state in states:
        states.extend(s for _, s in problem.successors(state) if s not in states)
        if len(states) >= count:
            break
    return states[:count]


def fresh(problem: Problem, config: ModelConfig, seed: int = 0) -> Model:
    structures = problem.structures(some_states(problem, 12))
    counts = config.build_encoder()(structures).atom_counts.sum(1).tolist()
    names = config.build_encoder().signature(structures.signature).names
    return Model.fresh(
        config, problem.domain.signature, problem.domain.text, dict(zip(names, counts, strict=True)), seed
    )


@pytest.fixture
def problem() -> Problem:
    return gripper(3)


@pytest.fixture(params=[{"encoder": "plain"}, {"t": 0}, {"t": 1}, {"t": math.inf}], ids=str)
def model(request: pytest.FixtureRequest, problem: Problem) -> Model:
    return fresh(problem, ModelConfig(dim=4, layers=2, **request.param))


def test_a_saved_model_is_the_same_model(model: Model, problem: Problem, tmp_path: Path) -> None:
    model.provenance = {"seed": 3}
    model.save(tmp_path / "m.safetensors")
    loaded = Model.load(tmp_path / "m.safetensors")
    states = some_states(problem, 12)
    assert torch.equal(loaded.values(states), model.values(states))
    for name in ("config", "signature", "domain_text", "training_atoms", "provenance"):
        assert getattr(loaded, name) == getattr(model, name)
    assert loaded.domain.signature == model.signature
    assert [path.name for path in tmp_path.iterdir()] == ["m.safetensors"]


def test_values_do_not_depend_on_chunks_or_company(model: Model, problem: Problem) -> None:
    other = gripper(2)
    states = [*some_states(problem, 6), *some_states(other, 3), *some_states(problem, 2)]
    whole = model.values(states)
    torch.testing.assert_close(model.values(states, max_rows=1), whole)
    torch.testing.assert_close(torch.cat([model.values([state]) for state in states]), whole)
    assert model.values([]).shape == (0,)


def test_only_relations_of_the_training_data_get_weights(model: Model) -> None:
    trained = {name for name, _ in model.network.embed.relations}
    assert "at" in trained and "at@goal-not" not in trained and "@readout" not in trained


def test_weights_depend_on_the_seed_alone(problem: Problem) -> None:
    torch.manual_seed(1)
    first = fresh(problem, ModelConfig(dim=4, layers=1), seed=5).network.state_dict()
    torch.manual_seed(2)
    again, other = (fresh(problem, ModelConfig(dim=4, layers=1), seed=seed).network.state_dict() for seed in (5, 6))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


def test_a_relation_that_was_never_trained_is_named(model: Model, problem: Problem) -> None:
    del model.training_atoms["carry"]
    assert model.check(problem) == []
    carrying = next(s for s in some_states(problem, 12) if any("carry" in atom for atom in problem.atoms(s)))
    with pytest.warns(UntrainedRelation, match="no training state had an atom of carry"):
        model.values([carrying])
    model.values([carrying])  # said once
    model.check(problem)
    with pytest.warns(UntrainedRelation):  # and once for the next problem
        model.values([carrying])


def test_a_model_of_another_text_of_its_domain_is_told_to_use_its_own(model: Model) -> None:
    """And one of another domain is told which it is of: to leave a text out would not help."""
    for text, words in (
        (domain_text("gripper").replace("(free ", "(idle "), "leave its text out"),
        (domain_text("blocks-s"), "problems of gripper-strips: `trifold models`"),
    ):
        with pytest.raises(TrifoldError, match="the model does not fit the domain") as raised:
            model.check_domain(load_domain(text))
        assert words in (raised.value.remedy or "")
        assert ("blocks, for it is of gripper-strips" in raised.value.message) == ("problems" in words)


def test_a_model_of_another_domain_says_which_relations_differ(model: Model) -> None:
    domain = load_domain(domain_text("blocks-s"))
    blocks = load_problem(domain, DOMAINS["blocks-s"].problem(random.Random(0), 3))
    with pytest.raises(
        TrifoldError, match=r"only the model has at/2, at-robby/1, .*; only the domain has clear/1, .*ontable/1\n"
    ):
        model.check(blocks)
    with pytest.raises(TrifoldError, match="does not fit the domain"):
        model.values([blocks.initial_state])


@pytest.mark.parametrize("damage", ["cut", "garbage", "empty", "missing", "pickle"])
def test_a_damaged_file_is_an_error_that_says_so(model: Model, tmp_path: Path, damage: str) -> None:
    path = tmp_path / "m.safetensors"
    model.save(path)
    content = path.read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage == "pickle":
        torch.save({"weights": torch.zeros(2)}, path)
    else:
        path.write_bytes({"cut": content[: len(content) // 2], "garbage": b"\0" * 500, "empty": b""}[damage])
    with pytest.raises(TrifoldError) as caught:
        Model.load(path)
    assert str(path) in str(caught.value)


def test_weights_that_do_not_fit_the_header_are_refused(model: Model, tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    model.save(path)
    tensors, header = checkpoint.read(path, "model")
    header["config"]["dim"] = 8
    checkpoint.write(path, tensors, header)
    with pytest.raises(TrifoldError, match="do not fit together"):
        Model.load(path)


def test_a_header_that_lacks_something_is_refused(model: Model, tmp_path: Path) -> None:
    model.save(tmp_path / "m.safetensors")
    tensors, header = checkpoint.read(tmp_path / "m.safetensors", "model")
    for name in ("config", "signature", "domain", "training_atoms"):
        checkpoint.write(tmp_path / "cut", tensors, {key: value for key, value in header.items() if key != name})
        with pytest.raises(TrifoldError, match=f"damaged: its header has no {name}"):
            Model.load(tmp_path / "cut")


def test_foreign_newer_and_other_files_are_refused(model: Model, tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    save_file({"x": torch.zeros(1)}, path)
    with pytest.raises(TrifoldError, match="not a model file of trifold"):
        Model.load(path)
    checkpoint.write(path, {}, {"kind": "training"})
    with pytest.raises(TrifoldError, match="a training file, not a model file"):
        Model.load(path)
    checkpoint.write(path, {}, {"kind": "model", "format": opening.FORMAT + 1})
    with pytest.raises(TrifoldError, match="newer than this version"):
        Model.load(path)


def test_configs_survive_json() -> None:
    for config in (ModelConfig(), ModelConfig(t=math.inf), ModelConfig(encoder="plain", dim=3, layers=0, heads="both")):
        assert ModelConfig.from_json(config.to_json()) == config
    with pytest.raises(TrifoldError, match="does not know: wings"):
        ModelConfig.from_json({"wings": 8})
    with pytest.raises(TrifoldError, match="heads are values, actions, both, not 'two'"):
        ModelConfig(heads="two")
    with pytest.raises(TrifoldError, match="no encoder 'cubes'"):
        ModelConfig(encoder="cubes")


@pytest.mark.parametrize(("heads", "words"), [("values", "V"), ("both", "V and scores of actions")])
def test_a_model_shows_itself_in_a_line(heads: str, words: str) -> None:
    model = fresh(gripper(2), ModelConfig(dim=4, layers=2, heads=heads))
    parameters = sum(weight.numel() for weight in model.network.parameters())
    assert repr(model) == f"Model(R-GNN[1] for gripper-strips, k 4, L 2, {words}, {parameters:,} parameters)"


def test_a_model_solves_a_problem_its_file_or_its_text(tmp_path: Path) -> None:
    problem = gripper(2)
    model = fresh(problem, ModelConfig(dim=4, layers=2))
    (tmp_path / "p.pddl").write_text(problem.text)
    found = [model.solve(given, timeout=60) for given in (problem, tmp_path / "p.pddl", problem.text)]
    assert {each.outcome for each in found} == {Outcome.SOLVED}
    assert len({each.plan for each in found}) == 1 and replay(problem, found[0].plan or ())
    alone = model.solve(problem, search=None, policy="strict", max_steps=0)
    assert (alone.outcome, alone.steps) == (Outcome.STEP_LIMIT, 0)
    blocks = load_problem(load_domain(domain_text("blocks-m")), DOMAINS["blocks-m"].problem(random.Random(1), 3))
    with pytest.raises(TrifoldError, match="the model does not fit the domain"):
        model.solve(blocks)

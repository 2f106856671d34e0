"""A model without torch answers what the model with it answers, and says no where it cannot."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from model.test_heads import ENCODERS, HEADS, TEXTS, actions_of, fresh, problem_of
from model.test_model import some_states
from trifold.domains import DOMAINS
from trifold.errors import TrifoldError
from trifold.model import Model, ModelConfig, NativeModel, UntrainedRelation, open_model
from trifold.model.native import encoded_relations, expected_shapes
from trifold.model.relations import trained_relations
from trifold.native import library, obstacle
from trifold.pddl import State, load_domain, load_problem
from trifold.planning import Scores, solve
from trifold.shipped import shipped_models

pytestmark = pytest.mark.skipif(obstacle() is not None, reason=f"no compiled library: {obstacle()}")


TIGHT = """
import resource, sys
from trifold.model import NativeModel
from trifold.pddl import load_domain, load_problem

file, domain, problem = sys.argv[1:]
model, state = NativeModel.load(file), load_problem(load_domain(domain), problem).initial_state
states = [state] * 64
expected = model.values(states)
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 30 * 2**20, resource.RLIM_INFINITY))
model.threads = 64
assert model.values(states) == expected
"""
"""A process that has room for a few threads."""


def pair(model: Model, folder: Path) -> tuple[Model, NativeModel]:
    """A model as the reference computes it, and read from its file without torch."""
    model.save(folder / "model.safetensors")
    native = NativeModel.load(folder / "model.safetensors")
    assert native is not None
    return model.to("cpu", "reference"), native


def assert_answers_agree(model: Model, native: NativeModel, states: list[State]) -> None:
    if model.config.has_values:
        found, expected = torch.tensor(native.values(states)), model.values(states)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    if model.scores_actions:
        actions = [actions_of(state) for state in states]
        looks = zip(native.look_each(states, actions), model.look_each(states, actions), strict=True)
        for (value, scores), (expected_value, expected_scores) in looks:
            np.testing.assert_allclose(value, expected_value, rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(scores, expected_scores, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("heads", HEADS)
@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("name", TEXTS)
def test_answers_are_those_of_the_reference(name: str, encoder: str, heads: str, tmp_path: Path) -> None:
    model, native = pair(fresh(name, heads, encoder), tmp_path)
    problem = problem_of(name)
    assert_answers_agree(model, native, some_states(problem, 12))
    assert (native.name, native.scores_actions) == (model.name, model.scores_actions)
    assert native.domain.name == problem.domain.name
    assert native.check(problem) == model.check(problem) and native.is_blind(problem) == model.is_blind(problem)


@pytest.mark.parametrize("t", [0, 1, 2, float("inf")])
def test_answers_for_every_t(t: float, tmp_path: Path) -> None:
    problem = problem_of("depot")
    config = ModelConfig(t=t, dim=8, layers=3, heads="both")
    names = [relation.name for relation in config.build_encoder().signature(problem.domain.signature)]
    atoms = dict.fromkeys([*names, *(f"{schema}@applicable" for schema in ("move", "drop", "unlock()"))], 1)
    model = Model.fresh(config, problem.domain.signature, problem.domain.text, atoms, 0, problem.domain.schemas)
    assert_answers_agree(*pair(model, tmp_path), some_states(problem, 8))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_files_of_any_precision(dtype: torch.dtype, tmp_path: Path) -> None:
    model = fresh()
    model.save(tmp_path / "half.safetensors", dtype)
    native = NativeModel.load(tmp_path / "half.safetensors")
    assert native is not None
    loaded = Model.load(tmp_path / "half.safetensors", kernels="reference")
    assert_answers_agree(loaded, native, some_states(problem_of("gripper"), 5))


@pytest.mark.parametrize("heads", HEADS)
@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("name", TEXTS)
def test_relations_and_shapes_are_those_of_the_network(name: str, encoder: str, heads: str) -> None:
    model = fresh(name, heads, encoder)
    relations = trained_relations(model.config, model.signature, model.training_atoms, model.schemas)
    senders, queries = encoded_relations(model.header)
    assert [*senders, *queries] == relations
    shapes = {name: tuple(weight.shape) for name, weight in model.network.state_dict().items()}
    assert expected_shapes(model.header) == shapes


def test_threads_change_nothing(tmp_path: Path) -> None:
    model, native = pair(fresh(), tmp_path)
    states = some_states(problem_of("gripper"), 20)
    native.threads = 3
    assert_answers_agree(model, native, states)


def test_threads_that_there_is_no_room_for_are_done_without(tmp_path: Path) -> None:
    """In a process of its own: it would not survive a thread that is begun and not waited for."""
    fresh().save(tmp_path / "model.safetensors")
    asked = [sys.executable, "-c", TIGHT, str(tmp_path / "model.safetensors"), *TEXTS["gripper"]]
    found = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


def test_a_policy_goes_the_same_way(tmp_path: Path) -> None:
    model, native = pair(fresh(), tmp_path)
    problem = problem_of("gripper")
    ways = [solve(problem, Scores.of(scorer, problem), max_steps=30).actions for scorer in (model, native)]
    assert ways[0] == ways[1] and len(ways[0]) > 1


def test_what_it_has_no_head_for_is_refused_in_the_same_words(tmp_path: Path) -> None:
    state = problem_of("gripper").initial_state
    for heads, ask in (("values", "look"), ("actions", "values")):
        both = pair(fresh(heads=heads), tmp_path)
        for scorer in both:
            with pytest.raises(TrifoldError, match="use --policy"):
                scorer.look(state, actions_of(state)) if ask == "look" else scorer.values([state])


def test_another_domain_is_refused_in_the_same_words(tmp_path: Path) -> None:
    model, native = pair(fresh(), tmp_path)
    other = load_domain(TEXTS["depot"][0])
    words = []
    for scorer in (model, native):
        with pytest.raises(TrifoldError) as caught:
            scorer.check_domain(other)
        words.append(str(caught.value))
    assert words[0] == words[1]


def test_what_training_never_had_is_warned_of_once(tmp_path: Path) -> None:
    model = fresh("depot")
    missing = ("at", "move@applicable", "move@optimal")
    atoms = {name: count for name, count in model.training_atoms.items() if name not in missing}
    model = Model.fresh(model.config, model.signature, model.domain_text, atoms, 0, model.schemas)
    _, native = pair(model, tmp_path)
    problem = problem_of("depot")
    assert native.check(problem) == model.check(problem) != []
    state = problem.initial_state
    with pytest.warns(UntrainedRelation, match="no training state had an action move"):
        _, scores = native.look(state, actions_of(state))
    with pytest.warns(UntrainedRelation, match="no training state had an action move"):
        expected = model.look(state, actions_of(state))[1]
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-4)
    assert -np.inf in scores
    native.look(state, actions_of(state))  # and not again: a second warning would be an error


def test_other_architectures_and_a_missing_library_need_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.safetensors"
    fresh(encoder="compositions").save(path)
    assert NativeModel.load(path) is None and isinstance(open_model(path, "cpu"), Model)
    fresh().save(path)
    assert isinstance(open_model(path, "cpu"), NativeModel)
    monkeypatch.setenv(library.SWITCH, "0")
    library.load_library.cache_clear()
    try:
        assert NativeModel.load(path) is None
        loaded = open_model(path, "cpu", threads=1)
        assert isinstance(loaded, Model) and loaded.backend.name == "cpu"
    finally:
        monkeypatch.undo()
        library.load_library.cache_clear()


@pytest.mark.parametrize("name", ["blocks-s", "logistics-values"])
def test_shipped_models_answer_alike(name: str) -> None:
    path = shipped_models()[name]
    native, domain = NativeModel.load(path), name.removesuffix("-values")
    assert native is not None
    text = DOMAINS[domain].problem(random.Random(5), 6 if domain == "blocks-s" else 3)
    problem = load_problem(native.domain, text)
    assert_answers_agree(Model.load(path, kernels="reference"), native, some_states(problem, 4))


def test_planning_never_loads_torch_nor_what_numpy_leaves_for_later() -> None:
    """In a process of its own: from a model file to a plan."""
    script = (
        "import random, sys; from trifold.domains import DOMAINS; from trifold.evaluation.job import solve_job;"
        "import tempfile, pathlib; f = pathlib.Path(tempfile.mkdtemp()) / 'p.pddl';"
        "f.write_text(DOMAINS['gripper'].problem(random.Random(0), 2), encoding='utf-8');"
        "job = {'model': sys.argv[1], 'problem': str(f), 'policy': 'actions', 'device': 'cpu'};"
        "found = solve_job(job, lambda event: None); print(found['outcome'].value, *sys.modules)"
    )
    command = [sys.executable, "-c", script, str(shipped_models()["gripper"])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    outcome, *loaded = done.stdout.split()
    assert outcome == "solved" and not {"torch", "numpy.ma"} & {*loaded}

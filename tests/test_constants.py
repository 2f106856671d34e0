"""Constants that actions and rules name have relations of their own, so networks can tell which object is which."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from trifold.data import Dataset, Extent, Labelled, Reach, label
from trifold.encoders import Encoder, Pairs, Plain, encode_all
from trifold.errors import TrifoldError
from trifold.model import Model, ModelConfig, NativeModel
from trifold.pddl import Problem, expand, load_domain, load_problem, read_problem
from trifold.pddl.description import DomainDescription
from trifold.training import resume, train
from trifold.wl import find_conflicts, refine

DOMAIN = """(define (domain delivery) (:requirements :adl)
  (:types place) (:constants depot shop yard home - place) (:predicates (at ?p - place) (loaded) (sold) (rich))
  (:derived (rich) (and (sold) (not (at home))))
  (:action go :parameters (?p ?q - place) :precondition (at ?p) :effect (and (at ?q) (not (at ?p))))
  (:action load :parameters (?p - place) :precondition (and (at ?p) (= ?p depot)) :effect (loaded))
  (:action sell :parameters () :precondition (loaded) :effect (when (at shop) (and (sold) (not (loaded))))))
"""
PROBLEM = """(define (problem p) (:domain delivery) (:objects a - place) (:init (at {})) (:goal (sold)))"""
NAMED = ("@constant-depot", "@constant-home", "@constant-shop")


@pytest.fixture
def older(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A version in which constants have no relations, until it is undone."""
    monkeypatch.setattr(DomainDescription, "named_constants", ())
    return monkeypatch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    for name in ("a", "yard"):
        (tmp_path / f"{name}.pddl").write_text(PROBLEM.format(name))
    return tmp_path


def problem() -> Problem:
    return load_problem(load_domain(DOMAIN), PROBLEM.format("a"))


def fresh(heads: str = "both", encoder: str = "pairs") -> Model:
    """An untrained model for what the states of the problem have."""
    config = ModelConfig(encoder=encoder, dim=8, layers=3, heads=heads)
    space = expand(DOMAIN, PROBLEM.format("a"), 1000)
    data = Dataset.build([space], config.build_encoder(), dead_end_target=None, with_actions=config.has_actions)
    domain = load_domain(DOMAIN)
    return Model.fresh(config, domain.signature, DOMAIN, data.atom_counts, 0, domain.schemas)


def test_the_constants_that_rules_name_have_a_relation_each() -> None:
    """In an equation, in the condition of an effect, in a derivation; nothing depends on which place the yard is."""
    domain = load_domain(DOMAIN)
    assert tuple(name for name in domain.signature.names if name.startswith("@")) == NAMED
    one = problem()
    structures = one.structures([one.initial_state])
    assert {name: [one.objects[o] for o in structures.atoms(name).flatten().tolist()] for name in NAMED} == {
        name: [name.removeprefix("@constant-")] for name in NAMED
    }


@pytest.mark.parametrize("encoder", [Plain(), Pairs(1)])
def test_v_can_be_learned_where_it_depends_on_constants(encoder: Encoder, older: pytest.MonkeyPatch) -> None:
    """Without their relations, being at the depot looks like being anywhere."""
    conflicting = []
    for _ in range(2):
        space = expand(DOMAIN, PROBLEM.format("a"), 1000)
        assert space.distances.max() == 4
        colours = refine(encode_all(encoder, space.structures()), 8).history[-1]
        conflicting.append(find_conflicts(colours, torch.from_numpy(space.distances).float()).conflicting)
        older.undo()
    assert conflicting[0] > 0 == conflicting[1]


@pytest.mark.parametrize("encoder", ["plain", "pairs", "marks"])
def test_constants_of_one_type_get_different_embeddings(encoder: str) -> None:
    """And where no rule names it, V does not depend on which one it is."""
    model, one = fresh("values", encoder), problem()
    at_a, at_yard = one.state(["(at a)"]), one.state(["(at yard)"])
    encoded = model.encoder(one.structures([at_a]))
    embedded = model.network.embed(encoded.disjoint_union())
    own = {name: embedded[row] for name, row in zip(one.objects, encoded.atoms("@readout")[:, 0].tolist(), strict=True)}
    assert not torch.allclose(own["depot"], own["shop"]) and not torch.allclose(own["depot"], own["yard"])
    torch.testing.assert_close(model.values([at_a]), model.values([at_yard]))


@pytest.mark.parametrize("encoder", ["plain", "pairs"])
def test_a_model_older_than_the_relations_of_constants_is_the_same_as_before(
    encoder: str, older: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def look(model: Model | NativeModel) -> list[tuple[float, list[float]]]:
        one = problem()
        assert model.check(one) == [] and not model.is_blind(one)
        states = [state for _, state in one.successors(one.initial_state)]
        return model.look_each(states, [[action for action, _ in one.successors(state)] for state in states])

    file = tmp_path / "older.safetensors"
    fresh("both", encoder).save(file)
    before = look(Model.load(file))
    older.undo()
    loaded = Model.load(file)
    assert look(loaded) == before and set(NAMED) <= set(loaded.signature.names)
    loaded.save(file)
    assert look(Model.load(file)) == before
    native = NativeModel.load(file)
    assert native is not None
    torch.testing.assert_close(torch.tensor(look(native)[0][1]), torch.tensor(before[0][1]), rtol=1e-4, atol=1e-5)


def test_labels_without_the_relations_of_constants_are_not_taken_for_others(
    older: pytest.MonkeyPatch, folder: Path
) -> None:
    def run() -> Labelled:
        return label(folder / "domain.pddl", [folder / "a.pddl"], cache=folder / "cache")[0]

    def relations(item: Labelled) -> set[str]:
        assert item.space is not None
        return {name for name, _ in item.space.table.relations}

    before = run()
    older.undo()
    new, again = run(), run()
    assert not relations(before) & set(NAMED) and relations(new) >= set(NAMED)
    assert not new.cached and again.cached and relations(again) == relations(new)


def test_constants_are_no_kinds_of_objects_that_are_told() -> None:
    """Every problem has them: what labels and what texts say of a problem is the same."""
    spaces = Reach.of_space(expand(DOMAIN, PROBLEM.format("a"), 1000))
    domain = load_domain(DOMAIN)
    texts = Reach.of_problem(domain.description, read_problem(domain, PROBLEM.format("a")))
    assert spaces.kinds == texts.kinds == {"place": 5}
    assert not {name for name in Extent.of([spaces]).relations if name.startswith("@")}


def test_a_run_that_began_without_the_relations_of_constants_is_not_resumed(
    older: pytest.MonkeyPatch, folder: Path
) -> None:
    run, cache = folder / "run", folder / "cache"
    train(folder, run, "small", cache=cache, steps=2, dim=4, layers=1, try_larger=False)
    older.undo()
    with pytest.raises(TrifoldError, match="did not tell constants from other objects: @constant-depot, ") as caught:
        resume(run, cache=cache, steps=4)
    assert caught.value.remedy and "another folder" in caught.value.remedy
    assert Model.load(run).check(problem()) == []

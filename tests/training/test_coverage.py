"""Coverage is what the policy does: followed in labelled spaces it does what it does on the problems themselves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import trifold
from trifold.data import Labelled, label
from trifold.domains import write_problems
from trifold.model import Model
from trifold.pddl import load_problem
from trifold.pddl.sampling import sample_states
from trifold.planning import solve
from trifold.training.coverage import Coverage, Track, follow, lay_tracks
from trifold.training.run import TrainingState


@pytest.fixture(scope="module", params=["gripper", "blocks-s"])
def problems(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Labelled]:
    folder = tmp_path_factory.mktemp(request.param)
    write_problems(folder, request.param, [2, 3, 4], 0)
    return label(folder / "domain.pddl", sorted((folder / "train").iterdir()))


def by_solving(model: Model, track: Track) -> tuple[str, int]:
    """How the policy ends on the problem itself, and after how many steps: pymimir's states, evaluated one by one."""
    problem = load_problem(model.domain, track.path)
    looks = model.look if model.config.has_actions else None
    found = solve(problem, model.values, looks=looks, max_steps=track.limit)
    return found.outcome.value, found.steps


@pytest.mark.parametrize("heads", ["values", "actions", "both"])
@pytest.mark.parametrize("seed", range(2))
def test_a_policy_does_in_spaces_what_it_does_on_problems(problems: list[Labelled], heads: str, seed: int) -> None:
    """Also that of a model that has learned nothing, and goes astray: all at once, and each alone."""
    domain = problems[0].space.domain
    known = trifold.pretrained("gripper" if "gripper" in domain else "blocks-s")
    config = trifold.model.ModelConfig(dim=4, layers=3, heads=heads)
    schemas = known.schemas if heads != "values" else ()
    model = Model.fresh(config, known.signature, known.domain_text, known.training_atoms, seed, schemas)
    tracks = lay_tracks(problems, model.config.has_actions)
    expected = {str(track.path): by_solving(model, track) for track in tracks}
    failures = {path: outcome for path, (outcome, _) in expected.items() if outcome != "solved"}
    optimum = {str(track.path): track.optimum for track in tracks if str(track.path) not in failures}
    steps = sum(expected[path][1] for path in optimum)
    length = steps / sum(optimum.values()) if optimum else None
    assert follow(model, tracks) == Coverage(len(optimum), len(tracks), length, failures)
    alone = [follow(model, [track]) for track in tracks]
    assert {path: end for found in alone for path, end in found.failures.items()} == failures


def test_problems_are_drawn_evenly_over_sizes_and_only_whole_spaces(problems: list[Labelled]) -> None:
    sizes = [track.space.states for track in lay_tracks(problems, True)]
    assert sizes == sorted(sizes) and len(sizes) == 3
    assert [track.space.states for track in lay_tracks(problems, True, 2)] == [sizes[0], sizes[2]]
    assert lay_tracks([replace(item, space=None) for item in problems], True) == []
    sampled = [replace(item, space=sample_states(item.space, 3)) for item in problems[1:]]
    assert lay_tracks(sampled, True) == []


def test_dear_problems_are_fewer_but_not_too_few(problems: list[Labelled]) -> None:
    many = [replace(item, path=Path(f"{n}")) for n, item in enumerate(problems * 4)]
    costs = [track.cost(False) for track in lay_tracks(many, False)]
    assert len(costs) == 12 and sum(costs) > sum(track.cost(True) for track in lay_tracks(many, True))
    some = lay_tracks(many, False, most_states=sum(costs) / 2)
    assert 4 < len(some) < 12 and sum(track.cost(False) for track in some) <= sum(costs) / 2
    assert len(lay_tracks(many, False, most_states=1.0)) == 4


def test_the_best_solves_most_then_has_the_shortest_plans_then_the_least_loss() -> None:
    states = [
        TrainingState(best=0.9, best_solved=3, best_length=1.0),
        TrainingState(best=0.8, best_solved=3, best_length=1.2),
        TrainingState(best=0.9, best_solved=3, best_length=1.2),
        TrainingState(best=0.1, best_solved=2, best_length=1.0),
        TrainingState(best=0.05),
        TrainingState(best=0.06, best_solved=0),
        TrainingState(),
    ]
    assert sorted(states, key=lambda state: state.rank("policy")) == states
    assert min(states, key=lambda state: state.rank("loss")).best == 0.05

"""`trifold learn` and `trifold plan`: knowledge within a time, and numbered plans that are valid and get shorter."""

from __future__ import annotations

import random
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from command_line import trifold
from trifold.commands import learning_track
from trifold.domains import DOMAINS, domain_text
from trifold.limits import LabelLimits
from trifold.model import Model
from trifold.pddl import load_domain, load_problem
from trifold.planning import read_plan, replay


@pytest.fixture(scope="module")
def track(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gripper with small problems, one that is too large to be labelled, and one to plan for."""
    folder = tmp_path_factory.mktemp("track")
    (folder / "domain.pddl").write_text(domain_text("gripper"))
    for balls in (1, 2, 3, 4, 40):
        (folder / f"p{balls}.pddl").write_text(DOMAINS["gripper"].problem(random.Random(balls), balls))
    (folder / "test.pddl").write_text(DOMAINS["gripper"].problem(random.Random(0), 3, start="classic"))
    return folder


@pytest.fixture(scope="module")
def knowledge(track: Path) -> Path:
    training = [track / f"p{balls}.pddl" for balls in (3, 1, 40, 2, 4)]
    trifold("learn", track / "knowledge", track / "domain.pddl", *training, "--minutes", 0.1, "--quiet")
    return track / "knowledge"


def test_knowledge_is_a_model_with_both_heads_that_has_seen_what_could_be_labelled(knowledge: Path) -> None:
    model = Model.load(knowledge)
    assert model.config.heads == "both"
    assert 1 <= model.provenance["data"]["problems"] <= 4


def test_plans_are_numbered_and_valid_and_get_shorter(track: Path, knowledge: Path) -> None:
    words = (knowledge, track / "domain.pddl", track / "test.pddl", track / "sas_plan")
    trifold("plan", *words, "--timeout", 20)
    files = sorted(track.glob("sas_plan.*"), key=lambda file: int(file.suffix[1:]))
    assert [file.name for file in files] == [f"sas_plan.{number}" for number in range(1, len(files) + 1)]
    problem = load_problem(load_domain(track / "domain.pddl"), track / "test.pddl")
    plans = [read_plan(file) for file in files]
    assert all(replay(problem, plan) for plan in plans)
    assert [len(plan) for plan in plans] == sorted({len(plan) for plan in plans}, reverse=True)
    assert len(plans[-1]) == 9  # of which there is no shorter one: the space is small enough to be known


def test_labels_that_take_all_of_the_time_leave_a_second_to_train(track: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hours = count(step=3600)
    monkeypatch.setattr(learning_track, "time", SimpleNamespace(monotonic=lambda: next(hours)))
    trifold("learn", track / "late", track / "domain.pddl", track / "p1.pddl", track / "p2.pddl", "--minutes", 1)
    assert Model.load(track / "late").provenance["data"]["problems"] >= 1


def test_what_a_training_takes_beyond_its_own_clock_is_left_free(track: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runner of a competition stops what is late, and then there is no knowledge."""
    monkeypatch.setattr(learning_track, "time", SimpleNamespace(monotonic=lambda: 0.0))
    trifold("learn", track / "soon", track / "domain.pddl", track / "p1.pddl", track / "p2.pddl", "--minutes", 0.05)
    minutes = Model.load(track / "soon").provenance["settings"]["minutes"]
    assert minutes == pytest.approx(0.05 * (1 - learning_track.RESERVE[1]))


def test_one_problem_takes_no_more_than_the_part_of_the_time_that_labels_have() -> None:
    assert learning_track._bounded_limits("small", 1.8).seconds == 1.8
    assert learning_track._bounded_limits("small", 1e6).seconds == LabelLimits().seconds


def test_where_nothing_can_be_labelled_it_is_said(track: Path) -> None:
    done = trifold("learn", track / "none", track / "domain.pddl", track / "domain.pddl", "--minutes", 0.01, code=2)
    assert "no problem could be labelled" in done.stderr
    assert not (track / "none").exists()

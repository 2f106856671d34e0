"""An encoder, a policy and a domain from outside the package: generated, trained, solved and evaluated with."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import command_line
from trifold.errors import TrifoldError
from trifold.model import ModelConfig

PLUGIN = '''
"""A domain of lamps, an encoder with a name of its own, and a policy that never looks at V."""

import random

from trifold.domains import DOMAINS, Generator, problem_text
from trifold.encoders import ENCODERS, Plain
from trifold.planning import POLICIES, Outcome, Trajectory

LAMPS = """
(define (domain lamps) (:predicates (on ?l) (next ?l ?m))
  (:action light :parameters (?l ?m) :precondition (and (on ?l) (next ?l ?m) (not (on ?m))) :effect (on ?m)))
"""


def generate(rng: random.Random, *, lamps: int = 3) -> str:
    """Lamps in a row, of which the first is lit and all are to be."""
    names = [f"lamp{number}" for number in range(lamps)]
    rng.shuffle(names)
    row = [f"next {one} {other}" for one, other in zip(names, names[1:])]
    goal = [f"on {name}" for name in names]
    return problem_text("lamps", domain="lamps", objects=sorted(names), init=[f"on {names[0]}", *row], goal=goal)


class Mine(Plain):
    label = "Mine"


def first_applicable(task, scores, budget, on_step):
    """The first action by its text, whatever V says."""
    state, actions, values = task.initial_state, [], scores.values([task.initial_state])
    while not task.is_goal(state):
        if outcome := budget.end(len(actions)):
            return Trajectory(outcome, tuple(actions), tuple(values), len(actions))
        action, state = task.successors(state)[0]
        actions.append(action)
        values += scores.values([state])
    return Trajectory(Outcome.SOLVED, tuple(actions), tuple(values), len(actions))


DOMAINS["lamps"] = Generator("lamps", "light all lamps", LAMPS, generate)
ENCODERS["mine"] = lambda t: Mine()
POLICIES["first"] = first_applicable
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the plugin, which every process imports from there."""
    (tmp_path / "lamps_plugin.py").write_text(PLUGIN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("TRIFOLD_PLUGINS", "lamps_plugin")
    return tmp_path


@pytest.mark.real_children
def test_a_domain_an_encoder_and_a_policy_of_ones_own_are_used_like_any_other(folder: Path) -> None:
    def trifold(*words: object) -> str:
        return command_line.trifold(*words, cwd=folder, real=True).stdout

    for lamps in (2, 3, 4, 5):
        trifold("generate", "lamps", "--lamps", lamps, "--out", "pddl")
    assert "lamps" in trifold("domains")
    sizes = ["--set", "encoder=mine", "--set", "dim=4", "--set", "layers=2", "--set", "batch=4"]
    trifold("train", "pddl", "--run", "run", "--recipe", "small", *sizes, "--steps", 4, "--device", "cpu")
    assert json.loads((folder / "run" / "config.json").read_text())["model"]["encoder"] == "mine"
    problem = max((folder / "pddl").glob("lamps-*5*.pddl"))
    plan = trifold("solve", "run/model.safetensors", problem, "--policy", "first", "--quiet")
    assert plan.count("(light") == 4
    table = trifold("evaluate", "run/model.safetensors", "pddl", "--policy", "first", "--quiet")
    assert "Mine" in table
    records = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    assert {(record["outcome"], record["policy"]) for record in records} == {("solved", "first")}


def test_a_plugin_that_cannot_be_imported_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIFOLD_PLUGINS", "no_such_plugin")
    said = command_line.trifold("models", code=2).stderr
    assert "no_such_plugin" in said and "PYTHONPATH" in said and "no_such_plugin" not in sys.modules


def test_an_encoder_that_no_plugin_has_added_is_refused_by_name() -> None:
    with pytest.raises(TrifoldError, match="there is no encoder 'mine'"):
        ModelConfig(encoder="mine")

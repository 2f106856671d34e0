"""Every architecture of the paper, from PDDL files to a solved problem, with the same commands."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from trifold.commands import app
from trifold.domains import DOMAINS, write_problems
from trifold.errors import TrifoldError

SIZES = [word for change in ("dim=8", "layers=3", "batch=16", "learning_rate=0.01") for word in ("--set", change)]
TINY = ["--recipe", "small", *SIZES, "--quiet", "--json"]
LABELS = {"compositions": "R-GNN₂", "oblivious": "2-GNN", "marks": "ET"}


def trifold(*words: object) -> dict[str, Any]:
    """A command in this process: starting torch takes longer than the training here."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.parametrize("encoder", LABELS)
def test_train_and_solve_end_to_end(tmp_path: Path, encoder: str) -> None:
    write_problems(tmp_path, "gripper", [1, 2], 0)
    run, problem = tmp_path / "run", tmp_path / "problem.pddl"
    problem.write_text(DOMAINS["gripper"].problem(random.Random(7), 2), encoding="utf-8")
    result = trifold("train", tmp_path, *TINY, "--steps", 60, "--seeds", 3, "--set", f"encoder={encoder}", "--run", run)
    assert result["steps"] == 60 and result["validation_loss"] < 1.5
    assert json.loads((run / "config.json").read_text())["model"]["encoder"] == encoder
    solved = trifold("solve", run / "model.safetensors", problem, "--json", "--quiet")
    assert solved["outcome"] == "solved" and solved["model"] == LABELS[encoder] and len(solved["actions"]) >= 4
    assert solved["warnings"] == []


@pytest.mark.parametrize("encoder", ["oblivious", "marks"])
def test_a_domain_with_a_ternary_predicate_is_refused_by_name(tmp_path: Path, encoder: str) -> None:
    (tmp_path / "domain.pddl").write_text(
        "(define (domain post) (:predicates (at ?x ?p) (via ?x ?p ?q)) (:action move :parameters (?x ?p ?q)"
        " :precondition (at ?x ?p) :effect (and (not (at ?x ?p)) (at ?x ?q) (via ?x ?p ?q))))"
    )
    (tmp_path / "p.pddl").write_text(
        "(define (problem p) (:domain post) (:objects x p q) (:init (at x p)) (:goal (and (at x q))))"
    )
    with pytest.raises(TrifoldError, match=f"{LABELS[encoder]} reads .* this domain has via/3"):
        trifold("train", tmp_path, *TINY, "--steps", 2, "--set", f"encoder={encoder}", "--run", tmp_path / "run")

"""A short run of mutated PDDL through the commands, by the command line of the harness, and what its classes mean."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fuzz.commands_in_forks import Ended
from fuzz.mutated_inputs import classify, draw, plan_failure
from fuzz.mutations import MUTATIONS, mutate
from trifold.domains import DOMAINS, domain_text

GRIPPER = domain_text("gripper"), DOMAINS["gripper"].problem(random.Random(0), 1, start="classic")
PLAN = ["(pick ball1 rooma left)", "(move rooma roomb)", "(drop ball1 roomb left)"]


def test_mutated_inputs_end_in_words(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fuzz", "--count", "15", "--only", "commands", "--findings", str(tmp_path)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.splitlines()[-1].split()[:2] == ["all", "15"]


@pytest.mark.parametrize(
    ("code", "output", "errors", "outcome"),
    [
        (0, "done", "", "ok"),
        (2, "", "error: it is empty\n  in: p.pddl", "refused"),
        (2, "", "Usage: trifold", "unknown"),
        (1, "", "", "unknown"),
        (3, "", "step limit after 25 steps", "named"),
        (1, "", "Traceback (most recent call last):\nKeyError: 'a'", "traceback"),
        (2, "", "error: expected N5boost6spirit3x3", "raw"),
        (0, "1 crash", "", "crash"),
        (-11, "", "", "signal"),
    ],
)
def test_an_end_has_its_name(code: int, output: str, errors: str, outcome: str) -> None:
    assert classify(Ended(code, output, errors, False, 0.1))[0] == outcome
    assert classify(Ended(code, output, errors, True, 90.0))[0] == "hang"


def test_a_plan_that_is_none_is_found() -> None:
    assert plan_failure(*GRIPPER, PLAN) is None
    assert plan_failure(*GRIPPER, PLAN[:2]) == "the plan does not reach the goal"
    assert plan_failure(*GRIPPER, PLAN[1:]) == "(drop ball1 roomb left) is not applicable"


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_every_mutation_changes_a_text(mutation: Callable[..., Any]) -> None:
    texts = [*GRIPPER, domain_text("logistics"), domain_text("rovers")]
    assert any(mutation(random.Random(seed), text) != text for seed in range(3) for text in texts)


def test_a_case_depends_on_its_seed_and_number_alone() -> None:
    assert draw(0, 5) == draw(0, 5) != draw(1, 5)
    assert mutate(random.Random(1), GRIPPER[0]) == mutate(random.Random(1), GRIPPER[0])

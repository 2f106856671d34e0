"""Larger problems: what could not be labelled is tried in the end, and told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from trifold.data import LabelLimits, label
from trifold.domains import write_problems
from trifold.planning import Outcome
from trifold.shipped import shipped_models
from trifold.training import train
from trifold.training.larger import Larger, attempt_larger, find_larger


def test_problems_beyond_the_limits_and_sampled_ones_are_larger_the_smallest_first(tmp_path: Path) -> None:
    write_problems(tmp_path, "gripper", [1, 2, 3], 0)
    files = sorted((tmp_path / "train").iterdir())
    labelled = label(tmp_path / "domain.pddl", files, limits=LabelLimits(keep=20, max_states=80))
    one, two, three = labelled
    assert (one.outcome, two.outcome, three.outcome) == ("labelled", "labelled", "state limit")
    assert one.space is not None and two.space is not None and two.space.listed < two.space.states
    optimum = int(two.space.distances[two.space.initial])
    assert find_larger(labelled, [one, two]) == [Larger(files[1], optimum), Larger(files[2])]
    assert find_larger([replace(three, outcome=Outcome.BAD_INPUT)], []) == []


def test_the_policy_is_tried_on_them_and_what_fails_is_named(tmp_path: Path) -> None:
    write_problems(tmp_path, "gripper", [2, 3], 0)
    problems = [Larger(path, 5) for path in sorted((tmp_path / "train").iterdir())]
    (tmp_path / "train" / "none.pddl").write_text("(define (problem")
    problems.append(Larger(tmp_path / "train" / "none.pddl"))
    seen = []
    found = attempt_larger(
        shipped_models()["gripper"],
        tmp_path / "domain.pddl",
        problems,
        device="cpu",
        workers=1,
        seconds=1.0,
        memory_gib=4.0,
        on_attempt=lambda attempt: seen.append(attempt.job.problem),
    )
    assert found is not None and (found.solved, found.problems) == (2, 3) and len(seen) == 3
    assert found.length is not None and found.failures == {str(problems[2].path): "bad input"}


def test_a_training_reports_them_and_advises(tmp_path: Path) -> None:
    write_problems(tmp_path / "pddl", "gripper", [1, 2, 3], 0)
    tiny = {"dim": 4, "layers": 2, "steps": 2, "batch": 8, "max_states": 50}
    result = train(tmp_path / "pddl", tmp_path / "run", "small", **tiny, heads="both")
    assert result.larger is not None and result.larger.problems == 1
    assert result.coverage is not None and result.coverage.problems >= 1
    assert result.advice
    again = train(tmp_path / "pddl", tmp_path / "again", "small", **tiny, try_larger=False)
    assert again.larger is None

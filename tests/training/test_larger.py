"""Larger problems: the policy is tried on what could not be labelled, while it is trained and in the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from matplotlib.figure import Figure

from trifold.data import LabelLimits, label
from trifold.domains import write_problems
from trifold.evaluation import evaluate
from trifold.model import Model
from trifold.planning import Outcome
from trifold.shipped import shipped_models
from trifold.training import Watcher, loop, resume, train
from trifold.training.coverage import Coverage, lay_tracks
from trifold.training.larger import LEAST_GLANCE, Larger, LargerProblems, find_larger
from trifold.training.loop import Progress
from trifold.training.plot import _plot_coverage
from trifold.training.run import RunFolder


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


def test_of_a_problem_that_is_labelled_around_a_plan_the_optimum_is_not_known(tmp_path: Path) -> None:
    """And no policy is followed inside of what is known of it."""
    write_problems(tmp_path, "gripper", [3], 0)
    (file,) = (tmp_path / "train").iterdir()
    evaluate("gripper", [file], records=tmp_path / "records.jsonl", plans=tmp_path / "train")
    (found,) = label(tmp_path / "domain.pddl", [file], limits=LabelLimits(max_states=60))
    assert found.space is not None and found.space.is_bound
    assert find_larger([found], [found]) == [Larger(file)] and lay_tracks([found], has_actions=False) == []


def test_the_policy_is_tried_on_them_and_what_fails_is_named(tmp_path: Path) -> None:
    write_problems(tmp_path, "gripper", [2, 3], 0)
    problems = [Larger(path, 5) for path in sorted((tmp_path / "train").iterdir())]
    (tmp_path / "train" / "none.pddl").write_text("(define (problem")
    problems.append(Larger(tmp_path / "train" / "none.pddl"))
    seen: list[str] = []
    larger = LargerProblems(tmp_path / "domain.pddl", problems, "cpu", 1, 4.0)
    found = larger.attempt(shipped_models()["gripper"], 1.0, lambda attempt: seen.append(attempt.job.problem))
    assert found is not None and (found.solved, found.problems) == (2, 3) and len(seen) == 3
    assert found.length is not None and found.failures == {str(problems[2].path): "bad input"}


TINY = {"dim": 4, "layers": 2, "steps": 12, "batch": 8, "validate_every": 3, "max_states": 50, "heads": "both"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two problems to learn from, and one with more than 50 states."""
    write_problems(tmp_path / "pddl", "gripper", [1, 2, 3], 0)
    return tmp_path / "pddl"


class Listener(Watcher):
    def __init__(self) -> None:
        self.told: list[Progress] = []

    def progress(self, progress: Progress) -> None:
        self.told.append(progress)


def lines(run: Path) -> list[dict[str, Any]]:
    return RunFolder(run).seed(0).metrics()


def test_a_glance_tries_as_many_as_the_time_suffices_for(tmp_path: Path) -> None:
    write_problems(tmp_path, "gripper", [2, 3], 0)
    problems = [Larger(path, 5) for path in sorted((tmp_path / "train").iterdir())]
    model, waits = Model.load(shipped_models()["gripper"]), []
    larger = LargerProblems(tmp_path / "domain.pddl", problems, "cpu", 1, 4.0)
    assert larger.glance(model, 0.9 * LEAST_GLANCE, lambda: None) is None
    one = larger.glance(model, 60.0, lambda: waits.append(1))
    assert one is not None and (one.solved, one.problems, one.failures) == (2, 2, {}) and waits
    larger = replace(larger, problems=[replace(problem, path=tmp_path / "none") for problem in problems])
    found = larger.glance(model, 1.5 * LEAST_GLANCE, lambda: None)
    assert found is not None and (found.solved, found.problems) == (0, 1)


def test_a_training_tells_of_them_four_times(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In its metrics and to who watches it; the curves have room for them."""
    for share in ("SHARE", "GLANCE_SHARE"):
        monkeypatch.setattr(loop, share, 1e9)
    watcher = Listener()
    train(folder, tmp_path / "run", "small", **TINY, watcher=watcher)
    told = lines(tmp_path / "run")
    assert [line["step"] for line in told] == [3, 6, 9, 12]
    assert [line["larger_problems"] for line in told] == [1] * 4 and watcher.told[-1].larger_problems == 1
    assert watcher.told[-1].larger_solved == told[-1]["larger_solved"]
    figure = Figure()
    axes = figure.subplots()
    _plot_coverage(axes, [told, told])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["held-out problems", "larger problems"]
    assert len(axes.lines) == 4 and all(list(line.get_xdata())[-1] == 12 for line in axes.lines)


def test_a_training_that_is_broken_off_while_they_are_tried_loses_and_repeats_no_line(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And ends with the same weights; what was found of larger problems does not decide which are kept."""
    looks: list[int] = []

    def glance(larger: LargerProblems, model: Model, budget: float, on_wait: Callable[[], object]) -> Coverage:
        on_wait()
        looks.append(len(looks))
        if len(looks) - 1 in breaks:
            raise KeyboardInterrupt
        return Coverage(1, 3, None)

    monkeypatch.setattr(LargerProblems, "glance", glance)
    monkeypatch.setattr(loop, "SAVE_SECONDS", -1.0)
    runs = {name: tmp_path / name for name in ("whole", "broken", "without")}
    breaks: set[int] = set()
    train(folder, runs["whole"], "small", **TINY)
    assert len(looks) == 4
    breaks = {4, 6}  # the first look of the next run, and the second
    with pytest.raises(KeyboardInterrupt):
        train(folder, runs["broken"], "small", **TINY)
    with pytest.raises(KeyboardInterrupt):
        resume(runs["broken"])
    resume(runs["broken"])
    whole, broken = ([line | {"seconds": 0} for line in lines(runs[name])] for name in ("whole", "broken"))
    assert whole == broken and all(line["larger_solved"] == 1 for line in whole)
    train(folder, runs["without"], "small", **TINY, try_larger=False)
    assert len(looks) == 4 + 1 + 2 + 3 and "larger_solved" not in lines(runs["without"])[0]
    kept = [Model.load(run).network.state_dict() for run in runs.values()]
    assert all(torch.equal(kept[0][name], other[name]) for other in kept[1:] for name in other)


def test_a_training_reports_them_and_advises(folder: Path, tmp_path: Path) -> None:
    tiny = TINY | {"steps": 2}
    result = train(folder, tmp_path / "run", "small", **tiny)
    assert result.larger is not None and result.larger.problems == 1
    assert result.coverage is not None and result.coverage.problems >= 1
    assert result.advice
    again = train(folder, tmp_path / "again", "small", **tiny, try_larger=False)
    assert again.larger is None

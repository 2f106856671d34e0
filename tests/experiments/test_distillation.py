"""A teacher and a pupil: what is taught, what is told, and a lesson from the first step to the table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

import distillation
from distillation import Attempt, Lesson, Taught, good_actions, tell
from trifold.domains import write_problems
from trifold.model import Model
from trifold.pddl import load_problem
from trifold.shipped import pretrained
from trifold.structures import OPTIMAL


def test_lengths_are_told_of_what_all_have_solved() -> None:
    found = {
        "direct-0": [Attempt("a", 5, 0.001), Attempt("b", None, 0.003), Attempt("solved", 0, 0.002)],
        "distilled-0": [Attempt("a", 4, 0.002), Attempt("b", 9, 0.004), Attempt("solved", 0, 0.003)],
    }
    assert tell(found) == [
        "direct-0: 2 / 3, 5 steps for 2 that all solve, 2.0 ms a step",
        "distilled-0: 3 / 3, 4 steps for 2 that all solve, 3.0 ms a step",
    ]


@pytest.mark.parametrize("own_way", [True, False])
def test_a_lesson_says_of_each_state_what_the_teacher_would_do_there(tmp_path: Path, own_way: bool) -> None:
    (path,) = write_problems(tmp_path, "gripper", [4], 0, start="classic")
    teacher, pupil = pretrained("gripper"), pretrained("gripper")
    with torch.no_grad():
        for weight in pupil.network.parameters():
            weight.mul_(0.5)  # it goes its own way
    problem = load_problem(teacher.domain, path)
    lesson = Lesson(teacher, [problem], pupil, 0, own_way)
    lesson.practise(1)
    structures, targets = lesson.taught.take(torch.arange(len(lesson.taught)))
    most = int(1.5 * float(targets[0]) + 10)
    way = (pupil if own_way else teacher).solve(problem, search=None, policy="actions", max_steps=most)
    assert len(targets) == len(way.actions) + (way.plan is None) > 5  # every state but a goal
    assert float(targets[0]) == pytest.approx(teacher.values([problem.initial_state])[0])
    asked = {relation.name: structures.atom_counts[r] for r, relation in enumerate(structures.signature)}
    good = torch.stack([counts for name, counts in asked.items() if name.endswith(OPTIMAL)]).sum(0)
    assert (good > 0).all()
    actions = [action for action, _ in problem.successors(problem.initial_state)]
    assert int(good[0]) == sum(good_actions(teacher.look(problem.initial_state, actions)[1]))
    problem.release()


def test_a_lesson_passes_over_problems_that_are_solved_and_states_without_actions() -> None:
    teacher = pretrained("gripper")
    objects = "(:objects rooma roomb b left) (:init (room rooma) (room roomb) (ball b) (gripper left)"
    for rest in ("(at-robby rooma) (at b rooma)) (:goal (at b rooma))", "(at b rooma)) (:goal (at b roomb))"):
        problem = load_problem(teacher.domain, f"(define (problem p) (:domain gripper-strips) {objects} {rest})")
        lesson = Lesson(teacher, [problem], teacher, 0, own_way=True)
        lesson.practise(1)
        assert not lesson.taught
        problem.release()


def test_parts_that_are_taught_lie_end_to_end(tmp_path: Path) -> None:
    (path,) = write_problems(tmp_path, "gripper", [2], 0)
    teacher = pretrained("gripper")
    problem = load_problem(teacher.domain, path)
    encoded = teacher.encoder(problem.structures([problem.initial_state]))
    taught = Taught()
    taught.add(encoded, [3.0])
    taught.add(encoded, [4.0])
    structures, targets = taught.take(torch.tensor([1, 0, 1]))
    assert targets.tolist() == [4.0, 3.0, 4.0] and len(structures) == 3 and len(taught) == 2
    problem.release()


def test_pupils_are_trained_once_and_judged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(distillation, "MAX_STEPS", 30)
    monkeypatch.setenv("TRIFOLD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(torch, "set_num_threads", lambda count: None)
    write_problems(tmp_path, "gripper", [1, 2, 3], 0)
    (practice,) = write_problems(tmp_path / "practice", "gripper", [4], 1)
    (other,) = write_problems(tmp_path / "judge", "gripper", [5], 2)
    words = [str(tmp_path), "--teacher", "gripper", "--practice", str(practice), "--judge", str(other)]
    words += ["--cpu-minutes", "0.015", "--set", "dim=4", "--set", "layers=3", "--set", "batch=4", "--judge-teacher"]
    words += ["--ways", "direct", "distilled", "--run", str(tmp_path / "run")]
    monkeypatch.setattr("sys.argv", ["distillation.py", *words])
    distillation.main()
    told = capsys.readouterr().out.splitlines()[-3:]
    assert [line.split(":")[0] for line in told] == ["direct-0", "distilled-0", "teacher"]
    assert told[2].startswith("teacher: 1 / 1")
    pupils = [tmp_path / "run" / f"{name}.safetensors" for name in ("direct-0", "distilled-0")]
    before = [(file.stat().st_mtime_ns, Model.load(file).scores_actions) for file in pupils]
    assert all(scores for _, scores in before)
    trained = [json.loads(line) for line in (tmp_path / "run" / "trainings.jsonl").read_text().splitlines()]
    assert trained[0]["taught"] == 0 < trained[1]["taught"] and trained[1]["asking"] > 0
    distillation.main()
    assert capsys.readouterr().out.splitlines()[-3:] == told  # times included: nothing was attempted again
    assert [file.stat().st_mtime_ns for file in pupils] == [time for time, _ in before]

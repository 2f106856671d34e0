"""What rungs are judged on: what is given, or drawn, or too large to label; or else what there is, which is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from trifold.data import LabelLimits, label, read_folder, split
from trifold.domains import write_problems
from trifold.errors import TrifoldError
from trifold.ladder.judge import Judge, choose_judge
from trifold.training import Recipe, Selection, read_recipe

TINY = {"dim": 4, "layers": 2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gripper")
    write_problems(path, "gripper", [1, 2, 3], 0)
    return path


def choose(folder: Path, recipe: Recipe, drawn: Path, place: Path | None = None, **limits: int) -> Judge:
    files = read_folder(folder)
    labelled = label(files.domain, files.training, limits=LabelLimits(**limits))
    return choose_judge(recipe, labelled, split(labelled, len(files.training), 0), place, drawn)


def test_a_folder_comes_before_the_recipes_selection_and_that_before_what_could_not_be_labelled(
    folder: Path, tmp_path: Path
) -> None:
    write_problems(tmp_path / "larger", "gripper", [4, 5], 3)
    selection = Selection("gripper", [{"balls": 6}], max_steps=70)
    plain = read_recipe("small")
    selective = Recipe("own", "", plain.model, plain.limits, plain.settings, selection)
    given = choose(folder, selective, tmp_path / "drawn", tmp_path / "larger" / "train", max_states=60)
    assert {Path(file).parent for file in given.problems} == {tmp_path / "larger" / "train"} and not given.fell_back
    drawn = choose(folder, selective, tmp_path / "drawn", max_states=60)
    assert (len(drawn.problems), drawn.max_steps, drawn.fell_back) == (2, 70, False)
    assert all("balls-6" in file for file in drawn.problems)
    larger = choose(folder, plain, tmp_path / "drawn", max_states=60)
    assert larger.problems == (str(sorted((folder / "train").iterdir())[2]),)
    assert larger.optima == {} and not larger.fell_back


def test_without_larger_problems_it_falls_back_to_held_out_ones(folder: Path, tmp_path: Path) -> None:
    judge = choose(folder, read_recipe("small"), tmp_path)
    assert judge.fell_back and judge.source == "held-out problems"
    assert judge.optima.keys() == set(judge.problems) and min(judge.optima.values()) > 0
    assert Judge.from_json(judge.to_json()) == judge


def test_a_sampled_problem_that_is_trained_on_judges_nothing(tmp_path: Path) -> None:
    """With one problem none is held out: what was sampled for training must not be called larger."""
    write_problems(tmp_path / "one", "gripper", [3], 0)
    judge = choose(tmp_path / "one", read_recipe("small"), tmp_path, keep=1_000)
    assert judge.fell_back and "training problems themselves" in judge.source


def test_test_problems_and_training_problems_are_refused(folder: Path, tmp_path: Path) -> None:
    write_problems(tmp_path, "gripper", [4], 0, split="test")
    with pytest.raises(TrifoldError, match="nothing is chosen by test problems"):
        choose(folder, read_recipe("small"), tmp_path, tmp_path / "test")
    with pytest.raises(TrifoldError, match="cannot be judged on what they are trained on"):
        choose(folder, read_recipe("small"), tmp_path, folder / "train")

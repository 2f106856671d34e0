"""Studies: whatever interrupts one, it ends with the same records; what fails is named, and ends nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from fuzz.commands_in_forks import load_everything
from trifold.domains import write_problems
from trifold.errors import TrifoldError
from trifold.evaluation import read_records
from trifold.outcomes import Outcome
from trifold.studies import Step, StudyWatcher, plan, study

OF_TIME = ("timestamp", "seconds", "seconds_per_step", "peak_gib", "training_seconds", "training_command")
OF_FILES = ("model_path", "model_sha256", "command")
"""A model file says how long its training took, so its hash is another one each time."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    load_everything()  # once, and not in each fork
    path = tmp_path_factory.mktemp("place")
    write_problems(path / "visits", "visitall", [2], 0, per_size=2)
    write_problems(path / "visits", "visitall", [3], 7, split="test")
    return path


@pytest.fixture(autouse=True)
def _no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Figure, "savefig", lambda figure, file, **options: file.write(b"a picture"))


def described(place: Path, **changes: Any) -> dict[str, Any]:
    """Two tiny recipes with two seeds in one domain."""
    folders = {"visits": {"folder": str(place / "visits")}}
    tiny = {"dim": 4, "layers": 2, "steps": 4, "batch": 4, "validate_every": 2}
    return {
        "domains": folders,
        "recipes": {"small": {}},
        "settings": tiny,
        "grid": {"t": [0, 1]},
        "seeds": 2,
        "evaluation": {"max_steps": 30, "device": "cpu"},
    } | changes


class Breaks(StudyWatcher):
    """Ends a study as Ctrl-C does, at a moment that is so many events away."""

    def __init__(self, after: int) -> None:
        self.ahead = after

    def count(self) -> None:
        self.ahead -= 1
        if not self.ahead:
            raise KeyboardInterrupt

    def begun(self, step: Step) -> None:
        self.count()

    def told(self, step: Step, event: str, content: Any) -> None:
        self.count()

    def recorded(self, step: Step, record: Any) -> None:
        self.count()

    def ended(self, step: Step, outcome: Outcome, message: str, facts: dict[str, Any], seconds: float) -> None:
        self.count()


class Lists(StudyWatcher):
    """Notes what is begun."""

    def __init__(self) -> None:
        self.began: list[str] = []

    def begun(self, step: Step) -> None:
        self.began.append(str(step))


def records_of(out: Path) -> list[str]:
    """All records, without what the clock decides, in an order that does not depend on it."""
    found = [record for file in out.glob("results/*/*.jsonl") for record in read_records(file)]
    facts = [{name: value for name, value in one.items() if name not in (*OF_TIME, *OF_FILES)} for one in found]
    return sorted(json.dumps(one, sort_keys=True) for one in facts)


def test_an_interrupted_study_ends_with_the_records_of_an_unbroken_one(place: Path, tmp_path: Path) -> None:
    asked = described(place)
    whole = study(asked, tmp_path / "whole", workers=2)
    assert [cell.outcome for cell in whole.cells] == ["done"] * 4 and whole.exit_code == 0
    assert len(records_of(tmp_path / "whole")) == sum(cell.tried for cell in whole.cells) == 4
    for after in (1, 6, 9):
        with pytest.raises(KeyboardInterrupt):
            study(asked, tmp_path / "broken", workers=2, watcher=Breaks(after))
    broken = study(asked, tmp_path / "broken", workers=1)
    assert records_of(tmp_path / "broken") == records_of(tmp_path / "whole")
    assert [(line.recipe, line.solved, line.length) for line in broken.lines] == [
        (line.recipe, line.solved, line.length) for line in whole.lines
    ]
    assert broken.page and broken.page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "small t=1, seed 0" in broken.page.read_text(encoding="utf-8")
    watcher = Lists()
    assert study(asked, tmp_path / "whole", watcher=watcher).cells == whole.cells and watcher.began == []


def test_the_plan_says_what_is_left_and_writes_nothing(place: Path, tmp_path: Path) -> None:
    asked = described(place, seeds=1, grid={})
    first = plan(asked, tmp_path / "out")
    assert [step.stage for step in first.steps] == ["label", "train", "evaluate"] and first.unknown == 2
    assert not (tmp_path / "out").exists()
    study(asked, tmp_path / "out")
    done = plan(asked, tmp_path / "out")
    assert done.steps == () and [report.outcome for report in done.reports] == ["done"] and done.seconds == 0
    more = plan(asked | {"seeds": 2}, tmp_path / "out")
    assert [report.outcome for report in more.reports] == ["done", "left"]
    assert len(more.estimates) == 2 and more.unknown == 0 and not any(one.is_bound for one in more.estimates.values())
    bound = plan(asked | {"settings": asked["settings"] | {"minutes": 2, "dim": 5}}, tmp_path / "out")
    train = next(one for step, one in bound.estimates.items() if step.stage == "train")
    assert train.is_bound and train.seconds == 120


def test_a_cell_that_fails_is_named_and_ends_no_other_and_is_tried_again(place: Path, tmp_path: Path) -> None:
    recipes = {"whole": {"base": "small"}, "none": {"base": "small", "max_states": 1, "keep": 1}}
    asked = described(place, recipes=recipes, grid={}, seeds=1)
    done = study(asked, tmp_path / "out")
    good, bad = done.cells
    assert (good.outcome, good.tried) == ("done", 1)
    assert (bad.outcome, bad.stage, bad.tried, bad.has_failed) == ("bad input", "train", 0, True) and bad.message
    assert done.exit_code == 2 and done.page is not None
    waits = plan(asked, tmp_path / "out").reports[1]
    assert waits.outcome == "left" and waits.message.startswith("bad input before: ")
    watcher = Lists()
    assert study(asked, tmp_path / "out", watcher=watcher).exit_code == 2
    assert watcher.began == ["label visits", "train visits none seed 0"]


def test_a_training_that_takes_too_long_is_a_timeout(place: Path, tmp_path: Path) -> None:
    asked = described(place, grid={}, seeds=1, run={"patience": 0.01}, tests=[])
    asked["settings"] = asked["settings"] | {"steps": 1_000_000, "validate_every": 1_000_000}
    (cell,) = study(asked, tmp_path / "out").cells
    assert (cell.outcome, cell.stage) == ("timeout", "train") and "0.6 s" in cell.message


def test_other_settings_and_other_problems_are_other_cells_and_old_ones_are_left_alone(
    place: Path, tmp_path: Path
) -> None:
    write_problems(tmp_path / "mine", "visitall", [2, 3], 0)
    asked = described(place, domains={"mine": {"folder": str(tmp_path / "mine")}}, grid={}, seeds=1, tests=[])
    (first,) = study(asked, tmp_path / "out").cells
    (other,) = study(asked | {"settings": asked["settings"] | {"layers": 3}}, tmp_path / "out").cells
    write_problems(tmp_path / "mine", "visitall", [2], 5, split="train", per_size=3)
    last = study(asked, tmp_path / "out")
    assert len({first.folder, other.folder, last.cells[0].folder}) == 3
    assert set(last.strays) == {first.folder, other.folder} and (first.folder / "model.safetensors").exists()
    assert study(asked, tmp_path / "out", layers=3).cells[0].outcome == "done"


def test_domains_of_the_suite_fresh_tests_and_given_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []

    def draw(job: dict[str, Any], report: Any) -> dict[str, Any]:
        drawn.append(job)
        write_problems(Path(job["folder"]), "gripper", [1 if job["seed"] is None else 2], 0, split="test")
        return {}

    monkeypatch.setattr("trifold.studies.problems.draw", draw)
    asked = {
        "domains": ["gripper"],
        "models": ["{domain}-values"],
        "tests": {"suite": "test", "fresh": {"seed": 7}},
        "evaluation": {"policies": ["values", "strict"], "device": "cpu"},
    }
    done = study(asked, tmp_path / "out", workers=1)
    assert [(cell.recipe, cell.outcome, cell.solved, cell.tried) for cell in done.cells] == [
        ("gripper-values", "done", 4, 4)
    ]
    assert [(line.test, line.acts, line.seeds) for line in done.lines] == [
        ("suite", "values", 1),
        ("suite", "strict", 1),
        ("fresh", "values", 1),
        ("fresh", "strict", 1),
    ]
    assert (tmp_path / "out/suite/gripper/test").is_dir() and (tmp_path / "out/fresh/gripper/test").is_dir()


def test_places_of_the_grid_that_are_one_training_are_one_cell(place: Path, tmp_path: Path) -> None:
    recipes = {"plain": {"base": "small", "encoder": "plain"}, "pairs": {"base": "small", "grid": {"dim": [4, 8]}}}
    found = plan(described(place, recipes=recipes, seeds=1), tmp_path / "out")
    assert [report.recipe for report in found.reports if report.domain == "visits"] == [
        "plain t=0",
        *("pairs t=0 dim=4", "pairs t=0 dim=8", "pairs t=1 dim=4", "pairs t=1 dim=8"),
    ]
    assert found.notes == ("plain t=1 is left out: it is the same training as plain t=0",)


@pytest.mark.parametrize(
    ("changes", "message", "remedy"),
    [
        ({"seed": 3}, "studies have no key 'seed'", "did you mean seeds?"),
        ({"seeds": [1, 1]}, "seeds is how many there are, or a list of them, each once", "seeds = 3"),
        ({"domains": []}, "the study has no domains", "gripper"),
        ({"domains": ["griper"]}, "neither a domain of the suite nor a folder", "did you mean gripper?"),
        ({"recipes": []}, "the study has no recipes", "small"),
        ({"recipes": ["smal"]}, "the recipe smal: there is no recipe 'smal'", "small"),
        (
            {"recipes": {"small": {"layer": 3}}},
            r"\[recipes.small\]: recipes have no key 'layer'",
            "did you mean layers?",
        ),
        ({"settings": {"seed": 3}}, r"\[settings\] has no seed", "seeds of the study"),
        ({"settings": {"steps": "many"}}, "the recipe small: steps is a whole number", ""),
        ({"settings": {"seeds": 2}}, "trains 2 models, from its seed on", "one seed for each cell"),
        ({"grid": {"t": 1}}, r"t of \[grid\] is a list of values, not 1", "t ="),
        ({"grid": {"t": [1, 1]}}, r"t of \[grid\] has a value twice", "once"),
        ({"tests": ["tset"]}, "visits has no problems for the test set tset", "optional = true"),
        ({"tests": {"a": {}}}, r"\[tests.a\] has a folder or a seed", "seed = 7"),
        ({"tests": {"a/b": "test"}}, "'a/b' cannot be the name of a test set", "letters"),
        ({"evaluation": {"timeout": "1 h"}}, r"timeout of \[evaluation\] is a number, not '1 h'", "change timeout"),
        ({"evaluation": {"policies": ["bets"]}}, "there is no policy 'bets'", "actions"),
        ({"evaluation": {"max_step": 3}}, r"\[evaluation\] has no key 'max_step'", "did you mean max_steps?"),
        ({"run": {"gpus": -1}}, r"gpus of \[run\] is a number, not negative, not -1", "change gpus"),
        ({"run": 3}, "run is a table, not 3", "change run"),
    ],
)
def test_what_is_wrong_is_refused_with_its_key_a_reason_and_a_remedy(
    place: Path, tmp_path: Path, changes: dict[str, Any], message: str, remedy: str
) -> None:
    with pytest.raises(TrifoldError, match=message) as error:
        plan(described(place, **changes), tmp_path / "out")
    assert remedy in (error.value.remedy or "")


def test_two_processes_do_not_do_one_study(place: Path, tmp_path: Path) -> None:
    asked = described(place, seeds=1)

    class Again(StudyWatcher):
        def planned(self, cells: Sequence[Any], steps: Sequence[Step], notes: Sequence[str]) -> None:
            with pytest.raises(TrifoldError, match="another process does a study in this folder"):
                study(asked, tmp_path / "out")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study(asked, tmp_path / "out", watcher=Again())

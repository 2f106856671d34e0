"""A climb: which rungs are trained, what is kept, and that it can be broken off at any moment."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from trifold.domains import write_problems
from trifold.errors import TrifoldError
from trifold.evaluation import Record, evaluate
from trifold.ladder import KEPT, Climbed, ClimbWatcher, Rung, RungReport, ascent, climb, judge, resume_climb
from trifold.ladder.report import Found
from trifold.model import Model
from trifold.selection import select
from trifold.training import Parted, Progress, Selection, TrainingResult, loop, read_recipe, resume, train
from trifold.training.run import Diverged

TINY = (
    Rung("small", "plain", None, 4, 2),
    Rung("middle", "pairs", 0, 4, 2),
    Rung("large", "pairs", 1, 4, 2),
)
COSTS = {"small": 0.001, "middle": 0.002, "large": 0.004}
SETTINGS: dict[str, Any] = {"steps": 6, "validate_every": 3, "batch": 8}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gripper")
    write_problems(path, "gripper", [1, 2, 3], 0)
    return path


@pytest.fixture(autouse=True)
def _fixed_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a step costs is measured, and these rungs are too small to differ."""

    def timed(model: Path, *arguments: Any, **options: Any) -> list[Record]:
        records = evaluate(model, *arguments, **options | {"workers": 1})
        return [record | {"seconds_per_step": COSTS[model.parent.name]} for record in records]

    monkeypatch.setattr(judge, "evaluate", timed)


@pytest.fixture(autouse=True)
def _no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """To draw the curves of a tiny training takes as long as the training."""
    monkeypatch.setattr(Figure, "savefig", lambda figure, file, **_: file.write(b"a picture"))


@pytest.fixture
def never_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Found, "is_enough", False)


def climb_tiny(folder: Path, run: Path, **options: Any) -> Climbed:
    return climb(folder, run, "small", rungs=TINY, **SETTINGS | options)


def outcome(run: Path, found: Climbed) -> tuple[Any, ...]:
    """All that a climb leaves behind, times aside."""
    rungs = [(one.rung, one.verdict, one.steps, one.held_out, one.judged, one.milliseconds) for one in found.rungs]
    weights = {
        file.parent.name: {name: tensor.tolist() for name, tensor in Model.load(file).network.state_dict().items()}
        for file in sorted(run.glob("**/model.safetensors"))
    }
    kept = {name: tensor.tolist() for name, tensor in found.load().network.state_dict().items()}
    return found.kept, found.judged_on, rungs, {n: w for n, w in weights.items() if n in COSTS}, kept


class Breaker(ClimbWatcher):
    """Breaks a climb off when one of its rungs reports a step, or is judged."""

    def __init__(self, rung: str, step: int, error: type[BaseException] = KeyboardInterrupt) -> None:
        self.rung, self.step, self.error, self.at = rung, step, error, ""

    def begun(self, rung: Rung, number: int, rungs: int, minutes: float | None) -> None:
        self.at = rung.name

    def progress(self, progress: Progress) -> None:
        if self.at == self.rung and progress.step >= self.step:
            raise self.error

    def judging(self, rung: Rung, problems: int) -> None:
        if self.at == self.rung and self.step > SETTINGS["steps"]:
            raise self.error


@pytest.mark.usefixtures("never_enough")
def test_a_climb_that_is_broken_off_ends_where_an_unbroken_one_ends(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a training, between it and its judgement, and again in the last one, after all that it could have seen."""
    monkeypatch.setattr(loop, "SHOW_SECONDS", -1.0)
    whole = climb_tiny(folder, tmp_path / "whole")
    run = tmp_path / "broken"
    with pytest.raises(KeyboardInterrupt):
        climb_tiny(folder, run, watcher=Breaker("small", 2))
    assert not (run / "model.safetensors").exists()
    with pytest.raises(KeyboardInterrupt):
        resume_climb(run, watcher=Breaker("small", 99))
    assert (run / "model.safetensors").exists()
    with pytest.raises(KeyboardInterrupt):
        resume_climb(run, watcher=Breaker("large", 4))
    again = resume_climb(run)
    assert outcome(run, again) == outcome(tmp_path / "whole", whole)
    assert [one.steps for one in again.rungs] == [6, 6, 6]


def test_a_climb_whose_other_processes_have_gone_ends_and_calls_no_rung_failed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Gone(Parted):
        def __init__(self) -> None:
            super().__init__("another process has ended")

    monkeypatch.setattr(loop, "SHOW_SECONDS", -1.0)
    told = Breaker("small", 4, Gone)
    with pytest.raises(Gone):
        climb_tiny(folder, tmp_path / "run", watcher=told)
    assert told.at == "small" and (tmp_path / "run" / "model.safetensors").exists()
    assert not json.loads((tmp_path / "run" / "ladder.json").read_text())["rungs"]


def test_another_process_than_the_first_reads_neither_recipe_nor_problems_before_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On its machine there may be no such recipe; the first one would wait for a process that has not come."""
    module = sys.modules["trifold.ladder.climb"]
    monkeypatch.setattr(module, "lead", lambda work, workers, cache: "what the first one returns")
    found: object = climb(tmp_path / "none", tmp_path / "run", tmp_path / "none.toml", rungs=TINY)
    assert found == "what the first one returns"


@pytest.mark.usefixtures("never_enough")
def test_a_resumed_climb_that_is_broken_off_keeps_what_was_kept(folder: Path, tmp_path: Path) -> None:
    """Until all that was trained before has been judged again, the best of the first of them is not the best."""
    climb_tiny(folder, tmp_path / "run")
    before = (tmp_path / "run" / "model.safetensors").read_bytes()
    with pytest.raises(KeyboardInterrupt):
        resume_climb(tmp_path / "run", watcher=Breaker("large", 99))
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == before


def test_rungs_are_tried_in_order_until_one_is_enough_and_all_where_all_are_asked_for(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []

    class Listener(ClimbWatcher):
        def ended(self, report: RungReport) -> None:
            order.append(report.rung.name)

    monkeypatch.setattr(Found, "is_enough", property(lambda found: "middle" in str(found.result.run)))
    monkeypatch.setattr(Found, "ratio", 1.02)
    found = climb_tiny(folder, tmp_path / "run", watcher=Listener())
    assert order == ["small", "middle"] and not (tmp_path / "run" / "large").exists()
    last = found.rungs[-1]
    assert last.verdict == "not tried" and last.why.startswith("middle solves all problems, with plans 1.02 × V*")
    assert any("--architecture all" in advice.command for advice in found.advice)
    again = resume_climb(tmp_path / "run", every=True, watcher=Listener())
    assert order == ["small", "middle", "small", "middle", "large"]
    assert again.rungs[-1].steps == 6 and [one.verdict for one in again.rungs].count(KEPT) == 1


def test_what_has_conflicts_is_not_trained(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ascent, "count_conflicts", lambda *_: {"small": 7, "middle": 0, "large": 0})
    found = climb_tiny(folder, tmp_path / "run", every=True)
    assert found.rungs[0].verdict == "ruled out" and found.rungs[0].why == "7 states in conflict"
    assert not (tmp_path / "run" / "small").exists() and found.kept != "small"
    assert resume_climb(tmp_path / "run").rungs[0].verdict == "ruled out"


@pytest.mark.usefixtures("never_enough")
def test_a_rung_that_fails_does_not_end_the_climb_unless_all_do(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = ["small", "large"]

    def fail(directory: Path, run: Path, *arguments: Any, **options: Any) -> TrainingResult:
        if run.name == "large" and "large" in failing:
            raise RuntimeError("CUDA out of memory")
        if run.name in failing:
            raise Diverged("training diverged")
        return train(directory, run, *arguments, **options)

    monkeypatch.setattr(ascent, "train", fail)
    found = climb_tiny(folder, tmp_path / "run")
    assert found.kept == "middle" and [one.verdict for one in found.rungs] == ["failed", "kept", "failed"]
    assert [one.why for one in found.rungs] == ["training diverged", "", "there is not enough memory"]
    failing.append("middle")
    with pytest.raises(TrifoldError, match="not enough memory"):
        climb_tiny(folder, tmp_path / "none")


def test_the_rung_that_is_kept_may_fail_when_it_is_trained_on(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it was stays kept, and what went wrong is told."""
    ended: list[RungReport] = []

    class Listener(ClimbWatcher):
        def ended(self, report: RungReport) -> None:
            ended.append(report)

    def fail(*_: Any, **__: Any) -> TrainingResult:
        raise Diverged("training diverged")

    monkeypatch.setattr(ascent, "resume", fail)
    monkeypatch.setattr(Found, "is_enough", True)
    long: dict[str, Any] = {"minutes": 0.03, "steps": 1_000_000, "validate_every": 1_000_000}
    found = climb_tiny(folder, tmp_path / "run", watcher=Listener(), **long)
    assert [one.verdict for one in ended] == [KEPT, KEPT] and found.kept == "small"
    assert [one.why for one in ended] == ["", "it failed when it was trained on: training diverged"]
    assert found.rungs[0] == ended[-1]


@pytest.mark.usefixtures("never_enough")
def test_the_time_is_that_of_all_rungs_and_what_is_left_is_for_the_one_that_is_kept(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: dict[str, float | None] = {}

    class Listener(ClimbWatcher):
        def begun(self, rung: Rung, number: int, rungs: int, minutes: float | None) -> None:
            told[rung.name] = minutes

        def going_on(self, rung: Rung, minutes: float) -> None:
            told["on"] = minutes

    options: dict[str, Any] = {"minutes": 0.06, "steps": 1_000_000, "seeds": 2, "validate_every": 1_000_000}
    found = climb_tiny(folder, tmp_path / "run", watcher=Listener(), **options)
    assert told == dict.fromkeys(COSTS, pytest.approx(0.01)) and found.rungs[0].seconds is not None
    monkeypatch.setattr(Found, "is_enough", True)
    told.clear()
    found = climb_tiny(folder, tmp_path / "short", watcher=Listener(), **options)
    assert found.kept == "small" and told["on"] == pytest.approx(0.03, abs=0.01)
    config = json.loads((tmp_path / "short" / "small" / "config.json").read_text())
    assert config["settings"]["minutes"] == told["on"]


@pytest.mark.usefixtures("never_enough")
def test_the_run_is_one_for_solving_and_selecting_and_its_rungs_are_runs(folder: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    found = climb_tiny(folder, run)
    about = Model.load(run).provenance
    assert about["ladder"]["kept"] == found.kept and len(about["ladder"]["rungs"]) == 3
    assert found.fell_back and any("--judge LARGER" in advice.command for advice in found.advice)
    state = json.loads((run / "ladder.json").read_text())
    assert [row["verdict"] for row in state["rungs"]] == [one.verdict for one in found.rungs]
    write_problems(tmp_path / "larger", "gripper", [4, 5], 3)
    anew = resume_climb(run, judge=tmp_path / "larger" / "train")
    assert not anew.fell_back and anew.rungs[0].judged is not None and anew.rungs[0].judged.problems == 2
    selected = select(run, tmp_path / "larger" / "train", max_steps=30, workers=1)
    assert selected.scores.keys() == COSTS.keys() and Model.load(run).provenance["selection"]["models"]
    assert Model.load(run).provenance["training"] == Model.load(run / selected.chosen).provenance["training"]
    assert resume(run / "middle", steps=7).steps == 7
    with pytest.raises(TrifoldError, match="the folder of a ladder"):
        resume(run)
    with pytest.raises(TrifoldError, match="there is a run in this folder already"):
        climb_tiny(folder, run)
    with pytest.raises(TrifoldError, match="it is that of one training"):
        resume_climb(run / "small")


@pytest.mark.usefixtures("never_enough")
@pytest.mark.parametrize("last", ["small", "middle"])
def test_nothing_is_selected_of_a_climb_that_was_broken_off_between_two_rungs(
    folder: Path, tmp_path: Path, last: str
) -> None:
    """What it has trained is finished: that there should be more, its model says, or that there is none."""

    class BeforeARung(ClimbWatcher):
        def begun(self, rung: Rung, number: int, rungs: int, minutes: float | None) -> None:
            if rung.name == last:
                raise KeyboardInterrupt

    run, judges = tmp_path / "run", tmp_path / "larger"
    write_problems(judges, "gripper", [4], 3)
    with pytest.raises(KeyboardInterrupt):
        climb(folder, run, "small", rungs=TINY[:2], **SETTINGS, watcher=BeforeARung())
    with pytest.raises(TrifoldError, match=r"is not finished[^$]*trifold train --resume"):
        select(run, judges / "train", max_steps=2, workers=1)
    resume_climb(run)
    assert select(run, judges / "train", max_steps=2, workers=1).scores.keys() == {"small", "middle"}


@pytest.mark.usefixtures("never_enough")
def test_a_climb_goes_on_in_whatever_folder(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_problems(tmp_path / "larger", "gripper", [4], 3)
    monkeypatch.chdir(tmp_path)
    climb_tiny(folder, Path("run"), judge="larger/train")
    monkeypatch.chdir(folder)
    assert [one.steps for one in resume_climb(tmp_path / "run").rungs] == [6, 6, 6]


def test_problems_of_another_domain_judge_nothing(folder: Path, tmp_path: Path) -> None:
    """Nor do those of a recipe that is another domain's: it is said before anything is trained."""
    write_problems(tmp_path / "blocks", "blocks-s", [4], 0)
    selective = replace(read_recipe("small"), selection=Selection("blocks-s", [{"blocks": 4}]))
    for options in ({"judge": tmp_path / "blocks" / "train"}, {"recipe": selective}):
        with pytest.raises(TrifoldError, match="a problem of another domain"):
            climb(folder, tmp_path / "run", **{"recipe": "small", "rungs": TINY} | options)
        assert not (tmp_path / "run" / "small").exists()


@pytest.mark.parametrize("changes", [{"encoder": "plain"}, {"model.dim": 8}, {"t": 2, "layers": 3}])
def test_an_architecture_that_is_given_leaves_nothing_to_choose(
    folder: Path, tmp_path: Path, changes: dict[str, Any]
) -> None:
    with pytest.raises(TrifoldError, match=r"the ladder chooses the architecture, and .* given"):
        climb(folder, tmp_path / "run", "small", **changes)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("names", [(), ("..",), ("a/b",), ("a", "a")])
def test_rungs_have_folders(folder: Path, tmp_path: Path, names: Sequence[str]) -> None:
    rungs = [Rung(name, "plain", None, 4, 2) for name in names]
    with pytest.raises(TrifoldError, match="rungs have different names"):
        climb(folder, tmp_path / "run", "small", rungs=rungs)


@pytest.mark.parametrize(
    ("file", "damage"),
    [
        ("config.json", {"rungs": [{"name": "../x", "encoder": "plain", "t": None, "dim": 4, "layers": 2}]}),
        ("config.json", {"rungs": [{"name": "small"}]}),
        ("config.json", {"rungs": 3}),
        ("config.json", {"every": "yes"}),
        ("ladder.json", {"judge": {"source": "", "problems": [3]}}),
        ("ladder.json", {"judge": {"problems": []}}),
        ("ladder.json", {"judge": {"source": "", "problems": ["p"], "seconds": "long"}}),
        ("ladder.json", {"conflicts": {"small": "none"}}),
    ],
)
def test_a_damaged_folder_is_an_error(folder: Path, tmp_path: Path, file: str, damage: dict[str, Any]) -> None:
    path = tmp_path / "run" / file
    with pytest.raises(KeyboardInterrupt):
        climb_tiny(folder, tmp_path / "run", watcher=Breaker("small", 1))
    path.write_text(json.dumps(json.loads(path.read_text()) | damage))
    with pytest.raises(TrifoldError) as caught:
        resume_climb(tmp_path / "run")
    assert caught.value.place is not None

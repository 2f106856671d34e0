"""`trifold train --architecture auto` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from trifold.commands import app
from trifold.domains import write_problems
from trifold.errors import TrifoldError
from trifold.ladder import Rung, climb

TINY = ["--recipe", "small", "--steps", "2", "--set", "batch=8"]
RUNGS = (Rung("small", "plain", None, 4, 2), Rung("large", "pairs", 1, 4, 2))


def train(*words: object) -> Result:
    done = CliRunner().invoke(app, ["train", *map(str, words)])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gripper")
    write_problems(path, "gripper", [1, 2, 3], 0)
    return path


@pytest.fixture(autouse=True)
def _few_rungs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert climb.__kwdefaults__ is not None
    monkeypatch.setitem(climb.__kwdefaults__, "rungs", RUNGS)


def test_the_table_has_a_row_for_each_rung_and_the_run_is_resumed_and_judged_anew(folder: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = train(folder, *TINY, "--architecture", "all", "--run", run, "--workers", 1)
    head, _, first, second, *_ = done.stdout.splitlines()
    assert head.split()[:3] == ["Rung", "Architecture", "Verdict"] and head.endswith("ms a step")
    assert first.startswith("small  R-GNN k 4 L 2") and second.startswith("large  R-GNN[1] k 4 L 2")
    assert [first.count("kept"), second.count("kept")] in ([1, 0], [0, 1])
    assert "judged on held-out problems, none of them larger than what was labelled" in done.stdout
    assert "the cheapest that is as good as the best" in done.stdout and str(run / "model.safetensors") in done.stdout
    assert "warning: none of them is larger" in done.stderr and "rung 2 of 2: large, R-GNN[1] k 4 L 2" in done.stderr
    assert done.stderr.count("goals:") == 1 and "next: trifold train --resume" in done.stderr
    again = train("--resume", run, "--quiet", "--json", "--workers", 1)
    found = json.loads(again.stdout)
    assert [row["rung"]["name"] for row in found["rungs"]] == ["small", "large"] and again.stderr == ""
    assert {"steps", "seconds", "held_out", "judged", "milliseconds", "verdict"} <= found["rungs"][0].keys()
    write_problems(tmp_path / "larger", "gripper", [4], 3)
    anew = train("--resume", run, "--judge", tmp_path / "larger" / "train", "--json", "--workers", 1)
    assert not json.loads(anew.stdout)["fell_back"] and "warning: so few problems say little" in anew.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--architecture", "auto", "--set", "encoder=plain"],
            "the ladder chooses .* encoder is given",
        ),
        (["--judge", "."], "--judge is of --architecture auto"),
        (["--architecture", "auto", "--judge", "nowhere"], "there is no such file or folder"),
    ],
)
def test_what_does_not_go_together_is_refused_before_a_folder_is_made(
    folder: Path, tmp_path: Path, words: list[str], message: str
) -> None:
    with pytest.raises(TrifoldError, match=message):
        train(folder, *TINY, *words, "--run", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_of_one_architecture_stays_one(folder: Path, tmp_path: Path) -> None:
    train(folder, *TINY, "--set", "dim=4", "--set", "layers=2", "--run", tmp_path / "run", "--quiet")
    with pytest.raises(TrifoldError, match="this is the run of one architecture"):
        train("--resume", tmp_path / "run", "--architecture", "auto")
    with pytest.raises(TrifoldError, match="--judge is of --architecture auto"):
        train("--resume", tmp_path / "run", "--judge", folder)

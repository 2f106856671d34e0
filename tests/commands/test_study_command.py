"""`trifold study` as a user runs it: the example of its page, the plan, the table, and what failed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from typer.testing import CliRunner, Result

from fuzz.commands_in_forks import load_everything
from trifold.commands import app
from trifold.domains import write_problems

PAGE = (Path(__file__).parents[2] / "docs" / "study.md").read_text(encoding="utf-8")
(EXAMPLE,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
QUICK = ("--domain", "deliveries", "--recipe", "narrow", "--set", "steps=2", "--set", "layers=2", "--device", "cpu")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(Figure, "savefig", lambda figure, file, **options: file.write(b"a picture"))
    load_everything()  # once, and not in each fork
    write_problems(tmp_path / "deliveries", "gripper", [1, 2], 0)
    write_problems(tmp_path / "deliveries", "gripper", [2], 1, split="test")
    (tmp_path / "t.toml").write_text(EXAMPLE, encoding="utf-8")
    return tmp_path / "t.toml"


def run(*words: object, code: int = 0) -> Result:
    done = CliRunner().invoke(app, ["study", *map(str, words)])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, done.output
    return done


def test_the_example_of_the_page_is_planned_done_and_told(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    planned = run(file, "--out", out, *QUICK, "--plan")
    assert len(re.findall(r"^deliveries narrow t=[01] seed [01]  left  +to do", planned.stdout, re.MULTILINE)) == 4
    assert "4 cells, 0 done; at most" in planned.stdout and not out.exists()
    done = run(file, "--out", out, *QUICK, "--workers", 1)
    assert "4 cells; to be done: label 1, train 4, evaluate 8" in done.stderr
    assert re.search(r"^\[\d+/13\] train deliveries narrow t=1 seed 1: .* 2 steps", done.stderr, re.MULTILINE)
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("deliveries")]
    assert [row[:6] for row in rows] == [
        ["deliveries", "narrow", f"t={t}", "test", policy, "2"] for t in (0, 1) for policy in ("values", "strict")
    ]
    assert f"{out / 'report.html'}: the report" in done.stdout and (out / "report.html").exists()
    again = json.loads(run(file, "--out", out, *QUICK, "--json", "--quiet").stdout)
    assert {cell["outcome"] for cell in again["cells"]} == {"done"} and len(again["table"]) == 4
    left = json.loads(run(file, "--out", out, *QUICK, "--set", "dim=4", "--plan", "--json").stdout)
    assert len(left["steps"]) == 13 and len(left["strays"]) == 4


def test_what_failed_is_told_and_decides_the_exit_code(file: Path, tmp_path: Path) -> None:
    done = run(file, "--out", tmp_path / "out", *QUICK, "--set", "max_states=1", "--set", "keep=1", "--quiet", code=2)
    assert done.stdout.count("failed: deliveries narrow t=") == 4 and "train: bad input: " in done.stdout

"""`trifold expressivity` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from typer.testing import CliRunner

from command_line import trifold
from trifold import analysis
from trifold.analysis import ARCHITECTURES, compare_architectures
from trifold.commands import app
from trifold.commands.expressivity import _settings, verdict
from trifold.data import label
from trifold.domains import domain_text
from trifold.memory import OutOfMemory
from trifold.training import default_recipe, read_recipe

TWO_TOWERS = """
(define (problem two-towers) (:domain blocksworld-4ops) (:objects a b c d)
  (:init (arm-empty) (on-table a) (on-table b) (on-table c) (on-table d) (clear a) (clear b) (clear c) (clear d))
  (:goal (and (on a b) (on c d))))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "domain.pddl").write_text(domain_text("blocks-m"), encoding="utf-8")
    (tmp_path / "two-towers.pddl").write_text(TWO_TOWERS, encoding="utf-8")
    return tmp_path


def expressivity(*words: object, code: int = 0, real: bool = False) -> CompletedProcess[str]:
    return trifold("expressivity", *words, "--workers", "1", code=code, real=real)


def test_too_little_memory_is_told_with_what_to_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any, **options: Any) -> None:
        raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate …")

    monkeypatch.setattr(analysis, "compare_architectures", full)
    error = CliRunner().invoke(app, ["expressivity", str(folder), "--quiet", "--workers", "1"]).exception
    assert isinstance(error, OutOfMemory) and "--states" in str(error)


def test_a_person_reads_what_is_ruled_out_and_why(folder: Path) -> None:
    done = expressivity(folder, "--plot", folder / "picture.png", real=True)
    lines = done.stdout.splitlines()
    assert lines[:2] == [
        "R-GNN[0] tells all states with different V* apart with 2 layers:",
        f"  trifold train {folder} --set t=0",
    ]
    assert lines[3] == "blocksworld-4ops: 125 states of 1 problem, 0 dead ends"
    rows = [line.split() for line in lines]
    assert ["R-GNN", "14", "1", "32", "70", "0.880"] in rows and ["2-30", "63", "2", "0.048"] in rows
    assert "does not prove" in done.stdout
    advice = lines[lines.index("Not ruled out, cheapest first:") + 1 :]
    assert advice[0] == "  R-GNN[0]: 26 messages a state and layer, from 2 layers on"
    assert "R-GNN cannot tell apart, with 3 layers or any number:" in lines
    assert "(but with more it can)" not in done.stdout and "--witnesses all" in done.stdout
    assert "(:init (arm-empty) (clear a) (clear c) (on a d) (on c b) (on-table b) (on-table d))" in lines
    assert "(:goal (and (on a b) (on c d)))" in lines
    assert "colouring: R-GNN[2]" in done.stderr and "colouring" not in done.stdout
    assert (folder / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_json_has_every_round_and_a_sample_says_so(folder: Path) -> None:
    result = json.loads(expressivity(folder, "--json", "--rounds", 2, "--quiet").stdout)
    assert [len(finding["depths"]) for finding in result["findings"]] == [2] * 7
    assert [finding["ruled_out"] for finding in result["findings"]] == [True, *[False] * 6]
    assert result["advice"][0] == "R-GNN[0]" and result["left_out"] == {}
    assert result["findings"][0]["witness"]["second"]["value"] == 6
    assert result["verdict"].startswith("R-GNN[0] tells") and result["settings"] == ["--set", "t=0"]
    sampled = expressivity(folder, "--states", 40, "--quiet")
    assert "40 states of 1 problem" in sampled.stdout and "a lower bound" in sampled.stdout
    assert sampled.stderr == ""


def test_witnesses_of_too_few_layers_are_shown_if_asked_for(folder: Path) -> None:
    told = expressivity(folder, "--witnesses", "all", "--quiet").stdout
    assert "R-GNN[0] cannot tell apart, with 1 layer or fewer (but with more it can):" in told.splitlines()
    assert "--witnesses all" not in told


def test_where_all_are_ruled_out_the_nearest_is_named(folder: Path) -> None:
    items = label(folder / "domain.pddl", [folder / "two-towers.pddl"], workers=1)
    result = compare_architectures(items, architectures=ARCHITECTURES[:1])
    assert verdict(result, folder) == (
        "Every architecture that was coloured is ruled out with 30 layers or fewer; R-GNN is nearest, with 2 states in "
        "conflict.\n"
    )


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    assert "no domain.pddl here" in expressivity(tmp_path, code=2).stderr


def test_the_depth_that_it_suggests_is_asked_for_where_default_recipes_have_less() -> None:
    layers = {default_recipe(device): read_recipe(default_recipe(device)).model.layers for device in ("cpu", "cuda")}
    assert "layers=20" in _settings("R-GNN[1]", 20) and min(layers.values()) < 20
    assert _settings("R-GNN[1]", min(layers.values())) == ["--set", "t=1"]

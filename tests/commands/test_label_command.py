"""`trifold label` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import trifold
from trifold.domains import domain_text, write_problems


def test_a_suite_is_labelled_once_and_summed_up(tmp_path: Path) -> None:
    write_problems(tmp_path / "a", "gripper", [1, 2, 4], 0)
    write_problems(tmp_path / "a", "gripper", [3], 0, split="validation")
    write_problems(tmp_path / "b", "blocks-m", [3, 4], 0)
    write_problems(tmp_path / "a", "gripper", [20], 0, split="test")
    first = trifold("label", tmp_path, "--max-states", 200, "--keep", 20, "--json")
    rows = {row["folder"]: row for row in json.loads(first.stdout)}
    assert list(rows) == ["a/train", "a/validation", "b/train"]
    assert rows["a/train"]["left_out"] == {"state limit": 1} and rows["a/train"]["labelled"] == 2
    assert rows["a/train"]["states"] == 8 + 28 and rows["a/validation"]["states"] == 88
    assert 20 <= rows["a/validation"]["kept"] < 88
    again = trifold("label", tmp_path, "--max-states", 200, "--keep", 20)
    assert again.stderr.count("known from before") == 6
    assert "a/validation" in again.stdout and "1 state limit" in again.stdout


def test_a_detour_keeps_less_and_says_how_far_it_goes(tmp_path: Path) -> None:
    write_problems(tmp_path, "grid", [1], 5, columns=1, side=3, locks=0, keys=1, shapes=1, unlocks=0)
    (everything,), (near,) = (
        json.loads(trifold("label", tmp_path, *words, "--json").stdout) for words in ((), ("--detour", 0))
    )
    assert near["states"] == everything["states"] == everything["kept"]
    assert near["kept"] < everything["kept"] and near["largest_value"] < everything["largest_value"]


def test_plans_of_a_model_label_what_is_too_large(tmp_path: Path) -> None:
    write_problems(tmp_path, "gripper", [1, 4], 0)
    trifold("evaluate", "gripper", tmp_path / "train", "--plans", tmp_path / "train", cwd=tmp_path)
    said = trifold("label", tmp_path, "--max-states", 200)
    assert "2 (1 around a plan)" in said.stdout and "states around a plan, V up to" in said.stderr
    (row,) = json.loads(trifold("label", tmp_path, "--max-states", 200, "--json").stdout)
    assert (row["labelled"], row["around"], row["left_out"]) == (2, 1, {})
    trained = ("train", tmp_path, "--recipe", "small", "--run", tmp_path / "run", "--steps", 2, "--quiet")
    trifold(*trained, "--set", "max_states=200", "--set", "heads=both", "--set", "dim=4", "--set", "layers=2")
    files = json.loads((tmp_path / "run" / "data.json").read_text())["files"]
    assert ["around a plan" in file["message"] for file in files] == [False, True]


def test_nothing_labelled_is_told_to_the_shell(tmp_path: Path) -> None:
    write_problems(tmp_path, "gripper", [1, 2], 0)
    said = trifold("label", tmp_path, "--max-states", 3, code=2, real=True)
    assert "2 state limit" in said.stdout and "raise max_states (--max-states)" in said.stderr


def test_a_folder_of_problems_of_another_domain_says_where_they_belong(tmp_path: Path) -> None:
    write_problems(tmp_path, "gripper", [1], 0)
    (tmp_path / "domain.pddl").write_text(domain_text("blocks-s"))
    said = trifold("label", tmp_path, code=2).stderr
    own = "try: use a model, a domain file or a folder of gripper-strips ("
    assert own in said.split("no problem could be labelled")[1] and "mend the PDDL" not in said


def test_a_misspelt_folder_is_told_with_the_one_that_is_meant(tmp_path: Path) -> None:
    (tmp_path / "gripper").mkdir()
    for verb in ("label", "train", "expressivity"):
        said = trifold(verb, "griper", code=2, cwd=tmp_path).stderr
        assert "there is no such folder" in said and "try: did you mean gripper?" in said


def test_places_without_problems_are_errors(tmp_path: Path) -> None:
    assert "no domain.pddl here" in trifold("label", tmp_path, code=2).stderr
    write_problems(tmp_path, "gripper", [], 0)
    assert "no problems to label" in trifold("label", tmp_path, code=2).stderr


def test_what_the_problems_have_and_what_others_have_beyond_it_is_said(tmp_path: Path) -> None:
    write_problems(tmp_path, "gripper", [2], 0, per_size=2)
    write_problems(tmp_path, "gripper", [9], 0, split="test")
    own = tmp_path / "own.pddl"
    own.write_text((tmp_path / "test" / "gripper-09-00.pddl").read_text().replace("(at ball1 roomb)", "(free left)", 1))
    said = trifold("label", tmp_path, "--for", tmp_path / "test", "--for", own, "--quiet")
    assert said.stderr == ""
    assert "ball always 2, gripper always 2, room always 2" in said.stdout
    assert "advice: all problems have 6 objects" in said.stdout
    assert "for 2 problems to solve" in said.stdout and "ball always 9, and always 2 in training" in said.stdout
    (row,) = json.loads(trifold("label", tmp_path, "--for", tmp_path / "train", "--json").stdout)
    assert row["lacking"] == [] and len(row["advice"]) == 1 and row["extent"]["sizes"] == [[6, 2]]


def test_problems_of_several_domains_are_not_compared_with_one(tmp_path: Path) -> None:
    (one, *_), _ = (write_problems(tmp_path / name, name, [2], 0) for name in ("gripper", "blocks-m"))
    assert "--for is of one domain" in trifold("label", tmp_path, "--for", one, code=2).stderr

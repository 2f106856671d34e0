"""The page of results: made from records alone, beside the paper's rows, and honest about what was not run."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from blank_record import BLANK
from results_page import read_results, results_page
from trifold.errors import TrifoldError
from trifold.evaluation.first_plan import FIRST_PLAN, PLANNER
from trifold.evaluation.records import SCHEMA
from trifold.evaluation.references import Reference, best_of_each, read_references
from trifold.shipped import formerly, shipped_models

ROOT = Path(__file__).parents[2]


def run(*words: object) -> subprocess.CompletedProcess[str]:
    """Run the script as `make results` does."""
    command = [sys.executable, "experiments/results_page.py", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)


def test_the_page_in_the_repository_is_what_its_records_make() -> None:
    """To renew it: make results."""
    words: list[object] = ["experiments/results", "experiments/lama", "--notes", "experiments/tried.md"]
    words += ["--reading", "experiments/reading.md"]
    for file in sorted((ROOT / "experiments").glob("references*.jsonl")):
        words += ["--references", file]
    done = run(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


def test_notes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "notes").write_bytes(b"\xff\x00")
    done = run("experiments/results", "--notes", tmp_path / "notes")
    assert done.returncode == 1 and done.stderr.startswith("the file is not UTF-8 text")


@pytest.mark.parametrize("file", sorted((ROOT / "experiments").glob("**/*.jsonl")), ids=lambda file: file.stem)
def test_records_in_the_repository_name_no_place_on_a_machine(file: Path) -> None:
    assert not re.search(r'["\s](/|~)\w', file.read_text(encoding="utf-8"))


def test_every_blocks_problem_in_the_repository_has_an_optimal_reference() -> None:
    best = best_of_each(
        one for file in (ROOT / "experiments").glob("references*.jsonl") for one in read_references(file)
    )
    blocks = [one for one in best.values() if "blocks" in (one["domain"] or "")]
    assert len(blocks) >= 2 * (17 + 22) and {one["kind"] for one in blocks} == {"optimal"}


def record(
    problem: str, plan_length: int | None, model: str = "R-GNN[1]", policy: str = "values", **changes: Any
) -> Any:
    fields = BLANK | {
        "schema": SCHEMA,
        "domain": "any",
        "model": model,
        "model_sha256": f"{model}0123456789",
        "policy": policy,
        "problem": problem,
        "problem_sha256": problem,
        "outcome": "stuck" if plan_length is None else "solved",
        "plan_length": plan_length,
        "seconds": 2.0,
        "hardware": "abacus",
    }
    training = {"command": "trifold train", "seed": 1, "seeds": 3, "seconds": 600.0, "data": "d" * 64}
    learned = {} if model == PLANNER else {f"training_{name}": value for name, value in training.items()}
    return fields | learned | changes


def reference(problem: str, length: int, kind: str = "optimal") -> Any:
    fields = dict.fromkeys(Reference.__annotations__) | {"schema": 1, "problem_sha256": problem}
    return fields | {"kind": kind, "length": length}


def cells(page: str, section: str) -> list[list[str]]:
    """The rows of a section, below its heading, as lists of cells."""
    text = page.split(f"## {section}")[1].split("\n## ")[0]
    lines = [line for line in text.replace("\\", "").splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines[2:]]
    named: list[list[str]] = []
    for row in rows:
        named.append([row[0] or named[-1][0], *row[1:]])
    return named


def test_ours_the_papers_and_lamas_stand_side_by_side() -> None:
    records = [record(f"p{i}", 40 if i else None) for i in range(17)]
    records += [record(f"p{i}", 100, PLANNER, FIRST_PLAN) for i in range(17)]
    best = best_of_each(reference(f"p{i}", 32) for i in range(17))
    page = results_page({"public": {"blocks-s": records}}, best, "Nothing.\n")
    rows = [row for row in cells(page, "The public test files") if row[0] == "blocks-s"]
    assert ["|".join(row[1:]) for row in rows] == [
        "R-GNN[1]|values|16 / 17 (94 %)|640|40|40.0|640 / 512 = 1.250|16 of 16|2.00|abacus|3|600",
        "R-GNN[1] in the paper|values|17 / 17 (100 %)|684|36|40|684 / 544 = 1.257|–|–|–|3|129,600",
        "LAMA|first plan|17 / 17 (100 %)|1,700|100|100.0|1,700 / 544 = 3.125|17 of 17|2.00|abacus|–|–",
    ]
    assert page.endswith("## What was tried, what helped and what did not\n\nNothing.\n")
    assert cells(page, "The models") == [
        ["blocks-s", "R-GNN[1]", "trifold train", "R-GNN[1]", "no", "dddddddd", "–", "3", "1", "–", "–", "600"]
    ]


@pytest.mark.parametrize(("run", "known"), [(16, 17), (17, 16)])
def test_the_papers_length_over_the_best_known_needs_the_best_of_every_problem(run: int, known: int) -> None:
    best = best_of_each(reference(f"p{i}", 32) for i in range(known))
    page = results_page({"public": {"blocks-s": [record(f"p{i}", 40) for i in range(run)]}}, best, "")
    ours, paper, _ = [row for row in cells(page, "The public test files") if row[0] == "blocks-s"]
    assert ours[7].startswith("640 / 512 = 1.250")
    assert paper[1].endswith("in the paper") and paper[7] == "–"


def test_a_model_in_the_box_is_told_from_others() -> None:
    """By its file, and by the file of an older format that it was before."""
    file = shipped_models()["gripper-values"]
    boxed, before = hashlib.sha256(file.read_bytes()).hexdigest(), formerly(file)
    assert before is not None
    records = [record("p", 4), *({**record("p", 4), "model_sha256": name} for name in (boxed, before))]
    rows = cells(results_page({"suite": {"gripper": records}}, {}, ""), "The models")
    known = "yes, as gripper-values"
    assert [(row[3], row[4]) for row in rows] == [("R-GNN[1]", "no"), (boxed[:8], known), (before[:8], known)]


def test_in_short_a_domain_has_the_test_set_that_counts_and_fresh_problems() -> None:
    drawn = {"blocks-s": [record("p", 3)], "navig-xy": [record("p", 3), record("p", None, policy="strict")]}
    results = {"public": {"blocks-s": [record("p", 4), record("q", None)]}, "suite": {"blocks-s": []}, "fresh-7": drawn}
    page = results_page(results, best_of_each([reference("p", 3)]), "")
    rows = {row[0]: " | ".join(row[1:]) for row in cells(page, "In short")}
    assert len(rows) == 11
    ours, fresh = "1 / 2 (50 %), 15 not run", "1 / 1 (100 %), 16 not run | 3 / 3 = 1.000"
    quality = "17 / 17 (100 %) | 4 / 3 = 1.333"
    assert rows["blocks-s"] == f"the paper's | values | {ours} | {quality} | {fresh} | 600 | R-GNN[1]"
    missing = "suite | strict | not run | 72 / 72 (100 %) | – | 0 / 1 (0 %), 71 not run | – | – | R-GNN[1]"
    assert rows["navig-xy"] == missing


def test_a_shorter_plan_is_the_better_reference() -> None:
    records = [record("p", 50), record("p", 40, PLANNER, FIRST_PLAN), record("q", 9)]
    best = best_of_each([reference("p", 44, "best known")])
    page = results_page({"suite": {"grid": records}}, best, "")
    ours, _, lama = [row for row in cells(page, "The test problems of the suite") if row[0] == "grid"]
    assert ours[7] == "50 / 40 = 1.250 (1 of 2)" and lama[7] == "40 / 40 = 1.000"
    with pytest.raises(TrifoldError, match="shorter than the optimal"):
        results_page({"suite": {"grid": records}}, best_of_each([reference("p", 44)]), "")


def test_what_was_not_run_says_so() -> None:
    page = results_page({"suite": {"gripper": [record("p0", 10)]}}, {}, "")
    rows = cells(page, "The test problems of the suite")
    assert [row[3] for row in rows if row[0] == "gripper"] == ["1 / 1 (100 %), 17 not run", "11 / 18 (61 %)", "not run"]
    assert len({row[0] for row in rows}) == 11
    assert [row[3] for row in rows if row[1] == "R-GNN[1]" and row[0] != "gripper"] == ["not run"] * 11
    assert [row[2] for row in rows if row[0] == "navig-xy"] == ["values", "strict", "strict", "first plan"]
    assert "Not run yet" in page.split("## Fresh problems")[1]
    assert "No model was evaluated yet" not in page


def test_fresh_problems_have_a_section_for_each_seed() -> None:
    page = results_page({f"fresh-{seed}": {"grid": [record("p", 1)]} for seed in (11, 7, 8)}, {}, "")
    assert re.findall("## Fresh problems: generator seed (.*)", page) == ["7", "8", "11"]
    for seed in (7, 8, 11):
        rows = cells(page, f"Fresh problems: generator seed {seed}")
        assert next(row[3] for row in rows if row[0] == "grid") == "1 / 1 (100 %), 19 not run"


def test_architectures_are_compared_with_each_other_and_with_the_paper() -> None:
    results = {
        "suite": {"navig-xy": [record("p", 3, "R-GNN", "strict"), record("p", 3, "R-GNN[2]")]},
        "public": {"logistics": [record("p", 50, "R-GNN[0]")]},
    }
    rows = cells(results_page(results, {}, ""), "Architectures")
    shown = {(row[0], row[1], row[2]): (row[3], row[-1]) for row in rows}
    assert shown["navig-xy", "R-GNN", "strict"] == ("1 / 1 (100 %), 71 not run", "43 / 72 (59 %)")
    assert shown["navig-xy", "R-GNN", "values"] == ("not run", "–")
    assert shown["navig-xy", "R-GNN[2]", "values"] == ("1 / 1 (100 %), 71 not run", "–")
    assert shown["logistics", "R-GNN[0]", "values"] == ("1 / 1 (100 %), 19 not run", "9 / 20 (45 %)")
    assert shown["grid", "R-GNN[1]", "values"] == ("not run", "15 / 20 (75 %)")


def actions(problem: str, plan_length: int | None, **changes: Any) -> Any:
    return record(problem, plan_length, policy="actions") | {"model_sha256": "a" * 64, "seconds": 0.5} | changes


def test_without_records_of_the_policy_actions_the_page_does_not_tell_of_it() -> None:
    page = results_page({"public": {"blocks-s": [record("p", 4)]}, "suite": {}, "fresh-7": {}}, {}, "")
    assert "actions" not in page.lower() and "policies" not in page.lower()


def test_the_policy_actions_has_its_own_lines_in_the_tables_of_sets_that_have_it() -> None:
    both = [*(record(f"p{i}", 40) for i in range(17)), *(actions(f"p{i}", 41) for i in range(17))]
    results = {"public": {"blocks-s": both, "gripper": [record("q", 9)]}, "suite": {"blocks-s": [record("q", 9)]}}
    page = results_page(results, best_of_each(reference(f"p{i}", 40) for i in range(17)), "")
    rows = ["|".join(row) for row in cells(page, "The public test files") if "R-GNN[1]" in row]
    assert rows[:2] == [
        "blocks-s|R-GNN[1]|values|17 / 17 (100 %)|680|40|40.0|680 / 680 = 1.000|17 of 17|2.00|abacus|3|600",
        "blocks-s|R-GNN[1]|actions|17 / 17 (100 %)|697|41|41.0|697 / 680 = 1.025|17 of 17|0.50|abacus|3|600",
    ]
    assert "gripper|R-GNN[1]|actions|not run|–|–|–|–|–|–|–|–|–" in rows
    assert not [row for row in cells(page, "The test problems of the suite") if row[2] == "actions"]
    short = {(row[0], row[2]): row[3:] for row in cells(page, "In short")}
    assert len(short) == 22
    fields = ["17 / 17 (100 %)", "17 / 17 (100 %)", "697 / 680 = 1.025", "0.50", "abacus", "600", "R-GNN[1]"]
    assert short["blocks-s", "actions"] == fields
    assert short["navig-xy", "actions"] == ["not run", "72 / 72 (100 %)", "–", "–", "–", "–", "R-GNN[1]"]


def test_the_policy_actions_is_shown_of_the_model_in_the_box_whatever_its_network(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    content = shipped_models()["gripper-values"].read_bytes()
    (tmp_path / "grid.safetensors").write_bytes(content)
    monkeypatch.setattr("attempts.shipped_models", lambda: {"grid": tmp_path / "grid.safetensors"})
    file = hashlib.sha256(content).hexdigest()
    plain = actions("p", 5, model="R-GNN", model_sha256=file)
    page = results_page({"suite": {"grid": [record("p", 4), actions("p", 4), plain]}}, {}, "")
    for section in ("In short", "The test problems of the suite"):
        shown = [row for row in cells(page, section) if row[0] == "grid" and "actions" in row]
        assert len(shown) == 1 and "R-GNN" in shown[0]
    assert [row[3] for row in cells(page, "Two policies")] == ["grid"]
    compared = [row[1] for row in cells(page, "Architectures") if row[0] == "grid" and row[2] == "actions"]
    assert "R-GNN" in compared and "R-GNN[1]" in compared


def test_in_short_only_tells_of_actions_if_a_set_that_it_shows_has_them() -> None:
    page = results_page({"suite": {"blocks-s": [actions("p", 4)]}}, {}, "")
    assert [row[2] for row in cells(page, "In short")] == ["values"] * 10 + ["strict"]
    assert "actions" not in page.split("## In short")[1].split("\n## ")[0]
    assert cells(page, "Two policies")[0][:6] == [
        "blocks-s",
        "suite",
        "–",
        "aaaaaaaa",
        "not run",
        "1 / 1 (100 %), 16 not run",
    ]


def judged(page: str, domain: str = "grid", name: str = "suite") -> list[str]:
    """What the page says of both policies on a set: lengths on what both solved, the difference, and the two bars."""
    [row] = [row for row in cells(page, "Two policies") if row[:2] == [domain, name]]
    return [row[6], *row[9:12]]


@pytest.mark.parametrize(
    ("lengths", "said"),
    [
        ((100, 103), ["206 / 200 = 1.030 (2 problems)", "+0.0300", "yes", "yes"]),  # at the very bar
        ((1000, 1031), ["2,062 / 2,000 = 1.031 (2 problems)", "+0.0310", "yes", "no"]),
        ((110, 100), ["200 / 220 = 0.909 (2 problems)", "-0.1000", "yes", "yes"]),
    ],
)
def test_the_policies_are_compared_by_length(lengths: tuple[int, int], said: list[str]) -> None:
    """Against the best known, which is the shorter of both here."""
    records = [one(problem, length) for one, length in zip((record, actions), lengths, strict=True) for problem in "pq"]
    best = best_of_each(reference(problem, min(lengths)) for problem in "pq")
    page = results_page({"suite": {"grid": records}}, best, "")
    assert judged(page) == said
    assert f"`values`: holds in {'1' if said[-1] == 'yes' else '0'} of 1 lines" in page


def test_the_policies_are_compared_by_coverage_and_their_lengths_on_what_both_solved() -> None:
    values = [record("p", 10), record("q", 20), record("r", None)]
    scored = [actions("p", 12), actions("q", None), actions("r", None)]
    best = best_of_each(reference(problem, 10) for problem in "pqr")
    results = {"suite": {"grid": [*values, *scored], "vacuum": [*values, *values]}, "public": {"grid": values}}
    page = results_page(results, best, "")
    assert judged(page) == ["12 / 10 = 1.200 (1 problem)", "+0.2000", "no", "no"]
    assert "coverage of `values`: holds in 0 of 1 lines, not in grid (suite)." in page
    assert judged(page, "vacuum") == ["–"] * 4
    assert [row[:2] for row in cells(page, "Two policies")] == [["grid", "suite"], ["vacuum", "suite"]]


def test_policies_that_were_not_run_on_the_same_problems_are_not_judged() -> None:
    page = results_page({"suite": {"grid": [record("p", 4), record("q", 4), actions("p", 4)]}}, {}, "")
    assert judged(page) == ["4 / 4 = 1.000 (1 problem)", "–", "–", "–"]
    assert page.count("not judged yet.") == 2
    nothing = results_page({"suite": {"grid": [record("p", None), actions("p", None)]}}, {}, "")
    assert judged(nothing) == ["–", "–", "yes", "–"]


def test_a_policy_is_shown_of_the_model_in_the_box_and_of_two_there_of_the_one_that_solves_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over all sets, so that no line has numbers of two files. The box has one with k = 32, then one with 64, too."""
    box = {name: tmp_path / f"{name}.safetensors" for name in ("grid", "grid-values")}
    contents = [shipped_models()[name].read_bytes() for name in ("gripper-values", "grid")]
    small, large = (hashlib.sha256(content).hexdigest() for content in contents)
    suite = [record("p", length, model_sha256=file) for file, length in ((small, 9), (large, 5))]
    fresh = [record("q", length, model_sha256=file) for file, length in ((small, None), (large, 7))]
    results = {
        "suite": {"grid": [*suite, actions("p", 9, model_sha256=small)]},
        "fresh-7": {"grid": fresh},
        "fresh-11": {"grid": fresh[:1]},
    }
    monkeypatch.setattr("attempts.shipped_models", lambda: {file.stem: file for file in sorted(tmp_path.iterdir())})
    box["grid"].write_bytes(contents[0])
    assert cells(results_page(results, {}, ""), "Two policies")[0][2:4] == ["grid", "grid"]
    box["grid-values"].write_bytes(contents[1])
    page = results_page(results, {}, "")
    assert cells(page, "Two policies")[0][2:4] == ["grid-values", "grid"]
    [values, scored] = [row for row in cells(page, "In short") if row[0] == "grid"]
    assert (values[2:4], scored[2:4]) == (
        ["values", "1 / 1 (100 %), 19 not run"],
        ["actions", "1 / 1 (100 %), 19 not run"],
    )
    assert values[8:12] == ["1 / 1 (100 %), 19 not run", "–", "not run", "–"]
    rows = {row[5]: (row[2], row[3], row[6]) for row in cells(page, "The models")}
    assert rows == {
        small[:8]: ("values, actions", "32, 12", "yes"),
        large[:8]: ("values (suite, fresh-7)", "64, 30", "yes, as grid-values"),
    }


def test_a_model_in_the_box_is_one_model_whatever_the_format_of_its_file_was() -> None:
    file = shipped_models()["gripper-values"]
    before, now = formerly(file), hashlib.sha256(file.read_bytes()).hexdigest()
    old, new = ({"gripper": [record("p", 4, model_sha256=name), actions("p", 4)]} for name in (before, now))
    page = results_page({"public": old, "fresh-7": new}, {}, "")
    assert [row[1:6:2] for row in cells(page, "Two policies")] == [
        [name, "aaaaaaaa", "1 / 1 (100 %), 17 not run"] for name in ("public", "fresh-7")
    ]
    assert {row[2] for row in cells(page, "Two policies")} == {"gripper-values"}
    assert [row[2] for row in cells(page, "The models")] == ["values (public)", "actions", "values (fresh-7)"]


def test_architectures_have_lines_of_actions_where_they_were_trained_for_them() -> None:
    results = {"suite": {"grid": [record("p", 3, "R-GNN"), actions("p", 3)], "vacuum": [record("p", 3)]}}
    rows = cells(results_page(results, {}, ""), "Architectures")
    assert {row[1] for row in rows if row[2] == "actions"} == {"R-GNN[1]"}
    shown = {row[0]: (row[3], row[-1]) for row in rows if row[2] == "actions"}
    assert shown["grid"] == ("1 / 1 (100 %), 19 not run", "–") and shown["vacuum"] == ("not run", "–")


def test_records_of_a_search_are_refused_for_the_page_is_of_policies_alone(tmp_path: Path) -> None:
    file = tmp_path / "suite" / "gripper.jsonl"
    file.parent.mkdir()
    file.write_text(json.dumps(BLANK | {"schema": SCHEMA, "search": "turns"}) + "\n")
    with pytest.raises(TrifoldError, match="policies alone"):
        read_results([tmp_path])


def test_results_are_read_from_several_folders_and_strange_ones_refused(tmp_path: Path) -> None:
    for folder, model in (("ours", "R-GNN[1]"), ("lama", PLANNER)):
        file = tmp_path / folder / "suite" / "grid.jsonl"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(record("p", 1, model)) + "\n")
    results = read_results([tmp_path / "ours", tmp_path / "lama", tmp_path / "none"])
    assert [one["model"] for one in results["suite"]["grid"]] == ["R-GNN[1]", PLANNER]
    file.rename(file.with_name("sokoban.jsonl"))
    with pytest.raises(TrifoldError, match="public, suite or fresh-N"):
        read_results([tmp_path / "lama"])
    with pytest.raises(TrifoldError, match="there are no results"):
        read_results([tmp_path / "none"])

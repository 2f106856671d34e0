"""The report page: it holds the numbers that run folders and records hold, and nothing in it can run but its script."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from blank_record import BLANK
from command_line import trifold
from pages.test_trace_page import NASTY, Elements, data_of
from trifold.errors import TrifoldError
from trifold.evaluation import file_sha256, summarise
from trifold.evaluation.published import PUBLISHED
from trifold.evaluation.records import read_records
from trifold.pages import Attempt, Contender, Evaluated, Report, TableLine, Tried, render_report
from trifold.reports import report_page

LINES = [
    {"step": 50, "loss": 2.5, "validation": 1.5, "seconds": 3.0, "solved": 1, "problems": 2, "length": 1.25},
    {"step": 100, "loss": 0.5, "validation": 0.75, "seconds": 6.0, "solved": 2, "problems": 2, "length": 1.0},
]

FILE = {"message": "", "states": 70, "kept": 60, "dead_ends": 2, "largest_value": 9}
DATA: dict[str, Any] = {
    "hash": "ab" * 32,
    "problems": 1,
    "states": 1234,
    "inputs": 1000,
    "dead_ends": 2,
    "dead_end_target": 10.0,
    "largest_value": 9,
    "objects": 6,
    "validation_problems": 1,
    "validation_states": 24,
    "split": {"rule": "held out", "families": 2, "sharing": [], "alike": []},
    "extent": {
        "problems": 1,
        "states": 1234,
        "dead_ends": 2,
        "largest_value": 9,
        "sizes": [[6, 1]],
        "kinds": {"ball": [2, 4]},
        "relations": {"at": 1, "at@goal": 1, "lit@goal-not": 1},
    },
    "files": [
        FILE | {"file": "one.pddl", "role": "training", "outcome": "labelled"},
        FILE | {"file": "two.pddl", "role": "validation", "outcome": "labelled"},
        FILE | {"file": "big.pddl", "role": "left out", "outcome": "state limit", "message": "more than 10 states"},
    ],
}
CONFIG: dict[str, Any] = {
    "directory": "gripper",
    "preset": "small",
    "model": {"encoder": "pairs", "t": 1, "dim": 32, "layers": 12, "sharpness": 12.0, "heads": "values"},
    "settings": {"steps": 321, "batch": 32},
    "limits": {"max_states": 10},
    "selection": None,
    "device": "cpu",
    "threads": 1,
    "command": ["trifold", "train", "gripper folder"],
}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a run that has not ended: it has no model yet."""
    folder = tmp_path / "mine"
    (folder / "seed-0").mkdir(parents=True)
    environment = {"versions": {"torch": "2.0"}, "processor": "abacus", "cores": 2, "device": "cpu"}
    for name, content in {"config": CONFIG, "data": DATA, "environment": environment}.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    (folder / "seed-0" / "metrics.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in LINES))
    return folder


def record(**facts: Any) -> dict[str, Any]:
    return BLANK | {
        "schema": 1,
        "model": "R-GNN[1]",
        "model_path": "gripper",
        "domain": "rooms",
        "problem": "p.pddl",
        "policy": "values",
        "max_steps": 1000,
        "outcome": "solved",
        **facts,
    }


def written(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records))
    return path


def test_a_run_without_a_model_says_what_it_was_trained_on_and_its_curves(run: Path) -> None:
    page = data_of(report_page(run))
    (training,) = page["trainings"]
    assert (page["title"], training["name"], page["evaluated"]) == ("Report on mine", "mine", [])
    told = dict(training["data"])
    assert told["Problems"] == "1 trained on, 1 validated on, 1 left out"
    assert told["States"] == "1,234 to train on; 1,000 after merging, 24 to validate on"
    assert (told["Largest V*"], told["Dead ends"]) == ("9", "2, learned as V* = 10")
    assert (told["Objects of a kind"], told["Goals over"]) == ("ball 2 to 4", "at, lit (not)")
    assert training["sizes"] == [[6, 1]] and training["summary"].startswith("R-GNN[1] by the recipe small, 1 problem")
    recipe = {name: dict(pairs) for name, pairs in training["recipe"]}
    assert (recipe["training"]["steps"], recipe["data"]["max_states"], recipe["model"]["layers"]) == ("321", "10", "12")
    origin = dict(training["origin"])
    assert origin["Command"] == "trifold train 'gripper folder'" and origin["Hardware"] == "abacus, 2 cores"
    assert origin["Model"].startswith("none yet")
    assert [(one["file"], one["states"], one["message"]) for one in training["problems"]][2] == (
        "big.pddl",
        70,
        "more than 10 states",
    )
    assert [(one["name"], one["is_kept"], one["lines"]) for one in training["seeds"]] == [("seed-0", False, LINES)]


def test_runs_from_before_extents_and_without_metrics_have_a_page(run: Path) -> None:
    (run / "data.json").write_text(json.dumps({name: value for name, value in DATA.items() if name != "extent"}))
    (run / "seed-0" / "metrics.jsonl").unlink()
    (training,) = data_of(report_page(run))["trainings"]
    assert training["sizes"] == [] and training["seeds"][0]["lines"] == []
    assert "Goals over" not in dict(training["data"])


def test_records_are_told_in_the_rows_of_the_table_and_by_problem(tmp_path: Path) -> None:
    records = [
        record(problem="b.pddl", problem_sha256="b", objects=9, plan_length=12, seconds=0.5, steps=12),
        record(
            problem="a.pddl", problem_sha256="a", objects=4, outcome="stuck", message="no way", steps=3, seconds=2.0
        ),
        record(problem="a.pddl", problem_sha256="a", model="LAMA", policy="first plan", plan_length=7),
    ]
    found = data_of(report_page(written(tmp_path / "records.jsonl", *records)))
    (domain,) = found["evaluated"]
    assert [(one["name"], one["objects"]) for one in domain["problems"]] == [("a.pddl", 4), ("b.pddl", 9)]
    rows = summarise(records)  # type: ignore[arg-type]
    assert [(row["model"], row["acts"]) for row in domain["contenders"]] == [(row.model, row.acts) for row in rows]
    lama, ours = domain["contenders"]
    assert [(one["problem"], one["length"], one["outcome"]) for one in lama["attempts"]] == [(0, 7, None)]
    lost, solved = ours["attempts"]
    assert (solved["problem"], solved["length"], solved["seconds"], solved["command"]) == (1, 12, 0.5, None)
    assert (lost["outcome"], lost["message"], lost["steps"], lost["seconds"]) == ("stuck", "no way", 3, 2.0)
    assert lost["command"] == "trifold explain gripper a.pddl --policy values --html trace.html"
    lines = [dict(zip(found["heads"], line["cells"], strict=True)) for line in found["lines"]]
    told = [(line["Model"], line["Coverage"], line["Failures"], line["Seconds a problem"]) for line in lines]
    assert told == [("LAMA", "1 / 1 (100 %)", "none", "0.00"), ("R-GNN[1]", "1 / 2 (50 %)", "1 stuck", "1.25")]
    assert "By search" not in found["heads"] and domain["published"] is None


def test_what_searches_and_planners_did_is_said_where_no_trace_can_show_it(tmp_path: Path) -> None:
    lost = {"outcome": "timeout", "problem_sha256": "a"}
    ways = {"policy": "values"}, {"policy": "values", "search": "turns"}, {"policy": "turns"}, {"policy": "first plan"}
    page = data_of(report_page(written(tmp_path / "records.jsonl", *(record(**lost, **way) for way in ways))))
    rows = page["evaluated"][0]["contenders"]
    told = {row["acts"]: (row["attempts"][0]["command"], row["attempts"][0]["note"]) for row in rows}
    assert told["values"][1] is None and told["turns"][1] is None
    assert told["values"][0] == told["values, then turns"][0] and "--policy turns" in told["turns"][0]
    assert told["values, then turns"][1].startswith("A trace shows the policy; turns, which")
    assert told["first plan"][0] is None and told["first plan"][1].startswith("No trace: a planner")


def test_no_command_is_told_for_what_cannot_be_read(tmp_path: Path) -> None:
    """It would only say once more what is wrong."""
    lost = record(outcome="bad input", problem_sha256="a", message="this is a domain")
    page = data_of(report_page(written(tmp_path / "records.jsonl", lost)))
    assert page["evaluated"][0]["contenders"][0]["attempts"][0]["command"] is None


RESULTS = Path(__file__).parents[2] / "experiments"


def in_the_page_of_results(domain: str) -> dict[tuple[str, str], list[str]]:
    """What docs/results.md says of a domain's public files, by model and policy."""
    page = (RESULTS.parent / "docs" / "results.md").read_text(encoding="utf-8").replace("\\", "")
    section = page.split("## The public test files")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in section.splitlines() if line.startswith("|")]
    first = next(i for i, row in enumerate(rows) if row[0] == domain)
    after = next(i for i, row in enumerate(rows) if i > first and row[0])
    return {(row[1], row[2]): row[3:] for row in rows[first:after]}


def test_a_report_and_the_page_of_results_say_the_same_of_the_papers_own_files() -> None:
    records = [RESULTS / name / "public" / "miconic.jsonl" for name in ("results", "lama")]
    page = data_of(report_page(*records, references=sorted(RESULTS.glob("references*.jsonl"))))
    expected = in_the_page_of_results("miconic")
    lines = [dict(zip(page["heads"], line["cells"], strict=True)) for line in page["lines"]]
    told = {(line["Model"], line["Policy"]): list(line.values())[3:-1] for line in lines}
    assert {key: told[key] for key in expected} == expected and len(expected) == 4
    papers = {line["cells"][1] for line in page["lines"] if line["is_published"]}
    ours = {record["model"] for record in read_records(records[0])}
    assert papers == {f"{model} in the paper" for model in ours if ("miconic", model) in PUBLISHED} and len(papers) > 2
    published = page["evaluated"][0]["published"]
    assert published["instances"].startswith("These are the very files") and "AAAI 2025" in published["source"]
    assert sum(line["is_published"] for line in published["lines"]) == 6


def test_rows_about_the_papers_own_files_are_named_beside_others() -> None:
    records = [RESULTS / "results" / name / "blocks-s.jsonl" for name in ("public", "suite")]
    page = data_of(report_page(*records, references=sorted(RESULTS.glob("references*.jsonl"))))
    instances = page["evaluated"][0]["published"]["instances"]
    assert "R-GNN[1] (domain 7c9ce70e) by values" in instances and "d656a1c5" not in instances
    (papers,) = (line["cells"] for line in page["lines"] if line["cells"][1] == "R-GNN[1] in the paper")
    assert "684 / 668 = 1.024" in papers


def test_of_other_instances_the_papers_numbers_are_told_with_a_warning(tmp_path: Path) -> None:
    one = record(domain="rover", problem_sha256="a", plan_length=7, objects=3)
    page = data_of(report_page(written(tmp_path / "records.jsonl", one)))
    ours, papers = (line["cells"] for line in page["lines"])
    assert papers[:4] == ["rover", "R-GNN[1] in the paper, other instances", "values", "14 / 20 (70 %)"]
    assert ours[:4] == ["rover", "R-GNN[1]", "values", "1 / 1 (100 %)"]
    assert "other instances of the domain that it calls rovers" in page["evaluated"][0]["published"]["instances"]


def test_a_shorter_plan_of_the_records_is_the_best_known(tmp_path: Path) -> None:
    best = json.loads((RESULTS / "references.jsonl").read_text(encoding="utf-8").splitlines()[0])
    known = written(tmp_path / "best.jsonl", best | {"problem_sha256": "a", "kind": "best known", "length": 9})
    plans = (record(problem_sha256="a", model=m, model_sha256=m, plan_length=n) for m, n in (("m", 12), ("n", 6)))
    records = written(tmp_path / "r.jsonl", *plans)
    page = data_of(report_page(records, references=[known]))
    assert page["evaluated"][0]["problems"][0]["best"] == 6
    place = page["heads"].index("Length / best known")
    assert [line["cells"][place] for line in page["lines"]] == ["12 / 6 = 2.000", "6 / 6 = 1.000"]


def test_references_stand_beside_the_plans(tmp_path: Path) -> None:
    reference = {"schema": 1, "timestamp": "", "domain": "rooms", "domain_sha256": "", "problem": "p.pddl"}
    reference |= {"problem_sha256": "a", "kind": "optimal", "length": 5, "search": None, "message": None}
    reference |= dict.fromkeys(("seconds",), 1.0) | dict.fromkeys(("timeout", "optimal_timeout", "memory_gib"))
    reference |= dict.fromkeys(("planner", "trifold_version", "pymimir_version", "python_version"), "")
    records = written(tmp_path / "r.jsonl", record(problem_sha256="a", plan_length=10, objects=3))
    best = written(tmp_path / "best.jsonl", reference)
    found = data_of(report_page(records, references=[best]))
    (problem,) = found["evaluated"][0]["problems"]
    assert (problem["best"], problem["is_optimal"]) == (5, True)
    (line,) = found["lines"]
    told = dict(zip(found["heads"], line["cells"], strict=True))
    assert (told["Length / best known"], told["Proved optimal"]) == ("10 / 5 = 2.000", "1 of 1")
    plain = data_of(report_page(records))
    assert "Proved optimal" not in plain["heads"] and plain["evaluated"][0]["problems"][0]["best"] is None


def test_the_problem_of_a_failure_is_found_by_its_hash(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    problem, other = tmp_path / "there" / "p.pddl", tmp_path / "p.pddl"
    problem.write_text("(define)")
    other.write_text("(another)")
    lost = record(outcome="stuck", problem_sha256=file_sha256(problem), max_steps=7)
    for facts in ({}, {"command": "trifold 'evaluate"}, {"command": f"trifold evaluate m /{'x' * 5000} \0 {tmp_path}"}):
        file = written(tmp_path / "records.jsonl", lost | facts)
        attempt = data_of(report_page(file))["evaluated"][0]["contenders"][0]["attempts"][0]
        assert attempt["command"].startswith("trifold explain gripper p.pddl ")
    for facts, problems in ({"command": f"trifold evaluate m {tmp_path / 'there'}"}, []), ({}, [tmp_path]):
        file = written(tmp_path / "records.jsonl", lost | facts)
        attempt = data_of(report_page(file, problems=problems))["evaluated"][0]["contenders"][0]["attempts"][0]
        assert attempt["command"].startswith(f"trifold explain gripper {problem} --policy values --max-steps 7 ")


def test_names_are_text_whatever_they_hold(tmp_path: Path, run: Path) -> None:
    texts = dict.fromkeys(("model", "model_path", "domain", "problem", "policy", "outcome", "message"), NASTY)
    nasty = written(tmp_path / "nasty.jsonl", record(**texts))
    plain = written(tmp_path / "plain.jsonl", record(outcome="stuck", message="m"))
    (run / "config.json").write_text(json.dumps(CONFIG | {"preset": NASTY, "command": [NASTY, NASTY]}))
    page = report_page(run, nasty)
    found = Elements(page)
    assert [tag for tag, _, _ in found.found] == [tag for tag, _, _ in Elements(report_page(run, plain)).found]
    assert data_of(page)["evaluated"][0]["domain"] == NASTY and NASTY in found.named("title")[0][1]
    (data,) = (text for attributes, text in found.named("script") if attributes.get("id") == "data")
    assert not re.search("[<>&\u2028\u2029]", data)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|fetch\(|@import", page)


def test_what_is_no_source_of_a_report_is_refused(tmp_path: Path, run: Path) -> None:
    with pytest.raises(TrifoldError, match="nothing to report"):
        report_page()
    with pytest.raises(TrifoldError, match="no records"):
        report_page(written(tmp_path / "empty.jsonl"))
    with pytest.raises(TrifoldError, match="no such folder of problems"):
        report_page(run, problems=[tmp_path / "nowhere"])
    with pytest.raises(TrifoldError, match="not the folder of a training run"):
        report_page(tmp_path)
    (run / "config.json").write_text(json.dumps(CONFIG | {"rungs": []}))
    with pytest.raises(TrifoldError, match="a ladder"):
        report_page(run)


def test_traces_bring_their_script_and_no_other() -> None:
    one = Evaluated("d", (Tried("p", 3),), (Contender("m", "values", (Attempt(0, 1.0, outcome="stuck"),)),))
    plain = Report("title", evaluated=(one,), heads=("Domain",), lines=(TableLine(("d",)),), names=1)
    for report, count in ((plain, 1), (replace(plain, traces=("{}",)), 2)):
        page = render_report(report)
        policy = next(a["content"] for a, _ in Elements(page).named("meta") if a.get("http-equiv"))
        assert policy is not None and policy.count("'sha256-") == 2 * count and "unsafe" not in policy


def test_the_command_writes_the_page(tmp_path: Path, run: Path) -> None:
    records = written(tmp_path / "records.jsonl", record(plan_length=3, objects=2))
    done = trifold("report", run, records, cwd=tmp_path, real=True)
    assert done.stdout.startswith("report.html: ")
    page = data_of((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert [len(page[name]) for name in ("trainings", "evaluated")] == [1, 1]
    trifold("report", tmp_path / "none.jsonl", code=2)

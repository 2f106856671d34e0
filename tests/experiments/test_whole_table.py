"""The whole table of architectures: cells of all kinds, separations, notes with numbers, the picture."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from architectures import architectures, fill_in, find_gaps, make_entries
from attempts import SIZES
from blank_record import BLANK
from cells import ARCHITECTURES, CELLS, Reason, outcome_of, read_reasons, refusal
from coverage_picture import draw
from results_page import read_results, results_page
from table_plan import PAIRS, RELATIVE, START, cost_of, schedule
from trifold.domains import PAPER
from trifold.errors import TrifoldError
from trifold.evaluation.published import PUBLISHED
from trifold.lines import append_line
from trifold.training import read_recipe

ROOT = Path(__file__).parents[2]


def attempts(model: str, solved: int, ends: tuple[str, ...] = (), name: str = "", **changes: Any) -> list[Any]:
    """Records of a model: so many solved problems, and then others that ended so."""
    outcomes = ["solved"] * solved + list(ends)
    fields = {"model": model, "model_sha256": f"{name or model}0123456789", "policy": "values", "timeout": 600.0}
    training = {"training_seconds": 270.0, "training_seeds": 1}
    return [
        BLANK
        | fields
        | training
        | {"problem": f"p{i}", "problem_sha256": f"p{i}", "outcome": end, "plan_length": 5 if end == "solved" else None}
        | changes
        for i, end in enumerate(outcomes)
    ]


def reason(domain: str, model: str, outcome: str, message: str, stage: str = "train") -> Reason:
    return Reason(
        schema=1,
        timestamp="now",
        domain=domain,
        model=model,
        stage=stage,
        outcome=outcome,
        message=message,
        command=None,
    )


def texts(results: Any, *reasons: Reason) -> dict[tuple[str, str], str]:
    told: dict[tuple[str, str], list[Reason]] = {}
    for one in reasons:
        told.setdefault((one["domain"], one["model"]), []).append(one)
    return {key: entry.text for key, entry in make_entries(results, told).items()}


def test_all_cells_are_there_and_say_what_is_known_of_each() -> None:
    records = [
        *attempts("R-GNN", 15, ("stuck",) * 5),
        *attempts("R-GNN[0]", 18, ("timeout", "memory limit")),
        *attempts("R-GNN[1]", 20, training_seconds=880.0),
        *attempts("R-GNN[2]", 3, ("cycle",)),
        *attempts("R-GNN₂", 20, training_seeds=3),
    ]
    found = texts(
        {"suite": {"grid": records}},
        reason("grid", "2-GNN", "memory limit", "there is not enough memory"),
        reason("vacuum", "ET", "bad input", "ET reads two"),
        reason("rovers", "ET", "crash", "odd"),
        reason("grid", "R-GNN[2]", "timeout", "not done after 60 minutes", "evaluate values"),
        reason("grid", "R-GNN", "crash", "of an earlier call"),
    )
    assert list(found) == [(domain, one.label) for domain in PAPER for one in ARCHITECTURES] and len(found) == 77
    assert {model: text for (domain, model), text in found.items() if domain == "grid"} == {
        "R-GNN": "15 · 9",
        "R-GNN[0]": "18, 1 out of time, 1 out of memory · 12",
        "R-GNN[1]": "20* · 15",
        "R-GNN[2]": "3, 16 out of time · –",
        "R-GNN₂": "20* · 10",
        "2-GNN": "out of memory · 6",
        "ET": "not run · 1",
    }
    assert found["vacuum", "ET"] == "cannot read it · –" and found["rovers", "ET"] == "broke off · –"


def test_navig_xy_is_judged_by_the_policy_without_memory() -> None:
    strict = attempts("R-GNN", 60, ("cycle",) * 12, policy="strict")
    assert texts({"suite": {"navig-xy": [*attempts("R-GNN", 72), *strict]}})["navig-xy", "R-GNN"] == "60 · 43"


def test_of_several_models_that_within_the_budget_counts_and_of_these_the_one_trained_for_longest() -> None:
    """And never the one that solves most: that would be chosen by the test problems."""
    runs = [
        attempts("ET", 20, name="long", training_seconds=900.0),
        attempts("ET", 20, name="short", training_seconds=60.0),
        attempts("ET", 12, ("stuck",) * 8, name="right"),
        attempts("ET", 2, name="partial"),
    ]
    for order in (runs, runs[::-1]):
        assert texts({"suite": {"grid": [one for run in order for one in run]}})["grid", "ET"] == "12 · 1"


def test_public_files_count_where_they_are_the_papers_own() -> None:
    results = {"suite": {"logistics": attempts("R-GNN", 20)}, "public": {"logistics": attempts("R-GNN", 11)}}
    assert texts(results)["logistics", "R-GNN"] == "11, 9 not run · 10"


def test_the_section_has_the_table_reasons_gaps_and_rows() -> None:
    records = [*attempts("R-GNN[1]", 20), *attempts("R-GNN", 20), *attempts("R-GNN[0]", 17, ("stuck",) * 3)]
    told = [reason(domain, "ET", "bad input", "ET reads two") for domain in ("rovers", "vacuum")]
    reasons = {(one["domain"], one["model"]): [one] for one in told}
    page = architectures(
        {"suite": {"grid": records}}, reasons, "ROWS", "It is {grid R-GNN[0]}, {paper grid ET} there.\n"
    )
    assert (
        "\n| grid | 20 | 20 · 9 | 17 · 12 | 20 · 15 | not run · – | not run · 10 | not run · 6 | not run · 1 |\n"
        in page
    )
    assert "\n- ET in rovers, ET in vacuum: not trained: ET reads two.\n" in page
    assert "\n| grid | R-GNN\\[0\\] (3 · 3) | R-GNN (6 · 0) | R-GNN₂ (5), 2-GNN (9), ET (14) |\n" in page
    assert "2 can be judged here" in " ".join(page.split()) and "is ahead here, too, in 1 of them" in page
    assert "Of 77 cells 3 were run on all problems, and 2 have a reason. Training those that were run took 810 " in page
    assert page.endswith("ROWS") and "### What the table says\n\nIt is 17 of 20, 1 of 20 there.\n" in page
    assert "What the table says" not in architectures({}, {}, "ROWS", "")


def test_domains_in_which_others_were_run_have_rows_as_well() -> None:
    page = results_page({"public": {"blocks-s": attempts("ET", 17)}}, {}, "").split("\nIn detail")[1].split("\n## ")[0]
    assert "| blocks-s | R-GNN | values | not run |" in page and "|  | ET | values | 17 / 17 (100 %) |" in page
    assert "| miconic " not in page


def test_gaps_are_all_that_the_paper_has() -> None:
    gaps = {gap.less.cell.key: gap.in_the_paper for gap in find_gaps(make_entries({}, {}))}
    for (domain, model), row in PUBLISHED.items():
        ahead = PUBLISHED[domain, "R-GNN[1]"].solved - row.solved
        assert gaps.get((domain, model), 0) == max(ahead, 0)


@pytest.mark.parametrize("notes", ["{grid ET}", "{paper grid R-GNN[2]}", "{chess ET}", "{grid GNN}"])
def test_a_number_that_is_not_known_is_refused(notes: str) -> None:
    partial = {"suite": {"grid": attempts("ET", 3)}}
    with pytest.raises(TrifoldError, match="there is no number of"):
        fill_in(notes, make_entries(partial, {}))


def test_what_the_notes_claim_is_so_in_the_records() -> None:
    """The claims of experiments/reading.md, which has the numbers from the records but not the words between them."""
    entries = make_entries(read_results([ROOT / "experiments" / "results"]), {})

    def here(domain: str, *labels: str) -> list[int]:
        return [solved for label in labels if (solved := entries[domain, label].solved) is not None]

    def there(domain: str, *labels: str) -> list[int]:
        return [PUBLISHED[domain, label].solved for label in labels]

    ladder = ("R-GNN", "R-GNN[0]", "R-GNN[1]")
    for domain in ("visitall-xy", "navig-xy"):  # the order is the paper's
        for plain, pairs, composed in (here(domain, *ladder), there(domain, *ladder)):
            assert plain < pairs < composed
    for plain, pairs, composed in (here("logistics", *ladder), there("logistics", *ladder)):
        assert pairs < plain < composed
    plain, pairs, composed = here("vacuum", *ladder)
    assert plain < pairs == composed == SIZES["vacuum"] == there("vacuum", "R-GNN")[0]
    for domain in ("grid", "rovers"):  # where plain R-GNN is behind there, and not here
        assert (
            there(domain, *ladder)[0] < there(domain, *ladder)[2]
            and here(domain, *ladder)[0] >= here(domain, *ladder)[2]
        )
    assert here("gripper", *ladder) == [SIZES["gripper"]] * 3 and there("gripper", *ladder)[2] < SIZES["gripper"]


def test_architectures_that_cannot_read_a_domain_are_those_without_a_row_in_the_paper() -> None:
    refused = {cell.key for cell in CELLS if refusal(cell)}
    assert refused == {(domain, model) for domain in ("rovers", "vacuum") for model in ("2-GNN", "ET")}
    assert not refused & PUBLISHED.keys()


def test_the_reasons_in_the_repository_are_what_encoders_say() -> None:
    reasons = read_reasons(ROOT / "experiments" / "results" / "reasons.jsonl")
    for cell in CELLS:
        if message := refusal(cell):
            assert [one["message"] for one in reasons[cell.key]] == [message]


def test_settings_of_architectures_are_those_of_the_papers() -> None:
    for architecture in ARCHITECTURES:
        texts = [text.split("=") for text in architecture.settings]
        changes: Any = {key: value if value.isalpha() else tomllib.loads(f"x = {value}")["x"] for key, value in texts}
        config = read_recipe("logistics-values", changes).model
        assert config.label == architecture.label and config.heads == "values"
        assert config.dim == (32 if architecture.label == "R-GNN₂" else 64)
    for domain in PAPER:
        assert read_recipe(f"{domain}-values", {}).model.heads == "values"


def test_heavy_cells_have_the_papers_batch_and_say_nothing_twice() -> None:
    for cell in CELLS:
        changes = dict(text.split("=") for text in cell.settings)
        assert (
            len(changes) == len(cell.settings)
            and changes.items() >= dict(text.split("=") for text in cell.architecture.settings).items()
        )
        assert changes.get("batch") == ("16" if cell.is_heavy else None)
        is_slow = changes.get("learning_rate") == "2e-4"
        assert is_slow == (cell.architecture.name == "et") and not (cell.is_heavy and refusal(cell))


def test_the_last_reason_of_each_stage_counts(tmp_path: Path) -> None:
    file = tmp_path / "reasons.jsonl"
    assert read_reasons(file) == {}
    for one in (reason("grid", "ET", "crash", "odd"), reason("grid", "ET", "memory limit", "full")):
        append_line(file, dict(one))
    append_line(file, dict(reason("grid", "ET", "timeout", "long", "evaluate values")))
    assert [one["message"] for one in read_reasons(file)["grid", "ET"]] == ["full", "long"]
    file.write_text('{"schema": 1}\n')
    with pytest.raises(TrifoldError, match="is not a reason"):
        read_reasons(file)


def test_exit_codes_are_outcomes() -> None:
    assert [str(outcome_of(code)) for code in (7, 2, 1, -9)] == ["memory limit", "bad input", "crash", "crash"]


def test_a_schedule_trains_every_cell_to_its_end() -> None:
    assert PAIRS.keys() == set(PAPER) and RELATIVE.keys() == {one.name for one in ARCHITECTURES}
    costs = [cost_of(cell, 4.5, 4) for cell in CELLS]
    commands = schedule(costs, 4)
    ended = [cost.cell for taken in commands for cost, ends in taken if ends]
    assert sorted(ended, key=CELLS.index) == list(CELLS)
    for before, after in pairwise(commands):  # what is cut goes on first
        cut = [cost.cell for cost, ends in before if not ends]
        assert [cost.cell for cost, _ in after][: len(cut)] == cut
    assert all(cost.seconds <= 270 and cost.steps <= cost.of_steps for cost in costs)
    assert len(schedule(costs[:1], 1)) == 1 and START < 100


def test_the_picture_in_the_repository_is_what_its_records_make() -> None:
    """To renew it: make results."""
    command = [sys.executable, "experiments/coverage_picture.py", "experiments/results"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=True)
    assert done.stdout == (ROOT / "docs" / "architectures.svg").read_text(encoding="utf-8")


def test_the_picture_has_a_bar_for_every_cell_that_was_run_and_a_mark_for_every_row_of_the_paper() -> None:
    records = [*attempts("ET", 0, ("stuck",) * 20), *attempts("R-GNN", 10)]
    root = ElementTree.fromstring(draw({"suite": {"grid": records}}))
    name = "{http://www.w3.org/2000/svg}"
    bars = [float(bar.get("height", "")) for bar in root.iter(f"{name}rect") if bar.get("width") == "20"]
    assert sorted(bars) == [0.0, 40.0]
    marks = [path for path in root.iter(f"{name}path") if path.get("stroke") == "#000"]
    assert len(marks) == len(PUBLISHED) + 1  # and the legend's
    words = [text.text for text in root.iter(f"{name}text")]
    assert set(PAPER) <= set(words) and words.count("–") == 75 and words.count("10…") == 1

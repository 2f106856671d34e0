"""Tables: the paper's columns from records, each row over its own solved instances."""

from __future__ import annotations

import json
from collections.abc import Callable
from statistics import mean, median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifold.evaluation.records import SEARCH_FIELDS, Record
from trifold.evaluation.tables import RENDERERS, summarise, table_cells
from trifold.planning import Outcome


def record(problem: str, plan_length: int | None = None, outcome: str | None = None, **changes: Any) -> Any:
    fields = dict.fromkeys(Record.__annotations__) | {
        "schema": 1,
        "domain": "blocks_4",
        "model": "R-GNN[1]",
        "model_sha256": "abcdefghijkl",
        "problem": problem,
        "policy": "values",
        "max_steps": 1000,
        "outcome": outcome or ("solved" if plan_length is not None else "stuck"),
        "plan_length": plan_length,
        "seconds": 0.5,
    }
    return fields | changes


@given(st.lists(st.none() | st.integers(0, 1000), min_size=1))
def test_a_row_sums_up_the_solved_instances(lengths: list[int | None]) -> None:
    (row,) = summarise(record(f"p{i}", length) for i, length in enumerate(lengths))
    solved = [length for length in lengths if length is not None]
    assert (row.solved, row.instances) == (len(solved), len(lengths))
    assert row.seconds == 0.5 * len(lengths)
    assert row.failures == ({"stuck": len(lengths) - len(solved)} if len(solved) < len(lengths) else {})
    if solved:
        assert (row.total, row.median) == (sum(solved), median(solved)) and row.mean == pytest.approx(mean(solved))
    else:
        assert (row.total, row.median, row.mean) == (None, None, None)


def test_the_last_record_of_an_instance_counts() -> None:
    (row,) = summarise([record("p1", outcome="crash"), record("p2", 4), record("p1", 6)])
    assert (row.solved, row.instances, row.total, row.failures) == (2, 2, 10, {})


def test_domains_models_and_policies_have_rows_of_their_own() -> None:
    rows = summarise(
        [
            record("p1", 1),
            record("p1", 2, domain="airport", model_sha256="a"),
            record("p1", 3, policy="strict"),
            record("p1", 4, model="R-GNN", model_sha256="b"),
        ]
    )
    assert [(row.domain, row.model, row.policy, row.total) for row in rows] == [
        ("airport", "R-GNN[1]", "values", 2),
        ("blocks_4", "R-GNN", "values", 4),
        ("blocks_4", "R-GNN[1]", "strict", 3),
        ("blocks_4", "R-GNN[1]", "values", 1),
    ]


def test_other_models_and_settings_of_one_name_are_told_apart() -> None:
    rows = summarise([record("p1", 1), record("p1", 2, model_sha256="zzzzzzzzzzz"), record("p1", 3, timeout=60.0)])
    assert [(row.model, row.total) for row in rows] == [
        ("R-GNN[1] (model abcdefgh, timeout none)", 1),
        ("R-GNN[1] (model zzzzzzzz, timeout none)", 2),
        ("R-GNN[1] (model abcdefgh, timeout 60.0)", 3),
    ]


def test_a_policy_with_a_search_has_a_row_of_its_own_and_tells_what_the_search_solved() -> None:
    alone = [record("p1", 1), record("p2")]
    older = [{name: value for name, value in one.items() if name not in SEARCH_FIELDS} for one in alone]
    turns = {"search": "turns", "max_states": 9}
    with_search = [record("p1", 1, found_by="values", **turns), record("p2", 7, found_by="turns", **turns)]
    shorter = [record("p2", 6, improve=10.0)]
    rows = summarise([*with_search, *older, *shorter])
    assert [(row.policy, row.search, row.improve, row.searched, row.total, row.model) for row in rows] == [
        ("values", None, None, None, 1, "R-GNN[1]"),
        ("values", None, 10.0, None, 6, "R-GNN[1]"),
        ("values", "turns", None, 1, 8, "R-GNN[1]"),
    ]
    cells = table_cells(rows)
    assert [line[2:6] for line in cells] == [
        ["Policy", "Coverage", "By search", "Total"],
        ["values", "1 / 2 (50 %)", "-", "1"],
        ["values, improved for 10 s", "1 / 1 (100 %)", "-", "6"],
        ["values, then turns", "2 / 2 (100 %)", "1", "8"],
    ]
    assert table_cells(rows[:1]) == table_cells(summarise(alone)) and "By search" not in table_cells(rows[:2])[0]
    assert json.loads(RENDERERS["json"](rows))[2]["searched"] == 1


def test_text_is_aligned() -> None:
    rows = summarise(
        [record("p1", 10), record("p2", 21), record("p3"), record("p4", outcome="step limit", model="R-GNN")]
    )
    assert RENDERERS["text"](rows) == (
        "Domain    Model     Policy      Coverage  Total  Median  Mean  Seconds  Step limit  Stuck\n"
        "--------  --------  ------  ------------  -----  ------  ----  -------  ----------  -----\n"
        "blocks_4  R-GNN     values   0 / 1 (0 %)      -       -     -      0.5           1      0\n"
        "blocks_4  R-GNN[1]  values  2 / 3 (66 %)     31    15.5  15.5      1.5           0      1\n"
    )


def test_coverage_is_rounded_down_so_that_100_is_all() -> None:
    rows = summarise([*(record(f"p{i}", 1) for i in range(999)), record("p999")])
    assert table_cells(rows)[1][3] == "999 / 1000 (99 %)"


def test_markdown_and_latex_escape_what_they_must() -> None:
    rows = summarise([record("p1", 10, domain=r"a_b|c\&")])
    markdown = RENDERERS["markdown"](rows).splitlines()
    assert markdown[1] == "| :-- | :-- | :-- | --: | --: | --: | --: | --: |"
    assert markdown[2] == r"| a\_b\|c\\& | R-GNN\[1\] | values | 1 / 1 (100 %) | 10 | 10 | 10.0 | 0.5 |"
    latex = RENDERERS["latex"](rows).splitlines()
    assert latex[0] == r"\begin{tabular}{lllrrrrr}"
    assert latex[4] == (
        r"a\_b\textbar{}c\textbackslash{}\& & R-GNN[1] & values & 1 / 1 (100 \%) & 10 & 10 & 10.0 & 0.5 \\"
    )
    assert latex[-1] == r"\end{tabular}"


def test_json_keeps_the_numbers() -> None:
    rows = summarise([record("p1", 10), record("p2", 11), record("p3", 11), record("p4", outcome="timeout")])
    (row,) = json.loads(RENDERERS["json"](rows))
    assert row["mean"] == pytest.approx(32 / 3)
    assert row["failures"] == {"timeout": 1}


@pytest.mark.parametrize("render", RENDERERS.values(), ids=RENDERERS)
def test_every_failure_is_named_in_every_format(render: Callable[..., Any]) -> None:
    text = render(summarise([record(outcome.value, outcome=outcome.value) for outcome in Outcome]))
    for outcome in Outcome:
        assert outcome is Outcome.SOLVED or outcome.value in text.lower()


@pytest.mark.parametrize("render", RENDERERS.values(), ids=RENDERERS)
def test_a_table_ends_with_a_line(render: Callable[..., Any]) -> None:
    assert render(summarise([record("p1", 1)])).endswith("\n")

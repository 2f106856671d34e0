"""Records survive interruption: a torn line is skipped, nothing grows on it, and foreign files are refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from blank_record import BLANK
from trifold.errors import TrifoldError
from trifold.evaluation.records import (
    INSTANCE_FIELDS,
    SCHEMA,
    SEARCH_FIELDS,
    SETTING_FIELDS,
    Record,
    append_record,
    attempt_key,
    last_of_each,
    read_records,
)
from trifold.provenance import Origin


def record(**changes: Any) -> dict[str, Any]:
    fields = BLANK | {
        "schema": SCHEMA,
        "domain": "gripper",
        "model": "R-GNN[1]",
        "model_sha256": "m",
        "problem": "p1.pddl",
        "problem_sha256": "1",
        "policy": "values",
        "max_steps": 1000,
        "outcome": "solved",
        "plan_length": 3,
        "steps": 3,
        "seconds": 1.5,
    }
    return fields | changes


def test_what_is_appended_is_read_back_in_order(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    records = [record(problem=f"pröblem-{i}\n.pddl", timeout=0.1 * i) for i in range(3)]
    for one in records:
        append_record(file, one)
    assert read_records(file) == records
    assert all(json.loads(line) for line in file.read_text().splitlines())


def test_a_line_torn_anywhere_is_skipped_and_the_next_append_does_not_grow_on_it(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    first, second, third = (record(problem=name) for name in "abc")
    append_record(file, first)
    whole = file.stat().st_size
    append_record(file, second)
    content = file.read_bytes()
    for size in range(whole, len(content) + 1):
        file.write_bytes(content[:size])
        survivors = [first, second] if size >= len(content) - 1 else [first]
        assert read_records(file) == survivors
        append_record(file, third)
        assert read_records(file) == [*survivors, third]


def test_a_full_disk_is_an_error_and_earlier_records_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "records.jsonl"
    append_record(file, record(problem="a"))
    write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda handle, data: write(handle, data[:20]))
        with pytest.raises(TrifoldError, match="disk is full"):
            append_record(file, record(problem="b"))
    append_record(file, record(problem="c"))
    assert [one["problem"] for one in read_records(file)] == ["a", "c"]


@pytest.mark.parametrize(
    "content",
    [
        *("hello\n", "(define (problem p))", "[1]\n", '{"a": 1}\n', "\x00\x01", '{"schema": 1}\n', "7"),
        *("null\n", "[" * 100_000, '{"schema":' * 100_000, '{"schema": 1, "seconds": NaN}', '{"schema": [1]}'),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "other"
    file.write_text(content)
    with pytest.raises(TrifoldError, match="line 1"):
        read_records(file)


@pytest.mark.parametrize(
    "change", [{"timeout": [1]}, {"problem_sha256": {}}, {"seconds": "long"}, {"steps": 10**30}, {"more": 1}]
)
def test_a_record_with_other_fields_or_types_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    file = tmp_path / "records.jsonl"
    append_record(file, record(**change))
    with pytest.raises(TrifoldError, match="line 1 is not a record"):
        read_records(file)


def test_a_record_of_another_version_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    append_record(file, record(schema=99))
    with pytest.raises(TrifoldError, match="version 99"):
        read_records(file)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TrifoldError, match="No such file"):
        read_records(tmp_path / "none")


@pytest.mark.parametrize("field", [*SETTING_FIELDS, *INSTANCE_FIELDS])
def test_attempts_differ_if_a_setting_differs(field: str) -> None:
    assert attempt_key(record()) != attempt_key(record(**{field: "another"}))


def test_an_older_record_is_of_a_policy_alone() -> None:
    now = record(search=None, max_states=None, improve=None)
    older = {name: value for name, value in now.items() if name not in SEARCH_FIELDS}
    assert attempt_key(older) == attempt_key(now)


def test_attempts_are_the_same_whatever_came_of_them() -> None:
    assert attempt_key(record()) == attempt_key(record(outcome="crash", seconds=9.0, timestamp="later"))


def test_the_last_record_of_an_attempt_counts() -> None:
    crashed, other, solved = record(outcome="crash"), record(problem="p2.pddl"), record()
    assert last_of_each([crashed, other, solved]) == [solved, other]


def test_a_record_tells_all_facts_of_a_training() -> None:
    types = get_type_hints(Record)
    facts = {f"training_{name}": kind for name, kind in get_type_hints(Origin).items()}
    assert facts == {field: kind for field, kind in types.items() if field.startswith("training_")}

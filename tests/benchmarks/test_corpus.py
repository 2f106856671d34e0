"""benchmarks/corpus.py: which domain goes with a problem, what is counted, and that it goes on from its records."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import corpus
from corpus import find_cases, report, summarise

DOMAIN = "(define (domain lamps) (:predicates (on ?l)) (:action light :parameters (?l) :effect (on ?l)))"
PROBLEM = "(define (problem p) (:domain lamps) (:objects a b) (:init) (:goal GOAL))"


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """Problems to solve and to refuse, with the ways in which domains are named; one has none."""
    for name, text in {
        "one/domain.pddl": DOMAIN,
        "one/p2.pddl": PROBLEM.replace("GOAL", "(forall (?x) (on ?x))"),
        "one/p10.pddl": PROBLEM.replace("GOAL", "(or (on a) (on b))"),
        "one/deep/p1.pddl": PROBLEM.replace("GOAL", "(on a)"),
        "own/p1-domain.pddl": DOMAIN,
        "own/p1-small.pddl": PROBLEM.replace("GOAL", "(or (on b) (on a))"),
        "own/domain_p11.pddl": DOMAIN.replace("lamps", "other"),
        "own/p11.pddl": PROBLEM.replace("GOAL", "(on a)"),
        "lost/p.pddl": PROBLEM,
    }.items():
        (tmp_path / "all" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "all" / name).write_text(text, encoding="utf-8")
    return tmp_path / "all"


def test_problems_are_paired_with_their_domains(collection: Path) -> None:
    found = {
        str(case.problem.relative_to(collection)): str(case.domain.relative_to(collection)) if case.domain else None
        for case in find_cases(collection)
    }
    assert found == {
        "lost/p.pddl": None,
        "one/deep/p1.pddl": "one/domain.pddl",
        "one/p2.pddl": "one/domain.pddl",
        "one/p10.pddl": "one/domain.pddl",
        "own/p1-small.pddl": "own/p1-domain.pddl",
        "own/p11.pddl": "own/domain_p11.pddl",
    }


def test_what_is_read_refused_and_solved_is_counted_once(
    collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    records = tmp_path / "records.jsonl"
    words = ["corpus.py", str(collection), "--search", "20", "--validate", "--records", str(records)]
    monkeypatch.setattr(sys, "argv", [*words, "--json"])
    corpus.main()
    printed = capsys.readouterr()
    (numbers,) = json.loads(printed.out)
    counts = {"problems": 6, "read": 2, "refused": 4, "limit": 0, "exceptions": [], "searched": 2, "valid": 2}
    assert numbers.items() >= counts.items() and numbers["outcomes"] == {"solved": 2}
    assert numbers["reasons"] == {
        "the goal is not a conjunction of literals: …": 2,
        "this is a problem of another domain: …": 1,
        "there is no domain file": 1,
    }
    assert "[5/5] read" in printed.err and "[2/2] search" in printed.err
    lines = records.read_text().splitlines()
    assert len(lines) == 7

    records.write_text("\n".join(lines[:-1]) + "\n" + lines[-1][:20])  # torn by a crash
    monkeypatch.setattr(sys, "argv", words)
    corpus.main()
    again = capsys.readouterr()
    assert again.err.count("\n") == 1 and "[2/2] search" in again.err
    row = next(line for line in again.out.splitlines() if line.startswith(str(collection)))
    assert row.split()[1:8] == ["6", "2", "4", "0", "0", "2", "2"]


def test_what_must_not_be_is_listed() -> None:
    read = [{"problem": "p", "outcome": "crash", "message": "ValueError: no", "seconds": 1.0}]
    solved = [{"problem": "q", "outcome": "disagreement", "message": "it is dark", "seconds": 2.0}]
    solved = [record | {"validated": False, "doubt": "it is dark"} for record in solved]
    text = report([summarise("all", [], read, solved)])
    assert "all, exception: p: ValueError: no" in text and "all, exception: q: it is dark" in text
    assert text.splitlines()[2].split() == ["all", "1", "0", "0", "0", "2", "1", "0", "-", "2.00", "s", "0"]


def test_a_folder_that_is_not_there_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["corpus.py", str(tmp_path / "none")])
    with pytest.raises(SystemExit) as ended:
        corpus.main()
    assert ended.value.code == 2 and "there is no such folder" in capsys.readouterr().err

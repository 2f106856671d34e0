"""benchmarks/policies.py: what its table says of records, and that a run leaves records and goes on from them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, cast

import pytest

import policies
from blank_record import BLANK
from policies import Attempts, Case, report
from trifold.domains import domain_text
from trifold.errors import TrifoldError
from trifold.evaluation import Record, read_records
from trifold.model import Model, ModelConfig
from trifold.pddl import load_domain

# One can but go to the other room, so that every policy, of any model, solves it.
PROBLEM = """(define (problem walk) (:domain gripper-strips) (:objects rooma roomb left right)
  (:init (room rooma) (room roomb) (gripper left) (gripper right) (free left) (free right) (at-robby rooma))
  (:goal (at-robby roomb)))"""

# Stands for fast-downward.py: it knows the plan.
PLANNER = """import sys
if "--version" in sys.argv:
    print("Fake Downward 1.0")
else:
    open("plan", "w").write("(move rooma roomb)\\n")
"""


def solved(seconds: float, length: int, alone: float | None = None) -> Record:
    """A record of a plan; `alone` is the time of the policy's steps."""
    each = None if alone is None else alone / length
    facts = {"outcome": "solved", "seconds": seconds, "plan_length": length, "steps": length, "seconds_per_step": each}
    return cast(Record, BLANK | facts)


def failed(outcome: str) -> Record:
    """A record without a plan, of an attempt that was stopped a little after its 100 s."""
    return cast(Record, BLANK | {"outcome": outcome, "seconds": 100.1, "timeout": 100.0})


def attempts(actions: Record, values: Record, lama: Record | None = None) -> Attempts:
    return {"actions": actions, "values": values} | ({} if lama is None else {"LAMA": lama})


def cells(text: str, name: str) -> list[list[str]]:
    """The lines of a case, as words."""
    return [line.replace("≥ ", "≥").split()[1:] for line in text.splitlines() if line.startswith(f"{name} ")]


def last_line(text: str) -> str:
    return text.splitlines()[-1].removeprefix("values / actions, the median over ")


def test_ratios_are_medians_over_problems_and_lengths_are_of_what_all_solved() -> None:
    problems = [
        attempts(solved(2.0, 10, 1.0), solved(4.0, 11, 3.0), solved(1.0, 9)),
        attempts(solved(2.0, 20, 1.0), solved(12.0, 21, 11.0), failed("memory limit")),
        attempts(solved(5.0, 40, 4.0), solved(45.0, 41, 44.0), solved(20.0, 39)),
        attempts(failed("stuck"), solved(1.0, 5, 0.5), solved(1.0, 5)),
    ]
    text = report({"one": problems, "two": [attempts(solved(2.0, 10, 1.0), solved(2.2, 8, 1.2), solved(6.0, 1))]})
    actions, values, lama = cells(text, "one")
    assert actions == ["actions", "3", "/", "4", "2.00", "s", "50", "2"]
    assert values == ["values", "4", "/", "4", "8.00", "s", "52", "2", "6.00", "11.00", "3"]
    assert lama == ["LAMA", "3", "/", "4", "1.00", "s", "48", "2", "2.25", "3.00", "2"]  # of 0.5 and 4, of 1 and 5
    assert cells(text, "two")[1][-3:] == ["1.10", "1.20", "1"]
    assert last_line(text) == "4 of 5 problems: 4.00, policy alone 7.00"  # of 2, 6, 9 and 1.1; of 3, 11, 11 and 1.2


def test_a_timeout_is_a_lower_bound_where_it_decides() -> None:
    stopped = attempts(solved(2.0, 10, 1.0), failed("timeout"), solved(1.0, 1))
    quick = attempts(solved(2.0, 10, 1.0), solved(4.0, 10, 3.0), solved(1.0, 1))
    slow = attempts(solved(1.0, 10, 0.5), solved(90.0, 10, 89.5), solved(1.0, 1))
    text = report({"some": [quick, quick, stopped], "most": [quick, stopped, stopped], "lower": [slow, slow, stopped]})
    assert cells(text, "some")[1] == ["values", "2", "/", "3", "4.00", "s", "20", "2", "2.00", "3.00", "3"]
    assert cells(text, "most")[1] == ["values", "1", "/", "3", "≥100", "s", "10", "1", "≥50.00", "≥50.00", "3"]
    # The bound 50 is less than the median of 90, and what is behind it may be less or more than that.
    assert cells(text, "lower")[1][-3:] == ["90.00", "179", "3"]
    assert last_line(text).startswith("9 of 9 problems: ≥ 50.00, policy alone ≥ 50.00")


def test_what_cannot_be_compared_is_a_dash_and_a_missing_planner_is_named() -> None:
    text = report(
        {"none": [attempts(failed("timeout"), solved(1.0, 5, 0.5)), attempts(solved(1.0, 5), failed("stuck"))]}
    )
    actions, values, lama = cells(text, "none")
    assert actions == ["actions", "1", "/", "2", "≥50.5", "s", "-", "0"]
    assert values == ["values", "1", "/", "2", "1.00", "s", "-", "0", "-", "-", "0"]
    assert lama == ["LAMA", "not", "installed", *"------"]
    assert last_line(text) == "0 of 2 problems: -, policy alone -"
    both = attempts(solved(1.0, 5, 0.5), solved(3.0, 6, 2.0))  # without a planner, all are two
    assert [line[6:8] for line in cells(report({"two": [both]}), "two")[:2]] == [["5", "1"], ["6", "1"]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Problems of Gripper, and untrained models with and without scores of actions."""
    domain = load_domain(domain_text("gripper"))
    for name, text in (("domain", domain.text), ("p1", PROBLEM), ("p2", PROBLEM)):
        (tmp_path / f"{name}.pddl").write_text(text, encoding="utf-8")
    for heads in ("both", "values"):
        config = ModelConfig(dim=2, layers=1, heads=heads)
        relations = config.build_encoder().signature(domain.signature)
        schemas = domain.schemas if config.has_actions else ()
        atoms = {name: 1 for name, _ in relations}
        Model.fresh(config, domain.signature, domain.text, atoms, 0, schemas).save(tmp_path / f"{heads}.safetensors")
    return tmp_path


def test_a_run_is_recorded_and_not_done_again_and_a_planner_may_come_later(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(policies, "choose_planner", lambda planner: planner)  # none but the one that is given
    words = ["--case", "walk:both.safetensors:values.safetensors:.:1", "--records", "new/r.jsonl", "--timeout", "50"]
    monkeypatch.setattr(sys, "argv", ["policies.py", *words])
    outputs: list[Any] = []
    for _ in range(2):
        policies.main()
        outputs.append(capsys.readouterr())
        records = read_records(folder / "new" / "r.jsonl")
        assert [(r["policy"], r["model_path"], r["outcome"], r["plan_length"]) for r in records] == [
            ("actions", "both.safetensors", "solved", 1),
            ("values", "values.safetensors", "solved", 1),
        ]
        assert [(r["problem"], r["timeout"], r["device"]) for r in records] == [("p1.pddl", 50.0, "cpu")] * 2
    first, second = outputs
    assert first.out.startswith("timeout: 50 s\n") and "threads: 1\n" in first.out
    assert [line[1:4] for line in cells(first.out, "walk")[:2]] == [["1", "/", "1"]] * 2
    assert cells(first.out, "walk") == cells(second.out, "walk") and "not installed" in first.out
    assert "[1/1] walk, p1.pddl, values: solved in 1 step," in first.err and "(recorded)" not in first.err
    assert second.err.count("(recorded)") == 2

    (folder / "planner.py").write_text(PLANNER, encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["policies.py", *words, "--planner", "planner.py"])
    policies.main()
    third = capsys.readouterr()
    assert "first plan: solved in 1 step," in third.err and third.err.count("(recorded)") == 2
    assert cells(third.out, "walk")[2][:4] == ["LAMA", "1", "/", "1"] and "not installed" not in third.out


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("walk:both.safetensors:.", "this is no case"),
        ("walk:both.safetensors:values.safetensors:.:few", "this is no case"),
        ("walk:values.safetensors:values.safetensors:.", "scores actions"),
        ("walk:both.safetensors:absent.safetensors:.", "no such file"),
        ("walk:both.safetensors:values.safetensors:absent", "no such file or folder"),
    ],
)
def test_a_case_is_refused_before_it_is_run(
    folder: Path, case: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(TrifoldError, match=message):
        Case.read(case)


def test_an_interrupt_says_how_to_go_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*words: Any, **settings: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(folder)
    monkeypatch.setattr(policies, "choose_planner", lambda planner: planner)
    monkeypatch.setattr(policies, "evaluate", interrupt)
    monkeypatch.setattr(sys, "argv", ["policies.py", "--case", "walk:both.safetensors:values.safetensors:."])
    with pytest.raises(SystemExit) as ended:
        policies.main()
    assert ended.value.code == 130 and "policies.jsonl keeps what is done" in capsys.readouterr().err

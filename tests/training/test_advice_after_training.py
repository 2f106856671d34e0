"""The advice after a training follows from its curves and from what the policy did."""

from __future__ import annotations

from typing import Any

import pytest

from trifold.training.advice import Advice, Evidence, advise, is_falling
from trifold.training.coverage import Coverage
from trifold.training.situations import Situation

ALL, SOME = Coverage(3, 3, 1.0), Coverage(1, 3, 1.2, {"a.pddl": "step limit", "b c.pddl": "dead end"})
FALLING = [(4.0, 4.0), (2.0, 2.0), (1.0, 1.0), (0.5, 0.5)]
HIGH = [(4.0, 4.0), (1.0, 1.1), (1.0, 1.1), (1.0, 1.1)]
APART = [(4.0, 4.0), (0.1, 1.0), (0.1, 1.0), (0.1, 1.0)]
FINE = [(4.0, 4.0), (0.1, 0.1), (0.1, 0.1), (0.1, 0.1)]


def commands(curve: list[tuple[float, float]], coverage: Any, larger: Any, heads: str = "both") -> list[str]:
    lines = [{"step": step, "loss": loss, "validation": seen} for step, (loss, seen) in enumerate(curve)]
    return [advice.command for advice in advise(Evidence("run", "DIR", lines, heads, 100, None, coverage, larger))]


def test_a_policy_that_solves_all_is_evaluated_on_more() -> None:
    for larger in (None, ALL):
        assert commands(HIGH, ALL, larger) == ["trifold evaluate run PROBLEMS --records records.jsonl"]
    assert len(commands(FINE, None, None)) == 1


def test_what_is_not_solved_can_be_looked_at() -> None:
    assert commands(FINE, SOME, None)[0] == "trifold explain run a.pddl"
    assert commands(FINE, Coverage(0, 1, None, {"b c.pddl": "stuck"}), None)[0] == "trifold explain run 'b c.pddl'"


@pytest.mark.parametrize(
    ("curve", "coverage", "larger", "heads", "wanted"),
    [
        (FALLING, SOME, None, "both", "train --resume run --steps 200"),
        (HIGH, SOME, None, "both", "expressivity DIR"),
        (APART, SOME, None, "both", "train DIR --run NEW"),
        (FINE, ALL, SOME, "both", "select NEW LARGER"),
        (FINE, SOME, None, "values", "--set heads=both"),
        (FINE, SOME, None, "both", "dead_ends=keep"),
        (FINE, Coverage(0, 1, None, {"a": "stuck"}), None, "both", "expressivity DIR"),
    ],
)
def test_each_piece_of_evidence_has_its_advice(curve: Any, coverage: Any, larger: Any, heads: str, wanted: str) -> None:
    found = commands(curve, coverage, larger, heads)
    assert any(wanted in command for command in found), found
    assert ("heads=both" in " ".join(found)) == (heads == "values")
    assert ("--resume" in " ".join(found)) == (curve is FALLING)


def test_what_ran_out_of_time_says_nothing_of_the_policy() -> None:
    first, *rest = commands(FINE, ALL, Coverage(0, 1, None, {"large.pddl": "timeout"}))
    assert first == "trifold evaluate run large.pddl --timeout 600 --records records.jsonl" and len(rest) == 1


def test_what_the_policy_does_not_solve_a_search_may() -> None:
    assert "trifold solve run PROBLEM" in commands(FINE, SOME, None)
    assert "trifold solve run PROBLEM" not in commands(FINE, ALL, None)


@pytest.mark.parametrize("is_of_scores", [False, True])
def test_a_situation_that_training_lacks_is_named_where_there_is_something_to_mend(is_of_scores: bool) -> None:
    lines = [{"step": 1, "loss": 0.1, "validation": 0.1}]
    situation = Situation("locked", True, 0.013, 0.6, 0.2, is_of_scores)

    def advice(coverage: Coverage, larger: Any = None) -> list[Advice]:
        return advise(Evidence("run", "DIR", lines, "both", 100, None, coverage, larger, situation))

    for coverage, larger in ((SOME, None), (ALL, SOME), (Coverage(3, 3, 1.3), None)):
        (found,) = [one for one in advice(coverage, larger) if "locked" in one.why]
        assert found.command == "trifold train DIR --run NEW"
        assert "1.3%" in found.why and ("60.0%" if is_of_scores else "0.60") in found.why
    assert not any("locked" in one.why for one in advice(ALL))


def test_short_curves_do_not_fall() -> None:
    assert not is_falling([]) and not is_falling([1.0]) and is_falling([1.0, 0.5])


def test_a_training_with_a_time_needs_more_of_it() -> None:
    lines = [{"step": step, "loss": loss, "validation": seen} for step, (loss, seen) in enumerate(FALLING)]
    found = advise(Evidence("run", "DIR", lines, "both", 100, 20.0, SOME, None))
    assert "trifold train --resume run --steps 200 --minutes 40" in [advice.command for advice in found]

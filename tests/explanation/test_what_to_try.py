"""Advice: what each kind of evidence speaks for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from trifold.explanation import Blur, Choice, ExplainedStep, Explanation, Hump, Labels, Training, advise
from trifold.outcomes import Outcome


def walk(values: Sequence[float], distances: Sequence[float | None], **facts: Any) -> Explanation:
    """An explanation of a way with these V and V*, and one action in each of its states."""
    after = [*distances[1:], None]
    last = len(values) - 1
    steps = tuple(
        ExplainedStep(i, values[i], (Choice("(go)", None, None, after[i], is_chosen=True),) * (i < last), distances[i])
        for i in range(len(values))
    )
    known: dict[str, Any] = {"outcome": Outcome.STUCK, "labels": Labels(Outcome.LABELLED), "max_steps": 1000} | facts
    about = {"model": "R-GNN[1]", "domain": "d", "problem": "p", "objects": 9, "policy": "values"}
    return Explanation(steps=steps, **known | about)


@pytest.mark.parametrize(
    ("explanation", "kinds"),
    [
        (walk([2, 1, 0], [2, 1, 0], outcome=Outcome.SOLVED), []),
        (walk([2, 1, 0], [None] * 3, outcome=Outcome.SOLVED), []),
        (walk([2, 1, 1, 0], [2, 2, 1, 0], outcome=Outcome.SOLVED), ["solved"]),
        (walk([2, 1, 1], [2, 1, math.inf]), ["dead ends", "search"]),
        (walk([9, 8, 7], [2, 3, 4]), ["steps", "search"]),
        (walk([2, 3, 4], [9, 10, 11], training=Training(value=3)), ["situations", "search"]),
        (walk([9, 8, 7], [None] * 3, training=Training(value=3)), ["situations", "search"]),
        (walk([2, 1, 0], [None] * 3, outcome=Outcome.SOLVED, training=Training(value=1)), []),
        (walk([2, 1, 1, 1, 0], [None] * 5, outcome=Outcome.SOLVED, training=Training(value=1)), ["situations"]),
        (walk([1, 1, 1], [None] * 3, training=Training(objects=3)), ["situations", "search"]),
        (walk([2, 3, 2], [2, 3, 2], unseen=("on@goal",)), ["situations", "search"]),
        (walk([2, 3, 2], [2, 3, 2], blur=Blur(9, 2, 0.2)), ["power", "search"]),
        (walk([2, 3, 2], [None] * 3, hump=Hump(5, 1, "(unlock a)", 3.0, 4.0, True)), ["situations", "search"]),
        (walk([3, 2, 1], [3, 2, 1], outcome=Outcome.STEP_LIMIT, max_steps=2), ["limit", "search"]),
        (walk([1, *[2] * 60], [None] * 61, outcome=Outcome.STEP_LIMIT, max_steps=60), ["search"]),
        (walk([3, 2], [None] * 2, outcome=Outcome.TIMEOUT), ["limit", "search"]),
    ],
)
def test_evidence_speaks_for_one_cause(explanation: Explanation, kinds: list[str]) -> None:
    assert [one.kind for one in advise(explanation)] == kinds
    assert all(one.command.startswith("trifold ") for one in advise(explanation))
    str(explanation)  # whatever it is, it can be told


def test_commands_name_what_the_user_named() -> None:
    found = walk([2, 1, 1, 0], [2, 2, 1, 0], outcome=Outcome.SOLVED, model_file="grid", problem_file="p.pddl")
    assert [one.command for one in advise(found)] == ["trifold solve grid p.pddl --improve 10"]
    few = walk([9, 8, 7], [2, 3, 4], training=Training(steps=800, value=5))
    assert advise(few)[0].command == "trifold train DIR --steps 1600"

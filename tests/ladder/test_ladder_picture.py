"""The picture of a ladder: bars are what the rungs solved, and what was not tried says so."""

from __future__ import annotations

from typing import Any

import pytest
from matplotlib.figure import Figure

from trifold.ladder import KEPT, RUNGS, RungReport, plot_ladder
from trifold.ladder.result import NOT_TRIED, RULED_OUT, SOLVES_LESS
from trifold.training import Coverage

REPORTS = (
    RungReport(RUNGS[0], RULED_OUT, "12 states in conflict"),
    RungReport(RUNGS[1], SOLVES_LESS, judged=Coverage(3, 12, 1.1), milliseconds=2.5),
    RungReport(RUNGS[2], KEPT, judged=Coverage(12, 12, None), milliseconds=12.25),
    RungReport(RUNGS[3], NOT_TRIED, "a cheaper one is enough"),
)


def test_bars_are_what_was_solved_and_what_a_step_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    figures: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, file, **_: figures.append(figure))
    plot_ladder(REPORTS)
    solved, costs = figures[0].axes
    bars: list[list[Any]] = [list(solved.patches), list(costs.patches)]
    assert [bar.get_width() for bar in bars[0]] == [25, 100]
    assert [bar.get_width() for bar in bars[1]] == [2.5, 12.25]
    assert [text.get_text() for text in solved.texts] == [
        "ruled out",
        "3 of 12, plans 1.10 ×, solves less",
        "12 of 12, kept",
        "not tried",
    ]
    assert solved.patches[1].get_facecolor() != solved.patches[0].get_facecolor()

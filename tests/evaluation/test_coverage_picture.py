"""Pictures of coverage: the shares are those of the records, over whatever they are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from blank_record import BLANK
from trifold.errors import TrifoldError
from trifold.evaluation import Record, plot_coverage
from trifold.outcomes import Outcome


def record(problem: int, solved: bool, **facts: Any) -> Record:
    own = {"problem": f"p{problem}", "problem_sha256": f"{problem}", "objects": problem, "domain": "ferry"}
    ending = {"outcome": (Outcome.SOLVED if solved else Outcome.STUCK).value, "plan_length": 5 if solved else None}
    return {**BLANK, "model": "R-GNN", "policy": "actions", "seconds": 0.1 * problem, **own, **ending, **facts}  # type: ignore[typeddict-item]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that are drawn, which are not written."""
    figures: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, file, **_: figures.append(figure))
    return figures


def lines(figure: Figure) -> dict[str, list[list[tuple[float, float]]]]:
    """The points of each line of each panel, by its title."""
    panels = [axes for axes in figure.axes if axes.get_title()]
    return {
        axes.get_title(): [[(x, y) for x, y in np.asarray(line.get_xydata()).tolist()] for line in axes.lines]
        for axes in panels
    }


def test_over_size_each_part_has_as_many_problems_and_the_share_of_them_that_was_solved(drawn: list[Figure]) -> None:
    plot_coverage([record(size, size <= 16) for size in range(1, 33)])
    ((points,),) = lines(drawn[0]).values()
    assert points == [(2.5 + 4 * part, 100.0 if part < 4 else 0.0) for part in range(8)]


def test_problems_of_one_size_are_never_parted(drawn: list[Figure]) -> None:
    plot_coverage([record(number, number % 2 == 0, objects=4 + number // 20) for number in range(40)])
    assert lines(drawn[0]) == {"ferry": [[(4.0, 50.0), (5.0, 50.0)]]}


def test_over_training_the_models_of_an_architecture_are_a_line(drawn: list[Figure]) -> None:
    found = [
        record(number, number < solved, model_sha256=f"{steps} {seed}", training_steps=steps)
        for steps, seed, solved in ((500, 0, 1), (1000, 0, 2), (1000, 1, 4))
        for number in range(4)
    ]
    plot_coverage(found, over="steps")
    assert lines(drawn[0]) == {"ferry": [[(500.0, 25.0), (1000.0, 75.0)]]}


def test_over_time_what_is_solved_adds_up_and_ends_at_the_coverage(drawn: list[Figure]) -> None:
    plot_coverage([record(number, number != 3) for number in range(1, 5)], over="seconds")
    ((points,),) = lines(drawn[0]).values()
    assert [share for _, share in points] == [0, 25, 50, 75, 75]
    assert [x for x, _ in points] == pytest.approx([0.1, 0.1, 0.2, 0.4, 0.4])


def test_domains_have_panels_and_models_one_look_in_all_of_them(drawn: list[Figure]) -> None:
    found = [
        record(size, True, domain=domain, policy=policy, problem_sha256=f"{domain} {size}")
        for domain in ("a$", "b", "c", "d", "e")
        for policy in ("actions", "values")
        for size in (3, 4)
        if (domain, policy) != ("a$", "actions")
    ]
    plot_coverage(found)
    panels = {axes.get_title(): [line.get_color() for line in axes.lines] for axes in drawn[0].axes}
    assert list(panels)[:5] == [r"a\$", "b", "c", "d", "e"] and panels[r"a\$"] == [panels["b"][1]]
    assert [text.get_text() for text in drawn[0].legends[0].get_texts()] == ["R-GNN, values", "R-GNN, actions"]


def test_records_that_do_not_say_it_are_refused_and_none_that_was_solved_is_drawn(drawn: list[Figure]) -> None:
    with pytest.raises(TrifoldError, match="objects"):
        plot_coverage([record(1, True, objects=None)])
    plot_coverage([record(1, False)], over="seconds")
    assert [share for _, share in lines(drawn[0])["ferry"][0]] == [0, 0]


@pytest.mark.parametrize(("asked", "instead"), [({"over": "size"}, "objects, steps"), ({"kind": "jpg"}, "svg, pdf")])
def test_what_cannot_be_drawn_is_refused_with_what_can(asked: dict[str, str], instead: str) -> None:
    with pytest.raises(TrifoldError) as refused:
        plot_coverage([record(1, True)], **asked)
    assert instead in (refused.value.remedy or "")

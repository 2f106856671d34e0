"""The report page in a browser, as its reader has it. Run by `make browser`, where Chromium is installed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pages.browser import CHROMIUM, Browser, browser
from pages.test_browser import NAMELESS, PALE
from pages.test_trace_page import NASTY, draw
from trifold.explanation import explain
from trifold.pages import (
    Attempt,
    Contender,
    Evaluated,
    Labelled,
    Publication,
    Report,
    Seed,
    TableLine,
    Training,
    Tried,
    render_report,
)
from trifold.pages.page import trace_text
from trifold.planning import goal_counts

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: apt-get install chromium")

LINES = tuple(
    {"step": step, "loss": 3 / step, "validation": 4 / step, "solved": 1, "problems": 2, "length": 1.0, "optimal": 0.5}
    for step in (50, 100, 150)
)
TRAINING = Training(
    NASTY,
    "a summary",
    (("Problems", "2"), (NASTY, NASTY)),
    ((3, 1), (4, 2)),
    (("model", (("dim", "32"),)),),
    (("Command", "trifold train " + "a_long_word_" * 30),),
    (Labelled("p.pddl", "training", "labelled", "", 9, 9, 0, 3),),
    (Seed("seed-0", False, LINES), Seed("seed-1", True, LINES[:1]), Seed("seed-2", False, ())),
)
PROBLEMS = tuple(Tried(f"problem-of-size-{size}.pddl", size, size, size % 2 == 0) for size in range(3, 40))


def contender(number: int) -> Contender:
    attempts = [Attempt(i, 0.1 * (i + 1), 3 + i + number) for i in range(len(PROBLEMS))]
    attempts[number] = Attempt(number, 9.0, None, "step limit", NASTY, 1000, f"trifold explain {NASTY}")
    return Contender(f"R-GNN[{number}]", "values", tuple(attempts))


HEADS = ("Domain", "Model", "Policy", "Coverage")
OURS, PAPERS = TableLine((NASTY, NASTY, "values", "3 / 4")), TableLine((NASTY, "in the paper", NASTY, "4 / 4"), True)
ODD = Evaluated("odd", (Tried("p", None),), (Contender("m", "values", (Attempt(0, 0.0, 0),)),))
PAPER = Publication(NASTY, NASTY, HEADS, (OURS, PAPERS))
MANY = Evaluated(NASTY, PROBLEMS, tuple(map(contender, range(9))), PAPER)
REPORT = Report("A report", (TRAINING,), (MANY, ODD), HEADS, (OURS, PAPERS), 3)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as one:
        yield one


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(render_report(REPORT), encoding="utf-8")
    return file


@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1600, "light"), (400, "light"), (1600, "dark")])
def test_it_fits_can_be_read_and_the_console_is_silent(opened: Browser, page: Path, width: int, scheme: str) -> None:
    opened.open(page, width=width, scheme=scheme)
    opened.run("for (const one of document.querySelectorAll('details')) one.open = true")
    assert opened.run("return document.documentElement.scrollWidth") <= width
    assert opened.run(NAMELESS) == [] and opened.run(PALE) == []
    assert not opened.run("return /NaN|undefined|null/.test(document.querySelector('main').innerHTML)")
    assert opened.run("return document.querySelectorAll('main img, main script, [onerror]').length") == 0
    assert opened.run("return document.querySelector('h2').textContent").startswith(NASTY)
    assert opened.complaints() == []


def test_charts_have_axes_units_a_text_and_as_many_points_as_there_are_numbers(opened: Browser, page: Path) -> None:
    opened.open(page)
    charts = opened.run("""return [...document.querySelectorAll(".plot")].map((one) => [
      one.querySelector("h3").textContent, one.querySelectorAll(".spot").length,
      [...one.querySelectorAll(".axis-name")].map((text) => text.textContent),
      one.querySelector("svg[role=img]").getAttribute("aria-label")])""")
    found = {title: (spots, axes, text) for title, spots, axes, text in charts}
    assert found["Losses"][:2] == (8, ["steps", "loss, logarithmic"])
    spots, axes, text = found["Plan length against problem size"]
    assert spots == len(PROBLEMS) * 10 - 9 and axes == ["objects", "steps of the plan"]
    assert "R-GNN[0] · values: 36 points, steps of the plan from 4 to 39" in text
    assert found["Seconds a problem"][0] == len(PROBLEMS) * 9 - 9


def test_a_chart_of_what_hardly_changes_has_more_than_one_number_at_its_axis(opened: Browser, tmp_path: Path) -> None:
    lines = tuple({**line, "optimal": share} for line, share in zip(LINES, (0.996, 0.9963, 1.0), strict=True))
    report = replace(REPORT, trainings=(replace(TRAINING, seeds=(Seed("seed-0", True, lines),)),))
    (tmp_path / "report.html").write_text(render_report(report), encoding="utf-8")
    opened.open(tmp_path / "report.html")
    texts = opened.run("""return [...document.querySelectorAll(".plot")].filter((one) =>
      one.querySelector("h3").textContent === "Scores of actions").flatMap((one) =>
      [...one.querySelectorAll(".tick[text-anchor=end]")].map((text) => text.textContent))""")
    assert texts == ["99.6", "99.7", "99.8", "99.9", "100"]


def test_ratios_that_are_all_one_have_an_axis_about_one(opened: Browser, tmp_path: Path) -> None:
    best = tuple(replace(problem, best=3 + i) for i, problem in enumerate(PROBLEMS))
    equal = replace(MANY, problems=best, contenders=(replace(contender(0), attempts=contender(0).attempts[1:]),))
    file = tmp_path / "report.html"
    file.write_text(render_report(replace(REPORT, evaluated=(equal,))), encoding="utf-8")
    opened.open(file)
    ticks = opened.run("""const plots = [...document.querySelectorAll(".plot")];
      const one = plots.find((own) => own.querySelector("h3").textContent.startsWith("Plan length over"));
      return [...one.querySelectorAll(".tick[text-anchor=end]")].map((text) => Number(text.textContent))""")
    assert 1 in ticks and min(ticks) >= 0.9 and max(ticks) <= 1.1


def test_coverage_by_size_adds_up(opened: Browser, page: Path) -> None:
    opened.open(page)
    rows = opened.run("""return [...document.querySelectorAll("#domain-0 .coverage tbody tr")].map((row) =>
      [...row.querySelectorAll(".share")].map((one) => one.textContent.split("/").map(Number)))""")
    assert len(rows) == 9
    for whole, *parts in rows:
        assert whole == [len(PROBLEMS) - 1, len(PROBLEMS)] and 1 < len(parts) <= 12
        assert [sum(part[i] for part in parts) for i in (0, 1)] == whole


def test_a_legend_hides_and_shows(opened: Browser, page: Path) -> None:
    opened.open(page)
    count = "return document.querySelector('.plot').querySelectorAll('.spot').length"
    press = "document.querySelector('.plot .key').click()"
    before = opened.run(count)
    opened.run(press)
    assert opened.run(count) == before - len(LINES)
    assert opened.run("return document.querySelector('.plot .key').getAttribute('aria-pressed')") == "false"
    opened.run(press)
    assert opened.run(count) == before


def test_a_trace_opens_within_the_report(opened: Browser, tmp_path: Path) -> None:
    problem = draw("gripper", 3)
    told = trace_text(problem.executor, explain(goal_counts(problem), problem, policy="values", max_states=0))
    lost = replace(MANY.contenders[0].attempts[0], trace=0)
    row = replace(MANY.contenders[0], attempts=(lost, *MANY.contenders[0].attempts[1:]))
    file = tmp_path / "report.html"
    report = replace(REPORT, evaluated=(replace(MANY, contenders=(row,)),), traces=(told,))
    file.write_text(render_report(report), encoding="utf-8")
    opened.open(file)
    opened.run("document.querySelector('.trace').open = true")
    opened.wait("return document.querySelector('iframe') !== null")
    opened.wait("return document.querySelectorAll('.picture *').length > 5", **opened.frame())
    colour = "return getComputedStyle(document.documentElement).backgroundColor"
    for _ in range(2):
        opened.run("document.getElementById('theme').click()")
        own = opened.run(colour)
        opened.wait(f"return getComputedStyle(document.documentElement).backgroundColor === '{own}'", **opened.frame())
    assert opened.complaints() == []

"""The trace page in a browser, as its reader has it. Run by `make browser`, where Chromium is installed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pages.browser import CHROMIUM, DRIVER, Browser, browser
from pages.test_trace_page import NASTY, SIZES, bare, draw, long_page
from trifold.encoders import Pairs
from trifold.explanation import Explanation, explain
from trifold.pages import trace_page
from trifold.pddl import Problem
from trifold.planning import goal_counts, solve, states_along
from trifold.structures import TRIANGLE

pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="needs chromium and chromedriver: apt-get install chromium chromium-driver"
)

Show = Callable[..., Browser]

NAMELESS = """
  const controls = [...document.querySelectorAll("button, input, select, summary, [tabindex]")];
  const around = (one) => one.closest("label")?.textContent.trim();
  const named = (one) => one.getAttribute("aria-label") || around(one) || one.textContent.trim();
  return controls.filter((one) => !named(one)).map((one) => one.outerHTML)
"""
"""Controls of which a screen reader would have nothing to say."""

PALE = """
  const linear = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const parts = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const light = (text) => parts(text).reduce((sum, v, i) => sum + linear(v) * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (one) => {
    const own = getComputedStyle(one).backgroundColor;
    return own.startsWith("rgb(") ? own : ground(one.parentElement);
  };
  const contrast = (one) => {
    const [a, b] = [light(getComputedStyle(one).color), light(ground(one))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
  const seen = (one) => one.textContent.trim() && one.getClientRects().length && !one.closest("[aria-disabled=true]");
  const texts = [...document.querySelectorAll("h1, h2, h3, p, td, th, li, .tag, .chip, button")].filter(seen);
  return texts.filter((one) => contrast(one) < 4.5).map((one) => one.className + ": " + one.textContent)
"""
"""Text whose contrast is less than what WCAG asks for (AA)."""


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as one:
        yield one


@pytest.fixture
def show(opened: Browser, tmp_path: Path) -> Iterator[Show]:
    """Opens a page; in the end the console must have had nothing to say."""

    def show_page(page: str, **seen: Any) -> Browser:
        file = tmp_path / "page.html"
        file.write_text(page, encoding="utf-8")
        opened.open(file, **seen)
        return opened

    opened.complaints()
    yield show_page
    assert opened.complaints() == []


def solved(name: str, seed: int = 0) -> tuple[Problem, Explanation]:
    problem = draw(name, seed)
    plan = solve(problem, goal_counts(problem), policy="turns").plan
    return problem, explain(goal_counts(problem), problem, plan=plan, max_states=0)


@pytest.fixture(scope="module")
def problem_and_way() -> tuple[Problem, Explanation]:
    return solved("gripper", 3)


def number(shown: Browser) -> int:
    return int(shown.run("return document.querySelector('.trace').dataset.step"))


@pytest.mark.parametrize("name", SIZES)
def test_every_domain_is_drawn_at_each_step_and_ends_in_its_goal(show: Show, name: str) -> None:
    problem, way = solved(name)
    last = len(way.actions)
    for width, scheme in ((400, "dark"), (1600, "light")):
        shown = show(trace_page(problem, way), width=width, scheme=scheme)
        assert number(shown) == 0 and shown.run("return document.querySelectorAll('.picture *').length") > 5
        for step in range(1, last + 1):
            shown.press("ArrowRight")
            assert number(shown) == step
        assert shown.run("return document.querySelector('[data-reached=true]').textContent") == "Goal: reached"
        assert shown.run("return document.querySelectorAll('.goal li:not(.met)').length") == 0
        assert shown.run("return document.documentElement.scrollWidth") <= width
        assert shown.run(NAMELESS) == [] and shown.run(PALE) == []
        assert not shown.run("return /NaN|undefined/.test(document.querySelector('main').innerHTML)")


@pytest.mark.parametrize("name", SIZES)
def test_a_problem_in_which_nothing_holds_is_shown(show: Show, name: str) -> None:
    problem = bare(name)
    shown = show(trace_page(problem, explain(goal_counts(problem), problem, policy="values", max_states=0)))
    assert shown.run("return document.querySelector('[data-reached]').textContent") == "Goal: 0 of 1 hold"
    assert not shown.run("return /NaN|Infinity|undefined/.test(document.querySelector('main').innerHTML)")


def test_keys_buttons_and_slider_move_the_state(show: Show, problem_and_way: tuple[Problem, Explanation]) -> None:
    problem, way = problem_and_way
    shown, last = show(trace_page(problem, way)), len(way.actions)
    for key, step in (("ArrowRight", 1), ("End", last), ("ArrowRight", last), ("ArrowLeft", last - 1), ("Home", 0)):
        shown.press(key)
        assert number(shown) == step and shown.run("return document.getElementById('slider').value") == str(step)
    for name, step in (("Next step", 1), ("Last state", last), ("Previous step", last - 1), ("First state", 0)):
        shown.run("document.querySelector(`[aria-label='${arguments[0]}']`).click()", name)
        assert number(shown) == step
    shown.run("const s = document.getElementById('slider'); s.value = 2; s.dispatchEvent(new Event('input'))")
    assert number(shown) == 2
    said = shown.run("return document.querySelector('[role=status]').textContent")
    assert said == f"step 2 of {last}, {way.actions[1][1:-1]}"
    assert shown.run("return document.getElementById('slider').getAttribute('aria-valuetext')") == said


def test_play_goes_to_the_end_and_space_stops_it(show: Show, problem_and_way: tuple[Problem, Explanation]) -> None:
    problem, way = problem_and_way
    shown = show(trace_page(problem, way), motion="no-preference")
    shown.run("document.getElementById('speed').value = '80'")
    shown.press(" ")
    assert shown.run("return document.getElementById('play').getAttribute('aria-label')") == "Pause"
    shown.press(" ")
    assert shown.run("return document.getElementById('play').getAttribute('aria-label')") == "Play"
    ended = """const done = arguments[arguments.length - 1], slider = document.getElementById("slider");
      const look = () => slider.value === slider.max ? done(true) : setTimeout(look, 20); look()"""
    shown.press(" ")
    shown.ask("POST", "/execute/async", {"script": ended, "args": []})
    assert number(shown) == len(way.actions)


@pytest.mark.parametrize("name", ["blocks-s", "logistics", "vacuum"])
def test_pairs_and_compositions_are_those_of_the_encoder(show: Show, name: str) -> None:
    problem, way = solved(name)
    shown = show(trace_page(problem, way))
    middle = len(way.actions) // 2
    for _ in range(middle):
        shown.press("ArrowRight")
    structure = problem.structures([states_along(problem, way.actions)[middle]])
    for t in (1, 2, math.inf):
        encoded = Pairs(t=t)(structure)
        assert encoded.pairs is not None
        pairs, triangles = encoded.pairs.tolist(), encoded.atoms(TRIANGLE).tolist()
        first = [[pairs[element] for element in atom] for atom in triangles]
        for i, own in enumerate(problem.objects):
            told = shown.run(
                """const [object, t] = [...document.querySelectorAll(".choose select")], set = (one, value) => {
                  one.value = value; one.dispatchEvent(new Event("change")); };
                set(object, arguments[0]); set(t, arguments[1]);
                const { pairs, live, compositions } = document.querySelector(".sum").dataset;
                return [pairs, live, compositions].map(Number)""",
                own,
                "inf" if t == math.inf else str(t),
            )
            mine = [atom for atom in first if atom[0][0] == i]
            assert told == [len({tuple(a[0]) for a in mine}), sum(pair[0] == i for pair in pairs), len(mine)]


def test_an_object_is_selected_by_a_click_and_marked(show: Show, problem_and_way: tuple[Problem, Explanation]) -> None:
    shown = show(trace_page(*problem_and_way))
    shown.run(
        "document.querySelector('.picture [data-object=ball2]').dispatchEvent(new Event('click', {bubbles: true}))"
    )
    assert shown.run("return document.querySelector('.choose select').value") == "ball2"
    assert shown.run("return document.querySelectorAll('.picture .selected[data-object=ball2]').length") >= 1
    shown.press("Escape")
    assert shown.run("return document.querySelectorAll('.selected').length") == 0


def test_two_ways_move_together_and_the_shorter_one_waits(
    show: Show, problem_and_way: tuple[Problem, Explanation]
) -> None:
    problem, way = problem_and_way
    short = explain(goal_counts(problem), problem, policy="values", max_steps=2, max_states=0)
    shown = show(trace_page(problem, way, short))
    shown.press("End")
    steps = shown.run("return [...document.querySelectorAll('.trace')].map((one) => one.dataset.step)")
    assert steps == [str(len(way.actions)), str(len(short.actions))]
    columns = "return [...document.querySelectorAll('.trace')].map((one) => one.getBoundingClientRect().left)"
    assert len(set(shown.run(columns))) == 2
    assert len(set(show(trace_page(problem, way, short), width=400).run(columns))) == 1


def test_light_and_dark_follow_the_reader_and_the_button(
    show: Show, problem_and_way: tuple[Problem, Explanation]
) -> None:
    colour = "return getComputedStyle(document.documentElement).backgroundColor"
    page = trace_page(*problem_and_way)
    light, dark = (show(page, scheme=scheme).run(colour) for scheme in ("light", "dark"))
    shown = show(page, scheme="light")
    assert light != dark
    shown.run("document.getElementById('theme').click()")
    assert shown.run(colour) == dark
    shown.run("document.getElementById('theme').click()")
    assert shown.run(colour) == light
    shown.run("document.querySelector('h1').style.color = '#999'")  # the test of contrast sees what is pale
    assert len(shown.run(PALE)) == 1


def test_markup_in_names_is_shown_and_does_nothing(show: Show, problem_and_way: tuple[Problem, Explanation]) -> None:
    problem, way = problem_and_way
    facts: dict[str, Any] = dict.fromkeys(("problem", "domain", "model", "model_file", "problem_file"), NASTY)
    shown = show(trace_page(problem, replace(way, **facts)))
    assert shown.run("return document.getElementById('title').textContent") == NASTY
    assert shown.run("return document.querySelectorAll('img, iframe, object').length") == 0
    assert shown.run("return document.scripts.length") == 2
    assert number(shown) == 0


def test_what_a_page_did_not_come_with_does_not_run(
    show: Show, opened: Browser, problem_and_way: tuple[Problem, Explanation]
) -> None:
    page = trace_page(*problem_and_way).replace("</body>", "<script>document.title = 'ran'</script></body>")
    shown = show(page)
    assert shown.run("return document.title") != "ran"
    assert any("Content Security Policy" in line for line in opened.complaints())


def test_a_long_trace_of_many_objects_is_shown(show: Show, problem_and_way: tuple[Problem, Explanation]) -> None:
    shown = show(long_page(problem_and_way[1]))
    shown.press("End")
    assert number(shown) == 500

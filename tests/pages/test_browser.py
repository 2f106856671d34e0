"""The trace page in a browser, as its reader has it. Run by `make browser`, where Chromium is installed."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import pytest

from pages.browser import CHROMIUM, Browser, Show
from pages.test_trace_page import NASTY, SIZES, bare, data_of, draw, long_page
from trifold.domains import DOMAINS, domain_text
from trifold.encoders import Pairs
from trifold.explanation import Explanation, explain
from trifold.pages import state_page, trace_page
from trifold.pages.kinds import TRACE
from trifold.pages.skeleton import fill
from trifold.pddl import Problem, load_domain, load_problem
from trifold.planning import goal_counts, solve, states_along
from trifold.structures import TRIANGLE

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: apt-get install chromium")

NAMELESS = """
  const controls = [...document.querySelectorAll("button, input, select, summary, [tabindex]")];
  const around = (one) => one.closest("label")?.textContent.trim();
  const named = (one) => one.getAttribute("aria-label") || around(one) || one.textContent.trim();
  return controls.filter((one) => !named(one)).map((one) => one.outerHTML)
"""
"""Controls of which a screen reader would have nothing to say."""

OVERFLOWS = "return [...document.querySelectorAll('.pictures')].some((one) => one.scrollWidth > one.clientWidth + 1)"
"""Whether a drawing is wider than its place."""

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


FERRY = """(define (domain ferry) (:requirements :strips)
  (:predicates (at ?car ?place) (ferry-at ?place) (aboard ?car) (empty) (place ?place) (car ?car))
  (:action sail :parameters (?from ?to) :precondition (and (ferry-at ?from) (place ?to))
    :effect (and (ferry-at ?to) (not (ferry-at ?from))))
  (:action board :parameters (?car ?place) :precondition (and (at ?car ?place) (ferry-at ?place) (empty) (car ?car))
    :effect (and (aboard ?car) (not (at ?car ?place)) (not (empty))))
  (:action land :parameters (?car ?place) :precondition (and (aboard ?car) (ferry-at ?place))
    :effect (and (at ?car ?place) (empty) (not (aboard ?car)))))"""
CARS = """(define (problem cars) (:domain ferry) (:objects here there red green)
  (:init (place here) (place there) (car red) (car green) (ferry-at there) (empty) (at red here) (at green there))
  (:goal (and (at red there) (at green here))))"""


def solved(name: str, seed: int = 0) -> tuple[Problem, Explanation]:
    problem = load_problem(load_domain(FERRY), CARS) if name == "own domain" else draw(name, seed)
    return problem, solve_and_explain(problem)


def solve_and_explain(problem: Problem) -> Explanation:
    plan = solve(problem, goal_counts(problem), policy="turns").plan
    return explain(goal_counts(problem), problem, plan=plan, max_states=0)


@pytest.fixture(scope="module")
def problem_and_way() -> tuple[Problem, Explanation]:
    return solved("gripper", 3)


def number(shown: Browser) -> int:
    return int(shown.run("return document.querySelector('.trace').dataset.step"))


@pytest.mark.parametrize("name", [*SIZES, "own domain"])
def test_every_domain_is_drawn_at_each_step_and_ends_in_its_goal(show: Show, name: str) -> None:
    problem, way = solved(name)
    page, last = trace_page(problem, way), len(way.actions)
    for width, scheme in ((400, "dark"), (1600, "light"), (400, "light"), (1600, "dark")):
        shown = show(page, width=width, scheme=scheme)
        assert number(shown) == 0 and shown.run("return document.querySelectorAll('.picture *').length") > 5
        if (width == 400) == (scheme == "dark"):
            for step in range(1, last + 1):
                shown.press("ArrowRight")
                assert number(shown) == step
        else:
            shown.press("End")
        assert not shown.run(OVERFLOWS)
        assert shown.run("return document.querySelector('[data-reached=true]').textContent") == "Goal: reached"
        assert shown.run("return document.querySelectorAll('.goal li:not(.met)').length") == 0
        assert shown.run("return document.documentElement.scrollWidth") <= width
        assert shown.run(NAMELESS) == [] and shown.run(PALE) == []
        assert not shown.run("return /NaN|undefined/.test(document.querySelector('main').innerHTML)")


def test_what_never_changes_and_tells_an_object_from_others_of_its_type_is_drawn(show: Show) -> None:
    domain = """(define (domain snack) (:requirements :typing) (:types child table)
      (:predicates (allergic ?c - child) (young ?c - child) (served ?c - child) (laid ?t - table))
      (:action serve :parameters (?c - child) :effect (served ?c)))"""
    children = """(define (problem p) (:domain snack) (:objects ann bob - child desk - table)
      (:init (allergic bob) (young ann) (young bob) (laid desk)) (:goal (and (served ann) (served bob))))"""
    problem = load_problem(load_domain(domain), children)
    shown = show(trace_page(problem, solve_and_explain(problem)))
    shown.press("End")
    badges = "return [...document.querySelectorAll('.picture .badge')].map((one) => one.textContent).sort()"
    assert shown.run(badges) == ["allergic", "served", "served"]  # but not what all children, or all tables, are


@pytest.mark.parametrize("name", SIZES)
def test_a_problem_in_which_nothing_holds_is_shown(show: Show, name: str) -> None:
    problem = bare(name)
    shown = show(trace_page(problem, explain(goal_counts(problem), problem, policy="values", max_states=0)))
    assert shown.run("return document.querySelector('[data-reached]').textContent") == "Goal: 0 of 1 hold"
    assert not shown.run("return /NaN|Infinity|undefined/.test(document.querySelector('main').innerHTML)")


@pytest.mark.parametrize("name", [*SIZES, "own domain"])
def test_a_state_alone_is_drawn_whole(show: Show, name: str) -> None:
    """As a notebook shows a problem: in the frame that there is, in which nothing is cut off."""
    problem = load_problem(load_domain(FERRY), CARS) if name == "own domain" else draw(name)
    shown = show(state_page(problem), width=640)
    assert shown.run("return document.querySelectorAll('.picture *').length") > 5 and not shown.run(OVERFLOWS)
    bottom = (
        "return Math.max(...[...document.querySelectorAll('.picture')].map((o) => o.getBoundingClientRect().bottom))"
    )
    assert shown.run(bottom) <= shown.run("return innerHeight")
    assert shown.run(NAMELESS) == []


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
    shown.press(" ")
    shown.wait("const slider = document.getElementById('slider'); return slider.value === slider.max")
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


def test_two_ways_are_drawn_in_one_size(show: Show) -> None:
    """Though one of them builds towers, and the other does nothing."""
    problem, way = solved("blocks-s", 5)
    none = explain(goal_counts(problem), problem, policy="values", max_steps=0, max_states=0)
    shown = show(trace_page(problem, way, none))
    sizes = shown.run(
        "return [...document.querySelectorAll('.pictures > svg')].map((one) => one.getAttribute('viewBox'))"
    )
    alone = show(trace_page(problem, none)).run(
        "return document.querySelector('.pictures > svg').getAttribute('viewBox')"
    )
    assert len(sizes) == 2 and sizes[0] == sizes[1] != alone


def test_a_drawing_that_is_small_on_a_phone_is_enlarged_and_follows_the_steps(show: Show) -> None:
    map_of_many = DOMAINS["vacuum"].problem(random.Random(1), 30, robots=2, reach=20)
    problem = load_problem(load_domain(domain_text("vacuum")), map_of_many)
    way = solve_and_explain(problem)
    hidden = "return document.querySelector('.enlarge').hidden"
    assert show(trace_page(*solved("gripper", 3))).run(hidden)
    shown = show(trace_page(problem, way), width=400)
    assert not shown.run(hidden) and not shown.run(OVERFLOWS)
    shown.run("document.querySelector('.enlarge').click()")
    assert shown.run("return document.querySelector('.enlarge').getAttribute('aria-pressed')") == "true"
    assert shown.run(OVERFLOWS) and shown.run("return document.documentElement.scrollWidth") <= 400
    in_sight = """
      const box = (text) => document.querySelector(text).getBoundingClientRect();
      const place = box(".pictures"), own = box(`.moving[data-object=${arguments[0]}]`);
      return own.left < place.right && own.right > place.left && own.top < place.bottom && own.bottom > place.top"""
    places = set()
    for action in way.actions:
        shown.press("ArrowRight")
        assert shown.run(in_sight, action[1:-1].split()[1])
        places.add(
            tuple(shown.run("const p = document.querySelector('.pictures'); return [p.scrollLeft, p.scrollTop]"))
        )
    shown.run("document.querySelector('.enlarge').click()")
    assert not shown.run(OVERFLOWS) and len(places) > 1


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


@pytest.mark.parametrize("name", [*SIZES, "own domain"])
def test_markup_in_the_names_of_objects_actions_and_predicates_is_shown_and_does_nothing(show: Show, name: str) -> None:
    """No problem that is read has such names; a page is safe from them all the same."""
    data = data_of(trace_page(*solved(name)))
    data["objects"] = [[NASTY + own, [NASTY, *types]] for own, types in data["objects"]]
    data["actions"] = [NASTY + action for action in data["actions"]]
    if name == "own domain":  # other drawings go by the names of predicates
        data["predicates"] = [NASTY + own for own in data["predicates"]]
    shown = show(fill(TRACE, NASTY, renamed(data, NASTY)))
    shown.press("End")
    shown.run("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    shown.run(
        "const s = document.querySelector('.choose select'); s.selectedIndex = 1; s.dispatchEvent(new Event('change'))"
    )
    assert shown.run("return document.querySelectorAll('img, iframe, object, main script, [onerror]').length") == 0
    assert shown.run("return document.scripts.length") == 2
    assert "<img src=x" in shown.run("return document.querySelector('main').textContent")


def renamed(data: dict[str, Any], prefix: str) -> dict[str, Any]:
    """The data of a page, whose drawing names its objects as the page does now."""
    names = {own.removeprefix(prefix) for own, _ in data["objects"]}

    def rename(told: Any) -> Any:
        if isinstance(told, str):
            return prefix + told if told in names else told
        if isinstance(told, list):
            return [rename(one) for one in told]
        return {key: rename(one) for key, one in told.items()} if isinstance(told, dict) else told

    return data | {"drawing": rename(data["drawing"])}


def test_what_a_page_did_not_come_with_does_not_run(
    show: Show, opened: Browser, problem_and_way: tuple[Problem, Explanation]
) -> None:
    page = trace_page(*problem_and_way).replace("</body>", "<script>document.title = 'ran'</script></body>")
    shown = show(page)
    assert shown.run("return document.title") != "ran"
    assert any("Content Security Policy" in line for line in opened.complaints())


def test_the_console_is_heard(show: Show, opened: Browser) -> None:
    """Or else all the tests here would say too little."""
    show("<script>console.error('loud'); setTimeout(() => nothing.there, 0)</script>")
    heard = opened.complaints()
    assert len(heard) == 2 and heard[0] == "loud" and "ReferenceError" in heard[1]


def test_a_long_trace_of_many_objects_is_shown(show: Show, problem_and_way: tuple[Problem, Explanation]) -> None:
    shown = show(long_page(problem_and_way[1]))
    shown.press("End")
    assert number(shown) == 500

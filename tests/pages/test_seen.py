"""What a reader of trace pages would not like to see. Run by `make browser`, where Chromium is installed."""

from __future__ import annotations

import math
import random
import re
from itertools import pairwise
from typing import Any

import pytest

from pages.browser import CHROMIUM, Show
from pages.test_browser import CARS, FERRY, OVERFLOWS, solved
from pages.test_trace_page import SIZES, data_of, draw
from trifold.domains import DOMAINS, domain_text
from trifold.explanation import explain
from trifold.pages import trace_page
from trifold.pages.kinds import TRACE
from trifold.pages.skeleton import fill
from trifold.pddl import Problem, load_domain, load_problem
from trifold.planning import goal_counts

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: apt-get install chromium")


@pytest.mark.parametrize("name", ["blocks-s", "gripper", "grid"])
@pytest.mark.parametrize("width", [400, 1600])
def test_what_is_read_stays_where_it_is_from_step_to_step(show: Show, width: int, name: str) -> None:
    """However many actions a state has, and however long the name of the last one is."""
    problem, way = solved(name, 5)
    shown = show(trace_page(problem, way), width=width)
    tops = set()
    for _ in way.actions:
        tops.add(tuple(shown.run("return [...document.querySelectorAll('.panel, .pictures')].map((o) => o.offsetTop)")))
        shown.press("ArrowRight")
    assert len(tops) == 1


LONG = {"letters": "x" * 190, "parts": "_part" * 38}


def lengthened(name: str, suffix: str) -> Problem:
    """A problem whose objects all have names of 200 characters."""
    own = name == "own domain"
    text = CARS if own else DOMAINS[name].problem(random.Random(0), SIZES[name][0], **SIZES[name][1])
    domain = load_domain(FERRY if own else domain_text(name))
    names = "|".join(map(re.escape, sorted(load_problem(domain, text).objects, key=len, reverse=True)))
    return load_problem(domain, re.sub(rf"(?<![^\s()])({names})(?![^\s()])", rf"\g<1>{suffix}", text))


@pytest.mark.parametrize("suffix", LONG)
@pytest.mark.parametrize("name", ["blocks-s", "logistics", "rovers", "miconic", "vacuum", "own domain"])
def test_names_of_two_hundred_characters_fit(show: Show, name: str, suffix: str) -> None:
    problem = lengthened(name, LONG[suffix])
    page = trace_page(problem, explain(goal_counts(problem), problem, policy="values", max_steps=2, max_states=0))
    for width in (400, 1600):
        shown = show(page, width=width)
        shown.run("document.querySelectorAll('details').forEach((one) => { one.open = true })")
        shown.run(f"""const chooser = document.querySelector(".choose select");
          chooser.value = {next(iter(problem.objects))!r}; chooser.dispatchEvent(new Event("change"))""")
        assert shown.run("return document.documentElement.scrollWidth") <= width
        wide = "return [...document.querySelectorAll('.panel')].filter((o) => o.scrollWidth > o.clientWidth + 1).length"
        assert shown.run(wide) == 0 and not shown.run(OVERFLOWS)


def test_a_name_that_is_too_long_for_its_place_keeps_both_its_ends(show: Show) -> None:
    problem = load_problem(load_domain(FERRY), CARS.replace("red", "car_of_the_first_of_the_guests"))
    shown = show(trace_page(problem, explain(goal_counts(problem), problem, policy="values", max_states=0)))
    node = "return document.querySelector('.node[data-object=car_of_the_first_of_the_guests] text')"
    assert re.fullmatch(r"car_.*….*ests", shown.run(f"{node}.firstChild.textContent"))
    assert shown.run(f"{node}.querySelector('title').textContent") == "car_of_the_first_of_the_guests"


def test_names_in_actions_and_goals_are_broken_only_where_they_are_longer_than_a_line(show: Show) -> None:
    problem, way = solved("logistics")
    data = data_of(trace_page(problem, way))
    for one in data["objects"]:
        one[0] = f"a-{one[0]}-of-some-length"
    data["actions"] = [re.sub(r"(?<= )[^ )]+", r"a-\g<0>-of-some-length", action) for action in data["actions"]]
    shown = show(fill(TRACE, "names", data | {"drawing": solved_graph(data)}), width=400)
    lines = "return [...document.querySelectorAll('.word')].map((one) => [one.offsetHeight, one.textContent])"
    words = shown.run(lines)
    assert len(words) > 20 and max(height for height, _ in words) < 25, words


def solved_graph(data: dict[str, Any]) -> dict[str, Any]:
    """The drawing of any domain, for data whose objects were renamed."""
    return {
        "kind": "graph",
        "places": [[name, i % 6, i // 6] for i, (name, _) in enumerate(data["objects"])],
        "dense": [],
    }


def test_a_goal_beside_the_state_is_drawn_no_larger(show: Show) -> None:
    names = [f"b{i}" for i in range(14)]
    table = " ".join(f"(ontable {name}) (clear {name})" for name in names)
    tower = " ".join(f"(on {upper} {lower})" for upper, lower in pairwise(names))
    text = f"""(define (problem p) (:domain blocks) (:objects {" ".join(names)})
      (:init (handempty) {table}) (:goal (and {tower})))"""
    problem = load_problem(load_domain(domain_text("blocks-s")), text)
    way = explain(goal_counts(problem), problem, policy="values", max_steps=1, max_states=0)
    shown = show(trace_page(problem, way), width=400)
    size = "return document.querySelector(arguments[0] + ' .token rect').getBoundingClientRect().width"
    state, goal = (shown.run(size, place) for place in (".pictures > svg", ".aside"))
    assert goal <= state + 0.5 and state > 19


def test_a_key_on_a_locked_place_is_seen_beside_the_lock(show: Show) -> None:
    for seed in range(50):
        problem = draw("grid", seed)
        state = problem.executor.initial
        if any(atom[0] == "at" and ("locked", atom[2]) in state for atom in state):
            break
    way = explain(goal_counts(problem), problem, policy="values", max_steps=0, max_states=0)
    middles = show(trace_page(problem, way)).run("""
      const middle = (one) => {
        const { x, y, width, height } = one.getBoundingClientRect();
        return [x + width / 2, y + height / 2];
      };
      return ["lock", "key"].map((kind) => [...document.querySelectorAll(`.picture .${kind}`)].map(middle))""")
    assert all(middles) and min(math.dist(lock, key) for lock in middles[0] for key in middles[1]) > 20


def test_kinds_of_objects_are_told_apart_and_named_where_there_are_no_types(show: Show) -> None:
    shown = show(trace_page(*solved("own domain")))
    hues = shown.run("""
      const hue = (name) => document.querySelector(`.node[data-object=${name}]`).style.getPropertyValue("--hue");
      return ["red", "green", "here", "there"].map(hue)""")
    assert hues[0] == hues[1] != hues[2] == hues[3]
    legend = shown.run("return document.querySelector('.legend').textContent")
    assert "car" in legend and "place" in legend and "the goal asks for it" in legend

"""What objects look like in a notebook: whatever they are called, and without a cost to those who show none."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import trifold
from blank_record import BLANK
from trifold.analysis import Depth, Expressivity, Finding
from trifold.domains import DOMAINS, domain_text
from trifold.errors import TrifoldError
from trifold.evaluation import Records
from trifold.explanation import Explanation, explain
from trifold.ladder import KEPT, RUNGS, Climbed, RungReport
from trifold.model import Model, ModelConfig
from trifold.notebook import html, register
from trifold.notebook.formatters import SHOWN
from trifold.pddl import Problem, load_domain, load_problem
from trifold.planning import goal_counts, solve
from trifold.training import Advice, Coverage, TrainingResult

NASTY = "<img src=x onerror=alert(0)></iframe></script><script>alert(1)</script><!-- \"'&"


class Parsed(HTMLParser):
    """Tags, attributes and text; what a frame has is parsed as well."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def frames(self) -> list[Parsed]:
        return [Parsed(value or "") for name, value in self.attributes if name == "srcdoc"]


def everything(parsed: Parsed) -> Iterator[Parsed]:
    yield parsed
    for frame in parsed.frames:
        yield from everything(frame)


@pytest.fixture(scope="module")
def problem() -> Problem:
    text = DOMAINS["gripper"].problem(random.Random(0), 2)
    return load_problem(load_domain(domain_text("gripper")), text)


@pytest.fixture(scope="module")
def explanation(problem: Problem) -> Explanation:
    return explain(goal_counts(problem), problem, policy="values", max_steps=6, max_states=0)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run folder, as far as its curves need it."""
    folder = tmp_path / "run"
    (folder / "seed-0").mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "seed-0" / "metrics.jsonl").write_text('{"step": 1, "loss": 2.0, "validation": 3.0}\n')
    return folder


def shown_things(problem: Problem, explanation: Explanation, run: Path, name: str) -> dict[str, Any]:
    """One of each kind, with a name in it."""
    domain, coverage = problem.domain, Coverage(1, 2, 1.5, {name: "stuck"})
    config = ModelConfig(encoder="plain", dim=4, layers=2)
    model = Model.fresh(config, domain.signature, domain.text, {"at": 3, "ball": 2}, seed=0)
    model.provenance = {"environment": {"device": name}, "data": {"problems": 2, "states": 9, "largest_value": 3}}
    advice = (Advice(name, f"trifold evaluate {name}"),)
    record = {**BLANK, "domain": name, "model": name, "policy": name, "outcome": "stuck", "objects": 4}
    finding = Finding(name, 12.0, (Depth(1, 3, 2, 0.5), Depth(2, 5, 0, 0.0)), 2, None)
    named = replace(explanation, problem=name, domain=name, model_file=name)
    return {
        "Problem": problem,
        "State": problem.successors(problem.initial_state)[0][1],
        "Trajectory": replace(solve(problem, goal_counts(problem), policy="turns"), found_by=name),
        "Explanation": named,
        "Model": model,
        "TrainingResult": TrainingResult(run, run / name, 0.5, 0, 1, 2.0, coverage, None, advice),
        "Climbed": Climbed(
            run, run / name, name, name, False, (RungReport(RUNGS[0], KEPT, "", 1, 2.0, None, coverage, 3.5),), advice
        ),
        "Records": Records([record]),  # type: ignore[list-item]
        "Expressivity": Expressivity(name, 2, 10, 10, 0, 2, (finding,), {}),
    }


def test_every_type_that_ipython_is_told_of_is_there_and_shown(
    problem: Problem, explanation: Explanation, run: Path
) -> None:
    things = shown_things(problem, explanation, run, "plain")
    assert {(type(thing).__module__, type(thing).__qualname__) for thing in things.values()} == set(SHOWN)
    for module, name in SHOWN:
        assert getattr(import_module(module), name) is type(things[name])
        assert html(things[name]).startswith(("<div", "<table"))
    with pytest.raises(TrifoldError, match="a int has no picture"):
        html(7)


@pytest.mark.parametrize("name", sorted(name for _, name in SHOWN))
def test_names_are_text_and_nothing_of_them_runs(
    problem: Problem, explanation: Explanation, run: Path, name: str
) -> None:
    """The same elements whatever names there are, and no handler on any of them."""
    plain = Parsed(html(shown_things(problem, explanation, run, "plain")[name]))
    nasty = Parsed(html(shown_things(problem, explanation, run, NASTY)[name]))
    for one, other in zip(everything(plain), everything(nasty), strict=True):
        assert one.tags == other.tags
        assert not [key for key, _ in other.attributes if key.startswith("on")]
    assert "script" not in nasty.tags
    if name not in ("Problem", "State"):
        told = nasty.text + "".join(value or "" for _, value in nasty.attributes)
        assert NASTY in told or "\\u003cimg" in told


def test_a_state_is_drawn_beside_the_initial_one_and_without_torch(problem: Problem) -> None:
    script = f"""import sys, trifold
from trifold.notebook import html
problem = trifold.load_problem(trifold.load_domain({problem.domain.text!r}), {problem.text!r})
html(problem), html(problem.successors(problem.initial_state)[0][1])
sys.exit("torch" in sys.modules or "matplotlib" in sys.modules)"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_an_explanation_from_json_has_no_problem_to_draw_and_is_told_in_words(explanation: Explanation) -> None:
    again = Explanation.from_json(explanation.to_json())
    assert again == explanation and again.executor is None
    assert html(again).startswith("<pre>") and "<iframe" in html(explanation)


def test_ipython_shows_what_was_made_before_and_after_it_knew_trifold(problem: Problem) -> None:
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()  # type: ignore[no-untyped-call]
    trifold.load_ipython_extension(shell)
    formatter: Any = shell.display_formatter
    data, _ = formatter.format(problem)
    assert data["text/plain"] == repr(problem) and data["text/html"] == html(problem)
    data, _ = formatter.format(math.pi)
    assert "text/html" not in data


def test_where_no_shell_runs_nothing_is_registered() -> None:
    register()
    script = "import IPython, trifold, sys; sys.exit('trifold.pages' in sys.modules)"
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True)


def test_a_way_through_a_task_that_is_not_of_pddl_is_told_in_words() -> None:
    class Stairs:
        """A task as small as can be: up to 3."""

        initial_state = 0

        def is_goal(self, state: int) -> bool:
            return state == 3

        def successors(self, state: int) -> list[tuple[str, int]]:
            return [("(climb <b>)", state + 1)]

    told = Parsed(html(solve(Stairs(), lambda states: [3.0 - state for state in states])))
    assert told.text.splitlines() == ["Solved by values: a plan of 3 actions", *["(climb <b>)"] * 3]

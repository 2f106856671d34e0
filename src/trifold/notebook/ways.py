"""Ways through a problem: the page that shows them step by step."""

from __future__ import annotations

import math

from trifold.explanation import Choice, ExplainedStep, Explanation, Labels
from trifold.notebook.markup import frame, text
from trifold.outcomes import Outcome
from trifold.pages import trace_page
from trifold.pddl import Problem, State
from trifold.planning import Trajectory
from trifold.words import counted

HEIGHT = 760
"""Pixels of the frame of a page."""

MOST_STEPS = 2_000
"""Of a way that is shown: every state has all its actions."""


def show_explanation(explanation: Explanation) -> str:
    """The way with all that is said of it."""
    if explanation.executor is None:  # it was read from JSON
        return text(str(explanation))
    return frame(trace_page(explanation.executor, explanation), repr(explanation), HEIGHT)


def show_trajectory(found: Trajectory) -> str:
    """The way, with V along it where that is known; its actions alone if its states are not of PDDL."""
    who = found.found_by or "a policy"
    title = f"{found.outcome.value.capitalize()} by {who}, after {counted(found.steps, 'step')}"
    if found.plan is not None:
        title = f"Solved by {who}: a plan of {counted(len(found.plan), 'action')}"
    if not found.states or not isinstance(found.states[0], State):
        return text("\n".join([title, *found.actions]))
    problem = found.states[0].problem
    explanation = _as_explanation(problem, found)
    return frame(trace_page(problem, explanation), title, HEIGHT)


def _as_explanation(problem: Problem, found: Trajectory) -> Explanation:
    """A way as an explanation that knows nothing but V along it."""
    taken = found.actions[: min(len(found.states) - 1, MOST_STEPS)]
    steps = []
    for number, state in enumerate(found.states[: len(taken) + 1]):
        value, action = found.values[number], taken[number] if number < len(taken) else None
        ways = problem.successors(state)
        choices = tuple(Choice(name, None, None, is_chosen=name == action) for name, _ in ways)
        steps.append(ExplainedStep(number, None if math.isnan(value) else value, choices))
    return Explanation(
        model="V",
        domain=problem.domain.name,
        problem=problem.name,
        objects=len(problem.objects),
        policy=found.found_by or "a policy",
        outcome=found.outcome,
        max_steps=found.steps,
        steps=tuple(steps),
        labels=Labels(Outcome.FINISHED, "trifold.explain looks for it"),
    )

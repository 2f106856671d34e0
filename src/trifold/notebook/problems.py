"""Problems and states: their pictures."""

from __future__ import annotations

from trifold.notebook.markup import frame
from trifold.pages import state_page
from trifold.pddl import Problem, State

LEAST_HEIGHT, MOST_HEIGHT = 340, 640
"""Pixels of the frame of a drawing: it fits in, and the frame can be drawn larger."""


def show_problem(problem: Problem) -> str:
    """The initial state, drawn."""
    return frame(state_page(problem), repr(problem), _height(problem))


def show_state(state: State) -> str:
    """The state, drawn."""
    return frame(state_page(state), f"A state of {state.problem!r}", _height(state.problem))


def _height(problem: Problem) -> int:
    return min(MOST_HEIGHT, LEAST_HEIGHT + 6 * len(problem.objects))

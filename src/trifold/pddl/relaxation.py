"""Relaxed plans: how far a state is from the goal if nothing is ever deleted, and which actions begin such a plan."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator, Set
from contextlib import contextmanager
from typing import Any

from trifold.pddl.engine import release_at_exit
from trifold.pddl.grounding import ground
from trifold.pddl.problem import Problem, State

MAX_ACTIONS = 50_000
"""Ground actions of a problem that is relaxed: counting so many takes about a second."""


class Relaxation:
    """The problem without deletes, by pymimir; raises a GroundingError where it is not STRIPS, or too large.

    Our own grounding goes first, for it ends at a limit: pymimir's would go on for hours where actions are many.
    """

    def __init__(self, problem: Problem) -> None:
        from pymimir.advanced.search import FFHeuristic, LiftedGrounder

        ground(problem, MAX_ACTIONS)
        self.problem = problem
        with _silence():
            self.heuristic: Any = FFHeuristic.create(LiftedGrounder(problem.engine.problem))
        release_at_exit(self)

    def plan(self, state: State) -> tuple[float, Set[str]]:
        """The length of a relaxed plan (h_FF), infinite if there is none, and its actions that are applicable now."""
        length = float(self.heuristic.compute_heuristic(state.handle))
        return length, {self.problem.action_text(action) for action in self.heuristic.get_preferred_actions().data}

    def release(self) -> None:
        """Let go of pymimir; no state can be asked about after that."""
        self.heuristic = None


@contextmanager
def _silence() -> Iterator[None]:
    """Let nothing reach standard output meanwhile, from no thread: pymimir prints every atom that it grounds."""
    try:
        kept = os.dup(1)
    except OSError:  # there is no standard output
        yield
        return
    c_library, nothing = ctypes.CDLL(None), os.open(os.devnull, os.O_WRONLY)
    if sys.stdout is not None:
        sys.stdout.flush()
    c_library.fflush(None)
    try:
        os.dup2(nothing, 1)
        yield
        c_library.fflush(None)
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nothing)

"""Around a plan: V of the states near a plan for a problem that has too many states to expand all.

States are expanded in rings around those of the plan (`neighbourhood.py`). The length of a shortest way to a goal
through these is V* or more, and near the plan it is rarely more, as ways that leave the rings are long. A state that
leads to nothing but expanded states, none of them a goal, is a dead end. Of other states without a way to a goal
nothing is known, and they are left out, with the actions that lead there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trifold.errors import TrifoldError
from trifold.expressions import Source
from trifold.pddl.atoms import Integers
from trifold.pddl.grounding import Grounding
from trifold.pddl.neighbourhood import NOT_YET, Neighbourhood
from trifold.pddl.packed import Found, Words, distances, holds
from trifold.pddl.plan_format import parse_plan
from trifold.pddl.problem import Problem

MOST_STATES = 1_000_000
"""States that are expanded around a plan at most: seven seconds, and a gigabyte."""

MOST_DETOUR = 4
"""The most ``detour`` of what is sampled around a plan: further off V is less often V*."""


@dataclass(frozen=True)
class Around:
    """What is known around a plan. Its states are some of those that were met, and have numbers of their own.

    found            the states that were met, with all successors of those that were expanded
    chosen           (states,) which of them are known; the listed ones come first, the initial state before all
    numbers          (met,) the state that each of them is, −1 where it is not known
    distances        (states,) V, and −1 of dead ends
    listed           so many states were expanded; the others are goals
    counts, targets  (states,), (transitions,): the known successors of each listed state, ascending and distinct
    """

    found: Found
    chosen: Integers
    numbers: Integers
    distances: Integers
    listed: int
    counts: Integers
    targets: Integers

    @property
    def grounding(self) -> Grounding:
        """The problem without variables."""
        return self.found.grounding

    @property
    def met(self) -> int:
        """How many states were met: the problem has these, and others."""
        return self.found.met

    @property
    def words(self) -> Words:
        """(words, states) the states as bits."""
        return self.found.words[:, self.chosen]

    def actions(self, states: Integers) -> tuple[Integers, Integers, Integers]:
        """The actions of some listed states that lead to known ones, as ``Found.actions`` has them."""
        counts, names, reached = self.found.actions(self.chosen[states])
        targets = self.numbers[reached]
        sources = np.repeat(np.arange(len(states)), counts)[targets >= 0]
        return np.bincount(sources, minlength=len(states)), names[targets >= 0], targets[targets >= 0]


def explore(problem: Problem, plan: Source, max_states: int) -> Around:
    """What is known when about so many states are expanded around a plan in IPC format.

    It raises a GroundingError where the problem is not STRIPS, or too large.
    """
    rings = Neighbourhood(problem)
    try:
        rings.begin(parse_plan(plan.text))
    except TrifoldError as error:
        raise _no_plan(plan, error.message) from None
    except StopIteration:
        raise _no_plan(plan, "an action of it is not applicable") from None
    while rings.count < max_states and rings.grow():
        pass
    met = rings.states.count
    sources, targets = rings.ways()
    found = Found(rings.grounding, rings.successors, rings.states, np.bincount(sources, minlength=met), targets)
    is_goal = holds(found.words, *rings.grounding.goal)
    is_expanded = rings.starts[:met] != NOT_YET
    value = distances(found.counts, targets, np.flatnonzero(is_goal))
    if value[0] < 0:
        raise _no_plan(plan, "it does not lead to a goal")
    leads_out = distances(found.counts, targets, np.flatnonzero(~is_expanded & ~is_goal)) >= 0
    is_known = (value >= 0) | ~leads_out
    is_listed = is_expanded & is_known
    chosen = np.concatenate([np.flatnonzero(is_listed), np.flatnonzero(is_known & ~is_listed)])
    numbers = np.full(met, -1, np.int64)
    numbers[chosen] = np.arange(len(chosen))
    own = is_known[sources] & is_known[targets]
    pairs = np.sort(numbers[sources[own]] << 32 | numbers[targets[own]])
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    listed, counts = int(is_listed.sum()), np.bincount(pairs >> 32, minlength=len(chosen))
    return Around(found, chosen, numbers, value[chosen], listed, counts, pairs.astype(np.int32))


def _no_plan(plan: Source, why: str) -> TrifoldError:
    return TrifoldError(
        f"this is no plan for the problem beside it: {why}",
        place=plan.name,
        remedy=f"remove {plan.name}, or write a plan there, such as by trifold solve MODEL PROBLEM --output PLAN",
    )

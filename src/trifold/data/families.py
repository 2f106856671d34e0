"""Which labelled problems have states in common, up to the names of their objects.

All states of a problem have its objects with their types, its static atoms and its goal: its base. So two problems with
a state in common have the same base. Of problems with the same base the states tell. Actions know no object by name but
constants, which have relations of their own, so whatever is reached from a common state is common too: a goal state or,
where none can be reached, a dead end. So goal states and dead ends are enough.

States are compared by their colours (``wl``), which are equal if the states are isomorphic. What colours cannot tell
apart counts as the same, initial states always. So do problems of one base if the space of one is only a sample, or if
they have too many states to look at. It is never said that two problems have nothing in common if they have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from trifold.encoders import Plain
from trifold.pddl import Integers, StateSpace
from trifold.structures import Structures, concatenate
from trifold.wl import digest, number_classes

ROUNDS = 32
"""Rounds of refinement; with fewer, more would count as the same."""

MOST_STATES = 2**19
"""States that are looked at, half a minute's worth; the bases of the most problems first."""


def find_families(spaces: Sequence[StateSpace]) -> Integers:
    """(problems,) the first problem of each one's family: problems of different families have no state in common."""
    bases = _colours([space.table.structures(np.zeros(2, np.int64), np.empty(0, np.int64)) for space in spaces])
    owners, colours = np.arange(len(spaces)), bases  # all problems of a base are joined, unless their states tell
    looked_at: list[int] = []
    states: list[Structures] = []
    left = MOST_STATES
    for base, count in Counter(bases.tolist()).most_common():
        if count == 1:
            break
        members = np.flatnonzero(bases == base).tolist()
        telling = {member: _telling(spaces[member]) for member in members}
        seen = sum(map(len, telling.values()))
        if seen <= left and all(len(spaces[member]) == spaces[member].states for member in members):
            left -= seen
            looked_at += members
            states += [_states(spaces[member], telling[member]) for member in members]
    if states:
        others = np.delete(owners, looked_at)
        owners = np.concatenate([others, np.repeat(looked_at, [len(part) for part in states])])
        colours = np.concatenate([bases[others], _colours(states) + len(spaces)])
    return _join(owners, colours)


def find_alike(spaces: Sequence[StateSpace]) -> list[list[int]]:
    """The sets of problems that are the same but for the names of objects, as far as colours tell."""
    initial = [_states(space, np.array([space.initial])) for space in spaces]
    sets: dict[int, list[int]] = {}
    for problem, colour in enumerate(_colours(initial).tolist()):
        sets.setdefault(colour, []).append(problem)
    return [members for members in sets.values() if len(members) > 1]


def _telling(space: StateSpace) -> Integers:
    """The states of which one is common if any is, and the initial state."""
    return np.union1d(np.flatnonzero(space.distances <= 0), [space.initial])


def _states(space: StateSpace, chosen: Integers) -> Structures:
    """The chosen states of a space, without making structures of all of it."""
    atoms = [space.indices[space.offsets[state] : space.offsets[state + 1]] for state in chosen.tolist()]
    return space.table.structures(np.cumsum([0, *map(len, atoms)]), np.concatenate(atoms))


def _colours(parts: Sequence[Structures]) -> Integers:
    """(structures,) the class of each structure of all parts."""
    return np.asarray(number_classes(digest(Plain()(concatenate(parts)), ROUNDS)))


def _join(owners: Integers, colours: Integers) -> Integers:
    """(owners,) the least owner that each is joined to: those of one colour are, and so on from one to the next."""
    joined = np.arange(owners.max() + 1)
    while True:
        least = np.full(colours.max() + 1, len(joined))
        np.minimum.at(least, colours, joined[owners])
        before = joined.copy()
        np.minimum.at(joined, owners, least[colours])
        if (joined == before).all():
            return joined

"""A part of a state space: states evenly over V*, or near the plans of the initial state, with all their successors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from trifold.pddl.atoms import Integers
from trifold.pddl.state_space import StateSpace

ListActions = Callable[[StateSpace, Integers], StateSpace]
"""(space, some of its states, ascending) → the space with the applicable actions of these."""


def sample_states(
    space: StateSpace,
    keep: int | None,
    detour: int | None = None,
    seed: int = 0,
    list_actions: ListActions = lambda space, chosen: space,
) -> StateSpace:
    """Keep ``keep`` states, as evenly over V* as they come, and the successors of each; fewer states are all kept.

    With a detour, only of the states on ways from the initial state to a goal that are longer than the shortest by at
    most the detour: g(s) + V*(s) ≤ V*(s₀) + detour, where g is the distance from s₀. A policy that is any good meets
    these.

    Values with fewer states than their share are kept whole, dead ends count as one value, and the initial state is
    always kept. The sampled states come first, in their old order; the states that are there only as successors of
    others come after them, without transitions of their own: ``listed`` of the result says where they begin.

    Of a space around a plan only listed states are sampled. A space that has no actions yet gets those of the sampled
    states by ``list_actions``: all would be too many.
    """
    chosen = _choose(space, keep, detour, seed)
    if chosen is None:
        return list_actions(space, np.arange(space.listed))
    return _keep(list_actions(space, chosen), chosen)


def _choose(space: StateSpace, keep: int | None, detour: int | None, seed: int) -> Integers | None:
    """The states to sample, ascending; None if all are kept."""
    near = np.arange(space.listed) if detour is None else _near_plans(space, detour)
    keep = len(near) if keep is None else keep
    if len(space) <= min(keep, len(near)):
        return None
    _, value, counts = np.unique(space.distances[near], return_inverse=True, return_counts=True)
    shuffled = np.random.default_rng(seed).permutation(len(near))
    first = np.searchsorted(near, space.initial)
    shuffled = np.concatenate([[first], shuffled[shuffled != first]])
    sampled: Integers = near[rank_within_values(value, shuffled) < _shares(counts, keep)[value]]
    return sampled


def _keep(space: StateSpace, sampled: Integers) -> StateSpace:
    """The sampled states and their successors alone."""
    successors = space.targets[_rows(space.transition_offsets, sampled)]
    states = np.concatenate([sampled, np.setdiff1d(successors, sampled)])
    index = np.full(len(space), -1, np.int64)
    index[states] = np.arange(len(states))
    transitions, actions = np.zeros((2, len(states)), np.int64)
    transitions[: len(sampled)] = np.diff(space.transition_offsets)[sampled]
    actions[: len(sampled)] = np.diff(space.action_offsets)[sampled]
    applied = _rows(space.action_offsets, sampled)
    return replace(
        space,
        offsets=_offsets(np.diff(space.offsets)[states]),
        indices=space.indices[_rows(space.offsets, states)],
        distances=space.distances[states],
        transition_offsets=_offsets(transitions),
        targets=index[successors].astype(space.targets.dtype),
        action_offsets=_offsets(actions),
        applicable=space.applicable[applied],
        successors=index[space.successors[applied]].astype(space.successors.dtype),
        initial=int(index[space.initial]),
        listed=len(sampled),
    )


def rank_within_values(values: Integers, order: Integers) -> Integers:
    """(n,) how many with the same value come before each, in this order of all.

    >>> rank_within_values(np.array([7, 5, 7, 7]), np.array([3, 1, 0, 2])).tolist()
    [1, 0, 2, 0]
    """
    by_value = order[np.argsort(values[order], kind="stable")]
    _, counts = np.unique(values, return_counts=True)
    ranks = np.empty(len(values), np.int64)
    ranks[by_value] = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    return ranks


def _near_plans(space: StateSpace, detour: int) -> Integers:
    """The listed states on ways from the initial state, itself one, to a goal that are not too long, sorted."""
    longest = min(int(space.distances[space.initial]) + detour, 2 * len(space))  # which no shortest way exceeds
    g = np.full(len(space), -1, np.int64)
    layer, length = np.array([space.initial]), 0
    while len(layer) and length <= longest:  # breadth first
        g[layer] = length
        after = np.unique(space.targets[_rows(space.transition_offsets, layer)])
        layer, length = after[g[after] < 0], length + 1
    near = (g >= 0) & (space.distances >= 0) & (g + space.distances <= longest)
    near[space.initial] = True
    return np.flatnonzero(near[: space.listed])


def _shares(counts: Integers, keep: int) -> Integers:
    """How many to keep of each value: the same number of all, or all there are, ``keep`` together; at least one."""
    shares, left = np.zeros_like(counts), keep
    for done, value in enumerate(np.argsort(counts, kind="stable")):
        shares[value] = min(counts[value], max(left // (len(counts) - done), 1))
        left -= shares[value]
    return shares


def _rows(offsets: Integers, rows: Integers) -> Integers:
    """The positions of all entries of these rows of a CSR array, row by row."""
    lengths = offsets[rows + 1] - offsets[rows]
    return np.repeat(offsets[rows] - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())


def _offsets(counts: Integers) -> Integers:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])

"""Packed search: all states of a grounded problem and their optimal distances, many states per array operation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from trifold.pddl.atoms import Integers
from trifold.pddl.grounding import MAX_ACTIONS, GroundAction, Grounding

Words = NDArray[np.uint64]
WORD = np.dtype("<u8")  # little-endian, so that bit i of a state is bit i of its bytes
BITS = 64
BLOCK_BYTES = 1 << 22
"""How much a block of states may take while it is tested which actions apply."""

UNPACKED = 1 << 16
"""How many states are unpacked at a time."""

NAME_BITS, TARGET_BITS = MAX_ACTIONS.bit_length(), 31
"""Of a name, of which there are no more than actions, and of a state. What is left is for states of a block."""

EMPTY = np.iinfo(np.int32).max
"""The mark of a slot without a state."""


class PackedStates:
    """Distinct states, numbered in the order of their discovery: a hash table with open addressing over arrays.

    words  (words, capacity): state i has the atoms whose bits are set in ``words[:, i]``

    Two states are one only if all their words are equal, whatever their hashes are.
    """

    def __init__(self, words: int) -> None:
        self.count = 0
        self.words = np.empty((words, 1024), WORD)
        self.slots = np.full(4096, EMPTY, np.int32)  # the state in each slot

    def insert(self, rows: Words) -> Integers:
        """The number of each state (words, states), new ones included; equal rows get the same number."""
        total = rows.shape[1]
        self._reserve(self.count + total)
        mask = np.uint64(len(self.slots) - 1)
        slot = (_hash(rows) & mask).astype(np.int64)
        numbers = np.empty(total, np.int32)
        pending = np.arange(total)
        while pending.size:
            found = self.slots[slot[pending]]
            claims = pending[found == EMPTY]
            if claims.size:
                # All that meet an empty slot claim it; the first one gets it, the others then find it there.
                places = slot[claims]
                turns = np.arange(len(claims), dtype=np.int32)
                np.minimum.at(self.slots, places, turns)
                won = self.slots[places] == turns
                winners = claims[won]
                new = np.arange(self.count, self.count + len(winners), dtype=np.int32)
                self.slots[slot[winners]] = new
                self.words[:, new[0] : new[-1] + 1] = rows[:, winners]
                self.count += len(new)
                found = self.slots[slot[pending]]
            equal = self.words[0, found] == rows[0, pending]
            for stored, wanted in zip(self.words[1:], rows[1:], strict=True):
                equal &= stored[found] == wanted[pending]
            numbers[pending[equal]] = found[equal]
            pending = pending[~equal]
            slot[pending] = (slot[pending] + 1) & int(mask)
        return numbers

    def _reserve(self, states: int) -> None:
        """Make room for this many states, with at most half of the slots taken."""
        if states > self.words.shape[1]:
            grown = np.empty((len(self.words), max(states, 2 * self.words.shape[1])), WORD)
            grown[:, : self.count] = self.words[:, : self.count]
            self.words = grown
        size = len(self.slots)
        while size < 2 * states:
            size *= 4
        if size > len(self.slots):
            self.slots = np.full(size, EMPTY, np.int32)
            slot = (_hash(self.words[:, : self.count]) & np.uint64(size - 1)).astype(np.int64)
            pending = np.arange(self.count, dtype=np.int32)
            while pending.size:
                free = pending[self.slots[slot[pending]] == EMPTY]
                self.slots[slot[free]] = free
                pending = pending[self.slots[slot[pending]] != pending]
                slot[pending] = (slot[pending] + 1) & (size - 1)


class Successors:
    """The actions of a grounded problem as arrays, applied to blocks of states.

    order             (actions,) which action of the grounding each one is
    planes, inverted  (literals,), (literals, 1): the atoms that conditions ask for, and whether for their absence
    conditions        the k-th literal of each action that has so many; actions with most literals come first
    added, kept       (words, actions): the bits that an action sets, and those that it does not delete
    block             how many states to take at a time
    """

    def __init__(self, actions: tuple[GroundAction, ...], atoms: int) -> None:
        sizes = [-len(action.positive) - len(action.negative) for action in actions]
        self.order = np.argsort(np.array(sizes, np.int64), kind="stable")
        ordered = [actions[index] for index in self.order]
        wanted = sorted({(atom, False) for a in ordered for atom in a.positive}
                        | {(atom, True) for a in ordered for atom in a.negative})  # fmt: skip
        plane = {literal: index for index, literal in enumerate(wanted)}
        self.planes = np.array([atom for atom, _ in wanted], np.int64)
        self.inverted = np.array([[negated] for _, negated in wanted], np.uint8).reshape(-1, 1)
        conditions = [
            [plane[atom, False] for atom in a.positive] + [plane[atom, True] for atom in a.negative] for a in ordered
        ]
        most = len(conditions[0]) if conditions else 0
        self.conditions = [np.array([row[k] for row in conditions if len(row) > k], np.int64) for k in range(most)]
        self.count = len(ordered)
        self.added = pack([a.added for a in ordered], atoms)
        self.kept = ~pack([a.deleted for a in ordered], atoms)
        self.block = max(BLOCK_BYTES // (self.count + len(wanted) + BITS * len(self.added)), 1)

    def of(self, states: Words) -> tuple[Integers, Integers, Words]:
        """Where actions lead from states (words, n): action and number of the source, (successors,) each, and words."""
        n = states.shape[1]
        planes = _bits(states).T[self.planes] ^ self.inverted  # (literals, n)
        able = np.ones((self.count, n), np.uint8)
        for condition in self.conditions:
            able[: len(condition)] &= planes[condition]
        action, source = np.divmod(np.flatnonzero(able.view(bool)), n)
        return action, source, np.stack([
            (word[source] & kept[action]) | added[action]
            for word, kept, added in zip(states, self.kept, self.added, strict=True)
        ])  # fmt: skip


@dataclass(frozen=True)
class Found:
    """States of a grounded problem, all that can be reached or some, and their successors.

    successors       its actions as arrays
    states           the states, the initial one first
    counts, targets  (states,), (transitions,): the successors of each state, ascending and distinct
    """

    grounding: Grounding
    successors: Successors
    states: PackedStates
    counts: Integers
    targets: Integers

    @property
    def met(self) -> int:
        """How many states there are."""
        return self.states.count

    @property
    def words(self) -> Words:
        """(words, states) the states as bits."""
        return self.states.words[:, : self.states.count]

    def actions(self, chosen: Integers) -> tuple[Integers, Integers, Integers]:
        """The applicable actions of some states, by what plans call them.

        return  (chosen,) how many; (Σ,) which of ``grounding.names``, ascending for each state; (Σ,) where they lead
        """
        called = self.grounding.called
        numbers = np.array([len(names) for names in called], np.int64)
        names = np.fromiter(chain.from_iterable(called), np.int64, int(numbers.sum()))
        starts = np.cumsum(numbers) - numbers
        counts, found = [], [np.empty(0, np.int64)]
        for first in range(0, len(chosen), self.successors.block):
            block = chosen[first : first + self.successors.block]
            action, source, rows = self.successors.of(self.words[:, block])
            ground, reached = self.successors.order[action], self.states.insert(rows).astype(np.int64)
            place = starts[ground]
            if (numbers != 1).any():
                many = numbers[ground]
                place = np.repeat(place - (np.cumsum(many) - many), many) + np.arange(many.sum())
                source, reached = np.repeat(source, many), np.repeat(reached, many)
            # Source, name and target in one number are the fastest to sort. Of a name there may be several actions.
            packed = np.sort(source << NAME_BITS + TARGET_BITS | names[place] << TARGET_BITS | reached)
            packed = packed[np.diff(packed >> TARGET_BITS, prepend=-1) > 0]
            counts.append(np.bincount(packed >> NAME_BITS + TARGET_BITS, minlength=len(block)))
            found.append(packed)
        rows = np.concatenate(found)
        number = np.concatenate(counts) if counts else np.empty(0, np.int64)
        return number, rows >> TARGET_BITS & (1 << NAME_BITS) - 1, rows & (1 << TARGET_BITS) - 1


def search(grounding: Grounding, max_states: int) -> Found | None:
    """All states reachable from the initial one, which is the first; None if there are more than the limit.

    States are numbered in the order of their discovery, which depends on the problem alone.
    """
    successors = Successors(grounding.actions, len(grounding.atoms))
    states = PackedStates(word_count(len(grounding.atoms)))
    states.insert(pack([grounding.initial], len(grounding.atoms)))
    counts, targets = [], []
    start = 0
    while start < states.count:
        stop = min(states.count, start + successors.block)
        _, source, rows = successors.of(states.words[:, start:stop])
        pairs = np.sort(source << 32 | states.insert(rows))
        if states.count > max_states:
            return None
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        counts.append(np.bincount(pairs >> 32, minlength=stop - start))
        targets.append(pairs.astype(np.int32))
        start = stop
    return Found(grounding, successors, states, np.concatenate(counts), np.concatenate(targets))


def distances(counts: Integers, targets: Integers, goals: Integers) -> Integers:
    """(states,) int32: the length of a shortest path to one of the goals, −1 where there is none."""
    states = len(counts)
    backward = np.sort(targets.astype(np.int64) << 32 | np.repeat(np.arange(states), counts))
    sources = backward.astype(np.int32)
    ends = np.cumsum(np.bincount(targets, minlength=states))
    degrees = np.diff(ends, prepend=0)
    found = np.full(states, -1, np.int32)
    first = np.empty(states, np.int32)
    layer, distance = goals, 0
    while layer.size:
        found[layer] = distance
        degree = degrees[layer]
        before = np.cumsum(degree) - degree
        rows = np.arange(degree.sum()) + np.repeat(ends[layer] - degree - before, degree)
        reached = sources[rows]
        reached = reached[found[reached] < 0]
        order = np.arange(len(reached), dtype=np.int32)
        first[reached] = order
        layer = reached[first[reached] == order]  # each once
        distance += 1
    return found


def holds(states: Words, positive: tuple[int, ...], negative: tuple[int, ...]) -> NDArray[np.bool_]:
    """(states,) whether all these atoms are true and all those false."""
    atoms = len(states) * BITS
    wanted, unwanted = pack([positive], atoms), pack([negative], atoms)
    return np.asarray(((states & wanted == wanted) & (states & unwanted == 0)).all(0))


def unpack(states: Words) -> tuple[Integers, Integers]:
    """How many atoms each state has (states,), and which, state by state, ascending (Σ atoms,)."""
    counts, atoms = [], []
    for start in range(0, states.shape[1], UNPACKED):
        bits = _bits(states[:, start : start + UNPACKED])
        counts.append(bits.sum(1, dtype=np.int64))
        atoms.append((np.flatnonzero(bits.view(bool)) % bits.shape[1]).astype(np.int32))
    return np.concatenate(counts), np.concatenate(atoms)


def pack(rows: Sequence[Sequence[int]], atoms: int) -> Words:
    """(words, rows): lists of atoms as bits."""
    packed = np.zeros((word_count(atoms), len(rows)), WORD)
    for index, row in enumerate(rows):
        for atom in row:
            packed[atom // BITS, index] |= np.uint64(1 << atom % BITS)
    return packed


def word_count(atoms: int) -> int:
    """How many words a state takes, at least one."""
    return max(-(-atoms // BITS), 1)


def _bits(states: Words) -> NDArray[np.uint8]:
    """(states, bits): the bits of the words."""
    return np.unpackbits(np.ascontiguousarray(states.T).view(np.uint8), axis=1, bitorder="little")


def _hash(rows: Words) -> Words:
    """(states,) a mix of the words of each state."""
    mixed = np.zeros(rows.shape[1], WORD)
    for word in rows:
        mixed ^= word
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
    return mixed

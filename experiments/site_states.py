"""What the figures of the site show: states from the page itself, their pairs, and the colours that networks see.

Nothing here is drawn, and nothing known beforehand: atoms come from the problem, pairs from the encoders, colours from
colour refinement, V* from the space of all states, and V from a model in the box.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import trifold
from trifold.domains import DOMAINS, domain_text
from trifold.encoders import Encoder, Pairs
from trifold.pddl import expand
from trifold.structures import TRIANGLE, Structures, concatenate
from trifold.wl import refine

Pair = tuple[str, str]

BLOCKS, SEED = 6, 3
"""Of the problem of the overview."""


@dataclass(frozen=True)
class Seen:
    """The initial state of a problem.

    atoms, goal  as tuples of a predicate and its objects
    structure    over the objects, as encoders read it
    """

    objects: tuple[str, ...]
    atoms: tuple[tuple[str, ...], ...]
    goal: tuple[tuple[str, ...], ...]
    structure: Structures

    @classmethod
    def of(cls, domain: str, text: str) -> Seen:
        """That of a problem of a domain in the box."""
        problem = trifold.load_problem(trifold.load_domain(domain_text(domain)), text)
        atoms, goal = (
            tuple(tuple(str(atom).strip("()").split()) for atom in some)
            for some in (problem.atoms(problem.initial_state), problem.goal)
        )
        return cls(tuple(problem.objects), atoms, goal, problem.structures([problem.initial_state]))

    @property
    def related(self) -> list[Pair]:
        """Different objects that share an atom of the state or of the goal: R_1, each pair once."""
        return sorted({(a, b) for _, *objects in (*self.atoms, *self.goal) for a in objects for b in objects if a < b})


@dataclass(frozen=True)
class Live:
    """The live pairs of A_t(S), and into how many compositions each of them is joined."""

    t: int
    compositions: Mapping[Pair, int]

    @classmethod
    def of(cls, state: Seen, t: int) -> Live:
        """As the encoder makes them."""
        encoded = Pairs(t)(state.structure)
        pairs = _pairs(state, encoded)
        triangles = encoded.atoms(TRIANGLE).tolist() if t else []
        found = Counter(pairs[third] for *_, third in triangles)
        return cls(t, {pair: found[pair] for pair in pairs})

    @property
    def triangles(self) -> int:
        """Compositions in all."""
        return sum(self.compositions.values())


@dataclass(frozen=True)
class Comparison:
    """Two states as an architecture sees them after some rounds: a class of each element, and whether all are alike."""

    first: Mapping[Pair | str, int]
    second: Mapping[Pair | str, int]
    is_alike: bool

    @classmethod
    def of(cls, states: tuple[Seen, Seen], encoder: Encoder, rounds: int | None) -> Comparison:
        """By colour refinement, for ``rounds`` layers or, if None, for any number."""
        encoded = encoder(concatenate([state.structure for state in states]))
        colours = refine(encoded, rounds)
        classes = iter(colours.elements.tolist())
        first, second = ({one: next(classes) for one in _elements(state, encoder)} for state in states)
        return cls(first, second, bool(colours.structures[0] == colours.structures[1]))


def two_cities(page: str) -> tuple[str, str]:
    """The problem in which packages stay in their cities, as the page has it, and the one with exchanged goals."""
    home = code_block(page, "cities/home.pddl")
    return home, code_block(page, "cities/away.pddl")


def code_block(page: str, title: str) -> str:
    """The text of a page's block of code with this title."""
    found = re.search(rf'^```\w+ title="{re.escape(title)}"\n(.*?)^```$', page, re.DOTALL | re.MULTILINE)
    if found is None:
        raise ValueError(f"the page has no block {title}")
    return found[1]


def distance(domain: str, text: str) -> int:
    """V* of the initial state."""
    return int(expand(domain_text(domain), text, 10**6).distances[0])


def falling_values() -> tuple[Seen, list[float]]:
    """A problem of Blocks, and V along the way that the policy of the model in the box takes through it."""
    text = DOMAINS["blocks-s"].problem(random.Random(SEED), BLOCKS)
    model = trifold.pretrained("blocks-s")
    problem = trifold.load_problem(model.domain, text)
    states = model.solve(problem, search="none").states
    return Seen.of("blocks-s", text), [float(value) for value in model.values(states)]


def _elements(state: Seen, encoder: Encoder) -> Sequence[Pair | str]:
    """What each element of an encoded state stands for, in order."""
    encoded = encoder(state.structure)
    return list(state.objects) if encoded.pairs is None else _pairs(state, encoded)


def _pairs(state: Seen, encoded: Structures) -> list[Pair]:
    assert encoded.pairs is not None
    return [(state.objects[first], state.objects[second]) for first, second in encoded.pairs.tolist()]

"""What some problems reach: their sizes, their V*, and the relations and goals that occur in them.

A model is asked to go beyond the sizes that it was trained on, never beyond the relations, goals and kinds of objects:
of what no training problem has, no network can learn anything. So this is what to look at before a training, and what
to compare a problem with that is to be solved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from trifold.data.labels import Labelled
from trifold.pddl import EVERY_OBJECT, DomainDescription, ProblemDescription, StateSpace
from trifold.sealed import Damaged
from trifold.structures import CONSTANT

GOAL = "@goal"
"""In the names of the relations of goals."""


@dataclass(frozen=True)
class Reach:
    """What one problem has.

    kinds      unary static relation, such as a type → how many objects it has
    relations  that occur in its states, or in its goal, as ``p@goal``
    states     how many are kept, ``dead_ends`` among them, and the largest V* of them; 0 where they are not known
    """

    objects: int
    kinds: dict[str, int]
    relations: frozenset[str]
    states: int = 0
    dead_ends: int = 0
    largest_value: int = 0

    @classmethod
    def of_space(cls, space: StateSpace) -> Reach:
        """What a labelled problem has, in any of its states."""
        table = space.table
        varying = np.flatnonzero(np.bincount(space.indices, minlength=len(table.relation)))
        names = [name for name, _ in table.relations]
        present = {names[r] for r in np.union1d(table.relation[varying], table.static_relation).tolist()}
        present = {name for name in present if not name.startswith(CONSTANT)}  # which every problem has
        single = table.static_arguments[:, 0] != EVERY_OBJECT if len(table.static_relation) else np.empty(0, bool)
        counts = Counter(table.static_relation[single].tolist())
        kinds = {names[r]: count for r, count in counts.items() if table.relations[r][1] == 1 and names[r] in present}
        return cls(
            len(space.objects),
            _sorted({name: count for name, count in kinds.items() if GOAL not in name}),
            frozenset(present),
            len(space),
            int((space.distances < 0).sum()),
            int(space.distances.max(initial=0)),
        )

    @classmethod
    def of_problem(cls, domain: DomainDescription, problem: ProblemDescription) -> Reach:
        """What a problem has at its start, read from its text alone: no state of it is looked at."""
        kinds: Counter[str] = Counter()
        for types in problem.objects.values():
            above = domain.types_above(types)
            kinds.update(relation for name, relation in domain.type_relations.items() if name in above)
        relations = {literal.predicate for literal in problem.initial} | set(kinds)
        for literal in problem.initial:
            if literal.predicate not in domain.changing and len(literal.arguments) == 1:
                kinds[literal.predicate] += 1
        relations |= {f"{goal.predicate}{GOAL}{'' if goal.positive else '-not'}" for goal in problem.goal}
        return cls(len(problem.objects), _sorted(kinds), frozenset(relations))


@dataclass(frozen=True)
class Extent:
    """What some problems have among them.

    sizes      (objects, how many problems have so many), ascending
    kinds      kind of objects → the fewest and the most that a problem has
    relations  relation → how many problems have it; goals are ``p@goal`` and ``p@goal-not``
    """

    problems: int
    states: int
    dead_ends: int
    largest_value: int
    sizes: tuple[tuple[int, int], ...]
    kinds: dict[str, tuple[int, int]]
    relations: dict[str, int]

    @classmethod
    def of(cls, reaches: Iterable[Reach]) -> Extent:
        """Add up what each of some problems has.

        >>> extent = Extent.of([Reach(3, {"ball": 1}, frozenset({"ball"})), Reach(5, {}, frozenset())])
        >>> extent.objects, extent.kinds, extent.relations
        ((3, 5), {'ball': (0, 1)}, {'ball': 1})
        """
        found = list(reaches)
        names = sorted({name for reach in found for name in reach.kinds})
        counts = {name: [reach.kinds.get(name, 0) for reach in found] for name in names}
        return cls(
            len(found),
            sum(reach.states for reach in found),
            sum(reach.dead_ends for reach in found),
            max((reach.largest_value for reach in found), default=0),
            tuple(sorted(Counter(reach.objects for reach in found).items())),
            {name: (min(numbers), max(numbers)) for name, numbers in counts.items()},
            _sorted(Counter(name for reach in found for name in reach.relations)),
        )

    @classmethod
    def of_labelled(cls, labelled: Sequence[Labelled]) -> Extent:
        """What the problems that could be labelled have."""
        return cls.of(Reach.of_space(item.space) for item in labelled if item.space is not None)

    @property
    def objects(self) -> tuple[int, int]:
        """The fewest and the most objects of a problem."""
        return (self.sizes[0][0], self.sizes[-1][0]) if self.sizes else (0, 0)

    def to_json(self) -> dict[str, Any]:
        """The extent as JSON."""
        return asdict(self) | {
            "sizes": [list(pair) for pair in self.sizes],
            "kinds": {name: list(pair) for name, pair in self.kinds.items()},
        }

    @classmethod
    def from_json(cls, content: Any) -> Extent:
        """The extent that ``to_json`` wrote; anything else is ``Damaged``."""
        match content:
            case {
                "problems": int(problems),
                "states": int(states),
                "dead_ends": int(dead_ends),
                "largest_value": int(largest),
                "sizes": [*sizes],
                "kinds": dict() as kinds,
                "relations": dict() as relations,
            } if all(map(_is_pair, [*sizes, *kinds.values()])) and all(type(n) is int for n in relations.values()):
                pairs = tuple((size, count) for size, count in sizes)
                spans = {name: (pair[0], pair[1]) for name, pair in kinds.items()}
                return cls(problems, states, dead_ends, largest, pairs, spans, dict(relations))
        raise Damaged("it does not say what its training problems have")

    @property
    def goals(self) -> dict[str, int]:
        """Relation of goals → how many problems have it."""
        return {name: count for name, count in self.relations.items() if GOAL in name}


def _sorted(counts: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def _is_pair(value: object) -> bool:
    return isinstance(value, list | tuple) and [type(number) for number in value] == [int, int]

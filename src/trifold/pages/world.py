"""What a page draws: the objects of a problem, its goal, and all atoms that hold somewhere on the ways shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from trifold.errors import TrifoldError
from trifold.pddl import Executor, Literal

Atom = tuple[str, ...]
"""A predicate, and its objects."""

Pair = tuple[str, str]


@dataclass(frozen=True)
class World:
    """Objects, a goal, and the ways through the states of a problem.

    objects   name → its types and all above them, without the root
    arities   predicate → how many arguments it has
    goal      its literals
    ways      of each trace the atoms of its states, the initial one first, derived ones included
    """

    objects: dict[str, tuple[str, ...]]
    arities: dict[str, int]
    goal: tuple[Literal, ...]
    ways: tuple[tuple[frozenset[Atom], ...], ...]

    @classmethod
    def of(cls, executor: Executor, plans: Iterable[Sequence[str]]) -> World:
        """The ways that actions lead along, replayed by the executor, which shares no engine with who found them."""
        domain, problem = executor.domain, executor.problem
        objects = {
            name: tuple(sorted(domain.types_above(types) - {"object"})) for name, types in problem.objects.items()
        }
        arities = {name: len(parameters) for name, parameters in domain.predicates.items()}
        return cls(objects, arities, problem.goal, tuple(_way(executor, actions) for actions in plans))

    @cached_property
    def static(self) -> frozenset[Atom]:
        """The atoms that hold in every state shown."""
        return frozenset.intersection(*(state for way in self.ways for state in way))

    @cached_property
    def atoms(self) -> frozenset[Atom]:
        """The atoms that hold in some state, and those of the goal."""
        goal = frozenset((literal.predicate, *literal.arguments) for literal in self.goal)
        return goal.union(*(state for way in self.ways for state in way))

    @property
    def initial(self) -> frozenset[Atom]:
        """The atoms of the initial state."""
        return self.ways[0][0]

    def has(self, *signatures: str) -> bool:
        """Whether the domain has all of these predicates, written as ``on/2``."""
        return all(self.arities.get(name) == int(arity) for name, _, arity in (s.partition("/") for s in signatures))

    def first(self, *signatures: str) -> str | None:
        """The first of these predicates that the domain has; None if it has none of them."""
        return next((signature.partition("/")[0] for signature in signatures if self.has(signature)), None)

    def of_predicate(self, name: str) -> list[tuple[str, ...]]:
        """The arguments of all atoms of a predicate that hold initially, sorted."""
        return sorted(atom[1:] for atom in self.initial if atom[0] == name)

    def pairs(self, name: str) -> list[Pair]:
        """The same of a predicate, if it has two arguments."""
        return [(own[0], own[1]) for own in self.of_predicate(name) if len(own) == 2]

    def places(self, *positions: tuple[str, int]) -> list[str]:
        """The objects that occur as these arguments of these predicates, initially or later, in their order."""
        found = {atom[i + 1] for atom in self.atoms for name, i in positions if atom[0] == name and len(atom) > i + 1}
        return [name for name in self.objects if name in found]


def _way(executor: Executor, actions: Sequence[str]) -> tuple[frozenset[Atom], ...]:
    states = [executor.initial]
    for action in actions:
        after = executor.successor(states[-1], action)
        if after is None:
            raise TrifoldError(
                f"step {len(states)}, {action}, is not applicable",
                place=executor.problem.name,
                remedy="give the explanation together with the problem that it is of",
            )
        states.append(after)
    return tuple(executor.closure(state) for state in states)

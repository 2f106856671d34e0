"""States in PDDL, so that a person can see why no network tells two of them apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trifold.data import Labelled
from trifold.pddl import Literal

GOAL, GOAL_NOT = "@goal", "@goal-not"


@dataclass(frozen=True)
class WitnessState:
    """One state of a problem.

    problem   the problem's folder and file
    value     V*, or for a dead end its capped target
    dead_end  whether it has no plan
    atoms     those that actions change, in PDDL; the others are as in the problem
    goal      the literals of the goal, in PDDL
    """

    problem: str
    value: float
    dead_end: bool
    atoms: tuple[str, ...]
    goal: tuple[str, ...]

    def to_pddl(self) -> str:
        """The state as the problem's sections :init, static atoms aside, and :goal."""
        value = f"a dead end, counted as {self.value:g}" if self.dead_end else f"V* = {self.value:g}"
        head = f"; {self.problem}, {value}; static atoms as there"
        return f"{head}\n(:init {' '.join(self.atoms)})\n(:goal (and {' '.join(self.goal)}))"


def describe_state(item: Labelled, state: int, value: float) -> WitnessState:
    """A state of a labelled problem as text."""
    space = item.space
    if space is None:
        raise ValueError(f"{item.path} has no labelled states")
    table = space.table

    def atom(relation: int, arguments: Sequence[int]) -> str:
        name, arity = table.relations[relation]
        names = [space.objects[index] for index in arguments[:arity] if index >= 0]  # a nullary atom has none
        return str(Literal(name.partition("@")[0], tuple(names), not name.endswith(GOAL_NOT)))

    rows = space.indices[space.offsets[state] : space.offsets[state + 1]]
    static = zip(table.static_relation.tolist(), table.static_arguments.tolist(), strict=True)
    goal = [one for one in static if table.relations[one[0]][0].endswith((GOAL, GOAL_NOT))]
    return WitnessState(
        problem=f"{item.path.parent.name}/{item.path.name}",
        value=value,
        dead_end=bool(space.distances[state] < 0),
        atoms=tuple(map(atom, table.relation[rows].tolist(), table.arguments[rows].tolist())),
        goal=tuple(atom(*one) for one in goal),
    )

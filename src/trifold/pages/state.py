"""The page of one state: its drawing alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from trifold.pages.drawing import choose_drawing
from trifold.pages.kinds import STATE
from trifold.pages.skeleton import fill
from trifold.pages.world import Atom, World
from trifold.pddl import Executor, Problem, State


def state_page(shown: Problem | State) -> str:
    """The page of a state, or of the initial one of a problem: its drawing alone, in all the room that it is given.

    >>> from trifold import load_domain, load_problem
    >>> page = state_page(load_problem(load_domain("gripper/domain.pddl"), "problem.pddl"))
    >>> page.count("<script"), "https:" in page, page[:15]
    (2, False, '<!doctype html>')
    """
    if isinstance(shown, Problem):
        return fill(STATE, f"{shown.name}: a picture", state_data(shown.executor))
    atoms = frozenset(tuple(atom.strip("()").split()) for atom in shown.problem.atoms(shown))
    return fill(STATE, f"{shown.problem.name}: a state", state_data(shown.problem.executor, atoms))


def state_data(executor: Executor, state: frozenset[Atom] | None = None) -> dict[str, Any]:
    """All that a drawing of a state shows: of the initial one, or of one in which these atoms hold.

    It is that of a trace that leads from the one to the other in a step, so that what does not change is known.
    """
    initial = World.of(executor, [()])
    way = initial.ways[0] if state is None else (*initial.ways[0], state)
    known, atoms = world_data(replace(initial, ways=(way,)))
    steps = [difference(way[i - 1] if i else frozenset(), way[i], atoms) for i in range(len(way))]
    return known | {"problem": executor.problem.name, "traces": [{"steps": steps}], "actions": []}


def world_data(world: World) -> tuple[dict[str, Any], dict[Atom, int]]:
    """What all traces share, and the numbers of the atoms."""
    predicates, objects = sorted({atom[0] for atom in world.atoms} | set(world.arities)), list(world.objects)
    numbers = {name: i for i, name in enumerate(predicates)}, {name: i for i, name in enumerate(objects)}
    atoms = {atom: i for i, atom in enumerate(sorted(world.atoms))}
    known = {
        "objects": [[name, list(types)] for name, types in world.objects.items()],
        "predicates": predicates,
        "atoms": [[numbers[0][name], *(numbers[1][one] for one in rest)] for name, *rest in atoms],
        "static": _sorted(atoms, world.static),
        "goal": [[atoms[literal.predicate, *literal.arguments], int(literal.positive)] for literal in world.goal],
        "drawing": choose_drawing(world),
    }
    return known, atoms


def difference(before: frozenset[Atom], after: frozenset[Atom], atoms: dict[Atom, int]) -> dict[str, Any]:
    """What a step takes away, and what it puts to a state, by the numbers of the atoms."""
    return {"less": _sorted(atoms, before - after), "more": _sorted(atoms, after - before)}


def _sorted(atoms: dict[Atom, int], some: Iterable[Atom]) -> list[int]:
    return sorted(atoms[atom] for atom in some)

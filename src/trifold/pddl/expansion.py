"""Expansion: the whole state space of a small problem with optimal distances, by packed search or by pymimir's."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from trifold.errors import TrifoldError
from trifold.expressions import Source
from trifold.outcomes import Outcome
from trifold.pddl import around, packed
from trifold.pddl.actions import ActionTable, GroundName, parse_action
from trifold.pddl.atoms import AtomTable, Integers
from trifold.pddl.grounding import Grounding, GroundingError, ground
from trifold.pddl.problem import Problem, load_domain, load_problem
from trifold.pddl.sampling import ListActions, sample_states
from trifold.pddl.state_space import AROUND, StateSpace

CHUNK = 50_000
"""How many states are unpacked at a time."""


class StateLimitError(TrifoldError):
    """The problem has more states than the limit."""


class UnsolvableError(TrifoldError):
    """The goal needs a static atom to be other than it is, so no state has a plan."""


def expand(domain: str | Path | Source, problem: str | Path | Source, max_states: int) -> StateSpace:
    """Expand every reachable state, past goals too, and label it with V*; above the limit, StateLimitError.

    Packed search does it where the problem can be grounded, ten to twenty-five times as fast as pymimir, which does
    the others: ``engine`` of the result says which it was.
    """
    with expanded(domain, problem, max_states) as (space, list_actions):
        return list_actions(space, np.arange(len(space)))


def expand_with_pymimir(domain: str | Path | Source, problem: str | Path | Source, max_states: int) -> StateSpace:
    """The same by pymimir alone, for any problem: the states and all about them are equal, their order is not."""
    with expanded(domain, problem, max_states, pymimir=True) as (space, list_actions):
        return list_actions(space, np.arange(len(space)))


@contextmanager
def expanded(
    domain: str | Path | Source, problem: str | Path | Source, max_states: int, *, pymimir: bool = False
) -> Iterator[tuple[StateSpace, ListActions]]:
    """The whole space without its actions, and what lists those of some states while the problem is held."""
    loaded = _load(domain, problem)
    try:
        try:
            grounding = None if pymimir else ground(loaded)
        except GroundingError:
            grounding = None
        if grounding is None:
            yield _expand_with_pymimir(loaded, max_states)
        else:
            yield _expand_packed(loaded, grounding, max_states)
    finally:
        loaded.release()


@contextmanager
def expanded_around(
    domain: str | Path | Source, problem: str | Path | Source, plan: Source, max_states: int
) -> Iterator[tuple[StateSpace, ListActions]]:
    """About so many states around a plan in IPC format, and what lists the actions of some of them.

    It raises a GroundingError where the problem is not STRIPS, or too large.
    """
    loaded = _load(domain, problem)
    try:
        found = around.explore(loaded, plan, min(max_states, around.MOST_STATES))
        yield _packed_space(loaded, found, found.distances, found.listed, AROUND)
    finally:
        loaded.release()


def _load(domain: str | Path | Source, problem: str | Path | Source) -> Problem:
    """The problem, unless it has no plan whatever its actions are."""
    loaded = load_problem(load_domain(domain), problem)
    if not loaded.engine.goal.test_static_goal():
        loaded.release()
        raise UnsolvableError("the goal can never hold: it asks for a static atom that is false", place=loaded.name)
    return loaded


def _expand_packed(problem: Problem, grounding: Grounding, max_states: int) -> tuple[StateSpace, ListActions]:
    found = packed.search(grounding, max_states)
    if found is None:
        raise _state_limit(problem, max_states)
    goals = np.flatnonzero(packed.holds(found.words, *grounding.goal))
    values = packed.distances(found.counts, found.targets, goals)
    return _packed_space(problem, found, values, len(values), "packed")


def _packed_space(
    problem: Problem, found: packed.Found | around.Around, values: Integers, listed: int, engine: str
) -> tuple[StateSpace, ListActions]:
    """The space of packed states with these values, the initial one first, and what lists the actions of some."""
    grounding = found.grounding
    counts, atoms = packed.unpack(found.words)
    met = np.bincount(atoms, minlength=len(grounding.atoms)) > 0
    index = problem.atom_index
    rows = [index.row(*atom) for atom, is_met in zip(grounding.atoms, met, strict=True) if is_met]
    varying = np.array(rows, np.int32).reshape(-1, 1 + index.width)
    static = index.static_rows
    numbers = (np.cumsum(met) - 1).astype(np.min_scalar_type(max(len(rows) - 1, 0)))

    def list_actions(space: StateSpace, chosen: Integers) -> StateSpace:
        return _with_actions(problem, space, chosen, grounding.names, *found.actions(chosen))

    space = StateSpace(
        domain=problem.domain.name,
        problem=problem.name,
        table=AtomTable(index.relations, problem.objects, varying[:, 0], varying[:, 1:], static[:, 0], static[:, 1:]),
        offsets=_offsets(counts),
        indices=numbers[atoms],
        distances=values,
        transition_offsets=_offsets(found.counts),
        targets=found.targets,
        **_no_actions(problem, len(counts)),
        initial=0,
        states=found.met,
        listed=listed,
        engine=engine,
    )
    return space, list_actions


def _expand_with_pymimir(problem: Problem, max_states: int) -> tuple[StateSpace, ListActions]:
    from pymimir.advanced import datasets

    options = datasets.StateSpaceOptions()
    options.max_num_states = max_states + 1  # pymimir stops when it reaches its limit, not when it passes it
    options.remove_if_unsolvable = False
    options.symmetry_pruning = False
    created = datasets.StateSpace.create(problem.engine.context, options)
    if created is None:
        raise _state_limit(problem, max_states)
    space = created[0]
    graph = space.get_graph()
    vertices = graph.get_vertices()
    states = len(vertices)

    counts, numbers = [], []
    for start in range(0, states, CHUNK):
        handles = [datasets.get_state(vertex) for vertex in vertices[start : start + CHUNK]]
        offsets, chunk = problem.atom_index.gather(handles)
        counts.append(np.diff(offsets))
        numbers.append(chunk)
    table = problem.atom_index.table
    offsets = _offsets(np.concatenate(counts))
    owner = np.repeat(np.arange(states), np.diff(offsets))
    ranks = table.rank[np.concatenate(numbers)]
    indices = ranks[np.lexsort((ranks, owner))]

    distances = np.fromiter(map(datasets.get_unit_goal_distance, vertices), np.int64, states)
    distances[np.fromiter(map(datasets.is_unsolvable, vertices), bool, states)] = -1

    edges = graph.get_edges()
    source = np.fromiter((edge.get_source() for edge in edges), np.int64, len(edges))
    target = np.fromiter((edge.get_target() for edge in edges), np.int64, len(edges))
    pairs = np.unique(source * states + target)

    def list_actions(whole: StateSpace, chosen: Integers) -> StateSpace:
        return _with_actions(problem, whole, chosen, *_apply_actions(problem, vertices, chosen))

    found = StateSpace(
        domain=problem.domain.name,
        problem=problem.name,
        table=_sorted(table),
        offsets=offsets,
        indices=indices.astype(np.min_scalar_type(max(len(table.relation) - 1, 0))),
        distances=distances.astype(np.int32),
        transition_offsets=_offsets(np.bincount(pairs // states, minlength=states)),
        targets=(pairs % states).astype(np.int32),
        **_no_actions(problem, states),
        initial=space.get_initial_vertex(),
        states=states,
        listed=states,
        engine="pymimir",
    )
    return found, list_actions


def _apply_actions(
    problem: Problem, vertices: Sequence[Any], chosen: Integers
) -> tuple[list[GroundName], Integers, Integers, Integers]:
    """All actions of some vertices by pymimir: their names, sorted, and as ``packed.Found.actions`` has them."""
    from pymimir.advanced import datasets

    indices = np.fromiter((datasets.get_state(vertex).get_index() for vertex in vertices), np.int64, len(vertices))
    vertex_of = np.empty(indices.max() + 1, np.int64)
    vertex_of[indices] = np.arange(len(vertices))
    number: dict[str, int] = {}
    rows = array("q")  # three numbers for each action of each state: there may be millions
    for row, vertex in enumerate(chosen.tolist()):
        for text, successor in problem.successors(problem.state_of(datasets.get_state(vertices[vertex]))):
            rows.extend((row, number.setdefault(text, len(number)), successor.handle.get_index()))
    met = [parse_action(text) for text in number]
    names = problem.sort_actions(met)
    place = {name: index for index, name in enumerate(names)}
    rank = np.array([place[name] for name in met], np.int64)
    source, action, target = np.array(rows, np.int64).reshape(-1, 3).T
    order = np.lexsort((rank[action], source))
    return names, np.bincount(source, minlength=len(chosen)), rank[action][order], vertex_of[target][order]


def _no_actions(problem: Problem, states: int) -> dict[str, Any]:
    """The actions of a space before any are listed."""
    none = np.empty(0, np.int32)
    table = ActionTable.of(problem.domain.schemas, problem.objects, [])
    return {
        "actions": table,
        "action_offsets": np.zeros(states + 1, np.int64),
        "applicable": none,
        "successors": none,
    }


def _with_actions(
    problem: Problem,
    space: StateSpace,
    chosen: Integers,
    names: Sequence[GroundName],
    counts: Integers,
    actions: Integers,
    targets: Integers,
) -> StateSpace:
    """The space with the actions of the chosen states, which ascend, and a table of those that occur."""
    occurs = np.bincount(actions, minlength=len(names)) > 0
    met = np.flatnonzero(occurs)
    numbers = (np.cumsum(occurs) - 1).astype(np.min_scalar_type(max(len(met) - 1, 0)))
    spread = np.zeros(len(space), np.int64)
    spread[chosen] = counts
    return replace(
        space,
        actions=ActionTable.of(problem.domain.schemas, problem.objects, [names[index] for index in met.tolist()]),
        action_offsets=_offsets(spread),
        applicable=numbers[actions],
        successors=targets.astype(np.int32),
    )


def expand_to_file(job: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """What a child process does: expand a problem into a file, and return what is in it.

    job     domain, problem: [text, name] of each; max_states; keep and detour: what to sample; path of the file; plan:
            [text, name] of one around which states are expanded if there are more, or None
    return  outcome: labelled, state limit or unsolvable; message; and the counts if a file was written
    """
    try:
        try:
            with expanded(Source(*job["domain"]), Source(*job["problem"]), job["max_states"]) as (space, list_actions):
                return _write(job, space, job["detour"], list_actions)
        except StateLimitError as error:
            if job.get("plan") is None:
                raise
            return _expand_around(job, error)
    except StateLimitError as error:
        return {"outcome": Outcome.STATE_LIMIT, "message": error.message}
    except UnsolvableError as error:
        return {"outcome": Outcome.UNSOLVABLE, "message": error.message}


def _expand_around(job: dict[str, Any], limit: StateLimitError) -> dict[str, Any]:
    """The same around the job's plan, or the limit again where that cannot be done."""
    detour = around.MOST_DETOUR if job["detour"] is None else min(around.MOST_DETOUR, job["detour"])
    sources = Source(*job["domain"]), Source(*job["problem"])
    try:
        with expanded_around(*sources, Source(*job["plan"]), job["max_states"]) as (space, list_actions):
            facts = _write(job, space, detour, list_actions)
    except GroundingError:
        raise limit from None
    return facts | {"message": f"{limit.message}: V is of ways around a plan"}


def _write(job: dict[str, Any], space: StateSpace, detour: int | None, list_actions: ListActions) -> dict[str, Any]:
    """Write what is kept of a space to a file, if there is a plan at all, and say what it is."""
    solvable = space.distances[space.initial] >= 0
    kept = space
    if solvable:
        kept = sample_states(space, job["keep"], detour, list_actions=list_actions)
        kept.save(job["path"])
    return {
        "outcome": Outcome.LABELLED if solvable else Outcome.UNSOLVABLE,
        "message": "" if solvable else "there is no plan from the initial state",
        "states": len(space),
        "kept": len(kept),
        "dead_ends": int((space.distances < 0).sum()),
        "max_distance": int(kept.distances.max()),
    }


def _state_limit(problem: Problem, max_states: int) -> StateLimitError:
    return StateLimitError(
        f"the problem has more than {max_states:,} states",
        place=problem.name,
        remedy="use a smaller problem, or raise the limit",
    )


def _sorted(table: AtomTable) -> AtomTable:
    """The table with its varying atoms in sorted order, so that files do not depend on the order of discovery."""
    order = np.argsort(table.rank)
    return AtomTable(
        table.relations,
        table.objects,
        table.relation[order],
        table.arguments[order],
        table.static_relation,
        table.static_arguments,
    )


def _offsets(counts: Integers) -> Integers:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])

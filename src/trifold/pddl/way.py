"""V* along a way: of each of its states, and of all their successors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trifold.expressions import Source
from trifold.outcomes import Outcome
from trifold.pddl.expansion import StateLimitError, UnsolvableError, expanded
from trifold.pddl.problem import Problem, State, load_domain, load_problem
from trifold.pddl.state_space import StateSpace


def label_way(job: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """What a child process does: expand a problem, and return V* along the way that some actions lead.

    job     domain, problem: [text, name] of each; max_states; actions: each applicable after those before it
    return  outcome: labelled, state limit or unsolvable; message; and if labelled states, how many the problem has,
            distances, V* of each state on the way, and successors, of each state its actions with the V* that each
            leads to. V* of a dead end is −1.
    """
    sources = Source(*job["domain"]), Source(*job["problem"])
    try:
        with expanded(*sources, job["max_states"]) as (space, _):
            problem = load_problem(load_domain(sources[0]), sources[1])
            found = _follow(problem, space, job["actions"])
            problem.release()
    except StateLimitError as error:
        return {"outcome": Outcome.STATE_LIMIT, "message": error.message}
    except UnsolvableError as error:
        return {"outcome": Outcome.UNSOLVABLE, "message": error.message}
    return {"outcome": Outcome.LABELLED, "message": "", "states": len(space), **found}


def _follow(problem: Problem, space: StateSpace, actions: list[str]) -> dict[str, Any]:
    """V* of the states on the way, and of their successors: both are found among the successors in the space."""
    index, table = problem.atom_index, space.table
    numbers = {
        (relation, *arguments): number
        for number, (relation, arguments) in enumerate(
            zip(table.relation.tolist(), table.arguments.tolist(), strict=True)
        )
    }

    def atoms(state: State) -> frozenset[int]:
        _, found = index.gather([state.handle])
        literals = [index.literals[atom] for atom in found.tolist()]
        return frozenset(numbers[tuple(index.row(one.predicate, one.arguments))] for one in literals)

    def atoms_in_space(number: int) -> frozenset[int]:
        return frozenset(space.indices[space.offsets[number] : space.offsets[number + 1]].tolist())

    state, number = problem.initial_state, space.initial
    distances, successors = [int(space.distances[number])], []
    for action in [*actions, None]:
        start, end = space.transition_offsets[number : number + 2]
        near = {atoms_in_space(target): target for target in space.targets[start:end].tolist()}
        ways = {text: (after, near[atoms(after)]) for text, after in problem.successors(state)}
        successors.append({text: int(space.distances[target]) for text, (_, target) in ways.items()})
        if action is not None:
            state, number = ways[action]
            distances.append(int(space.distances[number]))
    return {"distances": distances, "successors": successors}

"""A labelled state space: every reachable state of a problem, its optimal distance, and its file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trifold.errors import TrifoldError
from trifold.pddl.actions import ActionTable
from trifold.pddl.atoms import EVERY_OBJECT, AtomTable, Integers
from trifold.sealed import Damaged
from trifold.tensor_file import open_tensors, write_tensors

if TYPE_CHECKING:
    from trifold.structures import Structures

AROUND = "around a plan"
"""The engine of a space that has not all states, but those around a plan."""

FORMAT = "trifold state space"
VERSION = 5
MAX_ARITY = 100
ARRAYS = (
    *("offsets", "indices", "distances", "transition_offsets", "targets"),
    *("action_offsets", "applicable", "successors"),
)
TABLE_ARRAYS = ("relation", "arguments", "static_relation", "static_arguments")
ACTION_ARRAYS = ("schema", "action_arguments")
DTYPES = {f"{sign}{8 * width}": np.dtype(f"{sign.lower()}{width}") for sign in "IU" for width in (1, 2, 4, 8)}
"""The integers that arrays are made of, by their names in a file."""


@dataclass(frozen=True)
class StateSpace:
    """The reachable states of a problem with V*, the length of a shortest plan from each.

    table               the problem's atoms; varying ones are numbered in sorted order
    offsets, indices    (states + 1,), (Σ atoms,): state i has the atoms ``indices[offsets[i]:offsets[i + 1]]``, sorted
    distances           (states,) int32: V*, or −1 for a dead end; V* or more if it is a space around a plan
    transition_offsets, targets
                        (states + 1,), (transitions,): the successors of each state, ascending, each once however many
                        actions lead there. Goal states have successors too.
    actions             ground actions, those that are applicable in a listed state among them, by schema and objects
    action_offsets, applicable, successors
                        (states + 1,), (Σ,), (Σ,): the actions of each listed state, ascending, and where each leads
    initial             the initial state
    states              how many states the problem has; the space holds all of them unless it was sampled. Around a
                        plan, how many were met: fewer
    listed              so many states have their successors listed; the others are only successors of sampled ones
    engine              what expanded it, "packed" or "pymimir"; only the order of the states depends on it. Or AROUND
    """

    domain: str
    problem: str
    table: AtomTable
    offsets: Integers
    indices: Integers
    distances: Integers
    transition_offsets: Integers
    targets: Integers
    actions: ActionTable
    action_offsets: Integers
    applicable: Integers
    successors: Integers
    initial: int
    states: int
    listed: int
    engine: str

    def __len__(self) -> int:
        """How many states it holds."""
        return len(self.distances)

    @property
    def is_bound(self) -> bool:
        """Whether it is a space around a plan, and V an upper bound of V*, which it mostly is near the plan."""
        return self.engine == AROUND

    @property
    def objects(self) -> tuple[str, ...]:
        """The names of the objects."""
        return self.table.objects

    def structures(self) -> Structures:
        """One structure over the objects per state."""
        return self.table.structures(self.offsets, self.indices)

    def part(self, states: Integers) -> Structures:
        """One structure over the objects for each of these states, in their order."""
        lengths = self.offsets[states + 1] - self.offsets[states]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        places = np.repeat(self.offsets[states] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return self.table.structures(offsets, self.indices[places])

    def optimal_actions(self) -> Integers:
        """(Σ,) 1 for each action that leads one step nearer to a goal; none of a goal or a dead end does."""
        before = np.repeat(self.distances, np.diff(self.action_offsets))
        optimal: Integers = (before > 0) & (self.distances[self.successors] == before - 1)
        return optimal.astype(np.int64)

    def queries(self) -> Structures:
        """One structure over the objects per listed state, with its actions as queries: optimal ones, and others."""
        offsets = self.offsets[: self.listed + 1]
        structures = self.table.structures(offsets, self.indices[: offsets[-1]])
        counts = np.diff(self.action_offsets)[: self.listed]
        return self.actions.add_queries(structures, counts, self.applicable, self.optimal_actions())

    def save(self, path: str | Path) -> None:
        """Write the space to a sealed safetensors file, which is there whole or not at all."""
        from safetensors.numpy import save

        arrays = {name: getattr(self, name) for name in ARRAYS}
        arrays |= {name: getattr(self.table, name) for name in TABLE_ARRAYS}
        arrays |= dict(zip(ACTION_ARRAYS, (self.actions.schema, self.actions.arguments), strict=True))
        about = {
            "format": FORMAT,
            "version": VERSION,
            "domain": self.domain,
            "problem": self.problem,
            "relations": self.table.relations,
            "objects": self.table.objects,
            "schemas": self.actions.schemas,
            "initial": self.initial,
            "states": self.states,
            "listed": self.listed,
            "engine": self.engine,
        }
        write_tensors(Path(path), save, {n: np.ascontiguousarray(array) for n, array in arrays.items()}, about)

    @classmethod
    def load(cls, path: str | Path) -> StateSpace:
        """Read a space from its file."""
        try:
            with open_tensors(Path(path)) as file:
                about = file.header
                if (about.get("format"), about.get("version")) != (FORMAT, VERSION):
                    raise Damaged("it has another format or version")
                if not file.sealed or file.entries.keys() != {*ARRAYS, *TABLE_ARRAYS, *ACTION_ARRAYS}:
                    raise Damaged("it lacks a checksum or an array")
                data = file.read()
                arrays: dict[str, Any] = {
                    name: np.frombuffer(data, DTYPES[entry.dtype], entry.numbers, entry.start).reshape(entry.shape)
                    for name, entry in file.entries.items()
                }
            relations = tuple((name, arity) for name, arity in about["relations"])
            table = AtomTable(relations, tuple(about["objects"]), *(arrays[name] for name in TABLE_ARRAYS))
            schemas = tuple((name, arity) for name, arity in about["schemas"])
            actions = ActionTable(schemas, *(arrays[name] for name in ACTION_ARRAYS))
            facts = {name: about[name] for name in ("domain", "problem", "initial", "states", "listed", "engine")}
            space = cls(table=table, actions=actions, **facts, **{name: arrays[name] for name in ARRAYS})
            space._check()
            return space
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise TrifoldError(
                f"this is no labelled state space: {error}", place=str(path), remedy="label the problem again"
            ) from None

    def _check(self) -> None:
        """Raise unless names are names, and all numbers are those of things that are there."""
        table, states = self.table, len(self.distances)
        names, arities = [name for name, _ in table.relations], [arity for _, arity in table.relations]
        texts = [self.domain, self.problem, self.engine, *names, *table.objects]
        numbers = [self.initial, self.states, self.listed, *arities]
        if {type(text) for text in texts} != {str} or {type(number) for number in numbers} != {int}:
            raise Damaged("it has something else for a name or a number")
        if len(set(names)) < len(names) or not 1 <= min(arities, default=1) <= max(arities, default=1) <= MAX_ARITY:
            raise Damaged("its relations are none")
        if not 0 <= self.initial < states <= self.states or not 0 <= self.listed <= states:
            raise Damaged("it does not have the states that it counts")
        _check_rows(self.offsets, self.indices, states, len(table.relation))
        _check_rows(self.transition_offsets, self.targets, states, states)
        for relation, arguments in (
            (table.relation, table.arguments),
            (table.static_relation, table.static_arguments),
        ):
            fits = (
                arguments.ndim == 2
                and len(arguments) == len(relation)
                and arguments.shape[1] >= max(arities, default=0)
            )
            if not fits or not _lie(relation, 0, len(names)) or not _lie(arguments, EVERY_OBJECT, len(table.objects)):
                raise Damaged("its atoms are of other relations or objects")
        if self.distances.ndim != 1 or not _lie(self.distances, -1, self.states):
            raise Damaged("its distances are none")
        self._check_actions()

    def _check_actions(self) -> None:
        """Raise unless schemas are schemas, and all actions are those of schemas and objects that are there."""
        actions, states = self.actions, len(self.distances)
        names, arities = [name for name, _ in actions.schemas], [arity for _, arity in actions.schemas]
        if {type(name) for name in names} - {str} or {type(arity) for arity in arities} - {int}:
            raise Damaged("it has something else for a schema")
        if len(set(names)) < len(names) or not 0 <= min(arities, default=0) <= max(arities, default=0) <= MAX_ARITY:
            raise Damaged("its schemas are none")
        fits = actions.arguments.shape == (len(actions.schema), max(arities, default=0)) and actions.schema.ndim == 1
        if not fits or not _lie(actions.schema, 0, len(names)) or not _lie(actions.arguments, 0, len(self.objects)):
            raise Damaged("its actions are of other schemas or objects")
        _check_rows(self.action_offsets, self.applicable, states, len(actions))
        _check_rows(self.action_offsets, self.successors, states, states)
        if self.action_offsets[self.listed] != len(self.applicable):
            raise Damaged("it has actions of states that are not listed")


def _check_rows(offsets: Integers, entries: Integers, rows: int, things: int) -> None:
    """Raise unless the offsets cut the entries into so many rows, and the entries number so many things."""
    whole = offsets.shape == (rows + 1,) and entries.ndim == 1 and offsets[0] == 0 and offsets[-1] == len(entries)
    if not whole or (offsets[1:] < offsets[:-1]).any() or not _lie(entries, 0, things):
        raise Damaged("its rows do not fit their entries")


def _lie(numbers: Integers, first: int, end: int) -> bool:
    """Whether all numbers lie from the first to before the end."""
    return not numbers.size or first <= numbers.min() <= numbers.max() < end

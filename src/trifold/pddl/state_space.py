"""A labelled state space: every reachable state of a problem, its optimal distance, and its file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trifold.errors import TrifoldError
from trifold.files import write_whole
from trifold.pddl.atoms import AtomTable, Integers

if TYPE_CHECKING:
    from trifold.structures import Structures

FORMAT = "trifold state space"
VERSION = 3
ARRAYS = ("offsets", "indices", "distances", "transition_offsets", "targets")
TABLE_ARRAYS = ("relation", "arguments", "static_relation", "static_arguments")


@dataclass(frozen=True)
class StateSpace:
    """The reachable states of a problem with V*, the length of a shortest plan from each.

    table               the problem's atoms; varying ones are numbered in sorted order
    offsets, indices    (states + 1,), (Σ atoms,): state i has the atoms ``indices[offsets[i]:offsets[i + 1]]``, sorted
    distances           (states,) int32: V*, or −1 for a dead end
    transition_offsets, targets
                        (states + 1,), (transitions,): the successors of each state, ascending, each once however many
                        actions lead there. Goal states have successors too.
    initial             the initial state
    states              how many states the problem has; the space holds all of them unless it was sampled
    listed              so many states have their successors listed; the others are only successors of sampled ones
    engine              what expanded it, "packed" or "pymimir"; only the order of the states depends on it
    """

    domain: str
    problem: str
    table: AtomTable
    offsets: Integers
    indices: Integers
    distances: Integers
    transition_offsets: Integers
    targets: Integers
    initial: int
    states: int
    listed: int
    engine: str

    def __len__(self) -> int:
        """How many states it holds."""
        return len(self.distances)

    @property
    def objects(self) -> tuple[str, ...]:
        return self.table.objects

    def structures(self) -> Structures:
        """One structure over the objects per state."""
        return self.table.structures(self.offsets, self.indices)

    def save(self, path: str | Path) -> None:
        """Write the space to a safetensors file, which is there whole or not at all."""
        from safetensors.numpy import save

        arrays = {name: getattr(self, name) for name in ARRAYS}
        arrays |= {name: getattr(self.table, name) for name in TABLE_ARRAYS}
        about = {
            "format": FORMAT,
            "version": VERSION,
            "domain": self.domain,
            "problem": self.problem,
            "relations": self.table.relations,
            "objects": self.table.objects,
            "initial": self.initial,
            "states": self.states,
            "listed": self.listed,
            "engine": self.engine,
        }
        contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        write_whole(Path(path), save(contiguous, metadata={"trifold": json.dumps(about)}))

    @classmethod
    def load(cls, path: str | Path) -> StateSpace:
        """Read a space from its file."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, framework="np") as file:
                about = json.loads((file.metadata() or {}).get("trifold", "{}"))
                if (about.get("format"), about.get("version")) != (FORMAT, VERSION):
                    raise ValueError("it has another format or version")
                arrays = {name: file.get_tensor(name) for name in (*ARRAYS, *TABLE_ARRAYS)}
        except (OSError, ValueError, SafetensorError) as error:
            raise TrifoldError(
                f"this is no labelled state space: {error}", place=str(path), remedy="label the problem again"
            ) from None
        relations = tuple((name, arity) for name, arity in about["relations"])
        table = AtomTable(relations, tuple(about["objects"]), *(arrays[name] for name in TABLE_ARRAYS))
        return cls(
            domain=about["domain"],
            problem=about["problem"],
            table=table,
            initial=about["initial"],
            states=about["states"],
            listed=about["listed"],
            engine=about["engine"],
            **{name: arrays[name] for name in ARRAYS},
        )

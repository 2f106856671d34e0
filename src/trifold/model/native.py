"""A model without torch: plain R-GNN and R-GNN[t] by compiled code, from the atoms of states to V and scores."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trifold.errors import TrifoldError
from trifold.model.fit import GOAL, UntrainedRelation, check_fit, unknown_message, untrained, untrained_message
from trifold.model.header import ModelHeader
from trifold.model.opening import opened
from trifold.native import MlpWeights, NativeNetwork, NetworkWeights, Question, obstacle
from trifold.sealed import Damaged
from trifold.structures import APPLICABLE, OBJECT, OPTIMAL, TRIANGLE, Relation, query_relations
from trifold.tensor_file import Entry, TensorFile

if TYPE_CHECKING:
    from trifold.pddl import AtomRows, Domain, Problem, State

Floats = NDArray[np.float32]

INFINITE = 2**30
"""t of R-GNN[∞] for the compiled library: R_t has stopped growing long before."""

MAX_ROWS = 2**20
"""Messages of a layer that states are read together up to."""

FLOATS: dict[str, type[np.floating[Any]]] = {"F16": np.float16, "F32": np.float32, "F64": np.float64}


@dataclass(repr=False)
class NativeModel:
    """What ``Model`` is to planning, in a process that never loads torch: V of states, and scores of their actions.

    ``Model`` is what it must equal, to rounding. It is made of files with a plain R-GNN or an R-GNN[t]: see ``load``.

    header   what the file says of the model
    weights  its tensors, by name
    threads  that the states of one call are shared out to
    """

    header: ModelHeader
    weights: dict[str, Floats]
    threads: int = 1

    batch = 8

    def __post_init__(self) -> None:
        config, header = self.header.config, self.header
        self.relations, self.queries = encoded_relations(header)
        arities = tuple(relation.arity for relation in self.relations)
        messages = tuple(self._mlp(f"embed.messages.{index}") for index in range(len(arities)))
        sizes = (config.dim, config.layers, config.sharpness)
        self.network = NativeNetwork(NetworkWeights(*sizes, arities, messages, self._mlp("embed.update")))
        if config.has_values:
            self.network.set_values(self._mlp("readout.mlp"))
        if config.has_actions:
            known = {query.name.removesuffix(APPLICABLE): query.reads for query in self.queries}
            names = [name.removesuffix(APPLICABLE) for name, _ in query_relations(header.schemas)[::2]]
            mlps = [self._mlp(f"scores.mlps.{index}") for index in range(len(self.queries))]
            self.network.set_scores([known.get(name, -1) for name in names], mlps)
            self._unknown = {i: name for i, name in enumerate(names) if name not in known}
        senders = {relation.name: index for index, relation in enumerate(self.relations)}
        of_states = [(arity, senders.get(name, -1)) for name, arity in header.signature]
        t = -1 if config.encoder == "plain" else int(min(config.t, INFINITE))
        self.network.set_encoder(t, of_states, senders.get(OBJECT, -1), senders.get(TRIANGLE, -1))
        self._warned: set[str] = set()

    @classmethod
    def load(cls, path: Path, threads: int = 1) -> NativeModel | None:
        """Read a model file, its checksum checked. None if torch is needed: for another architecture, or for want of
        the compiled library."""
        with opened(path, kind="model") as file:
            header = ModelHeader.from_json(file.header)
            if not header.config.is_plain_rgnn or obstacle():
                return None
            return cls(header, _read_tensors(file, expected_shapes(header)), threads)

    @property
    def name(self) -> str:
        """The architecture's name in the paper."""
        return self.header.config.label

    @property
    def provenance(self) -> dict[str, Any]:
        """How the model came to be: data, settings, versions."""
        return self.header.provenance

    @property
    def scores_actions(self) -> bool:
        """Whether the model has a score for each action."""
        return self.header.config.has_actions

    @property
    def domain(self) -> Domain:
        """The domain that the model was trained on, read from the model's own PDDL."""
        return self.header.read_domain()

    def check_domain(self, domain: Domain) -> None:
        """Raise, naming what differs, if the model is of another domain."""
        check_fit(self.header, domain)

    def check(self, problem: Problem) -> list[str]:
        """What a user should know before the model is used on a problem; raises if the model is of another domain."""
        self.check_domain(problem.domain)
        names = self._untrained(problem.atom_rows([problem.initial_state]))
        self._warned = set(names)  # what is said here is not said again, and is new with each problem
        return [untrained_message(name) for name in names]

    def is_blind(self, problem: Problem) -> bool:
        """Whether part of the problem's goal is of a relation that no training state had: the model cannot see it."""
        return any(GOAL in name for name in self._untrained(problem.atom_rows([problem.initial_state])))

    def values(self, states: Sequence[State]) -> list[float]:
        """V of each state; they are of one problem."""
        if not self.header.config.has_values:
            raise TrifoldError("this model scores actions, and has no V", remedy="use --policy actions")
        return self._read(states)[0]

    def look(self, state: State, actions: Sequence[str]) -> tuple[float, list[float]]:
        """V of a state, or NaN if the model has none, and the score of each of its actions: more is better."""
        return self.look_each([state], [actions])[0]

    def look_each(self, states: Sequence[State], actions: Sequence[Sequence[str]]) -> list[tuple[float, list[float]]]:
        """What ``look`` gives for each of several states of one problem."""
        if not self.scores_actions:
            raise TrifoldError("this model has values, and scores no actions", remedy="use --policy values")
        values, scores = self._read(states, actions)
        ends = np.cumsum([0, *map(len, actions)]).tolist()
        return [(value, scores[ends[i] : ends[i + 1]]) for i, value in enumerate(values)]

    def _read(
        self, states: Sequence[State], actions: Sequence[Sequence[str]] | None = None
    ) -> tuple[list[float], list[float]]:
        if not states:
            return [], []
        problem = states[0].problem
        rows = problem.atom_rows(states)
        table = problem.action_rows([action for own in actions or () for action in own])
        for name in self._untrained(rows):
            self._warn(name, untrained_message(name))
        for schema in np.flatnonzero(np.bincount(table[:, 0])).tolist():  # np.unique would load numpy.ma
            if schema in self._unknown:
                self._warn(f"({self._unknown[schema]})", unknown_message(self._unknown[schema]))
        ends = None if actions is None else np.cumsum([0, *map(len, actions)])
        question = Question(len(problem.objects), *rows, table, ends)
        values, scores = self.network.read(question, MAX_ROWS, self.threads)
        return values.tolist(), scores.tolist()

    def _mlp(self, name: str) -> MlpWeights:
        parts = ("inner.weight", "inner.bias", "outer.weight", "outer.bias")
        return MlpWeights(*(self.weights[f"{name}.{part}"] for part in parts))

    def _untrained(self, rows: AtomRows) -> list[str]:
        """The relations that these states have atoms of and the training data had not."""
        found = np.concatenate([rows.fixed[:, 0], rows.varying[rows.indices, 0]])
        counts = np.bincount(found, minlength=len(self.header.signature))
        return untrained(self.header.signature, counts.tolist(), self.header.training_atoms)

    def _warn(self, name: str, message: str) -> None:
        if name not in self._warned:
            self._warned.add(name)
            warnings.warn(message, UntrainedRelation, stacklevel=4)


def encoded_relations(header: ModelHeader) -> tuple[list[Relation], list[Relation]]:
    """The encoded relations that have parameters: those that send, and queries. As ``trained_relations`` has them."""
    config, power = header.config, 1 if header.config.encoder == "plain" else 2
    relations = [Relation(name, arity**power) for name, arity in header.signature]
    if config.encoder == "pairs":
        relations += [Relation(OBJECT, 1), *([Relation(TRIANGLE, 3)] if config.t > 0 else [])]
    queries = query_relations(header.schemas) if config.has_actions else ()
    met = {name.replace(OPTIMAL, APPLICABLE) for name, count in header.training_atoms.items() if count}
    asked = [Relation(query.name, max(query.reads, 1) ** power) for query in queries if query.name in met]
    return [relation for relation in relations if relation.name in met], asked


def expected_shapes(header: ModelHeader) -> dict[str, tuple[int, ...]]:
    """The shape of each tensor that a model's file must have."""
    relations, queries = encoded_relations(header)
    dim = header.config.dim
    mlps = {f"embed.messages.{index}": (relation.arity * dim,) * 3 for index, relation in enumerate(relations)} | {
        "embed.update": (2 * dim, 2 * dim, dim)
    }
    if header.config.has_values:
        mlps["readout.mlp"] = (dim, dim, 1)
    mlps |= {f"scores.mlps.{index}": ((query.reads + 1) * dim, 2 * dim, 1) for index, query in enumerate(queries)}
    return {
        f"{name}.{part}": shape
        for name, (inputs, hidden, outputs) in mlps.items()
        for part, shape in (
            ("inner.weight", (hidden, inputs)),
            ("inner.bias", (hidden,)),
            ("outer.weight", (outputs, hidden)),
            ("outer.bias", (outputs,)),
        )
    }


def _read_tensors(file: TensorFile, expected: dict[str, tuple[int, ...]]) -> dict[str, Floats]:
    """The tensors of a file, as float32: nothing is read if they are not floats of these shapes."""
    shapes = {name: entry.shape for name, entry in file.entries.items()}
    if shapes != expected or not {entry.dtype for entry in file.entries.values()} <= {*FLOATS, "BF16"}:
        raise Damaged("its weights and its header do not fit together")
    data = file.read()
    return {name: _view(entry, data) for name, entry in file.entries.items()}


def _view(entry: Entry, data: bytearray) -> Floats:
    if entry.dtype == "BF16":  # the upper half of a float32
        halves = np.frombuffer(data, np.uint16, entry.numbers, entry.start)
        return (halves.astype(np.uint32) << 16).view(np.float32).reshape(entry.shape)
    found = np.frombuffer(data, FLOATS[entry.dtype], entry.numbers, entry.start)
    return found.astype(np.float32).reshape(entry.shape)

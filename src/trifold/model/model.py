"""A trained model together with all that is needed to use it on any problem of its domain."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from trifold.encoders import Encoder, Queried, encode_chunks, layer_rows
from trifold.errors import TrifoldError
from trifold.model import checkpoint
from trifold.model.captured import CapturedLook, capture_look
from trifold.model.config import ModelConfig
from trifold.model.fit import (
    GOAL,
    UntrainedRelation,
    check_fit,
    tell_difference,
    unknown_message,
    untrained,
    untrained_message,
)
from trifold.model.header import ModelHeader
from trifold.model.network import HeadedNetwork
from trifold.model.opening import opened
from trifold.model.relations import trained_relations
from trifold.nn import REFERENCE, Backend, Scored, choose_backend
from trifold.sealed import Damaged
from trifold.structures import DisjointUnion, Signature, Structures
from trifold.words import counted

if TYPE_CHECKING:
    from trifold.pddl import ActionTable, Domain, Integers, Problem, State
    from trifold.planning import Trajectory


class BeyondBackend(UserWarning):
    """Structures are beyond the limits of the backend, and the reference computed their values."""


@dataclass(repr=False)
class Model:
    """A value function V for every problem of a domain, or a score for each action, or both: see ``config.heads``.

    config          the architecture
    signature       of structures over objects: the domain's predicates, types and goal relations
    domain_text     the domain's PDDL, so that problems can be read without it
    training_atoms  how many atoms of each encoded relation the training data had; those with none have no parameters
    network         the weights
    provenance      how the model came to be: data, settings, versions
    schemas         (name, arity) of the actions that it scores, sorted by name; none if it has values alone
    backend         who computes the network: chosen when the model is loaded or moved to a device
    beyond          how many chunks of structures the reference computed, for they were beyond the backend's limits

    >>> from trifold.pddl import load_problem
    >>> model = Model.load("model.safetensors")
    >>> problem = load_problem(model.domain, "problem.pddl")
    >>> states = [problem.initial_state, *(state for _, state in problem.successors(problem.initial_state))]
    >>> model.values(states).shape == (len(states),)
    True
    """

    config: ModelConfig
    signature: Signature
    domain_text: str
    training_atoms: dict[str, int]
    network: HeadedNetwork
    provenance: dict[str, Any] = field(default_factory=dict)
    schemas: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        self.encoder: Encoder = self.config.build_encoder()
        self.queried = Queried(self.encoder)
        self.backend: Backend = choose_backend(self.network.embed, self.device)
        self.beyond = 0
        self._captured: CapturedLook | None = None
        self._warned: set[str] = set()

    @classmethod
    def fresh(
        cls,
        config: ModelConfig,
        signature: Signature,
        domain_text: str,
        training_atoms: dict[str, int],
        seed: int,
        schemas: tuple[tuple[str, int], ...] = (),
    ) -> Model:
        """An untrained model for a domain, with parameters for the relations that occur in the training data."""
        network = HeadedNetwork.seeded(trained_relations(config, signature, training_atoms, schemas), config, seed)
        return cls(config, signature, domain_text, training_atoms, network, schemas=schemas)

    @property
    def name(self) -> str:
        """The architecture's name in the paper."""
        return self.config.label

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.network.parameters()).device

    @property
    def scores_actions(self) -> bool:
        """Whether the model has a score for each action."""
        return self.config.has_actions

    @property
    def batch(self) -> int:
        """How many states are worth looking at together: more fill a card, and on a CPU what is alike is merged."""
        return 32 if self.backend.captured else 8

    @property
    def domain(self) -> Domain:
        """The domain that the model was trained on, read from the model's own PDDL."""
        return self.header.read_domain()

    @property
    def header(self) -> ModelHeader:
        """All of it but the weights, as its file says it."""
        facts = (self.config, self.signature, self.domain_text, self.training_atoms)
        return ModelHeader(*facts, self.provenance, self.schemas)

    def __repr__(self) -> str:
        heads = {"values": "V", "actions": "scores of actions", "both": "V and scores of actions"}[self.config.heads]
        size = f"k {self.config.dim}, L {self.config.layers}, {heads}, {counted(self.parameters, 'parameter')}"
        return f"Model({self.name} for {self.domain.name}, {size})"

    @property
    def parameters(self) -> int:
        """How many numbers the weights are."""
        return sum(weight.numel() for weight in self.network.parameters())

    def solve(self, problem: Problem | Path | str, search: str | None = "turns", **options: Any) -> Trajectory:
        """Solve a problem, its file or its text, as `trifold solve` does: by the best policy, and then by search.

        search   None is the policy alone, as in `trifold evaluate`
        options  of ``planning.solve``: policy, max_steps, max_states, timeout, improve, on_step, on_plan

        >>> found = Model.load("model.safetensors").solve("problem.pddl", timeout=60)
        >>> found.outcome.value, len(found.plan)
        ('solved', 5)
        """
        from trifold.pddl import Problem, load_problem
        from trifold.planning import Scores, solve

        task = problem if isinstance(problem, Problem) else load_problem(self.domain, problem)
        self.check_domain(task.domain)
        return solve(task, Scores.of(self, task), search=search, **options)

    def to(self, device: torch.device | str, kernels: str = "auto") -> Model:
        """Move the model to a device, and choose who computes it there: see ``nn.choose_backend``."""
        self.network.to(device)
        self._captured = None
        self.backend = choose_backend(self.network.embed, self.device, kernels)
        return self

    def values(self, states: Sequence[State], *, max_rows: int | None = None) -> Tensor:
        """V of each state, evaluated together, in chunks of at most ``max_rows`` messages a layer.

        Shapes: → (states,), on the CPU. The states may belong to different problems of the domain.
        """
        values = torch.empty(len(states))
        by_problem: dict[int, list[int]] = {}
        for i, state in enumerate(states):
            by_problem.setdefault(id(state.problem), []).append(i)
        for indices in by_problem.values():
            structures = states[indices[0]].problem.structures([states[i] for i in indices])
            values[indices] = self.structure_values(structures, max_rows=max_rows)
        return values

    @torch.inference_mode()
    def structure_values(self, structures: Structures, *, max_rows: int | None = None) -> Tensor:
        """V of each structure over objects. Shapes: → (structures,), on the CPU."""
        self._check_structures(structures)
        if not self.config.has_values:
            raise TrifoldError("this model scores actions, and has no V", remedy="use --policy actions")
        rows = self.backend.max_rows if max_rows is None else max_rows
        chunks = encode_chunks(self.encoder, structures.to(self.device), rows)
        return torch.cat([torch.empty(0), *(self.encoded_values(chunk).cpu() for chunk in chunks)])

    @torch.no_grad()
    def encoded_values(self, structures: Structures) -> Tensor:
        """V of encoded structures, by the model's backend. Shapes: → (structures,), on the model's device."""
        union = structures.disjoint_union()
        return self.network.values(union, self._backend_for(union))

    @torch.no_grad()
    def read(self, structures: Structures) -> tuple[Tensor | None, Scored | None]:
        """V of encoded structures and the scores of their queries, by the model's backend: what it has heads for."""
        union = structures.disjoint_union()
        return self.network.read(union, self._backend_for(union))

    def look(self, state: State, actions: Sequence[str]) -> tuple[float, list[float]]:
        """V of a state, or NaN if the model has none, and the score of each of its actions: one forward pass.

        The actions are given as plans have them, such as ``(pick-up a)``. More is better.
        """
        structure, order = self.ask([state], [actions])
        value, found = self.read_one(structure)
        scores = np.empty(len(order))
        scores[order] = found
        return value, scores.tolist()

    @torch.inference_mode()
    def look_each(
        self, states: Sequence[State], actions: Sequence[Sequence[str]], *, max_rows: int | None = None
    ) -> list[tuple[float, list[float]]]:
        """What ``look`` gives for each of several states of one problem, in chunks of at most ``max_rows`` messages."""
        if len(states) < 2:
            return [self.look(state, own) for state, own in zip(states, actions, strict=True)]
        structures, order = self.ask(states, actions)
        values, found = self.read_each(structures, max_rows=max_rows)
        scores = np.empty(len(order))
        scores[order] = found
        ends = np.cumsum([len(own) for own in actions])
        return [(value, own.tolist()) for value, own in zip(values, np.split(scores, ends[:-1]), strict=True)]

    @torch.no_grad()
    def read_each(self, structures: Structures, *, max_rows: int | None = None) -> tuple[list[float], list[float]]:
        """V of each structure over objects, NaN if the model has none, and the scores of all their queries.

        These come structure by structure and, in each, relation by relation. The structures are read in chunks of at
        most ``max_rows`` messages a layer, and nothing is checked: they are of this domain.
        """
        values: list[float] = []
        scores: list[float] = []
        rows = self.backend.max_rows if max_rows is None else max_rows
        for chunk in encode_chunks(self.queried, structures.to(self.device), rows):
            found, scored = self.read(chunk)
            values += [math.nan] * len(chunk) if found is None else found.tolist()
            if scored is not None:
                scores += scored.scores[torch.argsort(scored.owners, stable=True)].tolist()
        return values, scores

    def ask(self, states: Sequence[State], actions: Sequence[Sequence[str]]) -> tuple[Structures, Integers]:
        """The structures of states of one problem over its objects, each with queries of its actions.

        And which action each score is of, if all actions lie end to end: those of a state come schema by schema, and
        within a schema in the order of the actions.
        """
        if not self.config.has_actions:
            raise TrifoldError("this model has values, and scores no actions", remedy="use --policy values")
        problem = states[0].problem
        self.check_domain(problem.domain)
        structures = problem.structures(states)
        self._check_structures(structures)
        table = problem.action_table([action for own in actions for action in own])
        self._warn_unknown(table)
        counts = np.array([len(own) for own in actions])
        queried = table.add_queries(structures, counts, np.arange(len(table)))
        return queried, np.lexsort((table.schema, np.repeat(np.arange(len(states)), counts)))

    @torch.inference_mode()
    def read_one(self, structure: Structures) -> tuple[float, list[float]]:
        """V of a structure over objects, or NaN, and the scores of its queries, relation by relation.

        By the backend ``cuda`` this is a captured graph, made for a size and kept for the structures to come. One with
        more messages than that backend takes at once is not worth it: launches are the least of what it costs.
        """
        answer = None if self._captured is None else self._captured(structure)
        if answer is not None:
            return answer
        encoded = self.queried(structure.to(self.device))
        if self.backend.captured and int(layer_rows(encoded)) <= self.backend.max_rows:
            self._captured = None  # its memory first
            self._captured = capture_look(self.network, self.backend, self.queried, structure, encoded)
            answer = self._captured(structure)
            assert answer is not None
            return answer
        values, scored = self.read(encoded)
        assert scored is not None
        return math.nan if values is None else float(values), scored.scores.tolist()

    def _warn_unknown(self, table: ActionTable) -> None:
        """Warn of schemas whose actions the model cannot score."""
        for index in np.unique(table.schema).tolist():
            name = table.schemas[index][0]
            known = self.network.scores is None or self.network.scores.knows(name)
            if not known and f"({name})" not in self._warned:
                self._warned.add(f"({name})")
                warnings.warn(unknown_message(name), UntrainedRelation, stacklevel=4)

    def _check_structures(self, structures: Structures) -> None:
        """Raise if structures are of another domain, and warn of atoms that the model cannot see."""
        if structures.signature != self.signature:
            raise TrifoldError(
                tell_difference(self.signature, structures.signature), remedy="use the model's own domain"
            )
        self._warn_untrained(structures)

    def _backend_for(self, union: DisjointUnion) -> Backend:
        """The model's backend or, if the union is beyond its limits, the reference, which is said and counted."""
        if self.backend.reaches(self.network.embed, union):
            return self.backend
        self.beyond += 1
        message = f"states beyond the limits of the backend {self.backend.name} are left to the reference"
        warnings.warn(message, BeyondBackend, stacklevel=3)  # whoever asked for values
        return REFERENCE

    def check_domain(self, domain: Domain) -> None:
        """Raise, naming what differs, if the model is of another domain."""
        check_fit(self.header, domain)

    def check(self, problem: Problem) -> list[str]:
        """What a user should know before the model is used on a problem; raises if the model is of another domain."""
        self.check_domain(problem.domain)
        names = self.untrained(problem.structures([problem.initial_state]))
        self._warned = set(names)  # what is said here is not said again, and is new with each problem
        return [untrained_message(name) for name in names]

    def is_blind(self, problem: Problem) -> bool:
        """Whether part of the problem's goal is of a relation that no training state had: the model cannot see it."""
        names = self.untrained(problem.structures([problem.initial_state]))
        return any(GOAL in name for name in names)

    def save(self, path: Path | str, dtype: torch.dtype = torch.float32) -> None:
        """Write the model to one safetensors file, whole or not at all.

        ``dtype`` is that of the weights in the file; a loaded model computes in float32 whatever it is.
        """
        weights = {name: weight.detach().to("cpu", dtype) for name, weight in self.network.state_dict().items()}
        checkpoint.write(Path(path), weights, self.header.to_json())

    @classmethod
    def load(cls, path: Path | str, device: torch.device | str = "cpu", kernels: str = "auto") -> Model:
        """Read a model file, or that of a run folder. Nothing in it is executed, and its checksum is checked."""
        path = Path(path) / "model.safetensors" if Path(path).is_dir() else Path(path)
        with opened(path, kind="model") as file:
            header = ModelHeader.from_json(file.header)
            relations = trained_relations(header.config, header.signature, header.training_atoms, header.schemas)
            if len(relations) > len(file.entries):
                raise Damaged("it has fewer weights than relations")
            with torch.device("meta"):  # sizes alone: a header can ask for more than there is memory
                network = HeadedNetwork(relations, header.config)
            shapes = {name: tuple(weight.shape) for name, weight in network.state_dict().items()}
            weights = checkpoint.read_tensors(file, shapes)
            network.to_empty(device="cpu").load_state_dict(weights)
        facts = (header.config, header.signature, header.domain_text, header.training_atoms)
        return cls(*facts, network, header.provenance, header.schemas).to(device, kernels)

    def untrained(self, structures: Structures) -> list[str]:
        """The relations that these structures have atoms of and the training data had not."""
        return untrained(structures.signature, structures.atom_counts.sum(1).tolist(), self.training_atoms)

    def _warn_untrained(self, structures: Structures) -> None:
        for name in self.untrained(structures):
            if name not in self._warned:
                self._warned.add(name)
                warnings.warn(untrained_message(name), UntrainedRelation, stacklevel=4)

"""Training steps of pymimir-rgnn, timed: a script for the peer's own interpreter, which imports nothing of Trifold.

The first line of standard input is a job as JSON: domain and problem as texts, states as lists of atoms, targets,
encoder ("plain" or "expressive"), dim, layers, learning_rate, threads, device. The answer says what was built. Every
further line is a batch, a list of indices of states; the answer is the seconds of one training step on it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # so that any interpreter can read this file
    import pymimir as mm
    import pymimir_rgnn as rgnn  # type: ignore[import-not-found]
    import torch

NO_RELATIONS = {"object", "number", "="}
"""Predicates of pymimir that Trifold does not read."""


def main() -> None:
    # What any library prints goes to standard error, so that the answers stay alone on standard output.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    import pymimir as mm
    import torch
    from pymimir_rgnn.encoders import get_input_from_encoders  # type: ignore[import-not-found]

    def answer(content: dict[str, Any]) -> None:
        answers.write(json.dumps(content) + "\n")
        answers.flush()

    job = json.loads(sys.stdin.readline())
    torch.set_num_threads(job["threads"])
    torch.manual_seed(0)
    domain = mm.Domain(job["domain"])
    problem = mm.Problem(domain, job["problem"])
    goal = problem.get_goal_condition()
    inputs = [(state, goal) for state in build_states(domain, problem, job["states"])]
    targets = torch.tensor(job["targets"], device=job["device"])
    model = build_model(domain, job["encoder"], job["dim"], job["layers"]).to(job["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=job["learning_rate"])
    first = get_input_from_encoders(inputs[:1], model._input_spec, model.get_device())
    packages = ("pymimir-rgnn", "pymimir", "torch")
    answer(
        {
            "objects": len(problem.get_objects() + domain.get_constants()),
            "messages": sum(arguments.numel() for arguments in first.flattened_relations.values()),
            "threads": torch.get_num_threads(),
            "versions": {package: version(package) for package in packages},
        }
    )
    for line in sys.stdin:
        indices = json.loads(line)
        answer(step(model, optimizer, [inputs[i] for i in indices], targets[indices]))


def build_states(domain: mm.Domain, problem: mm.Problem, wanted: list[list[list[str]]]) -> list[mm.State]:
    """The states with these atoms, each a predicate and its objects; static atoms are checked, not set."""
    import pymimir as mm
    from pymimir.advanced.formalism import FluentGroundAtomList

    fluent = {predicate.get_name() for predicate in domain.get_predicates(ignore_static=True, ignore_derived=True)}
    predicates = {predicate.get_name(): predicate for predicate in domain.get_predicates()}
    objects = {item.get_name(): item for item in problem.get_objects() + domain.get_constants()}
    repository = problem._search_context.get_state_repository()
    states = []
    for atoms in wanted:
        chosen = FluentGroundAtomList()
        for name, *arguments in atoms:
            if name in fluent:
                atom = problem.new_ground_atom(predicates[name], [objects[argument] for argument in arguments])
                chosen.append(atom._advanced_ground_atom)
        state = mm.State(repository.get_or_create_state(chosen, [])[0], problem)
        found = [
            [atom.get_predicate().get_name(), *(term.get_name() for term in atom.get_terms())]
            for atom in state.get_atoms()
        ]
        if sorted(atom for atom in found if atom[0] not in NO_RELATIONS) != sorted(atoms):
            raise SystemExit(f"the peer sees another state: {sorted(found)}, not {sorted(atoms)}")
        states.append(state)
    return states


def build_model(domain: mm.Domain, encoder: str, dim: int, layers: int) -> rgnn.RelationalGraphNeuralNetwork:
    """The nearest to Trifold's network that the peer can be set to: benchmarks/README.md lists what differs."""
    import pymimir_rgnn as rgnn

    encoders = {
        "plain": (rgnn.StateEncoder(), rgnn.GoalEncoder()),
        "expressive": (rgnn.ExpressiveStateEncoder(), rgnn.ExpressiveGoalEncoder()),
    }[encoder]
    sizes = rgnn.HyperparameterConfig(
        domain=domain, embedding_size=dim, num_layers=layers, normalize_updates=False, residual_updates=True
    )
    modules = rgnn.ModuleConfig(
        aggregation_function=rgnn.SmoothMaximumAggregation(),
        message_function=rgnn.PredicateMLPMessages(sizes, encoders),
        update_function=rgnn.MLPUpdates(sizes),
    )
    return rgnn.RelationalGraphNeuralNetwork(sizes, modules, encoders, [("value", rgnn.ObjectsScalarDecoder(sizes))])


def step(
    model: rgnn.RelationalGraphNeuralNetwork,
    optimizer: torch.optim.Optimizer,
    batch: list[tuple[mm.State, mm.GroundConjunctiveCondition]],
    targets: torch.Tensor,
) -> dict[str, float]:
    """One training step: ``model.forward`` in its two halves, so that assembly is timed too."""
    start = time.perf_counter()
    forward = model.curry_forward(batch)
    assembled = time.perf_counter()
    loss = (forward().readout("value") - targets).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if not loss.isfinite():  # on CUDA this waits for the card
        raise SystemExit(f"the peer's loss is {loss}")
    return {"assembly": assembled - start, "step": time.perf_counter() - start}


if __name__ == "__main__":
    main()

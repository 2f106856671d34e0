"""Models and trainings: what they are, and what their policies did."""

from __future__ import annotations

from trifold.ladder import Climbed, plot_ladder
from trifold.model import Model
from trifold.notebook.markup import facts, image
from trifold.provenance import Origin
from trifold.training import TrainingResult, plot_trainings
from trifold.words import counted


def show_model(model: Model) -> str:
    """Domain, network, training and selection."""
    config, origin, domain = model.config, Origin.of(model.provenance), model.domain
    data, selected = model.provenance.get("data"), model.provenance.get("selected")
    heads = {"values": "V", "actions": "scores of actions", "both": "V and scores of actions"}[config.heads]
    schemas = counted(len(domain.schemas), "action schema")
    trained = None if origin.problems is None else counted(origin.problems, "problem")
    if trained and origin.states is not None:
        trained += f", {counted(origin.states, 'state')}"
    if trained and isinstance(data, dict) and type(data.get("largest_value")) is int:
        trained += f", V* up to {data['largest_value']:,}"
    steps = None if origin.steps is None else f"kept at step {origin.steps:,}"
    if steps and origin.seconds is not None:
        steps += f", {origin.seconds:,.0f} s of training"
    pairs = [
        ("Domain", f"{domain.name}: {counted(len(domain.description.predicates), 'predicate')}, {schemas}"),
        ("Network", f"{model.name}, k {config.dim}, L {config.layers}: {heads}"),
        ("Size", f"{counted(model.parameters, 'parameter')}, by the backend {model.backend.name} on {model.device}"),
        ("Trained on", trained),
        ("Training", steps),
        ("Selection", _selection(selected, origin)),
        ("Hardware", origin.hardware),
    ]
    return facts(f"Model of {domain.name}", pairs)


def _selection(selected: object, origin: Origin) -> str | None:
    """Why these weights were kept, and of how many seeds."""
    told = []
    if isinstance(selected, dict) and "solved" in selected and "problems" in selected:
        told.append(f"{selected['solved']} of {selected['problems']} held-out problems solved")
    if origin.validation_loss is not None:
        told.append(f"validation loss {origin.validation_loss:.4f}")
    if origin.seeds is not None and origin.seeds > 1:
        told.append(f"seed {origin.seed} of {origin.seeds}")
    return ", ".join(told) or None


def show_training(result: TrainingResult) -> str:
    """The curves, what the policy did, and what to do next."""
    curves = image(plot_trainings([result.run]), f"Losses and coverage of {result.run} over training steps")
    pairs = [
        ("Model", str(result.model_path)),
        ("Held-out problems", str(result.coverage) if result.coverage else None),
        ("Larger problems", str(result.larger) if result.larger else None),
        ("Validation loss", f"{result.validation_loss:.4f}"),
        ("Trained", f"{counted(result.steps, 'step')} in {result.seconds:,.0f} s, seed {result.seed}"),
        *(("Next", f"{one.command}  # {one.why}") for one in result.advice),
    ]
    return f"<div>{curves}{facts(f'Training {result.run.name}', pairs)}</div>"


def show_ladder(found: Climbed) -> str:
    """The rungs beside each other, and the one that is kept."""
    ladder = image(plot_ladder(found.rungs), "Problems solved and milliseconds a step of each rung")
    pairs = [
        ("Kept", f"{found.kept}, the cheapest that is as good as the best"),
        ("Judged on", found.judged_on),
        ("Model", str(found.model_path)),
        *(("Next", f"{one.command}  # {one.why}") for one in found.advice),
    ]
    return f"<div>{ladder}{facts(f'Ladder {found.run.name}', pairs)}</div>"

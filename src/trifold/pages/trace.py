"""A page's data: a world, its drawing, and each explanation with its states as differences, all as compact JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trifold.explanation import Choice, ExplainedStep, Explanation, advise, verdict
from trifold.pages.state import difference, world_data
from trifold.pages.world import Atom, World
from trifold.pddl import Executor

CHOSEN, VISITED, OPTIMAL = 1, 2, 4
"""Bits of what is said of an action."""

UNNAMED = "V"
"""What an explanation calls a function that is no model, or that is not known any more."""


def trace_data(executor: Executor, explanations: Sequence[Explanation]) -> dict[str, Any]:
    """All that a page shows.

    Atoms are numbered in `atoms`, each [predicate, object, …] by their numbers, and actions in `actions`. A state is
    the one before it with `less` of its atoms taken away and `more` put to it. An action of a step is [action, score or
    V, V* of where it leads, bits]. What is not known is null, and a V* without end is "inf".
    """
    world = World.of(executor, [one.actions for one in explanations])
    known, atoms = world_data(world)
    actions: dict[str, int] = {}
    traces = [_trace(one, way, atoms, actions) for one, way in zip(explanations, world.ways, strict=True)]
    return known | {
        "domain": explanations[0].domain,
        "problem": explanations[0].problem,
        "problemFile": _name(explanations[0].problem_file),
        "traces": traces,
        "actions": list(actions),
    }


def _trace(
    explanation: Explanation, way: Sequence[frozenset[Atom]], atoms: dict[Atom, int], actions: dict[str, int]
) -> dict[str, Any]:
    return {
        "name": _title(explanation),
        "policy": explanation.policy,
        "outcome": explanation.outcome.value,
        "verdict": list(verdict(explanation)),
        "advice": [[one.evidence, one.command] for one in advise(explanation)],
        "byScores": any(one.score is not None for step in explanation.steps for one in step.choices),
        "pairs": _plain(explanation.t),
        "architecture": None if explanation.model == UNNAMED else explanation.model,
        "largest": explanation.training.value,
        "steps": [
            _step(step, way[i - 1] if i else frozenset(), way[i], atoms, actions)
            for i, step in enumerate(explanation.steps)
        ],
    }


def _step(
    step: ExplainedStep,
    before: frozenset[Atom],
    after: frozenset[Atom],
    atoms: dict[Atom, int],
    actions: dict[str, int],
) -> dict[str, Any]:
    return difference(before, after, atoms) | {
        "value": _plain(step.value),
        "distance": _plain(step.distance),
        "loss": _plain(step.loss),
        "tie": int(step.is_tie),
        "choices": [
            [actions.setdefault(one.action, len(actions)), _plain(_told(one)), _plain(one.distance), _bits(step, one)]
            for one in step.choices
        ],
    }


def _bits(step: ExplainedStep, choice: Choice) -> int:
    optimal = OPTIMAL if step.is_optimal(choice) else 0
    return CHOSEN * choice.is_chosen + VISITED * choice.is_visited + optimal


def _told(choice: Choice) -> float | None:
    return choice.value if choice.score is None else choice.score


def _plain(number: float | None) -> float | int | str | None:
    """A number as short as one can read it; JSON has none without end."""
    if number is None or math.isnan(number):
        return None
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    short = round(number, 3)
    return int(short) if short == int(short) else short


def _title(explanation: Explanation) -> str:
    model = _name(explanation.model_file) or explanation.model
    if explanation.plan_file is not None:
        return f"{_name(explanation.plan_file)}, seen by {model}"
    return f"policy {explanation.policy}" if model == UNNAMED else f"{model} by {explanation.policy}"


def _name(path: str | None) -> str | None:
    """A file's own name, without the folders of whoever made the page; that of a run for its model."""
    if path is None:
        return None
    own = Path(path)
    return own.parent.name if own.name == "model.safetensors" and own.parent.name else own.name

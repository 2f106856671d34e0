"""Evidence: V* along a way, what training never had, and what the architecture cannot tell apart."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import torch

from trifold.analysis import Architecture, Folklore
from trifold.errors import TrifoldError
from trifold.explanation.explanation import Blur, ExplainedStep, Hump, Labels, Training
from trifold.model import Model
from trifold.outcomes import Outcome
from trifold.pddl import Problem, State
from trifold.planning import Scores, solve
from trifold.processes import Limits, run_isolated
from trifold.wl import FOLKLORE, find_conflicts

LABEL_GIB = 4.0
"""Memory of the child process that looks for V*."""

SEARCHED_STATES = 1_000_000
"""That a search for a plan may know: about a GiB."""

MOST_COLOURED = 1_000
"""States that are coloured at most: more would take longer than all the rest."""

PAPERS_ENCODERS = ("plain", "pairs", "compositions", "oblivious", "marks")
"""Those whose networks see no more than colours do."""


def label_steps(
    problem: Problem,
    steps: tuple[ExplainedStep, ...],
    actions: Sequence[str],
    max_states: int,
    seconds: float,
    memory_gib: float | None = None,
) -> tuple[tuple[ExplainedStep, ...], Labels]:
    """The steps with V* of all states that they speak of, or as they are and why not."""
    if not max_states:
        return steps, Labels(Outcome.STATE_LIMIT, "nobody asked for it")
    if not seconds:
        return steps, Labels(Outcome.TIMEOUT, "no time was left for it")
    job = {
        "domain": problem.domain.source,
        "problem": (problem.text, problem.name),
        "max_states": max_states,
        "actions": list(actions),
    }
    limits = Limits(seconds, LABEL_GIB if memory_gib is None else min(LABEL_GIB, memory_gib))
    (result,) = run_isolated("trifold.pddl.way:label_way", [job], workers=1, limits=limits)
    facts: dict[str, Any] = (
        {"outcome": result.outcome, "message": result.message} if result.error else result.value or {}
    )
    labels = Labels(Outcome(facts["outcome"]), facts["message"], facts.get("states"))
    if labels.outcome is Outcome.UNSOLVABLE:  # whatever the state
        facts |= {"distances": [-1] * len(steps), "successors": [{}] * len(steps)}
    elif labels.outcome is not Outcome.LABELLED:
        return steps, labels

    def distance(number: int) -> float:
        return number if number >= 0 else math.inf

    return tuple(
        replace(
            step,
            distance=distance(own),
            choices=tuple(replace(one, distance=distance(after.get(one.action, -1))) for one in step.choices),
        )
        for step, own, after in zip(steps, facts["distances"], facts["successors"], strict=True)
    ), labels


def find_unseen(model: Model, problem: Problem, states: Sequence[State]) -> tuple[str, ...]:
    """The relations that the way has atoms of, and the schemas that it has actions of, and training never had."""
    relations = model.untrained(problem.structures(states))
    heads = model.network.scores
    schemas = {action[1:-1].split()[0] for state in states for action, _ in problem.successors(state)}
    return (*relations, *(f"({name})" for name in sorted(schemas) if heads is not None and not heads.knows(name)))


def colour_states(
    model: Model, problem: Problem, states: Sequence[State], steps: Sequence[ExplainedStep]
) -> Blur | None:
    """What the model's architecture can tell apart of the states on the way and of their successors, against V*."""
    known: dict[State, float] = {}
    for state, step in zip(states, steps, strict=True):
        after = dict(problem.successors(state))
        for one, distance in [(state, step.distance), *((after[c.action], c.distance) for c in step.choices)]:
            if distance is not None and len(known) < MOST_COLOURED:
                known[one] = distance
    if not known or model.config.encoder not in PAPERS_ENCODERS:
        return None
    encoder = model.encoder
    architecture = (
        Architecture(Folklore(), receivers=FOLKLORE) if model.config.encoder == "marks" else Architecture(encoder)
    )
    try:
        encoded, _ = architecture.encode(problem.structures(list(known)))
    except TrifoldError:  # its states are too large to be coloured
        return None
    history = architecture.colour(encoded).history
    finite = [distance for distance in known.values() if math.isfinite(distance)]
    beyond = max(finite, default=0.0) + 1
    targets = torch.tensor([min(distance, beyond) for distance in known.values()])
    found = find_conflicts(history[min(model.config.layers, len(history) - 1)], targets)
    return Blur(found.states, found.conflicting, found.least_error)


def find_hump(problem: Problem, scores: Scores[State], way: Collection[State], seconds: float) -> Hump | None:
    """Where V rises most along a plan that a search finds: at a state of the policy's way, if it does so at one.

    None if the search finds no plan, or V falls all along.
    """
    limits: dict[str, Any] = {"max_steps": sys.maxsize, "max_states": SEARCHED_STATES, "timeout": seconds}
    found = solve(problem, scores, policy="turns", **limits)
    if not found.plan:
        return None
    values = scores.values(list(found.states))
    rises = {i: after - before for i, (before, after) in enumerate(pairwise(values)) if after > before}
    if not rises:
        return None
    met = [i for i in rises if found.states[i] in way and found.states[i + 1] not in way]
    number = max(met or rises, key=rises.__getitem__)
    return Hump(len(found.plan), number, found.plan[number], values[number], values[number + 1], bool(met))


def read_training(model: Model) -> Training:
    """What a model says of its training, as far as it is what one would expect there."""

    def fact(part: str, name: str) -> int | None:
        facts = model.provenance.get(part)
        value = facts.get(name) if isinstance(facts, dict) else None
        return value if type(value) is int and value >= 0 else None

    names = ("problems", "states", "objects", "dead_ends")
    return Training(
        **{name: fact("data", name) for name in names},
        value=fact("data", "largest_value"),
        steps=fact("selected", "step"),
    )

"""Explaining: follow a policy, look at all that it could have done, and compare with V*."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from trifold.errors import TrifoldError
from trifold.explanation.evidence import colour_states, find_hump, find_unseen, label_steps, read_training
from trifold.explanation.explanation import Choice, ExplainedStep, Explanation
from trifold.limits import LABEL_SECONDS, LABEL_STATES, MAX_STEPS
from trifold.model import Model
from trifold.pddl import Problem, State, load_problem
from trifold.planning import TIE, Memory, OnStep, Scores, Trajectory, follow_plan, solve
from trifold.shipped import find_model


def explain(
    model: Model | Scores[State] | str | Path,
    problem: Problem | str | Path,
    *,
    policy: str | None = None,
    plan: Sequence[str] | None = None,
    max_steps: int = MAX_STEPS,
    timeout: float | None = None,
    max_states: int = LABEL_STATES,
    label_seconds: float = LABEL_SECONDS,
    memory_gib: float | None = None,
    on_step: OnStep | None = None,
    on_labels: Callable[[], None] = lambda: None,
) -> Explanation:
    """Follow a policy through a problem, and say at each step what could be done, and what would have been best.

    `model` is a `Model`, its file, or the name of a shipped one, or `Scores`: any V. `problem` is one, or its file.
    `policy` is a name, as for `solve`, or None: the best that the model has. A `plan` is followed instead if given.

    V* is found in a child process, of problems with at most `max_states` states, 0 for none, in at most `label_seconds`
    seconds and `memory_gib` GiB, 4 if it is None; where it is not, the explanation says why, and if the policy found no
    plan a search looks for one, as long, to see where V rises along it. `timeout` seconds are for all of it. `on_step`
    is told of each step, and `on_labels` when the search for V* begins.

    >>> explanation = explain("model.safetensors", "problem.pddl")
    >>> explanation.outcome.value, explanation.steps[0].distance, explanation.departures
    ('solved', 5, ())
    """
    began = time.monotonic()

    def left(most: float) -> float:
        """Half of the time that is left, so that what comes after has some, too: a child takes a while to start."""
        return most if timeout is None else max(min(most, (timeout - (time.monotonic() - began)) / 2), 0.0)

    file = None if isinstance(model, Model | Scores) else str(model)
    model, problem = _load(model, problem)
    scores = replace(model if isinstance(model, Scores) else Scores.of(model, problem), memory=Memory())
    policy = "plan" if plan is not None else policy or ("actions" if scores.looks else "values")
    limits: dict[str, Any] = {"max_steps": max_steps, "timeout": None if timeout is None else left(timeout)}
    found = solve(problem, scores, policy=policy if plan is None else follow_plan(plan), **limits, on_step=on_step)
    taken = found.actions[: len(found.states) - 1]  # a policy of one's own may return what is not applicable
    steps = _look_again(problem, scores, replace(found, actions=taken), policy)
    on_labels()
    steps, labels = label_steps(problem, steps, taken, max_states, left(label_seconds), memory_gib)
    explanation = Explanation(
        model=model.name if isinstance(model, Model) else "V",
        domain=problem.domain.name,
        problem=problem.name,
        objects=len(problem.objects),
        policy=policy,
        outcome=found.outcome,
        max_steps=max_steps,
        steps=steps,
        labels=labels,
        model_file=file,
    )
    if found.plan is None and not explanation.is_labelled and steps[0].value is not None:
        explanation = replace(explanation, hump=find_hump(problem, scores, set(found.states), left(label_seconds)))
    explanation = _add_training(explanation, model, problem, found.states)
    return replace(explanation, seconds=time.monotonic() - began, executor=problem.executor)


def _add_training(
    explanation: Explanation, model: Model | Scores[State], problem: Problem, states: tuple[State, ...]
) -> Explanation:
    """What the model's training had, what it never had, and what its network composes and cannot tell apart."""
    if not isinstance(model, Model):
        return explanation
    facts: dict[str, Any] = {"training": read_training(model), "unseen": find_unseen(model, problem, states)}
    facts["t"] = model.config.t if model.config.encoder == "pairs" else None
    return replace(explanation, **facts, blur=colour_states(model, problem, states, explanation.steps))


def _load(
    model: Model | Scores[State] | str | Path, problem: Problem | str | Path
) -> tuple[Model | Scores[State], Problem]:
    """What was given, or what is in the files that were."""
    if isinstance(model, str | Path):
        model = Model.load(find_model(model))
    if not isinstance(problem, Problem):
        if isinstance(model, Scores):
            raise TrifoldError("scores have no domain to read a problem of", remedy="load it with load_problem")
        problem = load_problem(model.domain, problem)
    if isinstance(model, Model):
        model.check(problem)  # raises if it is of another domain; what else it has to say, the explanation says
    return model, problem


def _look_again(problem: Problem, scores: Scores[State], found: Trajectory, policy: str) -> tuple[ExplainedStep, ...]:
    """Each state of the way with all its actions, best first. What the policy has asked is remembered."""
    by_scores = scores.looks is not None and policy not in ("values", "strict")
    steps: list[ExplainedStep] = []
    visited = set[State]()
    for taken, state in zip_longest(found.actions, found.states):
        visited.add(state)
        ways = problem.successors(state)
        texts, after = [action for action, _ in ways], [successor for _, successor in ways]
        if by_scores:
            value, asked = scores.look(state, texts)
        else:
            value, asked = scores.values([state])[0], scores.values(after)
        choices = [
            Choice(
                action,
                number if by_scores else None,
                None if by_scores else number,
                is_visited=successor in visited,
                is_chosen=action == taken,
            )
            for number, (action, successor) in zip(asked, ways, strict=True)
        ]
        best = tuple(sorted(choices, key=lambda choice: choice.rank))  # stable: equal ones stay in the order of texts
        is_tie = _is_tie(choices, after, policy)
        steps.append(ExplainedStep(len(steps), None if math.isnan(value) else value, best, None, is_tie))
    return tuple(steps)


def _is_tie(choices: Sequence[Choice], after: Sequence[State], policy: str) -> bool:
    """Whether an action to another state was as good as the chosen one, for a policy that goes by the best."""
    if policy not in ("actions", "values", "strict"):
        return False
    chosen = next((i for i, choice in enumerate(choices) if choice.is_chosen), None)
    return chosen is not None and any(
        math.isclose(choice.rank, choices[chosen].rank, rel_tol=TIE, abs_tol=TIE)
        for choice, state in zip(choices, after, strict=True)
        if state != after[chosen] and (policy == "strict" or not choice.is_visited)
    )

"""What runs in a child process: load a model and a problem, and explain what the policy does there."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trifold.pddl import load_domain, load_problem
from trifold.planning import find_policy

MARGIN = 0.3
"""Seconds before the child is ended that are left to tell of what was found."""


@dataclass(frozen=True)
class ExplainJob:
    """One explanation to ask of a child. `domain` None is that of the model; the rest is `explain`'s."""

    model: str
    problem: str
    domain: str | None
    policy: str
    max_steps: int
    max_states: int
    label_seconds: float
    device: str = "auto"
    timeout: float | None = None  # after which the child will be ended: it ends before
    plan: tuple[str, ...] | None = None  # to follow instead of the policy
    memory_gib: float | None = None  # that the child has, and its own child, too


def explain_job(job: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Explain a problem, and return the explanation as JSON.

    It reports what `trifold.evaluation.job:solve_job` does, and an event `labelling` when the search for V* begins.
    """
    asked, began = ExplainJob(**job), time.monotonic()
    find_policy(asked.policy)  # before torch, which is slow to load
    import torch

    from trifold.explanation.following import explain
    from trifold.model import Model, choose_device

    torch.set_num_threads(1)  # a step is small, and threads that wait for each other are slow
    device = choose_device(asked.device)
    model = Model.load(Path(asked.model), device)
    domain = model.domain if asked.domain is None else load_domain(Path(asked.domain))
    problem = load_problem(domain, Path(asked.problem))
    about = {"model": model.name, "domain": problem.domain.name, "device": device, "objects": len(problem.objects)}
    report({"event": "ready", **about})
    for note in problem.notes:
        report({"event": "warning", "message": note})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the explanation says what they would
        explanation = explain(
            model,
            problem,
            policy=asked.policy,
            plan=asked.plan,
            max_steps=asked.max_steps,
            timeout=None if asked.timeout is None else asked.timeout - MARGIN - (time.monotonic() - began),
            max_states=asked.max_states,
            label_seconds=asked.label_seconds,
            memory_gib=asked.memory_gib,
            on_step=lambda step: report({"event": "step", **asdict(step)}),
            on_labels=lambda: report({"event": "labelling"}),
        )
    return explanation.to_json()

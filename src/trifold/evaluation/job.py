"""What runs in a child process: load a model, if there is one, and a problem, follow the policy, replay the plan.

Only here are torch and the planner's engine loaded, so a crash, a limit or a leak of theirs ends a child and not the
command that asked.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trifold.limits import MAX_STEPS
from trifold.outcomes import Outcome
from trifold.planning import Scores, Step, Trajectory, find_policy, goal_counts, solve
from trifold.provenance import Origin, processor_name

if TYPE_CHECKING:
    from trifold.model import Model, NativeModel
    from trifold.pddl import Domain, Problem, State

MARGIN = 0.3
"""Seconds before the child is ended that are left to replay a plan and to tell of it."""

EVERY = 1.0
"""Seconds between the steps that a search without a model tells of: it takes thousands in that time."""

Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class SolveJob:
    """One attempt to ask of a child.

    model   a model file, or None: states are scored by how much of the goal is missing
    domain  a domain file, or None: the domain that the model carries
    policy  a name, or "module:function", or None: no policy comes before the search
    """

    model: str | None
    problem: str
    domain: str | None = None
    policy: str | None = "values"
    max_steps: int = MAX_STEPS
    device: str = "auto"
    threads: int | None = None  # torch's; None leaves its default
    search: str | None = None  # what follows a policy that ends without a plan; None: nothing
    max_states: int | None = None  # that a search may know
    improve: float | None = None  # seconds in which a plan is made shorter
    timeout: float | None = None  # after which the child will be ended: a search and an improvement end before
    validate: bool = False  # whether Unified Planning is asked about the plan, too


def solve_job(job: dict[str, Any], report: Report) -> dict[str, Any]:
    """Attempt a problem, and return the trajectory as JSON.

    While it lasts it reports one event `ready` with what was loaded, then an event `step` for each step of the policy,
    an event `plan` for each plan, shorter ones too, and an event `warning` for each thing that the user should know. Of
    a plan that is to be validated, an event `verdict` says what came of it.
    """
    from trifold.pddl import load_problem

    asked, began = SolveJob(**job), time.monotonic()
    for name in (asked.policy, asked.search):
        if name is not None:
            find_policy(name)  # before torch, which is slow to load
    model, domain, about = _prepare(asked)
    problem = load_problem(domain, Path(asked.problem))
    report({"event": "ready", **about, "objects": len(problem.objects)})
    known = [*problem.notes, *(model.check(problem) if model else ())]
    for message in known:
        report({"event": "warning", "message": message})

    def on_warning(message: Warning | str, *details: Any, **more: Any) -> None:
        if str(message) not in known:
            report({"event": "warning", "message": str(message)})

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = on_warning  # such as of atoms that the initial state does not have
        trajectory = solve(
            problem,
            Scores.of(model, problem) if model else _counts(problem, asked),
            policy=asked.policy or asked.search,
            search=asked.search if asked.policy else None,
            max_steps=asked.max_steps if asked.policy else None,
            max_states=asked.max_states,
            improve=asked.improve,
            timeout=None if asked.timeout is None else asked.timeout - MARGIN - (time.monotonic() - began),
            on_step=_tell_steps(report, 0.0 if model else EVERY),
            on_plan=lambda found: report({"event": "plan", "actions": list(found.actions), "by": found.found_by}),
        )
    if asked.validate and trajectory.plan is not None:
        trajectory = _validate(trajectory, domain.text, problem.text, report)
    return trajectory.to_json()


def _counts(problem: Problem, asked: SolveJob) -> Scores[State]:
    """What scores states where there is no model; a search in turns has that already, and more, so it is told."""
    return replace(goal_counts(problem), is_blind=asked.policy is None)


def _tell_steps(report: Report, every: float) -> Callable[[Step], None]:
    """What reports steps, at most one in so many seconds."""
    due = -math.inf

    def tell(step: Step) -> None:
        nonlocal due
        if (now := time.monotonic()) >= due:
            due = now + every
            report({"event": "step", **asdict(step)})

    return tell


def _validate(trajectory: Trajectory, domain: str, problem: str, report: Report) -> Trajectory:
    """The trajectory, if Unified Planning does not reject its plan; what it says is reported."""
    from trifold.up import validate

    verdict = validate(domain, problem, trajectory.actions)
    report({"event": "verdict", **asdict(verdict)})
    if verdict.is_valid is not False:
        return trajectory
    failure = f"Trifold's own executor takes the plan, Unified Planning's validator does not: {verdict.reason}"
    return replace(trajectory, outcome=Outcome.DISAGREEMENT, failure=failure)


def describe_job(job: dict[str, Any], report: Report) -> dict[str, Any]:
    """Load the model, the domain and the policy alone; return names, and where the model comes from and will run.

    What is wrong with one of them is so found once, and not once per problem.
    """
    asked = SolveJob(**job)
    assert asked.policy is not None
    for name in (asked.policy, asked.search):
        if name is not None:
            find_policy(name)  # before torch, which is slow to load
    model, _, about = _prepare(asked)
    assert model is not None
    return about | {"origin": asdict(Origin.of(model.provenance))}


def _prepare(job: SolveJob) -> tuple[NativeModel | Model | None, Domain, dict[str, Any]]:
    """The model, the domain, and their names for the record."""
    from trifold.pddl import load_domain

    if job.model is None:
        assert job.domain is not None
        domain = load_domain(Path(job.domain))
        return None, domain, {"model": None, "domain": domain.name, "device": None, "hardware": _hardware("cpu")}
    from trifold.model import choose_device

    device = choose_device(job.device)
    model = _load_model(job.model, device, job.threads)
    # The domain is not kept between jobs: the engine's objects must not live until the process ends.
    domain = model.domain if job.domain is None else load_domain(Path(job.domain))
    model.check_domain(domain)
    about = {"model": model.name, "domain": domain.name, "device": device, "hardware": _hardware(device)}
    return model, domain, about


@lru_cache
def _hardware(device: str) -> str:
    """The accelerator, or else the processor, by name."""
    if not device.startswith("cuda"):
        return processor_name()
    import torch

    return torch.cuda.get_device_name(device)


@lru_cache(maxsize=1)
def _load_model(path: str, device: str, threads: int | None) -> NativeModel | Model:
    from trifold.model import open_model

    return open_model(Path(path), device, threads)

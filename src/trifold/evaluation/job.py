"""What runs in a child process: load a model and a problem, follow the policy, replay the plan.

Only here are torch and the planner's engine loaded, so a crash, a limit or a leak of theirs ends a child and not the
command that asked.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trifold.limits import MAX_STEPS
from trifold.planning import Scores, find_policy, solve
from trifold.provenance import Origin, processor_name

if TYPE_CHECKING:
    from trifold.model import Model
    from trifold.pddl import Domain

MARGIN = 0.3
"""Seconds before the child is ended that are left to replay a plan and to tell of it."""

Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class SolveJob:
    """One attempt to ask of a child. `domain` None is the domain that the model carries."""

    model: str
    problem: str
    domain: str | None = None
    policy: str = "values"  # a name, or "module:function"
    max_steps: int = MAX_STEPS
    device: str = "auto"
    threads: int | None = None  # torch's; None leaves its default
    search: str | None = None  # what follows a policy that ends without a plan; None: nothing
    max_states: int | None = None  # that a search may know
    improve: float | None = None  # seconds in which a plan is made shorter
    timeout: float | None = None  # after which the child will be ended: a search and an improvement end before


def solve_job(job: dict[str, Any], report: Report) -> dict[str, Any]:
    """Attempt a problem, and return the trajectory as JSON.

    While it lasts it reports one event `ready` with what was loaded, then an event `step` for each step of the policy,
    an event `plan` for each plan, shorter ones too, and an event `warning` for each thing that the user should know.
    """
    from trifold.pddl import load_problem

    asked, began = SolveJob(**job), time.monotonic()
    for name in (asked.policy, asked.search):
        if name is not None:
            find_policy(name)  # before torch, which is slow to load
    model, domain, about = _prepare(asked)
    problem = load_problem(domain, Path(asked.problem))
    report({"event": "ready", **about, "objects": len(problem.objects)})
    known = [*problem.notes, *model.check(problem)]
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
            Scores.of(model, problem),
            policy=asked.policy,
            search=asked.search,
            max_steps=asked.max_steps,
            max_states=asked.max_states,
            improve=asked.improve,
            timeout=None if asked.timeout is None else asked.timeout - MARGIN - (time.monotonic() - began),
            on_step=lambda step: report({"event": "step", **asdict(step)}),
            on_plan=lambda plan: report({"event": "plan", "actions": list(plan)}),
        )
    return trajectory.to_json()


def describe_job(job: dict[str, Any], report: Report) -> dict[str, Any]:
    """Load the model, the domain and the policy alone; return names, and where the model comes from and will run.

    What is wrong with one of them is so found once, and not once per problem.
    """
    asked = SolveJob(**job)
    find_policy(asked.policy)  # before torch, which is slow to load
    import torch

    model, _, about = _prepare(asked)
    on_cuda = model.device.type == "cuda"
    hardware = torch.cuda.get_device_name(model.device) if on_cuda else processor_name()
    return about | {"hardware": hardware, "origin": asdict(Origin.of(model.provenance))}


def _prepare(job: SolveJob) -> tuple[Model, Domain, dict[str, Any]]:
    """The model, the domain, and their names for the record."""
    import torch

    from trifold.model import choose_device
    from trifold.pddl import load_domain

    if job.threads is not None:
        torch.set_num_threads(job.threads)
    device = choose_device(job.device)
    model = _load_model(job.model, device)
    # The domain is not kept between jobs: the engine's objects must not live until the process ends.
    domain = model.domain if job.domain is None else load_domain(Path(job.domain))
    model.check_domain(domain)
    return model, domain, {"model": model.name, "domain": domain.name, "device": device}


@lru_cache(maxsize=1)
def _load_model(path: str, device: str) -> Model:
    from trifold.model import Model

    return Model.load(Path(path), device)

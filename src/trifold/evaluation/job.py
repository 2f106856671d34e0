"""What runs in a child process: load a model and a problem, follow the policy, replay the plan.

Only here are torch and the planner's engine loaded, so a crash, a limit or a leak of theirs ends a child and not the
command that asked.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trifold.planning import Step, solve
from trifold.provenance import processor_name

if TYPE_CHECKING:
    from trifold.model import Model
    from trifold.pddl import Domain

Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Job:
    """One attempt to ask of a child. `domain` None is the domain that the model carries."""

    model: str
    problem: str
    domain: str | None = None
    strict: bool = False
    max_steps: int = 1000
    device: str = "auto"
    threads: int | None = None  # torch's; None leaves its default


def solve_job(job: dict[str, Any], report: Report) -> dict[str, Any]:
    """Attempt a problem, and return the outcome, the states evaluated, seconds per step, and why a plan failed.

    Reports one event `ready` with what was loaded, then one event `step` per state on the way, and an event `warning`
    for each thing that the user should know.
    """
    from trifold.pddl import load_problem

    asked = Job(**job)
    model, domain, about = _prepare(asked)
    problem = load_problem(domain, Path(asked.problem))
    report({"event": "ready", **about, "objects": len(problem.objects)})
    known = [*problem.notes, *model.check(problem)]
    for message in known:
        report({"event": "warning", "message": message})

    def on_step(step: Step) -> None:
        report({"event": "step", "action": step.action, "value": step.value})

    def on_warning(message: Warning | str, *details: Any, **more: Any) -> None:
        if str(message) not in known:
            report({"event": "warning", "message": str(message)})

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = on_warning  # such as of atoms that the initial state does not have
        trajectory = solve(problem, model.values, max_steps=asked.max_steps, strict=asked.strict, on_step=on_step)
    return {
        "outcome": trajectory.outcome,
        "evaluated": trajectory.evaluated,
        "seconds_per_step": trajectory.seconds_per_step,
        "failure": trajectory.failure,
    }


def describe_job(job: dict[str, Any], report: Report) -> dict[str, Any]:
    """Load the model and the domain alone; return their names, and where the model comes from and will run."""
    import torch

    from trifold.provenance import Origin

    model, _, about = _prepare(Job(**job))
    on_cuda = model.device.type == "cuda"
    hardware = torch.cuda.get_device_name(model.device) if on_cuda else processor_name()
    return about | {"hardware": hardware, "origin": asdict(Origin.of(model.provenance))}


def _prepare(job: Job) -> tuple[Model, Domain, dict[str, Any]]:
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

"""`trifold learn` and `trifold plan`: the interface of the learning track of the planning competitions."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from trifold.commands import options
from trifold.commands.progress import when_interrupted
from trifold.errors import TrifoldError
from trifold.limits import KNOWN_STATES, LabelLimits

SHARE_OF_LABELS = 0.3
"""The part of the time after which no more problems are labelled, and that one of them may take."""

LEAST_MINUTES = 1 / 60
"""What a training has even if labels took all of the time: knowledge a second late is better than none."""

RESERVE = 4.0, 0.15
"""Seconds that a training takes beyond its own clock, to load what it needs and to end; and the part of the time that
this is at most."""

RECIPE = "small"
"""What is trained: on a CPU, as long as there is time."""

Knowledge = Annotated[Path, typer.Argument(metavar="KNOWLEDGE", help="The file of domain knowledge: a model.")]
Domain = Annotated[Path, typer.Argument(metavar="DOMAIN", help="The PDDL domain file.")]


def learn(
    knowledge: Knowledge,
    domain: Domain,
    problems: Annotated[list[Path], typer.Argument(metavar="PROBLEM...", help="The training problems.")],
    minutes: Annotated[
        float, typer.Option("--minutes", min=0.01, max=1e6, help="For all of it, labels included.")
    ] = 60.0,
    recipe: Annotated[str, typer.Option("--recipe", help="What is trained; V and scores of actions anyway.")] = RECIPE,
    seed: options.Seed = 0,
    workers: options.Workers = None,
    quiet: options.Quiet = False,
) -> None:
    """Learn domain knowledge from training problems within a time, as in the learning track of the competitions.

    The smallest problems are labelled first, until a third of the time is over; on what could be labelled, a model is
    trained on the CPU until all of it is. It is written to KNOWLEDGE, whole or not at all.
    """
    began = time.monotonic()  # before torch is loaded, which takes seconds
    from contextlib import nullcontext

    from trifold.commands.training_display import describe_policy, display
    from trifold.files import read_bytes, temporary_folder, write_whole
    from trifold.training import train

    with temporary_folder() as folder, when_interrupted(f"interrupted; labels are cached, {knowledge} is not written"):
        limits = _bounded_limits(recipe, minutes * 60 * SHARE_OF_LABELS)
        labelled = _label_some(domain, problems, limits, folder, minutes * 60 * SHARE_OF_LABELS, workers)
        reserve = min(RESERVE[0], RESERVE[1] * 60 * minutes)
        left = max(minutes - (time.monotonic() - began + reserve) / 60, LEAST_MINUTES)
        changes: dict[str, Any] = {"heads": "both", "schedule": "cosine", "steps": 10**6, "seed": seed}
        changes["seconds"] = limits.seconds  # those of the labels: so they are found in the cache
        with nullcontext() if quiet else display() as watcher:
            result = train(
                labelled,
                folder / "run",
                recipe,
                device="cpu",
                workers=workers,
                watcher=watcher,
                minutes=left,
                try_larger=False,  # there is no time left
                **changes,
            )
        write_whole(knowledge, read_bytes(result.model_path))
    if not quiet:
        about = f"{describe_policy(result)}, validation loss {result.validation_loss:.4f}, {result.steps} steps"
        typer.echo(f"{knowledge}: {about}", err=True)


def plan(
    knowledge: Knowledge,
    domain: Domain,
    problem: Annotated[Path, typer.Argument(metavar="PROBLEM", help="A PDDL problem file.")],
    plan_file: Annotated[Path, typer.Argument(metavar="PLAN", help="Plans are written to PLAN.1, PLAN.2, …")],
    timeout: options.Timeout = 1800.0,
    memory: options.Memory = None,
    quiet: options.Quiet = False,
) -> None:
    """Plan with learned knowledge on a CPU, as in the learning track of the competitions.

    The first plan is that of the policy, or of the search that follows it; then it is made shorter until the time is
    over. Each plan is written when it is found, whole, to PLAN.1, PLAN.2, …: the last is the shortest. Exit codes are
    those of `trifold solve`.
    """
    from trifold.evaluation import SolveJob, attempt_each
    from trifold.planning import write_plan
    from trifold.processes import Limits
    from trifold.shipped import best_policy, find_model

    model, written = find_model(str(knowledge)), list[Path]()

    def listen(event: dict[str, Any]) -> None:
        if event["event"] == "plan":
            written.append(plan_file.with_name(f"{plan_file.name}.{len(written) + 1}"))
            write_plan(written[-1], event["actions"])
            if not quiet:
                typer.echo(f"{written[-1]}: {len(event['actions'])} actions", err=True)

    job = SolveJob(
        str(model),
        str(problem),
        str(domain),
        best_policy(model),
        device="cpu",
        threads=1,
        search="turns",
        max_states=KNOWN_STATES,
        improve=timeout or 0.0,
        timeout=timeout,
    )
    with when_interrupted(f"interrupted; what is written stays: {plan_file}.1, {plan_file}.2, …"):
        (attempt,) = attempt_each([job], limits=Limits(timeout, memory), on_event=listen)
    if attempt.error is not None:
        raise attempt.error
    if not quiet and not written:
        typer.echo(attempt.trajectory.outcome.value, err=True)
    raise typer.Exit(attempt.trajectory.outcome.exit_code)


def _bounded_limits(recipe: str, seconds: float) -> LabelLimits:
    """The recipe's limits of labelling, where one problem takes no longer than a number of seconds."""
    from trifold.training import read_recipe

    limits = read_recipe(recipe).limits
    return replace(limits, seconds=min(seconds, math.inf if limits.seconds is None else limits.seconds))


def _label_some(
    domain: Path, problems: Sequence[Path], limits: LabelLimits, folder: Path, seconds: float, workers: int | None
) -> Path:
    """A folder with the domain and the problems that could be labelled in time, the smallest first."""
    from trifold.data import default_cache, label
    from trifold.processes import available_cores

    place = folder / "problems"
    place.mkdir()
    shutil.copyfile(domain, place / "domain.pddl")
    ordered = sorted(problems, key=lambda path: (path.stat().st_size, str(path)))
    at_once, began = workers or available_cores(), time.monotonic()
    found = 0
    for first in range(0, len(ordered), at_once):
        some = ordered[first : first + at_once]
        for number, item in enumerate(
            label(domain, some, limits=limits, workers=workers, cache=default_cache()), first
        ):
            if item.space is not None:
                shutil.copyfile(item.path, place / f"{number:05d}.pddl")
                found += 1
        if time.monotonic() - began > seconds:
            break
    if not found:
        raise TrifoldError(
            "no problem could be labelled", place=str(domain), remedy="give smaller problems, or more --minutes"
        )
    return place

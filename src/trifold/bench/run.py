"""A whole benchmark in one run: from PDDL files to a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from trifold.bench.files import find_files
from trifold.bench.lama import choose_planner, time_first_plan
from trifold.bench.machine import Machine
from trifold.bench.policy_step import time_look, time_policy_step
from trifold.bench.report import Measurement, Report
from trifold.bench.stages import Bench, time_batching, time_encoding, time_labelling, time_training
from trifold.bench.timing import conditions, use_threads
from trifold.data import Dataset, LabelLimits, dead_end_target, label
from trifold.encoders import TRIANGLE, Encoder, encode_all
from trifold.errors import TrifoldError
from trifold.files import temporary_folder
from trifold.model import Model, ModelConfig, choose_device
from trifold.outcomes import Outcome
from trifold.pddl import Problem, StateSpace, load_domain, load_problem
from trifold.processes import Limits, run_isolated
from trifold.structures import Structures, concatenate, query_relations

STATES = 2048
"""So many states, as many from each problem, are encoded and trained on."""

RATE_SECONDS = 0.2
"""For so long each rate is measured at each size."""


def run_bench(
    place: str,
    config: ModelConfig,
    *,
    batches: Sequence[int] | None = None,
    problem: Path | None = None,
    device: str = "auto",
    threads: int | None = None,
    planner: Path | None = None,
    timeout: float = 300.0,
    memory_gib: float | None = None,
    max_states: int = 100_000,
    seconds: float = 3.0,
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> Report:
    """Time every stage for a domain, by name or as a folder, and an architecture.

    batches     sizes of batches; None is 16, and on CUDA 16, 64 and 256
    problem     the large problem of the policy step; None is the largest test problem
    planner     a fast-downward.py; None tries that of up-fast-downward
    timeout     seconds to read or label a problem, and for the planner's first plan
    memory_gib  to read or label a problem
    max_states  problems with more states are not labelled
    seconds     that each row is measured for, about
    """
    device = choose_device(device)
    batches = batches or ((16, 64, 256) if device.startswith("cuda") else (16,))
    planner = choose_planner(planner)
    if threads is not None:
        use_threads(threads)
    bench = Bench(Machine(device, min(RATE_SECONDS, seconds)), seconds)
    with temporary_folder() as temporary:
        files = find_files(place, temporary, problem, seed)
        check_problem(files.domain, files.large, Limits(timeout, memory_gib))
        domain = load_domain(files.domain)
        say("labelling")
        limits = LabelLimits(max_states, None, timeout, memory_gib)
        labelled = label_problems(files.domain, files.training, limits, say)
        rows = time_labelling(bench, files.domain, list(labelled), list(labelled.values()), max_states)
        say("encoding")
        structures, targets = draw_states(list(labelled.values()), STATES, seed)
        plain, encoder = structures.to(device), config.build_encoder()
        data = _encode(encoder, plain, targets.to(device))
        model = Model.fresh(config, domain.signature, domain.text, data.atom_counts, seed).to(device)
        rows.append(time_encoding(bench, encoder, plain))
        for batch in batches:
            say(f"batches and training steps of {batch} states")
            rows += [time_batching(bench, data, batch, seed), *time_training(bench, model, data, batch, seed)]
        say(f"policy step of {files.large.name}")
        policy_rows, policy_sizes = _time_policies(bench, model, load_problem(domain, files.large), seed)
        say("LAMA's first plan")
        rows += [*policy_rows, time_first_plan(planner, files.domain, files.large, timeout)]
        settings = {"domain": place, "model": config.label} | config.to_json() | {"batches": list(batches)}
        sizes: dict[str, Any] = {"labelled problems": {path.name: len(space) for path, space in labelled.items()}}
        sizes |= {
            "a training state": _mean_sizes(plain, data),
            "policy step": {"problem": files.large.name} | policy_sizes,
        }
        return Report(settings, conditions(device), sizes, bench.machine.to_json(), rows)


def _encode(encoder: Encoder, plain: Structures, targets: Tensor) -> Dataset:
    """Encoded states as a data set that is trained on."""
    encoded = encode_all(encoder, plain)
    counts = dict(zip(encoded.signature.names, encoded.atom_counts.sum(1).tolist(), strict=True))
    return Dataset(encoded, None, targets, torch.ones_like(targets, dtype=torch.int64), counts)


def _time_policies(bench: Bench, model: Model, problem: Problem, seed: int) -> tuple[list[Measurement], dict[str, Any]]:
    """The rows of a step by values and of one by scores, by a fresh model with both heads; and the former's sizes."""
    rows, sizes = time_policy_step(bench, model, problem)
    domain, config = problem.domain, replace(model.config, heads="both")
    atoms = model.training_atoms | {query.name: 1 for query in query_relations(domain.schemas)}
    both = Model.fresh(config, model.signature, domain.text, atoms, seed, domain.schemas).to(model.device)
    return [*rows, *time_look(bench, both, problem)], sizes


def _mean_sizes(plain: Structures, data: Dataset) -> dict[str, float]:
    """How large a state is in the mean, before and after encoding."""
    return {
        "objects": float(plain.element_counts.double().mean()),
        "elements": float(data.structures.element_counts.double().mean()),
        "message rows": float(data.structures.message_rows().double().mean()),
        "triangles": data.atom_counts.get(TRIANGLE, 0) / len(data),
    }


def bench_job(job: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """What runs in a child process: a whole benchmark, since what the engine does cannot be interrupted."""
    place, config = job.pop("place"), ModelConfig.from_json(job.pop("config"))
    paths = {name: Path(job.pop(name)) for name in ("problem", "planner") if job[name] is not None}
    found = run_bench(place, config, say=lambda text: report({"say": text}), **job | paths)
    return {"json": found.to_json(), "text": found.to_text()}


def check_problem(domain: Path, problem: Path, limits: Limits) -> None:
    """Read a problem within limits, so that it can be read without them; raises what is wrong with it."""
    jobs = [{"domain": str(domain), "problem": str(problem)}]
    (result,) = run_isolated("trifold.bench.run:read_job", jobs, workers=1, limits=limits)
    if result.outcome is Outcome.BAD_INPUT and result.error:
        raise result.error
    if result.error:
        raise TrifoldError(
            f"the problem cannot be read: {result.outcome}, {result.message}",
            place=str(problem),
            remedy="give a smaller --problem, or raise --timeout or --memory",
        )


def read_job(job: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """What runs in a child process: read a problem, which can take any time."""
    load_problem(load_domain(Path(job["domain"])), Path(job["problem"]))
    return {}


def label_problems(
    domain: Path, problems: Sequence[Path], limits: LabelLimits, say: Callable[[str], None]
) -> dict[Path, StateSpace]:
    """The state spaces of the problems that have one within the limits."""
    labelled = label(domain, problems, limits=limits)
    for item in labelled:
        if item.space is None:
            say(f"left out {item.path.name}: {item.outcome}, {item.message}")
    if spaces := {item.path: item.space for item in labelled if item.space is not None}:
        return spaces
    raise TrifoldError(
        f"none of the training problems can be labelled: {labelled[0].outcome}, {labelled[0].message}",
        place=str(problems[0]),
        remedy="raise --max-states, --timeout or --memory",
    )


def draw_states(spaces: Sequence[StateSpace], count: int, seed: int) -> tuple[Structures, Tensor]:
    """About so many structures over objects, as many from each space, and their targets."""
    generator = np.random.default_rng(seed)
    dead_end = dead_end_target(spaces, "keep")
    assert dead_end is not None
    structures, targets = [], []
    for space in spaces:
        chosen = generator.choice(len(space), min(len(space), -(-count // len(spaces))), replace=False)
        distances = space.distances[chosen]
        structures.append(space.structures().take(torch.from_numpy(chosen)))
        targets.append(torch.from_numpy(np.where(distances < 0, dead_end, distances)).to(torch.float32))
    return concatenate(structures), torch.cat(targets)

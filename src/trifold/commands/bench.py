"""`trifold bench`: how fast every stage is on this machine, beside what the machine could do."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from tempfile import gettempdir
from typing import Annotated, Any

import typer

from trifold.commands.options import Device, EncoderName, Json, MaxStates, Memory, Quiet, Seed
from trifold.commands.progress import when_interrupted
from trifold.errors import TrifoldError
from trifold.files import sweep
from trifold.memory import OutOfMemory
from trifold.outcomes import Outcome


def bench(
    place: Annotated[
        str,
        typer.Argument(
            metavar="DOMAIN|DIR",
            help="A domain of `trifold domains`, or a folder of domain and problems, as for `train`.",
        ),
    ] = "logistics",
    encoder: Annotated[
        EncoderName, typer.Option("--encoder", help="The architecture, as for `train`.")
    ] = EncoderName.PAIRS,
    t: Annotated[float, typer.Option("--t", help="t of R-GNN[t]: 0, 1, 2, … or inf.")] = 1,
    dim: Annotated[int, typer.Option("--dim", help="k, the width of an embedding.")] = 64,
    layers: Annotated[int, typer.Option("--layers", help="L, the number of layers.")] = 30,
    batch: Annotated[
        list[int] | None,
        typer.Option("--batch", min=1, help="States in a batch; again for more sizes. 16, on CUDA 16, 64 and 256."),
    ] = None,
    problem: Annotated[
        Path | None,
        typer.Option("--problem", help="The problem of the policy step; the largest test problem if not given."),
    ] = None,
    planner: Annotated[
        Path | None,
        typer.Option("--planner", help="A fast-downward.py; that of the package up-fast-downward if not given."),
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.0, help="Seconds to read or label a problem, and for LAMA's first plan.")
    ] = 300.0,
    memory: Memory = None,
    seconds: Annotated[float, typer.Option("--seconds", min=0.0, help="About how long each row is measured.")] = 3.0,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="Threads on a CPU; torch's own choice if not given.")
    ] = None,
    max_states: MaxStates = 100_000,
    seed: Seed = 0,
    device: Device = "auto",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Time labelling, encoding, batching, training step and policy step, beside the floor of each.

    The model is fresh: speed does not depend on what was learned. Floors are counted from the states themselves, and
    taken at the rates of this machine, measured in the same run. Beside them: pymimir's search, the network by unsorted
    scatters, and LAMA's first plan for the whole problem in which the policy makes one step.
    """
    from trifold.model import ModelConfig

    config = ModelConfig(encoder.value, t, dim, layers).to_json()
    job: dict[str, Any] = {"place": place, "config": config, "batches": batch, "device": device, "seed": seed}
    job |= {"problem": problem and str(problem), "planner": planner and str(planner)}
    job |= {"threads": threads, "timeout": timeout, "memory_gib": memory, "max_states": max_states, "seconds": seconds}
    with when_interrupted("interrupted; nothing is kept of it"):
        found = _measure(job, quiet)
    typer.echo(json_format.dumps(found["json"], indent=2) if json else found["text"])


def _measure(job: dict[str, Any], quiet: bool) -> dict[str, Any]:
    """Run the benchmark in a child process, and return its report as text and as JSON."""
    from trifold.processes import Limits, run_isolated

    def say(_: int, event: dict[str, str]) -> None:
        if not quiet:
            typer.echo(event["say"], err=True)

    try:
        (result,) = run_isolated("trifold.bench.run:bench_job", [job], workers=1, limits=Limits(), on_event=say)
    finally:
        sweep(Path(gettempdir()))  # the child may have been killed
    if result.outcome is Outcome.MEMORY_LIMIT:
        raise OutOfMemory(f"there is not enough memory: {result.message}", remedy="use smaller problems, or --batch")
    if result.value is None:
        raise TrifoldError(f"the benchmark failed: {result.message}")
    if result.error:
        raise result.error
    return result.value

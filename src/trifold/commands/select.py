"""`trifold select`: of a run's models, the one whose policy solves most."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import Annotated

import typer

from trifold.commands.evaluate import describe_attempt
from trifold.commands.hands import hired
from trifold.commands.options import Cluster, Device, Json, Memory, PolicyName, Quiet, Shared, Timeout, Workers
from trifold.commands.progress import show_records, tell_waiting, when_interrupted
from trifold.limits import MAX_STEPS
from trifold.words import counted

Problems = Annotated[
    Path | None,
    typer.Argument(
        metavar="DIR", help="Problems to select on: larger than those of training. The recipe's if not given."
    ),
]
Steps = Annotated[
    int | None,
    typer.Option(
        "--max-steps",
        min=0,
        help=f"Steps after which the policy gives up. What the recipe says if not given, or {MAX_STEPS}.",
    ),
]


def select(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A folder that `trifold train --seeds N` made.")],
    place: Problems = None,
    policy: PolicyName = None,
    max_steps: Steps = None,
    timeout: Timeout = None,
    memory: Memory = None,
    workers: Workers = None,
    cluster: Cluster = None,
    shared: Shared = None,
    device: Device = "auto",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Keep the model of a run whose policy solves most problems of a folder, instead of what the training kept.

    Of equals, the one with the shortest plans where all solve, then with the least validation loss. It becomes
    RUN/model.safetensors, and says so; RUN/selection.jsonl has the records, and the same command goes on where it
    stopped; where it keeps what is kept, no file changes. The problems must not be those that results are reported on.
    Without DIR they are those that the run's recipe describes, drawn into RUN/selection.
    """
    from trifold.selection import choose_candidate, find_candidates

    found = find_candidates(run, place, max_steps)
    if not found.problems:
        typer.echo(f"{run}: {found.reason}, so the model that the training kept stays", err=True)
        return
    records = run / "selection.jsonl"
    go_on = f"interrupted; {records} keeps what is done, the same command goes on from there"
    total = len(found.models) * len(found.problems)
    shown = show_records("evaluating", total, describe_attempt, quiet)
    with when_interrupted(go_on), hired(cluster, workers, shared, quiet) as crew, shown as show:
        selected = choose_candidate(
            found,
            policy=policy,
            on_record=show,
            on_wait=lambda: tell_waiting(records),
            timeout=timeout,
            memory_gib=memory,
            workers=crew,
            device=device,
        )
    if json:
        typer.echo(json_format.dumps(selected.to_json() | {"chosen": selected.chosen}, indent=2))
        return
    for name, score in selected.scores.items():
        typer.echo(
            f"{name}: {score.solved} of {len(found.problems)} solved, {counted(score.length, 'step')} where all solve, "
            f"validation loss {selected.losses[name]:.4f}{'  <- kept' if name == selected.chosen else ''}"
        )

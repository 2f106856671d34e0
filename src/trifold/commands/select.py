"""`trifold select`: of a run's models, the one whose policy solves most."""

from __future__ import annotations

import json as json_format
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from trifold.commands.evaluate import show_records, tell_waiting
from trifold.commands.options import Device, Json, MaxSteps, Memory, Quiet, Timeout, Workers
from trifold.errors import TrifoldError


def select(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A folder that `trifold train --seeds N` made.")],
    place: Annotated[Path, typer.Argument(metavar="DIR", help="Problems to select on: larger than those of training.")],
    max_steps: MaxSteps = 500,
    timeout: Timeout = None,
    memory: Memory = None,
    workers: Workers = None,
    device: Device = "auto",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Keep the model of a run whose policy solves most problems of a folder, instead of the least validation loss.

    Of equals, the one with the shortest plans where all solve, then with the least validation loss. It becomes
    RUN/model.safetensors, and says so; RUN/selection.jsonl has the records, and the same command goes on where it
    stopped. The problems must not be those that results are reported on.
    """
    from trifold.evaluation import evaluate
    from trifold.evaluation.records import file_sha256
    from trifold.evaluation.selection import best_of, score_each
    from trifold.model import Model
    from trifold.pddl.folder import find_domain, find_problems
    from trifold.processes import available_cores
    from trifold.training.run import RunFolder

    folder, problems = RunFolder(run), find_problems(place)
    candidates = {path.parent.name: path for path in sorted(run.glob("seed-*/best.safetensors"))}
    if not candidates or not folder.model.exists():
        raise TrifoldError(
            "there is no finished training in this folder", place=str(run), remedy="give one that `trifold train` made"
        )
    training = folder.training()
    if len(training["seeds"]) != len(candidates):
        raise TrifoldError(
            "the training in this folder is not finished", place=str(run), remedy=f"trifold train --resume {run}"
        )
    losses = {name: _validation_loss(path) for name, path in candidates.items()}
    records = {}
    try:
        for name, path in candidates.items():
            with show_records(len(problems), quiet) as on_record:
                records[name] = evaluate(
                    path,
                    problems,
                    records=run / "selection.jsonl",
                    domain=find_domain(place),
                    max_steps=max_steps,
                    timeout=timeout,
                    memory_gib=memory,
                    workers=workers or available_cores(),
                    device=device,
                    on_record=on_record,
                    on_wait=lambda: tell_waiting(run / "selection.jsonl"),
                )
    except KeyboardInterrupt:
        typer.echo("interrupted; the same command goes on from there", err=True)
        raise typer.Exit(130) from None
    scores = score_each(records)
    chosen = best_of(scores, losses)
    with folder.locked():
        model = Model.load(candidates[chosen])
        model.provenance["training"] = training
        model.provenance["selection"] = {
            "problems": sorted(map(file_sha256, problems)),
            "max_steps": max_steps,
            "models": {name: asdict(score) | {"validation_loss": losses[name]} for name, score in scores.items()},
        }
        model.save(folder.model)
    if json:
        typer.echo(json_format.dumps(model.provenance["selection"] | {"chosen": chosen}, indent=2))
        return
    for name, score in scores.items():
        typer.echo(
            f"{name}: {score.solved} of {len(problems)} solved, {score.length} steps where all solve, "
            f"validation loss {losses[name]:.4f}{'  <- kept' if name == chosen else ''}"
        )


def _validation_loss(file: Path) -> float:
    from trifold.model import Model
    from trifold.provenance import Origin

    loss = Origin.of(Model.load(file).provenance).validation_loss
    if loss is None:
        raise TrifoldError("this model does not say its validation loss", place=str(file), remedy="restore the file")
    return loss

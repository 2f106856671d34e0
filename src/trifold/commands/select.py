"""`trifold select`: of a run's models, the one whose policy solves most."""

from __future__ import annotations

import json as json_format
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trifold.commands.evaluate import describe_attempt
from trifold.commands.options import Device, Json, Memory, PolicyName, Quiet, Timeout, Workers
from trifold.commands.progress import show_records, tell_waiting, when_interrupted
from trifold.errors import TrifoldError

if TYPE_CHECKING:
    from trifold.evaluation import Record
    from trifold.training import RunFolder, Selection

Problems = Annotated[
    Path | None,
    typer.Argument(
        metavar="DIR", help="Problems to select on: larger than those of training. The recipe's if not given."
    ),
]
Steps = Annotated[
    int | None, typer.Option("--max-steps", min=0, help="Steps after which the policy gives up. 500 if not given.")
]


def select(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A folder that `trifold train --seeds N` made.")],
    place: Problems = None,
    policy: PolicyName = None,
    max_steps: Steps = None,
    timeout: Timeout = None,
    memory: Memory = None,
    workers: Workers = None,
    device: Device = "auto",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Keep the model of a run whose policy solves most problems of a folder, instead of what the training kept.

    Of equals, the one with the shortest plans where all solve, then with the least validation loss. It becomes
    RUN/model.safetensors, and says so; RUN/selection.jsonl has the records, and the same command goes on where it
    stopped. The problems must not be those that results are reported on. Without DIR they are those that the run's
    recipe describes, drawn into RUN/selection.
    """
    from trifold.evaluation import best_of, file_sha256, score_each
    from trifold.pddl import find_domain, find_problems
    from trifold.processes import available_cores
    from trifold.training import RunFolder

    folder = RunFolder(run)
    candidates = _find_candidates(folder)
    if place is None:
        recipe = _selection_of(folder)
        if recipe is None or len(candidates) == 1:
            why = "one seed was trained" if recipe else "its recipe names no problems to select on"
            typer.echo(f"{run}: {why}, so the model that the training kept stays", err=True)
            return
        place = draw_problems_of(recipe, run / "selection")
        max_steps = recipe.max_steps if max_steps is None else max_steps
    problems = find_problems(place)
    settings: dict[str, Any] = {
        "domain": find_domain(place),
        "policy": policy or _policy_of(candidates),
        "max_steps": 500 if max_steps is None else max_steps,
        "timeout": timeout,
        "memory_gib": memory,
        "workers": workers or available_cores(),
        "device": device,
    }
    losses = {name: _validation_loss(path) for name, path in candidates.items()}
    scores = score_each(_evaluate_each(candidates, problems, run / "selection.jsonl", settings, quiet))
    chosen = best_of(scores, losses)
    selection = {name: settings[name] for name in ("policy", "max_steps")} | {
        "problems": sorted(map(file_sha256, problems)),
        "models": {name: asdict(score) | {"validation_loss": losses[name]} for name, score in scores.items()},
    }
    _keep(folder, candidates[chosen], selection)
    if json:
        typer.echo(json_format.dumps(selection | {"chosen": chosen}, indent=2))
        return
    for name, score in scores.items():
        typer.echo(
            f"{name}: {score.solved} of {len(problems)} solved, {score.length} steps where all solve, "
            f"validation loss {losses[name]:.4f}{'  <- kept' if name == chosen else ''}"
        )


def _find_candidates(folder: RunFolder) -> dict[str, Path]:
    """The best model of each seed, if the training is finished."""
    place = str(folder.path)
    candidates = {path.parent.name: path for path in sorted(folder.path.glob("seed-*/best.safetensors"))}
    if not candidates or not folder.model.exists():
        raise TrifoldError(
            "there is no finished training in this folder", place=place, remedy="give one that `trifold train` made"
        )
    if len(folder.training()["seeds"]) != len(candidates):
        raise TrifoldError(
            "the training in this folder is not finished", place=place, remedy=f"trifold train --resume {place}"
        )
    return candidates


def _policy_of(candidates: dict[str, Path]) -> str:
    """The best policy that the models of a run have, which are of one kind."""
    from trifold.shipped import best_policy

    return best_policy(next(iter(candidates.values())))


def _evaluate_each(
    candidates: dict[str, Path], problems: list[Path], records: Path, settings: dict[str, Any], quiet: bool
) -> dict[str, list[Record]]:
    from trifold.evaluation import evaluate

    found = {}
    with when_interrupted("interrupted; the same command goes on from there"):
        for name, path in candidates.items():
            with show_records("evaluating", len(problems), describe_attempt, quiet) as show:
                settings |= {"on_record": show, "on_wait": lambda: tell_waiting(records)}
                found[name] = evaluate(path, problems, records=records, **settings)
    return found


def _keep(folder: RunFolder, file: Path, selection: dict[str, Any]) -> None:
    """Make the model in a file that of the run, and let it say how it was selected."""
    from trifold.model import Model

    with folder.locked():
        model = Model.load(file)
        model.provenance |= {"training": folder.training(), "selection": selection}
        model.save(folder.model)


def _selection_of(folder: RunFolder) -> Selection | None:
    from trifold.training import recorded_recipe

    with folder.opened("config.json") as content:
        return recorded_recipe(content).selection


def draw_problems_of(selection: Selection, folder: Path) -> Path:
    """Draw two problems of each size of a selection into the folder."""
    from trifold.domains import DOMAINS, draw_problems, split_texts, write_texts

    name, seed = selection.domain, selection.generator_seed
    defaults = {option.name: option.default for option in DOMAINS[name].options.values()}
    try:
        drawn = [each for size in selection.sizes for each in draw_problems(name, [defaults | size] * 2, seed)]
        write_texts(folder, split_texts(name, {"": drawn}))
    except ValueError as error:
        raise TrifoldError(f"the selection of the recipe cannot be drawn: {error}", place=str(folder)) from None
    return folder


def _validation_loss(file: Path) -> float:
    from trifold.model import Model
    from trifold.provenance import Origin

    loss = Origin.of(Model.load(file).provenance).validation_loss
    if loss is None:
        raise TrifoldError("this model does not say its validation loss", place=str(file), remedy="restore the file")
    return loss

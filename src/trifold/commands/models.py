"""`trifold models`: the trained models in the box."""

from __future__ import annotations

import json as json_format
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from trifold.commands.options import Json
from trifold.errors import TrifoldError

COLUMNS = {  # of the table: which fact, and its format
    "Name": ("name", ""),
    "Model": ("model", ""),
    "Policy": ("policy", ""),
    "k": ("dim", ""),
    "L": ("layers", ""),
    "Hardware": ("hardware", ""),
    "Parameters": ("parameters", ","),
    "Problems": ("problems", ","),
    "States": ("states", ","),
    "Seconds": ("seconds", ",.0f"),
    "Seeds": ("seeds", ""),
    "Steps": ("steps", ","),
    "Loss": ("validation_loss", ".4f"),
}


def models(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Show all that is known of this model.")] = None,
    domain: Annotated[
        bool, typer.Option("--domain", help="Print the PDDL domain that the model NAME carries, and nothing else.")
    ] = False,
    json: Json = False,
) -> None:
    """List the shipped models and how they were trained, or show one with its recipe and its whole provenance.

    NAME is the best for its domain; NAME-values has values alone, as in the paper, whose policy evaluates every
    successor of a state; NAME-teacher has taught NAME. `trifold train DIR --recipe NAME` trains another as a shipped
    one was, and the provenance has the whole command. Their names stand for model files in other commands. Training
    seconds are those of all seeds; steps and validation loss are those of the seed that was kept. The loss is that of
    V, and where actions are scored the sum of that and of the scores'.
    """
    from trifold.model import Model
    from trifold.shipped import find_model, shipped_models

    if domain:
        if name is None or json:
            raise TrifoldError("--domain prints the PDDL of one model", remedy="trifold models NAME --domain")
        typer.echo(Model.load(find_model(name)).domain_text, nl=False)
        return
    if name is not None:
        described = _describe(name, find_model(name), whole=True)
        recipe = described["provenance"].get("recipe") or _shipped_recipe(name)
        typer.echo(json_format.dumps({"name": name, "recipe": recipe} | described, indent=2))
        return
    found = [_describe(name, file, whole=False) for name, file in shipped_models().items()]
    if json:
        typer.echo(json_format.dumps(found, indent=2))
    elif found:
        typer.echo(_table(found), nl=False)
    else:
        typer.echo("no model is shipped with this version: `trifold train` makes one", err=True)


def _shipped_recipe(name: str) -> dict[str, Any] | None:
    """The recipe of a model in the box whose file is older than recipes, and does not hold it."""
    from trifold.training import read_recipe, shipped_recipes

    return read_recipe(name).to_json() if name in shipped_recipes() else None


def _describe(name: str, file: Path, *, whole: bool) -> dict[str, Any]:
    from trifold.model import Model
    from trifold.provenance import Origin
    from trifold.shipped import best_policy

    model = Model.load(file)
    facts = {
        "name": name,
        "model": model.name,
        "policy": best_policy(file),
        "dim": model.config.dim,
        "layers": model.config.layers,
        "parameters": model.parameters,
        "bytes": file.stat().st_size,
    }
    if whole:
        return facts | {"config": model.config.to_json(), "provenance": model.provenance}
    return facts | asdict(Origin.of(model.provenance))


def _table(found: Sequence[dict[str, Any]]) -> str:
    from trifold.evaluation import aligned_text

    rows = [
        ["-" if model[fact] is None else format(model[fact], form) for fact, form in COLUMNS.values()]
        for model in found
    ]
    return aligned_text([list(COLUMNS), *rows], names=3)

"""`trifold study`: recipes in a grid of settings, with seeds, in some domains: trained, evaluated and summed up."""

from __future__ import annotations

import json as json_format
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from trifold.commands.hands import hired
from trifold.commands.options import Cluster, Json, Quiet, Shared
from trifold.commands.train import read_changes

File = Annotated[Path, typer.Argument(metavar="STUDY.toml", help="What is to be studied: docs/study.md.")]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="The folder of all that comes of it; runs/STUDY if not given.")
]
OnlyPlan = Annotated[
    bool,
    typer.Option("--plan", help="Do nothing: list the cells, what is done, and how long the rest takes."),
]
Domains = Annotated[
    list[str] | None, typer.Option("--domain", help="Only this domain of the study; may be given several times.")
]
Recipes = Annotated[
    list[str] | None,
    typer.Option("--recipe", help="Only this recipe, or model, of the study; may be given several times."),
]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a value of all recipes; may be given several times."),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        help="Trainings and evaluations at once, which share the cores; one per core if not given, or one per training "
        "where these are fewer.",
    ),
]
Device = Annotated[
    str,
    typer.Option(
        "--device",
        show_default=False,
        help="Of trainings and evaluations; what the file says if not given.",
    ),
]


def study(
    context: typer.Context,
    file: File,
    out: Out = None,
    plan: OnlyPlan = False,
    domain: Domains = None,
    recipe: Recipes = None,
    change: Changes = None,
    workers: Workers = None,
    cluster: Cluster = None,
    shared: Shared = None,
    device: Device = "auto",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train and evaluate a grid of recipes, seeds and domains, and sum it up in a table and a page.

    The file names domains, recipes, a grid of settings, seeds and test sets. Each place of the grid is a cell, with a
    folder of its own. Ctrl-C is safe at any moment: the same command does what is left. A cell that fails is named,
    with the reason, and ends no other; the same command tries it again. A cell whose problems or settings are changed
    in the file is another cell. Exit code 0 if all is done, or that of the first cell that failed, as of `solve`.
    """
    from trifold.commands.progress import when_interrupted
    from trifold.commands.study_display import report_plan, report_study, study_display
    from trifold.studies import plan as plan_study
    from trifold.studies import study as do_study

    place = out or Path("runs") / file.stem
    asked: dict[str, Any] = {"domains": domain or (), "recipes": recipe or ()}
    given = context.get_parameter_source("device")
    asked |= {"device": device if given and given.name == "COMMANDLINE" else None}
    asked |= read_changes(change or [], {})
    if plan:
        report_plan(plan_study(file, place, workers=workers, **asked), json)
        return
    show = nullcontext() if quiet else study_display()
    with (
        when_interrupted(f"interrupted; {place} keeps what is done, the same command goes on from there"),
        nullcontext(workers) if cluster is None else hired(cluster, workers, shared, quiet) as crew,
        show as watcher,
    ):
        result = do_study(file, place, watcher=watcher, workers=crew, **asked)
    if json:
        typer.echo(json_format.dumps(result.to_json()))
    else:
        report_study(result)
    if result.exit_code:
        raise typer.Exit(result.exit_code)

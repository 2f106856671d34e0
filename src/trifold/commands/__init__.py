"""The command line: one thin file per verb."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from trifold.commands.bench import bench
from trifold.commands.domains import domains
from trifold.commands.ending import run_to_the_end
from trifold.commands.evaluate import evaluate
from trifold.commands.explain import explain
from trifold.commands.expressivity import expressivity
from trifold.commands.generate import add_domains
from trifold.commands.generate import app as generate
from trifold.commands.label import label
from trifold.commands.learning_track import learn, plan
from trifold.commands.models import models
from trifold.commands.reference import reference
from trifold.commands.select import select
from trifold.commands.solve import solve
from trifold.commands.table import table
from trifold.commands.train import TrainCommand, train
from trifold.plugins import load_plugins

if TYPE_CHECKING:
    from trifold.training import Watcher


class Verbs(TyperGroup):
    """The verbs in the order in which one comes to use them; typer would put `generate`, with its domains, last."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names."""
        names = [name for name in self.commands if name != "generate"]
        names.insert(names.index("label"), "generate")
        return names


app = typer.Typer(
    name="trifold",
    cls=Verbs,
    help="Learn general policies for classical planning with R-GNN[t], from a PDDL domain and small problems.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # or [t] would be read as markup
    context_settings={"help_option_names": ["-h", "--help"]},
)
VERBS = (
    *(models, domains, label, expressivity, train, select, solve, explain),
    *(evaluate, reference, table, learn, plan, bench),
)
for command in VERBS:
    app.command(cls=TrainCommand if command is train else None)(command)
app.add_typer(generate)


def _show_version(wanted: bool) -> None:
    if wanted:
        from trifold import __version__

        typer.echo(f"trifold {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def show_training() -> AbstractContextManager[Watcher]:
    """What `trifold train` shows of a training, for programs that train."""
    from trifold.commands.training_display import display  # which loads torch

    return display()


def main() -> None:
    """Run the command line, with what plugins add to it."""
    sys.exit(run_to_the_end(_run))


def _run() -> None:
    load_plugins()
    add_domains()
    app()

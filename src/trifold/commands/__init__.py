"""The command line: one thin file per verb, which is imported when the verb is used."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from trifold.commands.ending import run_to_the_end
from trifold.plugins import load_plugins

if TYPE_CHECKING:
    from trifold.ladder import ClimbWatcher
    from trifold.studies import StudyWatcher

VERBS = {
    **{name: name for name in ("models", "domains", "generate", "label", "expressivity", "train", "select", "study")},
    **{name: name for name in ("solve", "explain", "evaluate", "reference", "table", "report")},
    **dict.fromkeys(("learn", "plan"), "learning_track"),
    "bench": "bench",
}
"""The verbs, in the order in which one comes to use them, and the module of each.

A verb is the function of its name there or, if it has verbs of its own, what `group()` gives; `COMMAND`, if there is
one, is the class of its command.
"""


LONGEST_SENTENCE = 500
"""More letters than the first sentence of a verb's help has."""


class Commands(Mapping[str, Any]):
    """The commands of all verbs; only of what is asked for is the module imported, so that one starts quickly."""

    def __getitem__(self, name: str) -> Any:
        if name not in VERBS:
            raise KeyError(name)
        return _load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(VERBS)

    def __len__(self) -> int:
        return len(VERBS)


def _load(name: str) -> Any:
    module = import_module(f"trifold.commands.{VERBS[name]}")
    if hasattr(module, "group"):
        return typer.main.get_command(module.group())
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name, cls=getattr(module, "COMMAND", None))(getattr(module, name))
    return typer.main.get_command(alone)


class Verbs(TyperGroup):
    """The group of all verbs."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.commands: Any = Commands()

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The verbs with their whole first sentences, where click cuts them off at the end of a line."""
        with formatter.section("Commands"):
            rows = [(name, verb.get_short_help_str(LONGEST_SENTENCE)) for name, verb in self.commands.items()]
            formatter.write_dl(rows)


app = typer.Typer(
    name="trifold",
    cls=Verbs,
    help="Learn general policies for classical planning with R-GNN[t], from a PDDL domain and small problems.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # or [t] would be read as markup
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


def show_training() -> AbstractContextManager[ClimbWatcher]:
    """What `trifold train` shows of a training or a climb, for programs that train."""
    from trifold.commands.ladder import climb_display  # which loads torch

    return climb_display()


def show_study() -> AbstractContextManager[StudyWatcher]:
    """What `trifold study` shows, for programs that do a study."""
    from trifold.commands.study_display import study_display

    return study_display()


def main() -> None:
    """Run the command line, with what plugins add to it."""
    sys.exit(run_to_the_end(_run))


def _run() -> None:
    load_plugins()
    app()

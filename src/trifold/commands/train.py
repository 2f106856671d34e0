"""`trifold train`: from a folder of PDDL files to a model."""

from __future__ import annotations

import json as json_format
import os
import shlex
import tomllib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from trifold.commands.hands import hired
from trifold.commands.options import Cluster, Device, Json, Plot, Quiet, Shared, Workers, check_plot
from trifold.errors import TrifoldError
from trifold.files import write_whole
from trifold.memory import memory_errors

if TYPE_CHECKING:
    from trifold.ladder import Climbed
    from trifold.training import TrainingResult

FORMERLY = {"timeout": "seconds", "memory": "memory_gib"}
"""Options whose key in recipes has another name."""


class Kernels(StrEnum):
    """One of `trifold.nn.KERNELS`."""

    AUTO = "auto"
    REFERENCE = "reference"
    FUSED = "fused"


class Architectures(StrEnum):
    """Which rungs of the ladder are trained."""

    AUTO = "auto"
    ALL = "all"


class TrainCommand(TyperCommand):
    """The command `train`, which says what to write in place of an option that is a key of recipes.

    Where torchrun starts it several times, for one training, the first process alone says anything.
    """

    def invoke(self, ctx: Any) -> Any:
        """Train."""
        with _said_once():
            return super().invoke(ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options; one that became a key of recipes is refused with what to write instead."""
        with _said_once():
            return self._parse(ctx, args)

    def _parse(self, ctx: Any, args: list[str]) -> list[str]:
        known = {name for option in self.params for name in [*option.opts, *option.secondary_opts]}
        words = args[: args.index("--")] if "--" in args else args
        flags = [word.partition("=")[0] for word in words]
        unknown = {place for place, flag in enumerate(flags) if flag.startswith("--") and flag not in known}
        if unknown and (instead := _as_changes(words, unknown)):
            raise TrifoldError(
                f"what is in recipes has no option of its own: {', '.join(flags[place] for place in instead)}",
                remedy=f"use {' '.join(instead.values())}",
            )
        return super().parse_args(ctx, args)


@contextmanager
def _said_once() -> Iterator[None]:
    """Let this process say nothing if it is one of several but not the first, unless it alone has something to say."""
    if not _is_led():
        yield
        return
    from trifold.training import Astray

    try:
        with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
            yield
    except Exception as error:
        code = getattr(error, "exit_code", None)  # what ends the first process, too: wrong usage, help, bad input
        if code is None or isinstance(error, Astray):
            raise
        raise SystemExit(code) from None


def _is_led() -> bool:
    """Whether this is one of several processes, and not the first."""
    if "RANK" not in os.environ:  # torch need not be loaded to know it
        return False
    from trifold.training import is_led

    return is_led()


COMMAND = TrainCommand
"""See `trifold.commands.VERBS`."""

Folder = Annotated[
    Path | None,
    typer.Argument(metavar="DIR", help="domain.pddl, and problems in train/ and validation/, in train/, or beside it."),
]
Run = Annotated[Path | None, typer.Option("--run", "-o", help="The run folder to make; runs/DIR if not given.")]
Resume = Annotated[Path | None, typer.Option("--resume", help="Go on with this run folder instead.")]
RecipeName = Annotated[
    str | None,
    typer.Option(
        "--recipe",
        "--preset",
        help="Not given: fast on a GPU, else laptop: 20 minutes of a CPU. paper: k 64 (32 for R-GNN₂), L 30, "
        "batch 16, 200,000 steps. fast: the same network in minutes of one GPU, batch 64 and a cosine schedule from "
        "1e-3. small: minutes on two CPU cores. The name of a shipped model: how it was trained. Or a TOML file of "
        "your own: docs/recipes.md.",
    ),
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a value of the recipe; may be given several times. t=2, t=inf: t of R-GNN[t]. encoder=plain: "
        "R-GNN; compositions: R-GNN₂; oblivious: 2-GNN; marks: Edge Transformer. dim=32, layers=12, batch=8, keep=1000 "
        "and so on: a wrong key lists all.",
    ),
]
Steps = Annotated[int | None, typer.Option("--steps", help="Optimizer steps; the recipe's if not given.")]
Minutes = Annotated[
    float | None, typer.Option("--minutes", help="Train each model at most this long; a schedule ends by then.")
]
FirstSeed = Annotated[int | None, typer.Option("--seed", min=0, help="The seed of everything random.")]
Seeds = Annotated[
    int | None,
    typer.Option(
        "--seeds", min=1, help="How many models to train (fused: at once); the best is kept: keep_by of the recipe."
    ),
]
KernelsName = Annotated[
    Kernels | None,
    typer.Option("--kernels", help="fused: Triton kernels, an R-GNN's step as a CUDA graph; auto: fused on CUDA."),
]

Ladder = Annotated[
    Architectures | None,
    typer.Option(
        "--architecture",
        help="auto: find the cheapest that is as good as the best, from R-GNN to R-GNN[1] with k 64 and L 30, without "
        "training what cannot or need not be. all: train what need not be, too. --minutes are those of all together.",
    ),
]
JudgedOn = Annotated[
    Path | None,
    typer.Option(
        "--judge",
        metavar="DIR",
        help="Larger problems, no test problems, that --architecture judges by. Not given: those of the recipe's "
        "selection, or those of DIR that cannot be labelled whole.",
    ),
]
Teacher = Annotated[
    str | None,
    typer.Option(
        "--teacher", metavar="MODEL", help="A model that says what is good where the policy goes in practice."
    ),
]
Practice = Annotated[
    Path | None,
    typer.Option(
        "--practice", metavar="DIR", help="The problems it practises on, of any size; those of training if not given."
    ),
]


def train(
    context: typer.Context,
    directory: Folder = None,
    run: Run = None,
    resume: Resume = None,
    recipe: RecipeName = None,
    change: Changes = None,
    architecture: Ladder = None,
    judge: JudgedOn = None,
    teacher: Teacher = None,
    practice: Practice = None,
    steps: Steps = None,
    minutes: Minutes = None,
    seed: FirstSeed = None,
    seeds: Seeds = None,
    kernels: KernelsName = None,
    workers: Workers = None,
    cluster: Cluster = None,
    shared: Shared = None,
    device: Device = "auto",
    plot: Plot = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn a value function from small problems.

    Every problem's whole state space is labelled with optimal distances (and kept in a cache: $TRIFOLD_CACHE or
    ~/.cache/trifold), then a network is trained on them as a recipe says: architecture, data, training and selection.
    Problems beyond its limits on states, seconds and memory are left out and counted. While it trains it shows how many
    held-out problems its policy solves. The run folder holds the model as model.safetensors. Ctrl-C is safe at any
    moment, and leaves the best model so far: --resume goes on from the last save, and takes --steps, --minutes and
    --device. With --architecture auto several architectures are trained, each in a folder of its own in the run folder.
    With --teacher it learns from another model, too, on problems of --practice that may be too large to be labelled.
    --plot draws the curves of the training, or the architectures beside each other, as they are in the end.
    """
    picture = check_plot(plot)
    _check_request(context, directory, resume)
    folder = resume or run or Path("runs") / directory.resolve().name  # type: ignore[union-attr]
    flags = {"steps": steps, "minutes": minutes, "seed": seed, "seeds": seeds, "kernels": kernels and kernels.value}
    changes = read_changes(change or [], {name: value for name, value in flags.items() if value is not None})
    kind = _find_kind(resume, architecture, judge, {"teacher": teacher, "practice": practice})
    show = nullcontext() if quiet else kind.display()
    hands = hired(cluster, workers, shared, quiet)
    with _interrupts(folder), memory_errors(lambda: _less_memory(folder)), hands as crew, show as watcher:
        options = kind.options | {"workers": crew, "watcher": watcher}
        if directory is not None:
            result = kind.begin(directory, folder, recipe, device=device, **options, **changes)
        else:
            anew = None if device == "auto" else device
            result = kind.go_on(folder, steps=steps, minutes=minutes, device=anew, **options)
    if _is_led():
        return  # the first process writes and tells, and the run folder may be on its machine alone
    if plot is not None:
        write_whole(plot, kind.draw(result, picture))
    kind.report(result, json)
    if not quiet and not json:
        for advice in result.advice:
            typer.echo(f"next: {advice.command}  # {advice.why}", err=True)


@dataclass(frozen=True)
class _Kind:
    """What the command does: one training, or a climb."""

    begin: Callable[..., Any]
    go_on: Callable[..., Any]
    display: Callable[[], AbstractContextManager[Any]]
    report: Callable[[Any, bool], None]
    draw: Callable[[Any, str], bytes]
    options: dict[str, Any]


def _find_kind(
    resume: Path | None, architecture: Architectures | None, judge: Path | None, lessons: dict[str, Any]
) -> _Kind:
    from trifold.ladder import climb, is_climb, resume_climb
    from trifold.training import resume as resume_run
    from trifold.training import train as train_run

    # The first of several processes sees what run it is; the others do as it says, and may not have the folder.
    is_ladder = architecture is not None if resume is None else _is_led() or is_climb(resume)
    if is_ladder:
        from trifold.commands.ladder import climb_display, report_climb

        if any(lessons.values()):
            raise TrifoldError(
                "a ladder has no teacher", remedy="leave out --architecture, or --teacher and --practice"
            )
        options = {"judge": judge, "every": architecture is Architectures.ALL}
        return _Kind(climb, resume_climb, climb_display, report_climb, _draw_ladder, options)
    if resume is not None and architecture is not None:
        raise TrifoldError(
            "this is the run of one architecture", place=str(resume), remedy="leave out --architecture, or train anew"
        )
    if judge is not None:
        raise TrifoldError("--judge is of --architecture auto", remedy="add that, or leave out --judge")
    from trifold.commands.training_display import display

    return _Kind(partial(train_run, **lessons), resume_run, display, _report, _draw_curves, {})


def _draw_ladder(result: Climbed, kind: str) -> bytes:
    from trifold.ladder import plot_ladder

    return plot_ladder(result.rungs, kind)


def _draw_curves(result: TrainingResult, kind: str) -> bytes:
    from trifold.training import plot_trainings

    return plot_trainings([result.run], kind)


def _as_changes(words: Sequence[str], unknown: Collection[int]) -> dict[int, str]:
    """What to write in place of words that are options of keys of recipes: `--set dim=4` for `--dim 4`."""
    from trifold.training import RECIPE_KEYS

    found = {}
    for place in sorted(unknown):
        flag, _, value = words[place].partition("=")
        name = flag.removeprefix("--").replace("-", "_")
        key = FORMERLY.get(name, name.removeprefix("no_"))
        if key in RECIPE_KEYS:
            if bool in RECIPE_KEYS[key]:
                value = "false" if name.startswith("no_") else "true"
            found[place] = f"--set {key}={shlex.quote(value or ''.join(words[place + 1 : place + 2]))}"
    return found


def read_changes(texts: Sequence[str], changes: dict[str, Any]) -> dict[str, Any]:
    """Add what --set says to the changes: values in TOML, or bare words."""
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals:
            raise TrifoldError(f"--set takes KEY=VALUE, not {text!r}", remedy="such as --set dim=32")
        from trifold.training import find_key

        _, key = find_key(key.strip())
        if key in changes:
            raise TrifoldError(f"{key} is given twice", remedy="give it once")
        changes[key] = _read_value(value.strip())
    return changes


def _read_value(text: str) -> Any:
    try:
        read = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
    return read["value"] if len(read) == 1 else text


def _check_request(context: typer.Context, directory: Path | None, resume: Path | None) -> None:
    """Raise unless there is either something to begin or a run to go on with, without what resuming ignores."""
    if (directory is None) == (resume is None):
        raise TrifoldError("give either a folder to learn from or --resume RUN", remedy="trifold train --help")
    if resume is None:
        return
    allowed = {"resume", "steps", "minutes", "device", "workers", "cluster", "shared"}
    allowed |= {"plot", "json", "quiet", "architecture", "judge"}
    for option in context.command.params:
        given = option.name and context.get_parameter_source(option.name)
        if given and given.name == "COMMANDLINE" and option.name not in allowed:
            raise TrifoldError(
                f"a resumed run keeps its settings: {option.opts[0]} cannot be changed",
                remedy="leave it out, or train anew in another folder",
            )


@contextmanager
def _interrupts(folder: Path) -> Iterator[None]:
    """Ctrl-C says how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        if (folder / "config.json").exists():
            typer.echo(f"interrupted; {_describe_kept(folder)}; go on with: trifold train --resume {folder}", err=True)
        else:
            typer.echo("interrupted; what was labelled is cached: the same command goes on from there", err=True)
        raise typer.Exit(130) from None


def _describe_kept(folder: Path) -> str:
    """What an interrupted run has kept, in words."""
    from trifold.model import Model
    from trifold.training import RunFolder

    file = RunFolder(folder).model
    if not file.exists():
        return "there is no model before the first validation"
    about = Model.load(file).provenance["selected"]
    policy = f", {about['solved']} of {about['problems']} held-out problems solved" if "solved" in about else ""
    return f"{file} is the best so far: step {about['step']}{policy}, validation loss {about['validation_loss']:.4f}"


def _less_memory(folder: Path) -> str:
    less = "train with a smaller batch, dim or keep (--set batch=8), or on smaller problems"
    if (folder / "config.json").exists():
        return f"go on where there is more memory: trifold train --resume {folder}; or {less}"
    return less


def _report(result: TrainingResult, json: bool) -> None:
    from trifold.commands.training_display import describe_policy, duration

    if json:
        typer.echo(
            json_format.dumps({name: str(v) if isinstance(v, Path) else v for name, v in asdict(result).items()})
        )
    else:
        typer.echo(
            f"{result.model_path}: {describe_policy(result)}, validation loss {result.validation_loss:.4f}, "
            f"seed {result.seed}, {result.steps} steps, {duration(result.seconds)}"
        )

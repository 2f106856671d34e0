"""`trifold train`: from a folder of PDDL files to a model."""

from __future__ import annotations

import json as json_format
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trifold.commands.options import Detour, Device, Json, Keep, MaxStates, Memory, Quiet, Seed, Timeout, Workers
from trifold.errors import TrifoldError
from trifold.memory import memory_errors

if TYPE_CHECKING:
    from trifold.training import Watcher

PLAIN_SECONDS = 10.0
"""How often a line of progress is written where there is no terminal."""

NAMED = 6
"""So many files, or sets of files, a warning names; data.json names all."""


class EncoderName(StrEnum):
    """A key of `trifold.encoders.ENCODERS`."""

    PLAIN = "plain"
    PAIRS = "pairs"
    COMPOSITIONS = "compositions"
    OBLIVIOUS = "oblivious"
    MARKS = "marks"


class PresetName(StrEnum):
    """A key of `trifold.training.PRESETS`."""

    PAPER = "paper"
    FAST = "fast"
    SMALL = "small"


class Kernels(StrEnum):
    """One of `trifold.training.step.KERNELS`."""

    AUTO = "auto"
    REFERENCE = "reference"
    FUSED = "fused"


class Schedule(StrEnum):
    """One of `trifold.training.schedule.SCHEDULES`."""

    CONSTANT = "constant"
    COSINE = "cosine"


class DeadEnds(StrEnum):
    """One of `trifold.data.DEAD_ENDS`."""

    KEEP = "keep"
    DROP = "drop"


def train(
    context: typer.Context,
    directory: Annotated[
        Path | None,
        typer.Argument(
            metavar="DIR", help="domain.pddl, and problems in train/ and validation/, in train/, or beside it."
        ),
    ] = None,
    run: Annotated[
        Path | None, typer.Option("--run", "-o", help="The run folder to make; runs/DIR if not given.")
    ] = None,
    resume: Annotated[Path | None, typer.Option("--resume", help="Go on with this run folder instead.")] = None,
    preset: Annotated[
        PresetName,
        typer.Option(
            "--preset",
            help="paper: k 64 (32 for R-GNN₂), L 30, batch 16, 200,000 steps. fast: the same network in minutes of one "
            "GPU, batch 64 and a cosine schedule from 1e-3. small: minutes on two CPU cores.",
        ),
    ] = PresetName.PAPER,
    encoder: Annotated[
        EncoderName | None,
        typer.Option(
            "--encoder",
            help="plain for R-GNN, pairs for R-GNN[t] (the default), compositions for R-GNN₂, oblivious for 2-GNN, "
            "marks for the Edge Transformer.",
        ),
    ] = None,
    t: Annotated[str | None, typer.Option("--t", help="t of R-GNN[t]: 0, 1 (the default), 2, … or inf.")] = None,
    dim: Annotated[int | None, typer.Option("--dim", help="k, the width of an embedding.")] = None,
    layers: Annotated[int | None, typer.Option("--layers", help="L, the number of layers.")] = None,
    steps: Annotated[int | None, typer.Option("--steps", help="Optimizer steps.")] = None,
    minutes: Annotated[
        float | None, typer.Option("--minutes", help="Train each model at most so long; a schedule ends by then.")
    ] = None,
    batch: Annotated[int | None, typer.Option("--batch", help="States in a mini-batch.")] = None,
    balance: Annotated[
        float | None,
        typer.Option(
            "--balance",
            help="1, the paper's: every V* is drawn equally often; 0: every state; in between: a V* of n states in "
            "proportion to n^(1 - balance).",
        ),
    ] = None,
    learning_rate: Annotated[float | None, typer.Option("--learning-rate", help="Adam's learning rate.")] = None,
    schedule: Annotated[
        Schedule | None, typer.Option("--schedule", help="cosine: the rate rises, then falls to zero. Not the paper's.")
    ] = None,
    clip: Annotated[
        float | None,
        typer.Option("--clip", help="Scale a gradient with a larger norm down to this one. Not the paper's."),
    ] = None,
    recover: Annotated[
        bool | None,
        typer.Option(
            "--recover/--no-recover",
            help="Where the loss blows up, go back to the best weights and halve the learning rate. Not the paper's; "
            "fast does so.",
        ),
    ] = None,
    seed: Seed = 0,
    seeds: Annotated[
        int,
        typer.Option("--seeds", min=1, help="Train so many models (fused: at once), keep the least validation loss."),
    ] = 1,
    dead_ends: Annotated[
        DeadEnds, typer.Option("--dead-ends", help="keep: with a target one above the largest V*; drop: leave out.")
    ] = DeadEnds.KEEP,
    merge: Annotated[
        bool,
        typer.Option("--merge", help="Keep one of the states that the network cannot tell apart, with their weight."),
    ] = False,
    kernels: Annotated[
        Kernels,
        typer.Option("--kernels", help="fused: Triton kernels, an R-GNN's step as a CUDA graph; auto: fused on CUDA."),
    ] = Kernels.AUTO,
    max_states: MaxStates = 10_000_000,
    keep: Keep = 200_000,
    detour: Detour = None,
    timeout: Timeout = 300.0,
    memory: Memory = 4.0,
    workers: Workers = None,
    device: Device = "auto",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn a value function from small problems.

    Every problem's whole state space is labelled with optimal distances (and kept in a cache: $TRIFOLD_CACHE or
    ~/.cache/trifold), then a network is trained on them. --timeout, --memory and --max-states bound the labelling of
    one problem; problems beyond them are left out and counted. The run folder holds the model as model.safetensors.
    Ctrl-C is safe at any moment: --resume goes on from the last save, and takes --steps, --minutes and --device.
    """
    if (directory is None) == (resume is None):
        raise TrifoldError("give either a folder to learn from or --resume RUN", remedy="trifold train --help")
    if resume is not None:
        _refuse_what_resuming_ignores(context)
    from trifold.training import resume as resume_run
    from trifold.training import train as train_run

    folder = resume or run or Path("runs") / directory.resolve().name  # type: ignore[union-attr]
    try:
        with _show(quiet) as watcher, memory_errors(lambda: _less_memory(folder)):
            if resume is not None:
                result = resume_run(
                    resume,
                    steps=steps,
                    minutes=minutes,
                    device=None if device == "auto" else device,
                    workers=workers,
                    watcher=watcher,
                )
            else:
                from trifold.data import LabelLimits

                result = train_run(
                    directory,  # type: ignore[arg-type]
                    folder,
                    preset=preset,
                    model={"encoder": encoder and encoder.value, "t": _parse_t(t), "dim": dim, "layers": layers},
                    settings={
                        "steps": steps,
                        "minutes": minutes,
                        "batch": batch,
                        "balance": balance,
                        "learning_rate": learning_rate,
                        "schedule": schedule and schedule.value,
                        "clip": clip,
                        "recover": recover,
                        "seed": seed,
                        "seeds": seeds,
                        "dead_ends": dead_ends.value,
                        "merge": merge,
                        "kernels": kernels.value,
                    },
                    device=device,
                    workers=workers,
                    limits=LabelLimits(max_states, keep or None, timeout, memory, detour),
                    watcher=watcher,
                )
    except KeyboardInterrupt:
        if (folder / "config.json").exists():
            typer.echo(f"interrupted; go on with: trifold train --resume {folder}", err=True)
        else:
            typer.echo("interrupted; what was labelled is cached: the same command goes on from there", err=True)
        raise typer.Exit(130) from None
    if json:
        typer.echo(
            json_format.dumps({name: str(v) if isinstance(v, Path) else v for name, v in asdict(result).items()})
        )
    else:
        typer.echo(
            f"{result.model_path}: validation loss {result.validation_loss:.4f}, seed {result.seed}, "
            f"{result.steps} steps, {_duration(result.seconds)}"
        )


def _refuse_what_resuming_ignores(context: typer.Context) -> None:
    allowed = {"resume", "steps", "minutes", "device", "workers", "json", "quiet"}
    for option in context.command.params:
        given = option.name and context.get_parameter_source(option.name)
        if given and given.name == "COMMANDLINE" and option.name not in allowed:
            raise TrifoldError(
                f"a resumed run keeps its settings: {option.opts[0]} cannot be changed",
                remedy="leave it out, or train anew in another folder",
            )


def _parse_t(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        raise TrifoldError(f"t is 0, 1, 2, … or inf, not {text}") from None


def _some(names: list[str]) -> str:
    """The first of some names, and how many more there are."""
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def _less_memory(folder: Path) -> str:
    less = "train with a smaller --batch, --dim or --keep, or on smaller problems"
    if (folder / "config.json").exists():
        return f"go on where there is more memory: trifold train --resume {folder}; or {less}"
    return less


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


@contextmanager
def _show(quiet: bool) -> Iterator[Watcher | None]:
    """A watcher that shows labelling and training on standard error: live on a terminal, plain lines elsewhere."""
    if quiet:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

    from trifold.training import Watcher

    console = Console(stderr=True, highlight=False, markup=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[facts]}"))
    bar = Progress(*columns, console=console, disable=not console.is_terminal)

    class Display(Watcher):
        def __init__(self) -> None:
            self.task: TaskID | None = None
            self.seeds: dict[int, TaskID] = {}  # a bar for each: several may be trained at once
            self.written: dict[int, float] = {}

        def start(self, description: str, total: int) -> TaskID:
            if self.task is not None:
                bar.remove_task(self.task)
            self.task = bar.add_task(description, total=total, facts="")
            return self.task

        def line(self, text: str) -> None:
            if console.is_terminal:
                bar.console.print(text)
            else:
                typer.echo(text, err=True)

        def labelling(self, problems: int) -> None:
            self.start("labelling", problems)

        def labelled(self, item: Any) -> None:
            assert self.task is not None
            bar.advance(self.task)
            if item.outcome != "labelled":
                reason = f" ({item.message})" if item.message else ""
                known = "; known from before, other limits would try again" if item.cached else ""
                self.line(f"left out {item.path.name}: {item.outcome}{reason}{known}")

        def encoding(self, done: int, states: int) -> None:
            if self.task is None or bar.tasks[-1].description != "encoding" or bar.tasks[-1].total != states:
                self.start("encoding", states)
            assert self.task is not None
            bar.update(self.task, completed=done)

        def prepared(self, summary: dict[str, Any]) -> None:
            dead, target = summary["dead_ends"], summary["dead_end_target"]
            self.line(
                f"{summary['states']:,} states of {summary['problems']} problems, V* up to {summary['largest_value']}"
                + (f", {dead:,} dead ends {'dropped' if target is None else f'with target {target:g}'}" if dead else "")
                + f"; validation: {summary['validation_states']:,} states of {summary['validation_problems']} problems"
            )
            if summary["inputs"] < summary["states"]:
                self.line(f"merged {summary['states']:,} states into {summary['inputs']:,} of different colour or V*")
            self.warn_of_overlap(summary)
            if not summary["resident"]:
                self.line("the encoded states do not fit into memory: each batch is encoded when it is used")

        def warn_of_overlap(self, summary: dict[str, Any]) -> None:
            split = summary["split"]
            for alike in split["alike"][:NAMED]:
                how = "equal" if alike["equal"] else "isomorphic, as far as colour refinement can tell"
                self.line(f"warning: {how}: {_some(alike['files'])}")
            if len(split["alike"]) > NAMED:
                self.line(f"warning: {len(split['alike']) - NAMED} more such sets of problems: see data.json")
            if split["sharing"]:
                self.line(
                    f"warning: {len(split['sharing'])} of {summary['validation_problems']} validation problems share "
                    f"states with training problems up to the names of objects, or may, where spaces are sampled: "
                    f"{_some(split['sharing'])}"
                )
            if split["rule"] == "shared":
                sharing = "all problems share states, or may, where spaces are sampled"
                why = "there is one problem only" if summary["problems"] == 1 else sharing
                self.line(f"warning: no problem can be held out, as {why}: validation is on training states")

        def progress(self, progress: Any) -> None:
            facts = f"loss {progress.loss:.3f}"
            if progress.validation is not None:
                facts += f"  validation {progress.validation:.3f} (best {progress.best:.3f})"
            if progress.lapses:
                facts += f"  back to the best {progress.lapses} ×, learning rate / {2**progress.lapses}"
            facts += f"  {progress.steps_per_second:.1f} steps/s  {_duration(progress.seconds_left)} left"
            name, seed = f"seed {progress.seed}", progress.seed
            if seed not in self.seeds:
                self.seeds[seed] = self.start(name, progress.steps)
                self.task = None  # it stays when the next one starts
            bar.update(self.seeds[seed], completed=progress.step, facts=facts)
            now = time.monotonic()
            if not console.is_terminal and (
                now - self.written.get(seed, 0.0) > PLAIN_SECONDS or progress.step == progress.steps
            ):
                self.written[seed] = now
                self.line(f"{name}  step {progress.step}/{progress.steps}  {facts}")

        def failed(self, seed: int, error: Any) -> None:
            self.line(f"seed {seed} is left out: {error}")

    with bar:
        yield Display()

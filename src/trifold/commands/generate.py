"""`trifold generate`: problems of a domain, or the suite `paper`; one subcommand per domain, with its own options."""

from __future__ import annotations

import json as json_format
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from inspect import Parameter, Signature, cleandoc, signature
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from typer.core import TyperGroup

from trifold.commands.domains import find_domain
from trifold.commands.drafts import make_drafts
from trifold.commands.options import Json, Quiet, Seed
from trifold.commands.progress import progress_bar, when_interrupted
from trifold.domains import (
    DOMAINS,
    PAPER,
    SEED,
    SPLITS,
    Draft,
    Generator,
    Split,
    Task,
    draw_problems,
    draw_splits,
    drawn_for,
    frozen_hashes,
    list_tasks,
    split_sizes,
    split_texts,
    text_hashes,
    write_suite,
    write_texts,
)
from trifold.errors import TrifoldError
from trifold.words import counted


class SuiteName(StrEnum):
    """A suite of problems."""

    PAPER = "paper"


class SplitName(StrEnum):
    """One of `trifold.domains.SPLITS`."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


SPLITS_HELP = """\
Without a size, the problems have the sizes of the suite paper, in train/, validation/ and test/.
Seed 0 draws those of the suite itself, any other seed fresh ones."""
OWN_SPLITS_HELP = """\
Without a size, the problems have the sizes of the domain's own splits, in train/, validation/ and test/."""


class Domains(TyperGroup):
    """The domains as commands: of one that is not known it is said where domains of one's own come from."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of the first word."""
        if not args[0].startswith("-") and not ctx.resilient_parsing:
            find_domain(args[0])
        return super().resolve_command(ctx, args)


app = typer.Typer(name="generate", cls=Domains, invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def generate(
    context: typer.Context,
    suite: Annotated[
        SuiteName | None, typer.Option("--suite", help="paper: all splits of all domains, with the frozen seed.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The folder to write a suite to.")] = None,
    domain: Annotated[
        list[str] | None, typer.Option("--domain", help="Only this domain of the suite; may be given several times.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Generate problems of a domain, or a whole suite.

    A suite has a folder for each domain, with domain.pddl, train/, validation/ and test/, and MANIFEST.json with the
    sha256 of every file. It is the same on every machine, and what is written is compared with the frozen hashes.
    """
    if context.invoked_subcommand is not None:
        if suite or out or domain or json or quiet:
            raise TrifoldError("options of a domain come after its name", remedy="trifold generate DOMAIN --help")
        return
    if suite is None or out is None:
        raise TrifoldError("give a domain, or --suite paper --out DIR", remedy="trifold generate --help")
    chosen = [find_domain(name).name for name in dict.fromkeys(domain or PAPER)]
    if others := [name for name in chosen if name not in PAPER]:
        raise TrifoldError(f"{others[0]} is not in the suite paper", remedy=f"trifold generate {others[0]} --help")
    tasks = [task for name in chosen for task in _split_tasks(name, SEED, SPLITS)]
    with _refusals(out), _drawn(tasks, quiet) as (drafts, on_problem):
        manifest = write_suite(out, chosen, on_problem, drafts)
    frozen = frozen_hashes()
    changed = [name for name, value in manifest["domains"].items() if frozen.get(name) != value]
    if changed:
        raise TrifoldError(
            f"these domains are not what was frozen: {', '.join(changed)}",
            place=str(out),
            remedy="use an unchanged version of Trifold",
        )
    if json:
        typer.echo(json_format.dumps(manifest))
    else:
        problems = sum(not path.endswith("/domain.pddl") for path in manifest["files"])
        typer.echo(f"{out}: {counted(problems, 'problem')} of {counted(len(manifest['domains']), 'domain')}, as frozen")


def write_domain(
    domain: Generator,
    sizes: dict[str, int | str],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write domain.pddl and the problems to.")],
    split: Annotated[
        SplitName | None,
        typer.Option("--split", help="Only this split of the suite's sizes, in its folder; all three if not given."),
    ] = None,
    count: Annotated[
        int | None, typer.Option("--count", min=1, help="How many problems of one size, beside domain.pddl.")
    ] = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draw and write splits, or problems of one size if a size or their number is given."""
    one_size = bool(sizes) or count is not None
    if one_size and split is not None:
        raise TrifoldError("a split has the sizes of the suite", remedy="leave out --split, or the sizes and --count")
    with _refusals(out):
        if one_size:
            options = {name: option.default for name, option in domain.options.items()} | sizes
            sizes_asked = [options] * (count or 1)
            with _drawn(list_tasks(domain.name, sizes_asked, seed), quiet) as (drafts, on_problem):
                drawn = {"": draw_problems(domain.name, sizes_asked, seed, on_problem=on_problem, drafts=drafts)}
        else:
            own = [each for each in SPLITS if domain.sizes(each)] or SPLITS
            splits: Sequence[Split] = own if split is None else (split.value,)
            with _drawn(_split_tasks(domain.name, seed, drawn_for(splits)), quiet) as (drafts, on_problem):
                drawn = draw_splits(domain.name, seed, splits, on_problem, drafts)
        texts = split_texts(domain.name, drawn)
        before = {path.relative_to(out).as_posix() for path in out.glob("*.pddl")} if one_size else set()
        write_texts(out, texts)
    stay = len(before - texts.keys())
    if json:
        about = {"domain": domain.name, "seed": seed, "out": str(out), "files": text_hashes(texts)}
        typer.echo(json_format.dumps(about))
        return
    for folder, problems in drawn.items():
        objects = [problem.objects for problem in problems]
        stays = f"; {counted(stay, 'other problem')} there before {'stays' if stay == 1 else 'stay'}" if stay else ""
        size = f"{min(objects)} to {max(objects)}" if min(objects) < max(objects) else f"{min(objects)}"
        typer.echo(f"{out / folder}: {counted(len(problems), 'problem')}, {size} objects{stays}")


def _subcommand(domain: Generator) -> Callable[..., None]:
    """The command of a domain: the options of its generator, then those that all domains share."""

    def command(**values: Any) -> None:
        given = {name: values.pop(name) for name in domain.options}
        write_domain(domain, {name: _plain(value) for name, value in given.items() if value is not None}, **values)

    _, _, *shared = signature(write_domain, eval_str=True).parameters.values()
    parameters = [*map(_parameter, domain.options.values()), *shared]
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _parameter(option: Parameter) -> Parameter:
    """A generator's option as one of the command line, which is None where it is not given."""
    words = get_args(option.annotation)  # of a Literal
    kind: Any = _choice(option.name, words) if words else option.annotation
    flag = typer.Option(f"--{option.name.replace('_', '-')}", help=f"{option.default} if not given.")
    return option.replace(annotation=Annotated[kind | None, flag], default=None)


def _choice(name: str, words: tuple[str, ...]) -> Any:
    make: Any = StrEnum  # of names that only the generator knows
    return make(name, {word: word for word in words})


def _plain(value: int | str) -> int | str:
    return value if isinstance(value, int) else str(value)


def _help(domain: Generator) -> str:
    """The domain in a sentence, and what its generator says of itself, line by line."""
    splits = SPLITS_HELP if domain.name in PAPER else OWN_SPLITS_HELP if domain.suite else ""
    text = "\n\n".join([domain.sentence, cleandoc(domain.generate.__doc__ or ""), splits])
    return "\n\n".join(f"\b\n{paragraph}" for paragraph in text.split("\n\n"))


def _split_tasks(name: str, seed: int, splits: Sequence[Split]) -> list[Task]:
    return [task for split in splits for task in list_tasks(name, split_sizes(name, split), seed, split)]


@contextmanager
def _drawn(tasks: Sequence[Task], quiet: bool) -> Iterator[tuple[dict[str, Draft], Callable[[], None]]]:
    """The drafts of the problems, and a listener that shows on a terminal how many are compared with the others."""
    drafts = make_drafts(tasks, quiet)
    with progress_bar("comparing" if drafts else "drawing", len(tasks), quiet) as (bar, task):
        yield drafts, lambda: bar.advance(task)


@contextmanager
def _refusals(out: Path) -> Iterator[None]:
    """Sizes that cannot be had and folders that cannot be written are said to the user, who can change them."""
    try:
        with when_interrupted(f"interrupted; what is in {out} is whole, and the same command writes the rest"):
            yield
    except ValueError as error:
        raise TrifoldError(str(error)) from None
    except OSError as error:
        raise TrifoldError(
            f"cannot write the problems: {error.strerror or error}",
            place=error.filename and str(error.filename),
            remedy="write to an empty folder",
        ) from None


def group() -> typer.Typer:
    """The verb, with a subcommand for every domain: plugins may have added some."""
    known = {command.name for command in app.registered_commands}
    for domain in DOMAINS.values():
        if domain.name not in known:
            app.command(domain.name, help=_help(domain))(_subcommand(domain))
    return app

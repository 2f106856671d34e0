"""`trifold domains`: what can be generated."""

from __future__ import annotations

import json as json_format
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from trifold.commands.options import Json
from trifold.commands.progress import progress_bar
from trifold.domains import DOMAINS, SPLITS, Domain, Split
from trifold.domains.page import describe_sizes, domain_section, domains_page
from trifold.errors import TrifoldError
from trifold.files import read_text


class Format(StrEnum):
    """How the domains are shown."""

    TEXT = "text"
    MARKDOWN = "markdown"


def domains(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Show this domain: a picture, and its splits.")
    ] = None,
    format: Annotated[Format, typer.Option("--format", "-f", help="markdown: as in docs/domains.md.")] = Format.TEXT,
    labels: Annotated[
        Path | None,
        typer.Option("--labels", help="Fill in the states from the output of `trifold label SUITE --json`."),
    ] = None,
    json: Json = False,
) -> None:
    """List the domains that `trifold generate` knows, or show one of them."""
    domain = find_domain(name) if name else None
    if json:
        typer.echo(json_format.dumps(_machine_form(domain) if domain else list(map(_machine_form, DOMAINS.values()))))
    elif format == Format.MARKDOWN:
        states = _count_states(labels) if labels else {}
        with show_drawing(count_problems([domain] if domain else DOMAINS.values())) as drawn:
            text = domain_section(domain, states, drawn) if domain else domains_page(states, drawn)
        typer.echo(text, nl=False)
    elif domain:
        typer.echo(_in_words(domain))
    else:
        width = max(map(len, DOMAINS))
        for domain in DOMAINS.values():
            typer.echo(f"{domain.name:{width}}  {domain.description}")


def find_domain(name: str) -> Domain:
    """The domain of a name that a user gave."""
    if name not in DOMAINS:
        raise TrifoldError(f"there is no domain {name}", remedy=f"one of {', '.join(DOMAINS)}")
    return DOMAINS[name]


def count_problems(domains: Iterable[Domain], splits: Sequence[Split] = SPLITS) -> int:
    """How many problems the splits of some domains have."""
    return sum(len(domain.suite(split)) for domain in domains for split in splits)


@contextmanager
def show_drawing(problems: int) -> Iterator[Callable[[], None]]:
    """A listener that shows on a terminal how many of the problems are drawn."""
    with progress_bar("drawing", problems) as (bar, task):
        yield lambda: bar.advance(task)


def _count_states(labels: Path) -> dict[str, dict[str, int]]:
    """Domain → split → states, from what `trifold label` wrote."""
    states: dict[str, dict[str, int]] = {}
    try:
        for row in json_format.loads(read_text(labels)):
            if not isinstance(row["folder"], str) or not isinstance(row["states"], int):
                raise TypeError
            name, split = row["folder"].split("/")
            states.setdefault(name, {})[split] = row["states"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise TrifoldError(
            "these are no labels of a suite", place=str(labels), remedy="trifold label SUITE --json > labels.json"
        ) from error
    return states


def _in_words(domain: Domain) -> str:
    lines = [f"{domain.name}: {domain.description}", "", domain.picture, ""]
    for split in SPLITS:
        problems = domain.suite(split)
        lines.append(f"{split:10}  {len(problems):3} problems: {describe_sizes(problems)}")
    return "\n".join(lines)


def _machine_form(domain: Domain) -> dict[str, Any]:
    return {
        "name": domain.name,
        "description": domain.description,
        "picture": domain.picture,
        "options": {name: option.default for name, option in domain.options.items()},
        "splits": {split: domain.suite(split) for split in SPLITS},
    }

"""`trifold domains`: what can be generated."""

from __future__ import annotations

import json as json_format
from typing import Annotated, Any

import typer

from trifold.commands.options import Json
from trifold.domains import DOMAINS, SPLITS, Generator, Options, describe_sizes
from trifold.errors import TrifoldError, did_you_mean
from trifold.words import counted


def domains(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Show this domain: a picture, and its splits.")
    ] = None,
    json: Json = False,
) -> None:
    """List the domains that `trifold generate` knows, or show one of them."""
    domain = find_domain(name) if name else None
    if json:
        typer.echo(json_format.dumps(_machine_form(domain) if domain else list(map(_machine_form, DOMAINS.values()))))
    elif domain:
        typer.echo(_in_words(domain))
    else:
        width = max(map(len, DOMAINS))
        for domain in DOMAINS.values():
            typer.echo(f"{domain.name:{width}}  {domain.description}")


def find_domain(name: str) -> Generator:
    """The domain of a name that a user gave."""
    if name not in DOMAINS:
        known = f"one of {', '.join(DOMAINS)}; one of your own must be in a plugin that TRIFOLD_PLUGINS names"
        raise TrifoldError(f"there is no domain {name}", remedy=did_you_mean(name, DOMAINS, known))
    return DOMAINS[name]


def _in_words(domain: Generator) -> str:
    lines = [f"{domain.name}: {domain.description}", "", domain.picture, ""]
    for split, problems in _splits(domain).items():
        lines.append(f"{split:10}  {counted(len(problems), 'problem'):>12}: {describe_sizes(problems)}")
    return "\n".join(lines)


def _machine_form(domain: Generator) -> dict[str, Any]:
    return {
        "name": domain.name,
        "description": domain.description,
        "picture": domain.picture,
        "options": {name: option.default for name, option in domain.options.items()},
        "splits": _splits(domain),
    }


def _splits(domain: Generator) -> dict[str, list[Options]]:
    return {split: sizes for split in SPLITS if (sizes := domain.sizes(split))}

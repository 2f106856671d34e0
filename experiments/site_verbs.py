"""The page of all verbs and options of the command line, from the command line itself: what ``--help`` says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

import typer

from trifold.commands import app

COLUMNS = re.compile(r"\S {2,}\S")

INTRODUCTION = """\
# All verbs and options

What `trifold VERB --help` says, of every verb in the order in which one comes to use them.
[The command line](command-line.md) shows them at work.
"""


def verbs_page() -> str:
    """The page as Markdown: a section for each verb, and for a verb with verbs of its own one for each of these."""
    group = cast(Any, typer.main.get_command(app))
    own = _section(["trifold"], group)
    sections = [section for verb in group.commands for section in _sections(["trifold", verb], group.commands[verb])]
    return "\n".join([INTRODUCTION, own, *sections])


def _sections(words: Sequence[str], command: Any) -> Iterator[str]:
    """The section of a command, and those of its own commands."""
    yield _section(words, command)
    for name, inner in getattr(command, "commands", {}).items():
        yield from _sections([*words, name], inner)


def _section(words: Sequence[str], command: Any) -> str:
    """What a command is called with and what it says of itself, and a table each of its arguments and its options."""
    with command.make_context(" ".join(words), [], resilient_parsing=True) as context:
        usage = " ".join([*words, *command.collect_usage_pieces(context)])
        records = {kind: _records(command, kind, context) for kind in ("argument", "option")}
    level = "#" * max(2, len(words))
    head = f"{level} {words[-1]}\n\n```text\n{usage}\n```\n\n{_help(command.help)}\n"
    tables = ["\n".join([f"| {kind} | |", "|---|---|", *rows, ""]) for kind, rows in records.items() if rows]
    return "\n".join([head, *tables])


def _records(command: Any, kind: str, context: Any) -> list[str]:
    """A row for each argument or option that is shown."""
    found = [one.get_help_record(context) for one in command.params if one.param_type_name == kind]
    return [f"| `{names.replace('|', chr(92) + '|')}` | {_escape(told)} |" for names, told in filter(None, found)]


def _help(text: str) -> str:
    """What a command says of itself; what it lays out in columns stays as it is."""
    paragraphs = [(bool(COLUMNS.search(paragraph)), paragraph) for paragraph in text.strip().split("\n\n")]
    return "\n\n".join(f"```text\n{one}\n```" if is_laid_out else _escape(one) for is_laid_out, one in paragraphs)


def _escape(text: str) -> str:
    """Text that Markdown leaves as it is, but for what stands in backticks."""
    parts = re.split(r"(`+[^`]+`+)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*_\[\]<>|\\])", r"\\\1", part) for part in parts)

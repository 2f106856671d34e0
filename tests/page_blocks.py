"""The blocks of code on the pages, and whether a command is one that there is."""

from __future__ import annotations

import re
import shlex
import tomllib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import typer

from trifold.commands import app

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r'^```(\w*)(?: title="([^"\n]*)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
PYTHONS = ("python", "python3", ".venv/bin/python")
PIPS = ("pip", "peer/bin/pip", ".venv/bin/pip")
OWN_DOMAINS = ("ferry", "hanoi")
"""Those that the pages add as they go: tests of these pages run their scripts, and their verbs of `generate`."""

PARSER = cast(Any, typer.main.get_command(app))


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, which is named from the root of the repository."""

    page: str
    language: str
    title: str
    text: str


def blocks(page: str) -> list[Block]:
    """Those of a page, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [Block(page, *found.groups(default="")) for found in BLOCK.finditer(text)]


def commands(page: str) -> list[str]:
    """The lines of shell of a page, without comments, those that a backslash breaks as one."""
    shell = "".join(block.text for block in blocks(page) if block.language == "sh").replace("\\\n", " ")
    return [shlex.join(words) for line in shell.splitlines() if (words := shlex.split(line, comments=True))]


def check_command(command: str) -> None:
    """Fail if a line of shell calls what is not there, or with options that it has not."""
    words = shlex.split(command)
    while "&&" in words:
        check_command(shlex.join(words[: words.index("&&")]))
        words = words[words.index("&&") + 1 :]
    if ">" in words:
        words = words[: words.index(">")]
    while re.match(r"[A-Z_]+=", words[0]):  # of the environment
        words = words[1:]
    program, *words = words
    if program.removeprefix(".venv/bin/") == "trifold":
        _check_verb(words)
    elif program in PYTHONS:
        _check_script(words)
    elif program in ("torchrun", "sbatch"):
        _check_started(program, words)
    elif program == "ray":
        _check_options(Path(str(find_spec("ray.scripts.scripts").origin)), words)  # type: ignore[union-attr]
    elif program.endswith(".sh"):
        _check_options(ROOT / program, words)
    elif program == "make":
        targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        assert {word for word in words if "=" not in word} <= {*targets}, command
    elif program in PIPS or program == "uv":
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        assert {*re.findall(r"\[(\w+)\]", command)} <= {*extras}, command
    else:
        assert program == "export", f"nobody knows whether this is a command: {command}"


def _check_verb(words: list[str]) -> None:
    if words[0] == "generate" and words[1] in OWN_DOMAINS:
        return
    parser = PARSER
    while words and words[0] in getattr(parser, "commands", {}):
        parser, name, words = parser.commands[words[0]], words[0], words[1:]
    is_named = not words or words[0].startswith("-") or not hasattr(parser, "commands")
    assert parser is not PARSER and is_named, f"{words} are no verb"
    assert parser.make_context(name, [*words], resilient_parsing=False).args == []


def _check_started(starter: str, words: list[str]) -> None:
    """Fail if what torchrun or sbatch starts is no command of Trifold."""
    begin = words.index("-m") if starter == "torchrun" else words.index("experiments/slurm.sh")
    assert starter == "sbatch" or words[begin + 1] == "trifold"
    _check_verb(words[begin + 2 :] if starter == "torchrun" else words[begin + 1 :])


def _check_script(words: list[str]) -> None:
    match words:
        case ["-m", "pytest" | "venv", *_]:
            pass
        case [script, *options] if (ROOT / script).exists():
            _check_options(ROOT / script, options)
        case _:
            assert words[0].removesuffix(".py") in OWN_DOMAINS, f"{words[0]} is no script"


def _check_options(script: Path, words: list[str]) -> None:
    text = script.read_text(encoding="utf-8")
    assert [word for word in words if word.startswith("--") and word.partition("=")[0] not in text] == []


def options_of(words: list[str]) -> set[str]:
    """All options of the command that words begin with, and those of every command; None of them if it is no verb."""
    parser, names = PARSER, {"--help", "-h"}
    for word in words:
        parser = getattr(parser, "commands", {}).get(word, parser)
    return names | {name for one in parser.params for name in (*one.opts, *one.secondary_opts)}

"""What the README says is so: its commands parse, its Python names exist, its tree is the tree."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest
import typer

import trifold
from trifold.commands import app

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)
COMMANDS = [
    line.split("#")[0].strip()
    for language, block in BLOCKS
    if language == "sh"
    for line in block.splitlines()
    if line.startswith("trifold ")
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_parses(command):
    verb, *words = shlex.split(command)[1:]
    parser = typer.main.get_command(app).commands[verb]
    context = parser.make_context(verb, words, resilient_parsing=False)
    assert context.args == []


def test_every_verb_is_shown():
    verbs = {command.split()[1] for command in COMMANDS}
    assert verbs == set(typer.main.get_command(app).commands)


def test_every_python_name_exists():
    (source,) = [block for language, block in BLOCKS if language == "python"]
    attributes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)]
    names = {node.attr for node in attributes if isinstance(node.value, ast.Name) and node.value.id == "trifold"}
    assert len(names) >= 4 and all(hasattr(trifold, name) for name in names)


def test_every_folder_has_its_line():
    (tree,) = [block for language, block in BLOCKS if not language]
    shown = set(re.findall(r"^  (\w+)/", tree, re.MULTILINE))
    rooms = {path.parent.name for path in (ROOT / "src" / "trifold").glob("*/__init__.py")}
    assert shown == rooms


def test_the_public_names_exist():
    assert all(hasattr(trifold, name) for name in trifold.__all__)
    with pytest.raises(AttributeError):
        _ = trifold.unheard_of  # type: ignore[attr-defined]

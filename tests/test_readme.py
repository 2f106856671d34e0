"""What the README says is so: its commands parse, its Python names exist, its tree is the tree."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any, cast

import pytest
import typer

import trifold
from trifold.commands import app
from trifold.outcomes import Outcome

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
def test_every_command_parses(command: str) -> None:
    verb, *words = shlex.split(command)[1:]
    parser = cast(Any, typer.main.get_command(app)).commands[verb]
    if words[0] in getattr(parser, "commands", {}):
        verb = words.pop(0)
        parser = parser.commands[verb]
    context = parser.make_context(verb, words, resilient_parsing=False)
    assert context.args == []


def test_every_verb_is_shown() -> None:
    verbs = {command.split()[1] for command in COMMANDS}
    assert verbs == set(cast(Any, typer.main.get_command(app)).commands)


def test_the_python_example_runs(
    example_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (source,) = [block for language, block in BLOCKS if language == "python"]
    monkeypatch.chdir(tmp_path)
    shutil.copytree(example_folder / "gripper", "DIR")
    shutil.copy(example_folder / "problem.pddl", "problem.pddl")
    shorter = source.replace("seed=0", "seed=0, steps=2")
    assert shorter != source
    exec(shorter, {})
    outcome, *_ = capsys.readouterr().out.split()
    assert outcome in list(Outcome) and Path("records.jsonl").exists()


def test_every_folder_has_its_line() -> None:
    (tree,) = [block for language, block in BLOCKS if not language]
    shown = set(re.findall(r"^  (\w+)/", tree, re.MULTILINE))
    rooms = {path.parent.name for path in (ROOT / "src" / "trifold").glob("*/__init__.py")}
    assert shown == rooms


def test_the_public_names_exist() -> None:
    assert all(hasattr(trifold, name) for name in trifold.__all__)
    with pytest.raises(AttributeError):
        _ = trifold.unheard_of


def test_every_test_that_holds_a_promise_is_there() -> None:
    named = re.findall(r"`(tests/[\w/.]+)`", README)
    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).exists()] == []

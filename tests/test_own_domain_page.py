"""What docs/own-domain.md says is so: its generator runs as a script and as a plugin, and its commands parse."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
import typer

from command_line import trifold
from trifold.commands import app
from trifold.data import Extent, Reach, advise, compare_extents
from trifold.domains import certificate, read_structure
from trifold.pddl import expand, load_domain, read_problem

PAGE = (Path(__file__).parents[1] / "docs" / "own-domain.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = [
    line
    for language, block in BLOCKS
    if language == "sh"
    for line in block.splitlines()
    if line.startswith("trifold ") and "generate" not in line  # whose domain is the page's own, and is run below
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The two files of the page."""
    (source,), (domain,) = ([block for kind, block in BLOCKS if kind == wanted] for wanted in ("python", "pddl"))
    (tmp_path / "ferry.py").write_text(source)
    (tmp_path / "ferry.pddl").write_text(domain)
    return tmp_path


def test_the_script_writes_splits_that_are_solvable_and_unlike_and_ask_for_no_more(folder: Path) -> None:
    subprocess.run([sys.executable, "ferry.py"], cwd=folder, check=True)
    texts = {path: path.read_text() for path in sorted((folder / "ferry").glob("*/*.pddl"))}
    assert {path.parent.name for path in texts} == {"train", "validation", "test"}
    assert len({certificate(read_structure(text)) for text in texts.values()}) == len(texts) == 44
    domain = load_domain(folder / "ferry" / "domain.pddl")
    small = [text for path, text in texts.items() if path.parent.name == "train"]
    training = Extent.of(Reach.of_space(expand(domain.text, text, 10_000)) for text in small)
    assert advise(training) == []
    wanted = [text for path, text in texts.items() if path.parent.name == "test"]
    tests = Extent.of(Reach.of_problem(domain.description, read_problem(domain, text)) for text in wanted)
    assert compare_extents(training, tests) == ["up to 40 objects, 5.7 times as many as in training"]


def test_the_plugin_is_a_domain_of_the_command_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
    monkeypatch.setenv("TRIFOLD_PLUGINS", "ferry")
    commands = [line for kind, block in BLOCKS if kind == "sh" for line in block.splitlines() if "generate" in line]
    for line in commands:
        trifold(*shlex.split(line)[1:], cwd=folder, real=True)
    assert [len(list((folder / name).rglob("ferry-*.pddl"))) for name in ("ferry", "fresh", "larger")] == [44, 10, 2]
    told = json.loads(trifold("domains", "ferry", "--json", cwd=folder, real=True).stdout)
    assert told["options"] == {"locations": 3, "cars": 2} and len(told["splits"]["train"]) == 29


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_parses(command: str) -> None:
    verb, *words = shlex.split(command)[1:]
    parser = cast(Any, typer.main.get_command(app)).commands[verb]
    assert parser.make_context(verb, words, resilient_parsing=False).args == []

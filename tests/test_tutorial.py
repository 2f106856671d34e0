"""Every command of docs/tutorial.md runs, with trainings of a few steps, and leaves what the page says."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

from command_line import trifold

DOCS = Path(__file__).parents[1] / "docs"
MINUTES, STEPS = "--minutes 4", "--steps 2"
"""What `train` is told on the page, and here."""

FEW = {"evaluate": ("--max-steps", 3, "--quiet"), "explain": ("--max-steps", 3), "solve": ("--max-steps", 3)}
"""An untrained policy would take all of its 1000 steps; a search that follows it finds the plans."""


def blocks(page: str) -> list[tuple[str, str]]:
    """The language and the text of each block of a page."""
    return re.findall(r"```(\w*)\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


def write_sources(page: str, name: str, folder: Path) -> None:
    """Save the domain and the generator of a page, as it tells its readers to."""
    for kind, ending in (("pddl", "pddl"), ("python", "py")):
        (text,) = [block for language, block in blocks(page) if language == kind]
        (folder / f"{name}.{ending}").write_text(text)


def test_every_command_of_the_tutorial_runs(tmp_path: Path) -> None:
    write_sources("own-domain.md", "ferry", tmp_path)
    write_sources("tutorial.md", "hanoi", tmp_path)
    commands = [line for kind, block in blocks("tutorial.md") if kind == "sh" for line in block.splitlines()]
    assert len(commands) > 10
    for line in commands:
        program, *words = shlex.split(line)
        if program == "python":
            subprocess.run([sys.executable, *words], cwd=tmp_path, check=True)
            continue
        assert program == "trifold"
        assert (words[0] == "train") == (MINUTES in line)
        trifold(*shlex.split(line.replace(MINUTES, STEPS))[1:], *FEW.get(words[0], ()), cwd=tmp_path)
    assert (tmp_path / "plan.txt").read_text().startswith("(")
    assert all((tmp_path / page).read_text().startswith("<!doctype html>") for page in ("trace.html", "hanoi.html"))

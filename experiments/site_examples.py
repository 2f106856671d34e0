"""The commands of a page, run: what they write is shown on it, and a page whose commands fail is not built."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, cast

import typer

from trifold.commands import app

BLOCK = re.compile(
    r'^```(?P<language>\w*)(?: title="(?P<title>[^"\n]*)")?\n(?P<text>.*?)^```$', re.DOTALL | re.MULTILINE
)
SHOWN = re.compile(r"\]\((?P<file>examples/[^()\s#]+)\)")


def run_page(page: str, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Run the commands of a page in a folder; the files among ``examples/`` that it shows, with their contents."""
    (folder / "examples").mkdir()
    for block in BLOCK.finditer(page):
        if block["language"] == "sh":
            for line in block["text"].splitlines():
                run(line, folder / "examples")
    for name in sorted(set(SHOWN.findall(page))):
        yield name, (folder / name).read_bytes()


def run(line: str, folder: Path) -> str:
    """What a command of Trifold prints, as part of this process: to start another takes seconds."""
    program, *words = shlex.split(line, comments=True)
    if program != "trifold":
        raise ValueError(f"only commands of Trifold are run here, not {line}")
    with chdir(folder), redirect_stdout(StringIO()) as output, redirect_stderr(StringIO()) as errors:
        code = cast(Any, typer.main.get_command(app)).main(words, "trifold", standalone_mode=False)
    if code:
        raise ValueError(f"{line} ended with {code}: {errors.getvalue()}")
    return output.getvalue()

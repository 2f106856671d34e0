"""docs/notebook.ipynb runs from its first cell to its last, shows what it promises, and is kept without outputs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat

FILE = Path(__file__).parents[1] / "docs" / "notebook.ipynb"

FEW = ("steps=400", "steps=2"), ("timeout=60", "timeout=60, max_steps=3"), ("rounds=12", "rounds=2, states=200")
"""What a cell says, and what it is told here: a training of seconds, and a policy that gives up soon."""


class Frames(HTMLParser):
    """The elements of some HTML, and those of frames in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def named(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]


EXECUTE = """
import sys, nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
file, place, connection = sys.argv[1:]
notebook = nbformat.read(file, as_version=4)
manager = AsyncKernelManager(kernel_name="python3", transport="ipc", connection_file=connection)
NotebookClient(notebook, km=manager, timeout=300, resources={"metadata": {"path": place}}).execute()
nbformat.write(notebook, file)
"""
"""Runs a notebook in a folder, and puts the outputs into its file: in a process of its own, as Jupyter does."""


def execute(notebook: Any, folder: Path) -> Any:
    """The notebook with its outputs; neither the kernel nor its client reads or writes what is the user's."""
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "HOME")
    own = {name: str(folder / "home") for name in places} | {"JUPYTER_PLATFORM_DIRS": "1"}
    kept = {name: value for name, value in os.environ.items() if name != "JUPYTER_PATH"}
    (folder / "work").mkdir()
    file = folder / "notebook.ipynb"
    nbformat.write(notebook, file)  # type: ignore[no-untyped-call]
    words = [sys.executable, "-c", EXECUTE, str(file), str(folder / "work"), str(folder / "k.json")]
    done = subprocess.run(words, env=kept | own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return nbformat.read(file, as_version=4)  # type: ignore[no-untyped-call]


def cells() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))["cells"]
    return found


def test_it_is_committed_without_outputs_and_as_notebooks_are() -> None:
    nbformat.validate(nbformat.read(FILE, as_version=4))  # type: ignore[no-untyped-call]
    of_code = [cell for cell in cells() if cell["cell_type"] == "code"]
    assert [cell["outputs"] for cell in of_code] == [[]] * len(of_code)
    assert [cell["execution_count"] for cell in of_code] == [None] * len(of_code)
    assert not [cell for cell in cells() if cell["metadata"]]


def test_its_domain_is_that_of_the_page_on_own_domains() -> None:
    page = (FILE.parent / "own-domain.md").read_text(encoding="utf-8")
    (ferry,) = re.findall(r"```pddl\n(.*?)```", page, re.DOTALL)
    assert ferry in "".join(line for cell in cells() for line in cell["source"])


def test_it_runs_and_shows_pictures_tables_and_pages(tmp_path: Path) -> None:
    """From a domain to a trace: as a user runs it, with a training of two steps."""
    notebook = nbformat.read(FILE, as_version=4)  # type: ignore[no-untyped-call]
    for cell in notebook.cells:
        for said, told in FEW:
            cell.source = re.sub(said, told, cell.source)
    notebook = execute(notebook, tmp_path)
    shown: dict[str, Frames] = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            assert output.output_type != "error"
            if "text/html" in output.get("data", {}):
                shown[cell.source.splitlines()[-1].partition("(")[0]] = Frames(output.data["text/html"])
    pages = ["trifold.load_problem", "found", "explanation"]
    pictures = ["trifold.expressivity", "result", "trifold.evaluate"]
    assert shown.keys() == {*pages, *pictures, "model"}
    for name in pages:
        (frame,) = shown[name].named("iframe")
        assert frame["sandbox"] == "allow-scripts" and frame["title"]
        assert len(Frames(frame["srcdoc"] or "").named("svg")) >= 1
    for name in pictures:
        (image,) = shown[name].named("img")
        assert image["alt"] and (image["src"] or "").startswith("data:image/svg+xml;base64,")
    assert all(shown[name].named("table") for name in [*pictures, "model"])
    assert (tmp_path / "work" / "trace.html").read_text(encoding="utf-8").startswith("<!doctype html>")

"""What the site has that is no file in ``docs/``; `make docs` builds it, by MkDocs, which calls the functions below.

- parts of the README and other files, and links between them: ``site_markdown``;
- the page of all verbs and options, from the command line itself: ``site_verbs``;
- the names that programs use, from their docstrings: ``site_names``;
- figures, drawn from what the encoders and colourings make of states: ``site_figures``;
- a trace and a report, by the commands of the page that shows them: ``site_examples``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from site_examples import run_page
from site_figures import FIGURES, darken, draw
from site_markdown import Book
from site_names import names_page
from site_verbs import verbs_page

RUN = ("examples.md",)
"""The pages whose commands are run, for they show what these write."""

ROOT = Path(__file__).resolve().parents[1]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """No page for what is not found: its links are those of a server, dead in a folder that is opened without one."""
    config.theme.static_templates.discard("404.html")
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is made."""
    for name, content in made_files():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The text of a page, with what it takes from elsewhere, and links to where things are."""
    return markdown if page.file.generated_by is not None else _book().read(page.file.src_uri)


@cache
def _book() -> Book:
    return Book.of(ROOT)


def made_files() -> Iterator[tuple[str, str | bytes]]:
    """The name and the content of each file of the site that is made."""
    yield "verbs.md", verbs_page()
    yield "names.md", names_page()
    for name in FIGURES:
        figure = draw(name)
        yield f"figures/{name}-light.svg", figure
        yield f"figures/{name}-dark.svg", darken(figure)
    with TemporaryDirectory() as folder:
        for page in RUN:
            yield from run_page((ROOT / "docs" / page).read_text(encoding="utf-8"), Path(folder))

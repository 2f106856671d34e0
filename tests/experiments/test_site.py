"""The site: built strictly, with no dead link, and nothing that the network is asked for."""

from __future__ import annotations

import json
import logging
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config

import trifold
from page_blocks import BLOCK, PARSER, ROOT
from pages.browser import CHROMIUM, browser

pytestmark = pytest.mark.xdist_group("site")


@cache
def built(folder: Path) -> Path:
    build(load_config(str(ROOT / "mkdocs.yml"), strict=True, site_dir=str(folder)))
    return folder


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` makes it, built by the first test that asks: warnings are errors."""
    return built(tmp_path_factory.getbasetemp() / "site")


class Page(HTMLParser):
    """What a page of HTML leads to, what it loads, and what can be led to in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.names: set[str] = set()
        self.words: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Called for each element."""
        given = {name: value for name, value in attributes if value is not None}
        self.names |= {given[name] for name in ("id", "name") if name in given}
        self.links += [given["href"]] if tag == "a" and "href" in given else []
        self.loaded += [given["src"]] if "src" in given else []
        self.loaded += [given["href"]] if tag == "link" and given["rel"] != "canonical" else []

    def handle_data(self, data: str) -> None:
        """Called for each text."""
        self.words.append(data)

    @property
    def text(self) -> str:
        """All that there is to read."""
        return " ".join("".join(self.words).split())


@cache
def read(path: Path) -> Page:
    return Page(path)


def test_every_link_leads_somewhere(site: Path) -> None:
    pages = sorted(site.glob("*.html"))
    assert len(pages) > 20
    for path in pages:
        for link in read(path).links:
            parts = urlsplit(link)
            target = path.parent / unquote(parts.path) if parts.path else path
            if not parts.scheme and "__" not in parts.fragment:  # these belong to the theme
                assert target.is_file(), f"{path.name}: {link}"
                assert not parts.fragment or unquote(parts.fragment) in read(target).names, f"{path.name}: {link}"


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for path in sorted(site.glob("*.html")):
        for loaded in read(path).loaded:
            parts = urlsplit(loaded)
            assert parts.scheme in ("", "data") and not parts.netloc, f"{path.name}: {loaded}"
            if not parts.scheme:
                assert (path.parent / parts.path).is_file(), f"{path.name}: {loaded}"
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert "url(http" not in styles and "@import" not in styles


def test_every_verb_and_option_is_on_the_page_of_the_command_line(site: Path) -> None:
    text = read(site / "verbs.html").text

    def look(command: Any) -> None:
        for one in command.params:
            assert one.param_type_name == "argument" or all(name in text for name in one.opts), (command.name, one.opts)
        for name, inner in getattr(command, "commands", {}).items():
            assert name in read(site / "verbs.html").names
            look(inner)

    look(PARSER)


def test_every_public_name_is_documented(site: Path) -> None:
    page = read(site / "names.html")
    missing = [name for name in trifold.__all__ if name != "__version__" and not _names(page, name)]
    assert missing == []
    assert ">>>" in page.text and "Train" in page.text


def _names(page: Page, name: str) -> bool:
    return any(one.startswith("trifold.") and one.endswith(f".{name}") for one in page.names)


def test_what_the_readme_says_is_on_the_site_once(site: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    texts = [read(path).text for path in sorted(site.glob("*.html"))]
    for section in readme.split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        pieces = re.split(r"[^\w ,;:.]+", text if title == "Where things are" else BLOCK.sub("", text))
        sentence = max(pieces, key=len)
        assert sum(" ".join(sentence.split()) in text for text in texts) == 1, title


def test_it_shows_a_trace_and_a_report(site: Path) -> None:
    assert {"examples/trace.html", "examples/report.html"} <= {*read(site / "examples.html").loaded}
    assert "gripper" in (site / "examples" / "trace.html").read_text(encoding="utf-8")
    assert "logistics" in (site / "examples" / "report.html").read_text(encoding="utf-8")


def test_a_figure_has_its_words_and_both_colours(site: Path) -> None:
    loaded = read(site / "method.html").loaded
    for name in ("objects", "pairs", "cities", "told-apart"):
        assert [f"figures/{name}-{scheme}.svg#only-{scheme}" in loaded for scheme in ("light", "dark")] == [True, True]


def test_a_dead_link_is_an_error() -> None:
    config = load_config(str(ROOT / "mkdocs.yml"), strict=True)
    assert config.strict and {config.validation.links[kind] for kind in config.validation.links} == {logging.WARNING}
    assert {config.validation.nav[kind] for kind in config.validation.nav} == {logging.WARNING}


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: apt-get install chromium")
def test_a_search_finds_its_page_without_a_server(site: Path, tmp_path: Path) -> None:
    with browser(tmp_path) as shown:
        shown.open(site / "index.html")
        shown.run("document.getElementById('__search').click()")
        shown.run(
            "const field = document.querySelector('[data-md-component=search-query]');"
            "field.value = 'hanoi'; field.dispatchEvent(new Event('input', {bubbles: true}));"
            "field.dispatchEvent(new Event('keyup'))"
        )
        found = shown.wait(
            "const found = [...document.querySelectorAll('.md-search-result__link')].map((one) => one.href);"
            "return found.length ? found : null"
        )
        assert any("tutorial.html" in one for one in found), found
        assert shown.complaints() == []


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: apt-get install chromium")
@pytest.mark.parametrize("width", [400, 1600])
def test_neither_numbers_nor_names_in_tables_are_broken_over_lines(site: Path, tmp_path: Path, width: int) -> None:
    lines = """const lines = (one) => { const range = document.createRange(); range.selectNodeContents(one);
        return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size; };
      const cells = [...document.querySelectorAll("td[style*=right], tr:has(td[style*=right]) td:first-child")];
      return [cells.length, ...cells.filter((one) => lines(one) > 1).map((one) => one.textContent)]"""
    with browser(tmp_path) as shown:
        shown.open(site / "results.html", width=width)
        count, *broken = shown.run(lines)
        assert count > 1000 and broken == []
        assert shown.run("return document.documentElement.scrollWidth") <= width


def test_the_index_of_the_search_has_every_page(site: Path) -> None:
    entries = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    assert {path.name for path in site.glob("*.html")} <= {one["location"].split("#")[0] for one in entries}

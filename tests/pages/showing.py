"""A browser for each module of tests, and a page in it whose console must stay silent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pages.browser import Browser, Show, browser


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as one:
        yield one


@pytest.fixture
def show(opened: Browser, tmp_path: Path) -> Iterator[Show]:
    """Opens a page; in the end the console must have had nothing to say."""

    def show_page(page: str, **seen: Any) -> Browser:
        file = tmp_path / "page.html"
        file.write_text(page, encoding="utf-8")
        opened.open(file, **seen)
        return opened

    opened.complaints()
    yield show_page
    assert opened.complaints() == []

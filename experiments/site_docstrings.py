"""Docstrings as Markdown: what they lay out in columns becomes a list, and doctests become blocks of code."""

from __future__ import annotations

import re
from typing import Any

import griffe

COLUMNS = re.compile(r"^(?P<names>\S+(?:, \S+)*) {2,}(?P<text>\S.*)$")


class Docstrings(griffe.Extension):
    """Reads each docstring before it is shown."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called by griffe for each module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(docstring: str) -> str:
    """A docstring as Markdown.

    >>> print(as_markdown("Sum.\\n\\nmany  to add\\n\\n>>> 1 + 1\\n2"))
    Sum.
    <BLANKLINE>
    - `many`: to add
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    """
    return "\n\n".join(_block(block) for block in re.split(r"\n\s*\n", docstring.strip("\n")))


def _block(block: str) -> str:
    """A paragraph, or what stands in its place."""
    if block.startswith(">>>"):
        return f"```pycon\n{block}\n```"
    lines = block.splitlines()
    rows = [COLUMNS.match(line) for line in lines]
    if rows[0] is None or any(row is None and not line.startswith("  ") for row, line in zip(rows, lines, strict=True)):
        return block
    return "\n".join(
        f"  {line.strip()}"
        if row is None
        else "- " + ", ".join(f"`{name}`" for name in row["names"].split(", ")) + f": {row['text']}"
        for row, line in zip(rows, lines, strict=True)
    )

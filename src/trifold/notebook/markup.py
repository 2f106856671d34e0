"""HTML that a notebook takes up: tables, pictures and pages in frames, in which all that is told is text."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape

CELL = "text-align:left;vertical-align:top;overflow-wrap:anywhere;font-variant-numeric:tabular-nums"
FRAME = "display:block;width:100%;border:1px solid rgba(128,128,128,0.4);border-radius:8px;resize:vertical"


def frame(page: str, title: str, height: int) -> str:
    """A page in a frame that shares nothing with the notebook: its script runs in a sandbox, and reaches no other.

    A notebook that is not trusted leaves frames out: then the title is what there is to read.
    """
    own = f'title="{escape(title)}" sandbox="allow-scripts" style="{FRAME};height:{height}px"'
    return f'<div><p>{escape(title)}</p><iframe {own} srcdoc="{escape(page)}"></iframe></div>'


def image(svg: bytes, text: str) -> str:
    """A picture, in which no script runs, and what it says for those who do not see it."""
    data = base64.b64encode(svg).decode()
    style = "max-width:100%;background:#fff;border-radius:8px"
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(text)}" style="{style}">'


def facts(title: str, pairs: Iterable[tuple[str, str | None]]) -> str:
    """A table of what is said of something; what is not known is left out."""
    rows = [
        f'<tr><th scope="row" style="{CELL}">{escape(name)}</th><td style="{CELL}">{escape(told)}</td></tr>'
        for name, told in pairs
        if told
    ]
    return f"<table>{caption(title)}<tbody>{''.join(rows)}</tbody></table>"


def table(title: str, cells: Sequence[Sequence[str]], names: int) -> str:
    """A line of headings and lines below it; the first columns hold words, the others numbers."""
    head, *body = cells
    sides = [CELL if i < names else CELL.replace("left", "right") for i in range(len(head))]
    heads = "".join(
        f'<th scope="col" style="{side}">{escape(cell)}</th>' for side, cell in zip(sides, head, strict=True)
    )
    rows = [
        "".join(f'<td style="{side}">{escape(cell)}</td>' for side, cell in zip(sides, line, strict=True))
        for line in body
    ]
    lines = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table>{caption(title)}<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"


def caption(title: str) -> str:
    """What a table is about."""
    return f'<caption style="text-align:left;font-weight:bold">{escape(title)}</caption>'


def text(told: str) -> str:
    """Lines of text as they are."""
    return f"<pre>{escape(told)}</pre>"

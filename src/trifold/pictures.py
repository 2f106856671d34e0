"""Pictures that matplotlib draws: one style for all of them, and the same bytes for the same picture.

Lettering is of 8 points at least, at the width at which papers print them. Colours are told apart by those who see
fewer of them, and lines have markers and strokes of their own as well.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trifold.errors import TrifoldError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")

COLUMN, PAGE = 3.3, 7.0
"""Inches across a column of a paper, and across both."""

LETTER = 0.068
"""Inches that a letter of a legend takes."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#a8559a", "#b88a00", "#3a9ad9", "#000000")
"""After Okabe and Ito, the pale ones darker."""

MARKERS, STROKES = ("o", "s", "^", "D", "v", "P", "X"), ("-", "--", "-.", ":")

STYLE: Any = {
    "font.size": 8.0,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8.0,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.5,
    "pdf.fonttype": 42,  # what publishers ask for: no Type 3
    "svg.hashsalt": "trifold",
}

NOTHING: dict[str, dict[str, None]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {},
}
"""What a file would say of the hour in which it was made."""


def picture_format(path: Path) -> str:
    """What a picture is to be, by its suffix.

    >>> picture_format(Path("coverage.pdf"))
    'pdf'
    """
    kind = path.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise TrifoldError("a picture is a PNG, SVG or PDF", place=str(path), remedy="name it so: picture.pdf")
    return kind


def picture(draw: Callable[[Figure], None], kind: str, width: float = COLUMN, height: float = 2.4) -> bytes:
    """The file of what a function draws in a figure of so many inches, the same bytes whenever it is drawn.

    >>> picture(lambda figure: figure.subplots(), "svg")[:5]
    b'<?xml'
    """
    if kind not in FORMATS:
        raise TrifoldError(f"a picture is a PNG, SVG or PDF, not {kind!r}", remedy=f"ask for {', '.join(FORMATS)}")
    from matplotlib import rc_context  # slow to import
    from matplotlib.figure import Figure  # a figure without pyplot needs no display

    file = io.BytesIO()
    with rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        figure.savefig(file, format=kind, dpi=200, metadata=NOTHING[kind])
    return file.getvalue()


def look(number: int) -> dict[str, Any]:
    """The colour, the marker and the stroke of a line among others; lines that come first are wider.

    So a line that lies on another leaves it to be seen.
    """
    style = {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}
    stroke = STROKES[number // len(COLOURS) % len(STROKES)]
    return style | {"linestyle": stroke, "linewidth": max(1.1, 2.9 - 0.45 * number), "markeredgewidth": 0}


def add_legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """A legend below the axes, in as many columns as there is room for; what is too long for a line is broken."""
    across = float(figure.get_figwidth())
    wrapped = ["\n".join(textwrap.wrap(label, int((across - 0.6) / LETTER)) or [""]) for label in labels]
    longest = max((len(line) for label in wrapped for line in label.splitlines()), default=1)
    columns = max(1, min(len(wrapped), int(across / (longest * LETTER + 0.55))))
    figure.legend(handles, [plain(label) for label in wrapped], loc="outside lower center", ncols=columns)


def spell_logarithm(axis: Any) -> None:
    """Name the numbers of a logarithmic axis as people write them, by 1, 2 and 5 where they are of few powers of ten.

    To be called when all is drawn.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 300 * low else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:g}"))
    axis.set_minor_formatter(NullFormatter())


def plain(text: str) -> str:
    """A name as matplotlib shows it: a dollar in it begins no formula.

    >>> plain("$x$")
    '\\\\$x\\\\$'
    """
    return text.replace("$", r"\$")

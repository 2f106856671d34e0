"""What the harnesses find, as one table and one file per class of findings."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

COLUMNS: dict[str, tuple[str, ...]] = {
    "tried": ("tried",),
    "right": ("equal", "ok", "recomputed", "accepted"),
    "refused": ("refused",),
    "other": ("large", "named", "unjudged", "unreadable"),
    "wrong": ("wrong", "silent"),
    "traceback": ("traceback", "raw", "unknown"),
    "hang": ("hang",),
    "crash": ("crash", "signal"),
}
"""A table's columns, and the outcomes that count in each."""

BAD = tuple(outcome for column in ("wrong", "traceback", "hang", "crash") for outcome in COLUMNS[column])
"""Outcomes that must not be. A refusal is none of them: it says what is wrong and what to do."""


@dataclass
class Finding:
    """One class of what was found.

    harness, outcome, cause  where it was found, how it ended, and what the cases have in common
    numbers                  the numbers of the cases
    example                  what was said about one
    reproduction             the smallest input found
    """

    harness: str
    outcome: str
    cause: str
    numbers: list[int] = field(default_factory=list)
    example: str = ""
    reproduction: str = ""

    def save(self, folder: Path) -> Path:
        """Write the finding to a file of its own."""
        folder.mkdir(parents=True, exist_ok=True)
        title = f"{self.harness}: {self.outcome} {self.cause}".strip()
        words = re.sub(r"[^a-z0-9]+", "-", title.lower())[:100].strip("-")
        path = folder / f"{words}-{crc32(title.encode()):08x}.txt"  # long causes may begin alike
        heading = [title, f"{len(self.numbers)} cases, such as {self.numbers[:8]}"]
        path.write_text("\n".join([*heading, self.example, "", self.reproduction]), encoding="utf-8")
        return path


def table(rows: dict[str, Counter[str]]) -> str:
    """The figures, one line per harness and family."""
    cells = [["", *COLUMNS]]
    for name, row in rows.items():
        cells.append([name, *(f"{sum(row[outcome] for outcome in outcomes):,}" for outcomes in COLUMNS.values())])
    widths = [max(len(line[place]) for line in cells) for place in range(len(COLUMNS) + 1)]
    lines = []
    for name, *figures in cells:
        padded = (figure.rjust(width) for figure, width in zip(figures, widths[1:], strict=True))
        lines.append("  ".join([name.ljust(widths[0]), *padded]))
    return "\n".join(lines)


def bad(rows: dict[str, Counter[str]]) -> int:
    """How many outcomes there are that must not be."""
    return sum(row[outcome] for row in rows.values() for outcome in BAD)

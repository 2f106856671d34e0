"""The picture ``docs/architectures.svg``: coverage by architecture and domain, ours as bars and the paper's as marks.

    python experiments/coverage_picture.py RESULTS... > docs/architectures.svg

It is of the cells of the table under "Architectures" in ``docs/results.md``, from the same records. `make results`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from architectures import Entry, make_entries
from attempts import Results
from cells import ARCHITECTURES
from results_page import read_results
from trifold.domains import PAPER

COLOURS = ("#9aa0a6", "#7fb2e5", "#1f6fb2", "#12406b", "#e0a030", "#c0504d", "#7a5195")
"""Of the bars, in the order of the architectures."""

COLUMNS, WIDTH, HEIGHT, BAR, FULL = 4, 200, 130, 20, 80
"""Panels in a row, the size of one, the width of a bar, and the height of one that solves all."""

STYLE = "text { font: 12px sans-serif; fill: #222 } .small { font-size: 9px; fill: #666 }"


def draw(results: Results) -> str:
    """The picture as SVG: a panel for each domain, a bar for each architecture, and a legend in the last panel."""
    entries = make_entries(results, {})
    rows = -(-(len(PAPER) + 1) // COLUMNS)
    width, height = COLUMNS * WIDTH + 10, rows * HEIGHT + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        "<title>Coverage by architecture</title>",
        f'<style>{STYLE}</style><rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for number, domain in enumerate(PAPER):
        parts += ['<g transform="translate({} {})">'.format(*_place(number)), *_panel(domain, entries), "</g>"]
    parts += ['<g transform="translate({} {})">'.format(*_place(len(PAPER))), *_legend(), "</g>", "</svg>"]
    return "\n".join(parts) + "\n"


def _place(number: int) -> tuple[int, int]:
    return 10 + number % COLUMNS * WIDTH, 10 + number // COLUMNS * HEIGHT


def _panel(domain: str, entries: Mapping[tuple[str, str], Entry]) -> list[str]:
    """A domain: a bar where there are attempts, "–" where there are none, and a line at the paper's coverage."""
    floor = FULL + 20
    width = len(ARCHITECTURES) * (BAR + 4)
    parts = [f'<text x="0" y="12">{domain}</text>']
    parts += [f'<path d="M0 {floor - height}h{width}" stroke="#ddd"/>' for height in (0, FULL)]
    for index, architecture in enumerate(ARCHITECTURES):
        entry, left = entries[domain, architecture.label], index * (BAR + 4) + 2
        if entry.attempts:
            share = entry.solved_so_far / entry.size
            parts.append(_bar(left, floor - share * FULL, share * FULL, COLOURS[index]))
            said = str(entry.solved_so_far) + ("" if entry.solved is not None else "…")
        else:
            said = "–"
        parts.append(f'<text class="small" x="{left + BAR / 2:g}" y="{floor + 11}" text-anchor="middle">{said}</text>')
        if entry.in_the_paper is not None:
            parts.append(_mark(left - 1, floor - entry.in_the_paper / entry.size * FULL))
    return parts


def _bar(left: float, top: float, height: float, colour: str) -> str:
    return f'<rect x="{left:g}" y="{top:.1f}" width="{BAR}" height="{height:.1f}" fill="{colour}"/>'


def _mark(left: float, top: float) -> str:
    return f'<path d="M{left:g} {top:.1f}h{BAR + 2}" stroke="#000" stroke-width="2"/>'


def _legend() -> list[str]:
    parts = []
    for index, architecture in enumerate(ARCHITECTURES):
        left, top = index % 2 * 90, 8 + index // 2 * 18
        parts.append(f'<rect x="{left}" y="{top}" width="12" height="12" fill="{COLOURS[index]}"/>')
        parts.append(f'<text x="{left + 17}" y="{top + 10}">{architecture.label}</text>')
    parts += [_mark(90, 68), '<text x="117" y="72">the paper</text>']
    parts += [
        f'<text class="small" x="0" y="{92 + 12 * line}">{words}</text>'
        for line, words in enumerate(("problems solved, of all of a domain;", "–: none run, …: not all run"))
    ]
    return parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path, help="folders of SET/DOMAIN.jsonl")
    sys.stdout.write(draw(read_results(parser.parse_args().results)))


if __name__ == "__main__":
    main()

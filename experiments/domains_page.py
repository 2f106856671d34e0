"""The page ``docs/domains.md``: what the suite `paper` holds.

    python experiments/domains_page.py DIR [--labels labels.json] > docs/domains.md

DIR is a suite that `trifold generate --suite paper --out DIR` wrote, and labels.json the output of
`trifold label DIR --json`; without it no states are counted.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from trifold.domains import DOMAINS, PAPER, SPLITS, Split, describe_sizes, read_structure, span, split_sizes
from trifold.files import read_text

States = Mapping[str, Mapping[str, int]]
"""Per domain and split, how many states its problems have in all."""

INTRODUCTION = """\
# The domains of the suite `paper`

The eleven domains of the paper, in its order. `trifold generate --suite paper --out DIR` writes all their splits, the
same files on every machine: `MANIFEST.json` has their hashes. No problem of a split is isomorphic to one of another.
Nor has it states of one, up to the names of objects: no two problems of different splits have the same objects, static
atoms and goal. So Gripper, where a goal is a number of balls, is validated on 15, and Blocks-s on 2 and 3 blocks: the
other sizes that can be labelled, up to 14 balls and from 4 to 9 blocks, are trained on.

For each domain: a picture of a problem, and for each split how many problems it has, how many objects these have, the
options of the generator (`trifold generate DOMAIN --help` explains them), and how many states the problems have in all
(a dash: not counted). The docstring of the domain's file in `src/trifold/domains/` says which situations the training
split must cover, and how it does.

This page is made by `make domains`, which draws the suite and labels it.
"""


def domains_page(suite: Path, states: States) -> str:
    """Write the page: a section for each domain; a dash where it is not known how many states there are."""
    return "\n".join([INTRODUCTION, *(domain_section(name, suite / name, states.get(name, {})) for name in PAPER)])


def domain_section(name: str, folder: Path, states: Mapping[str, int]) -> str:
    """Write the section of a domain: its picture, and a row for each split of its folder."""
    domain = DOMAINS[name]
    rows = [split_row(name, split, folder / split, states.get(split)) for split in SPLITS]
    table = ["| split | problems | objects | options | states |", "|---|---|---|---|---|", *rows]
    return "\n".join([f"## {name}\n\n{domain.sentence}\n\n```text\n{domain.picture}\n```\n", *table, ""])


def split_row(name: str, split: Split, folder: Path, states: int | None) -> str:
    """Write the row of a split: how many problems and objects, the options of the generator, and the states."""
    objects = [len(read_structure(read_text(file)).objects) for file in sorted(folder.glob("*.pddl"))]
    options = describe_sizes(split_sizes(name, split))
    cells = [split, str(len(objects)), span(objects), options, "–" if states is None else f"{states:,}"]
    return f"| {' | '.join(cells)} |"


def count_states(labels: Path) -> States:
    """The states of each domain and split, from what `trifold label` wrote."""
    states: dict[str, dict[str, int]] = {}
    try:
        for row in json.loads(read_text(labels)):
            name, split = row["folder"].split("/")
            states.setdefault(name, {})[split] = int(row["states"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise SystemExit(f"{labels}: these are no labels of a suite; trifold label DIR --json makes them") from None
    return states


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=Path, help="what `trifold generate --suite paper` wrote")
    parser.add_argument("--labels", type=Path, help="what `trifold label --json` said of it")
    arguments = parser.parse_args()
    sys.stdout.write(domains_page(arguments.suite, count_states(arguments.labels) if arguments.labels else {}))


if __name__ == "__main__":
    main()

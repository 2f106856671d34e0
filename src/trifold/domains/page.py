"""What the suite holds, in words: the sizes of a split, and the page ``docs/domains.md``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from trifold.domains import DOMAINS, SPLITS, Domain, Options
from trifold.domains.suite import draw_splits

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

This page is made by `trifold domains --format markdown --labels labels.json`, where labels.json is the output of
`trifold label DIR --json`.
"""


NOTHING: Mapping[str, Mapping[str, int]] = {}


def domains_page(
    states: Mapping[str, Mapping[str, int]] = NOTHING, on_problem: Callable[[], object] | None = None
) -> str:
    """Write the page: a section for each domain.

    states      per domain and split, how many states its problems have in all; a dash where it is not known
    on_problem  is called when a problem is drawn
    """
    return "\n".join([INTRODUCTION, *(domain_section(domain, states, on_problem) for domain in DOMAINS.values())])


def domain_section(
    domain: Domain,
    states: Mapping[str, Mapping[str, int]] = NOTHING,
    on_problem: Callable[[], object] | None = None,
) -> str:
    """Write the section of a domain in Markdown: its picture, and a row for each split."""
    drawn = draw_splits(domain.name, on_problem=on_problem)
    rows = []
    for split in SPLITS:
        known = states.get(domain.name, {}).get(split)
        cells = [
            split,
            str(len(drawn[split])),
            span(problem.objects for problem in drawn[split]),
            describe_sizes(domain.suite(split)),
            "–" if known is None else f"{known:,}",
        ]
        rows.append(f"| {' | '.join(cells)} |")
    table = ["| split | problems | objects | options | states |", "|---|---|---|---|---|", *rows]
    return "\n".join([f"## {domain.name}\n\n{domain.sentence}\n\n```text\n{domain.picture}\n```\n", *table, ""])


def describe_sizes(problems: Sequence[Options]) -> str:
    """Say between which values the options of some problems lie.

    >>> describe_sizes([{"balls": 3, "start": "random"}, {"balls": 1, "start": "random"}])
    'balls 1–3, start random'
    """
    names = dict.fromkeys(name for options in problems for name in options)
    return ", ".join(f"{name} {span([options[name] for options in problems if name in options])}" for name in names)


def span(values: Iterable[int | str]) -> str:
    """Show the least and the greatest of some numbers, or all of some words."""
    distinct = list(dict.fromkeys(values))
    numbers = sorted(value for value in distinct if isinstance(value, int))
    if len(numbers) > 1:
        return f"{numbers[0]}–{numbers[-1]}"
    return " or ".join(map(str, distinct))

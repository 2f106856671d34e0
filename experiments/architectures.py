"""The section "Architectures" of the page of results: the paper's whole table, its separations, and what it says."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from attempts import MAIN, SIZES, Results, main_set
from cells import ARCHITECTURES, HEAVY, Cell, Reason
from page_tables import table
from trifold.domains import PAPER
from trifold.errors import TrifoldError
from trifold.evaluation.comparison import NOT_RUN, UNKNOWN, Columns
from trifold.evaluation.published import PUBLISHED
from trifold.evaluation.records import Record, last_of_each
from trifold.outcomes import Outcome

Reasons = Mapping[tuple[str, str], Sequence[Reason]]
"""Why cells have no number, by domain and model."""

LIMITS = {Outcome.TIMEOUT: "out of time", Outcome.MEMORY_LIMIT: "out of memory"}
"""Attempts that end so did not fit into their limits: they say nothing of the policy."""
WORDS = {**LIMITS, Outcome.BAD_INPUT: "cannot read it", Outcome.CRASH: "broke off"}

BUDGET = 330.0
"""Seconds of training that all architectures have alike, with what a training does beyond its minutes."""

HEADING = """\
## Architectures

Each cell has how many problems ours solves · how many in the paper (– where it has no such row), by the paper's policy
with values, on the paper's own files where these are public, and on the suite elsewhere, where the paper's were other
instances. Ours are of one seed trained for at most {budget:.0f} seconds, on the same problems with the same settings
but for the architecture; \\* is for one that was trained longer or with several seeds, where there is no other. R-GNN₂
has k = 32 and ET a learning rate of 2e-4, as in the paper. Where a step takes more than 8 GiB of a card that a dozen
share, it is one of 16 states, as in the paper, at a peak rate of 5e-4: {heavy}. The paper trained three
seeds for twelve hours each.

![Coverage by architecture, as a share of the problems of each domain](architectures.svg)
"""
DETAILS = """\
In detail, steps and seconds of training under [the models](#the-models):
"""
SEPARATIONS = """\
### The paper's separations

Architectures that solve fewer problems than R-GNN[1] in the paper, with how many more R-GNN[1] solves there · here; \\*
as above. Of {paper} such gaps in the paper, {judged} can be judged here, where both were run on all problems. R-GNN[1]
is ahead here, too, in {held} of them.
"""
READING = "### What the table says\n"

FIELD = re.compile(r"\{(paper )?(\S+) ([^{}]+)\}")
"""A number in the notes: ``{grid R-GNN[1]}`` is how many ours solves, ``{paper grid R-GNN[1]}`` the paper's."""


@dataclass(frozen=True)
class Entry:
    """A cell with what is known of it: one model's attempts, the paper's coverage, and why there are no more attempts.

    is_over  whether the model was trained for longer than the others may be, or with several seeds
    """

    cell: Cell
    attempts: Sequence[Record] = ()
    reasons: Sequence[Reason] = ()
    is_over: bool = False

    @property
    def size(self) -> int:
        return SIZES[self.cell.domain]

    @property
    def solved(self) -> int | None:
        """How many problems were solved, if all were run."""
        return self.solved_so_far if len(self.attempts) == self.size else None

    @property
    def solved_so_far(self) -> int:
        return sum(record["plan_length"] is not None for record in self.attempts)

    @property
    def in_the_paper(self) -> int | None:
        return row.solved if (row := PUBLISHED.get(self.cell.key)) else None

    @property
    def text(self) -> str:
        """Ours, in words where it is no number, and the paper's."""
        return f"{self._ours()} · {UNKNOWN if self.in_the_paper is None else self.in_the_paper}"

    def _ours(self) -> str:
        why = "".join(f", {WORDS[Outcome(one['outcome'])]}" for one in self.reasons[-1:]).removeprefix(", ")
        if not self.attempts:
            return why or NOT_RUN
        parts = [f"{self.solved_so_far}{'*' if self.is_over else ''}"]
        for outcome, words in LIMITS.items():
            if count := sum(record["outcome"] == outcome for record in self.attempts):
                parts.append(f"{count} {words}")
        if self.solved is None:
            parts.append(f"{self.size - len(self.attempts)} {why or NOT_RUN}")
        return ", ".join(parts)


def make_entries(results: Results, reasons: Reasons) -> dict[tuple[str, str], Entry]:
    """All cells, by domain and model."""
    cells = [Cell(domain, architecture) for domain in PAPER for architecture in ARCHITECTURES]
    return {cell.key: _entry(cell, results, reasons.get(cell.key, ())) for cell in cells}


def _entry(cell: Cell, results: Results, reasons: Sequence[Reason]) -> Entry:
    """A cell by the one model of most attempts; of equals one within the budget, then that of the longest training."""
    policy = PUBLISHED[cell.domain, MAIN].policy
    files: dict[tuple[str, object], list[Record]] = {}
    for record in last_of_each(results.get(main_set(cell.domain), {}).get(cell.domain, [])):
        if (record["model"], record["policy"]) == (cell.architecture.label, policy):
            files.setdefault((record["model_sha256"], record["timeout"]), []).append(record)

    def rank(attempts: Sequence[Record]) -> tuple[int, bool, float, str]:
        seconds = attempts[0].get("training_seconds") or 0.0
        is_over = is_over_budget(attempts[0])
        return len(attempts), not is_over, -seconds if is_over else seconds, attempts[0]["model_sha256"]

    attempts = max(files.values(), key=rank, default=[])
    stages = ("train", f"evaluate {policy}")
    told = [one for one in reasons if one["stage"] in stages and len(attempts) < SIZES[cell.domain]]
    return Entry(cell, attempts, told, bool(attempts) and is_over_budget(attempts[0]))


def is_over_budget(record: Record) -> bool:
    """Whether a record is of a model that was trained for longer than the others may be, or with several seeds."""
    return (record.get("training_seconds") or 0.0) > BUDGET or (record.get("training_seeds") or 1) > 1


def architectures(results: Results, reasons: Reasons, detailed: str, reading: str) -> str:
    """Write the section; `detailed` is the table of all rows, `reading` what a person made of it."""
    entries = make_entries(results, reasons)
    columns: dict[str, Callable[[str], str]] = {
        "Domain": lambda domain: domain,
        "Problems": lambda domain: str(SIZES[domain]),
    }
    for architecture in ARCHITECTURES:
        columns[architecture.label] = lambda domain, label=architecture.label: entries[domain, label].text  # type: ignore[misc]
    shown = table(PAPER, columns, names=1)
    heavy = "; ".join(
        f"{architecture.label} in {', '.join(HEAVY[architecture.name])}"
        for architecture in ARCHITECTURES
        if architecture.name in HEAVY
    )
    parts = [
        HEADING.format(budget=BUDGET, heavy=heavy),
        shown,
        _bullets(entries),
        _count(entries),
        _separations(entries),
    ]
    if reading:
        parts.append(f"{READING}\n{fill_in(reading, entries)}")
    return "\n".join([*(part for part in parts if part), f"{DETAILS}\n{detailed}"])


def _bullets(entries: Mapping[tuple[str, str], Entry]) -> str:
    """A line for each reason, with the cells that it holds of."""
    cells: dict[str, list[str]] = {}
    for entry in entries.values():
        for one in entry.reasons:
            stage = "not trained" if one["stage"] == "train" else "not evaluated on all problems"
            cells.setdefault(f"{stage}: {one['message']}", []).append(f"{one['model']} in {one['domain']}")
    return "".join(f"- {', '.join(names)}: {why}.\n" for why, names in cells.items())


def _count(entries: Mapping[tuple[str, str], Entry]) -> str:
    """How many cells there are of each kind, and what those with a number took."""
    run = [entry for entry in entries.values() if entry.solved is not None]
    explained = sum(entry.solved is None and bool(entry.reasons) for entry in entries.values())
    seconds = sum(entry.attempts[0].get("training_seconds") or 0.0 for entry in run)
    return (
        f"Of {len(entries)} cells {len(run)} were run on all problems, and {explained} have a reason. Training those "
        f"that were run took {seconds:,.0f} seconds in all.\n"
    )


@dataclass(frozen=True)
class Gap:
    """An architecture that solves fewer problems than R-GNN[1] in the paper, and by how many; here None: not known."""

    less: Entry
    more: Entry

    @property
    def in_the_paper(self) -> int:
        return (self.more.in_the_paper or 0) - (self.less.in_the_paper or 0)

    @property
    def here(self) -> int | None:
        more, less = self.more.solved, self.less.solved
        return None if more is None or less is None else more - less

    @property
    def text(self) -> str:
        over = "*" if self.less.is_over or self.more.is_over else ""
        here = "" if self.here is None else f" · {self.here}{over}"
        return f"{self.less.cell.architecture.label} ({self.in_the_paper}{here})"


def find_gaps(entries: Mapping[tuple[str, str], Entry]) -> list[Gap]:
    """All gaps to R-GNN[1] in the paper."""
    pairs = [Gap(entry, entries[domain, MAIN]) for (domain, _), entry in entries.items()]
    return [gap for gap in pairs if gap.less.in_the_paper is not None and gap.in_the_paper > 0]


def _separations(entries: Mapping[tuple[str, str], Entry]) -> str:
    """A line for each domain in which R-GNN[1] is ahead of others in the paper: of which it is here, too."""
    gaps = find_gaps(entries)
    judged = [gap for gap in gaps if gap.here is not None]
    held = sum(gap.here is not None and gap.here > 0 for gap in judged)

    def listed(domain: str, belongs: Callable[[int | None], bool]) -> str:
        chosen = [gap.text for gap in gaps if gap.more.cell.domain == domain and belongs(gap.here)]
        return ", ".join(chosen) or UNKNOWN

    columns: Columns[str] = {
        "Domain": lambda domain: domain,
        "Behind here, too": lambda domain: listed(domain, lambda here: here is not None and here > 0),
        "Not behind here": lambda domain: listed(domain, lambda here: here is not None and here <= 0),
        "Not known here": lambda domain: listed(domain, lambda here: here is None),
    }
    domains = [domain for domain in PAPER if any(gap.more.cell.domain == domain for gap in gaps)]
    about = SEPARATIONS.format(paper=len(gaps), judged=len(judged), held=held)
    return f"{about}\n{table(domains, columns, names=4)}"


def fill_in(notes: str, entries: Mapping[tuple[str, str], Entry]) -> str:
    """Put the numbers of the table into notes, so that none is written by hand; what is not known is refused."""

    def number(found: re.Match[str]) -> str:
        paper, domain, label = found.groups()
        entry = entries.get((domain, label))
        solved = None if entry is None else entry.in_the_paper if paper else entry.solved
        if entry is None or solved is None:
            raise TrifoldError(
                f"there is no number of {found[0]}",
                remedy="name a cell that was run on all problems, as {DOMAIN MODEL} or {paper DOMAIN MODEL}",
            )
        return f"{solved} of {entry.size}"

    return FIELD.sub(number, notes)

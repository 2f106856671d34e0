"""Tables read records only: coverage and plan lengths per domain, model, policy and search, as in the paper.

Two things to know when reading them. Total, median and mean plan length are over the instances that the row's own
model solved, so they compare models fairly only where both solved the same ones. And the paper truncates its means
(826 steps over 16 plans is printed as 51, not 51.6); here a mean has one decimal.

With references, plan lengths are also set against the best known, over the solved instances that have one.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import mean, median

from trifold.errors import TrifoldError
from trifold.evaluation.records import SETTING_FIELDS, Record, last_of_each
from trifold.evaluation.references import Reference
from trifold.planning import Outcome


@dataclass(frozen=True)
class Quality:
    """Plan lengths against the best known, over the solved instances that have a reference.

    `instances` counts them, `optimal` those of them whose reference is proved optimal; `length` and `best` are the sums
    of both lengths, and `ratio` is length over best (None if best is 0).
    """

    instances: int
    optimal: int
    length: int
    best: int
    ratio: float | None


@dataclass(frozen=True)
class Row:
    """One line of a table: what one model under one policy, and a search if one follows, did on a domain's instances.

    `total`, `median` and `mean` are plan lengths over the solved instances (None if there are none); `seconds` is
    the time of all attempts; `failures` counts each named outcome but solved. `quality` is None without references.
    `search` follows the policy where it ends without a plan, and `searched` is how many of the solved instances it
    solved (both None for a policy alone); `improve` is for how many seconds each plan was made shorter, if it was.
    `seeds` is how many models were trained to choose this one, and `training_seconds` their time (None: not known);
    `hardware` is what the attempts were made on.
    """

    domain: str
    model: str
    policy: str
    solved: int
    instances: int
    total: int | None
    median: float | None
    mean: float | None
    seconds: float
    failures: dict[str, int]
    quality: Quality | None = None
    seeds: int | None = None
    training_seconds: float | None = None
    hardware: tuple[str, ...] = ()
    search: str | None = None
    improve: float | None = None
    searched: int | None = None

    @property
    def acts(self) -> str:
        """The policy and what follows it, in words: `actions, then turns, improved for 10 s`."""
        then = "" if self.search is None else f", then {self.search}"
        return self.policy + then + ("" if self.improve is None else f", improved for {self.improve:g} s")


def summarise(records: Iterable[Record], references: Mapping[str, Reference] | None = None) -> list[Row]:
    """One row per domain, model, policy and search; of several records of the same attempt the last one counts.

    Attempts that differ in the model file or in a setting are never mixed: where such rows would bear one name, the
    name of the model says in what they differ. `references` are by the SHA-256 of the problem, as `best_of_each` has
    them.
    """
    return [row for row, _ in rows_apart(records, references)]


def rows_apart(
    records: Iterable[Record], references: Mapping[str, Reference] | None = None
) -> list[tuple[Row, list[Record]]]:
    """The rows of `summarise`, each with the records that it sums up."""
    runs: dict[tuple[str, str, str, str, float], dict[tuple[object, ...], list[Record]]] = defaultdict(dict)
    for record in last_of_each(records):
        seconds = record.get("improve")
        after = (record.get("search") or "", -1.0 if seconds is None else seconds)  # these can be sorted
        name = (record["domain"], record["model"], record["policy"], *after)
        settings = tuple(record.get(field) for field in SETTING_FIELDS)
        runs[name].setdefault(settings, []).append(record)
    return [
        (_row((domain, model + difference, policy), attempts, references), attempts)
        for (domain, model, policy, *_), group in sorted(runs.items())
        for difference, attempts in zip(_differences(list(group)), group.values(), strict=True)
    ]


def _differences(settings: Sequence[tuple[object, ...]]) -> list[str]:
    """For each of several settings, the fields in which they are not all equal, as a suffix to a name."""
    differing = [i for i in range(len(SETTING_FIELDS)) if len({setting[i] for setting in settings}) > 1]
    suffixes = []
    for setting in settings:
        words = []
        for i in differing:
            field, value = SETTING_FIELDS[i], setting[i]
            if field.endswith("_sha256"):
                field, value = field.removesuffix("_sha256"), "its own" if value is None else str(value)[:8]
            words.append(f"{field.replace('_', ' ')} {'none' if value is None else value}")
        suffixes.append(f" ({', '.join(words)})" if words else "")
    return suffixes


def _row(name: tuple[str, str, str], records: Sequence[Record], references: Mapping[str, Reference] | None) -> Row:
    lengths = [record["plan_length"] for record in records if record["plan_length"] is not None]
    failures = Counter(record["outcome"] for record in records if record["outcome"] != Outcome.SOLVED)
    search = records[0].get("search")  # of one setting, as what is said of it
    finders = [record.get("found_by") for record in records if record["plan_length"] is not None]
    return Row(
        *name,
        solved=len(lengths),
        instances=len(records),
        total=sum(lengths) if lengths else None,
        median=float(median(lengths)) if lengths else None,
        mean=mean(map(float, lengths)) if lengths else None,
        seconds=sum(record["seconds"] for record in records),
        failures={outcome.value: failures[outcome] for outcome in Outcome if failures[outcome]},
        quality=None if references is None else _quality(records, references),
        seeds=records[0].get("training_seeds"),  # of one model file, as all facts of its training
        training_seconds=records[0].get("training_seconds"),
        hardware=tuple(sorted({hardware for record in records if (hardware := record.get("hardware"))})),
        search=search,
        improve=records[0].get("improve"),
        searched=None if search is None else sum(found_by == search for found_by in finders),
    )


def _quality(records: Sequence[Record], references: Mapping[str, Reference]) -> Quality:
    instances = optimal = total = best = 0
    for record in records:
        length, reference = record["plan_length"], references.get(record["problem_sha256"])
        if length is None or reference is None or reference["length"] is None:
            continue
        is_optimal = reference["kind"] == Outcome.OPTIMAL
        if is_optimal and length < reference["length"]:
            raise TrifoldError(
                f"a plan of {length} steps is shorter than the optimal reference of {reference['length']}",
                place=record["problem"],
                remedy="use references that were made with the domain of the records",
            )
        instances, optimal = instances + 1, optimal + is_optimal
        total, best = total + length, best + reference["length"]
    return Quality(instances, optimal, total, best, total / best if best else None)


NAME_COLUMNS = 3  # the columns that hold words and align to the left


def table_cells(rows: Sequence[Row]) -> list[list[str]]:
    """The table as text: a line of headings, then one line per row; what no row has gets no column."""
    failures = [outcome.value for outcome in Outcome if any(outcome in row.failures for row in rows)]
    has_quality, has_search = any(row.quality for row in rows), any(row.search for row in rows)
    cells = [["Domain", "Model", "Policy", "Coverage", *(["By search"] if has_search else [])]]
    cells[0] += ["Total", "Median", "Mean"]
    cells[0] += ["Length / best known", "Ratio", "Compared"] if has_quality else []
    cells[0] += ["Seconds", *(name.capitalize() for name in failures)]
    for row in rows:
        coverage = spell_coverage(row.solved, row.instances)
        searched = ["-" if row.searched is None else str(row.searched)] if has_search else []
        lengths = [
            "-" if row.total is None else str(row.total),
            "-" if row.median is None else f"{row.median:g}",
            "-" if row.mean is None else f"{row.mean:.1f}",
        ]
        cells.append([row.domain, row.model, row.acts, coverage, *searched, *lengths])
        cells[-1] += _quality_cells(row) if has_quality else []
        cells[-1] += [f"{row.seconds:.1f}", *(str(row.failures.get(name, 0)) for name in failures)]
    return cells


def spell_coverage(solved: int, instances: int) -> str:
    """How many of some instances were solved; the percentage is rounded down, so that 100 % means every one."""
    return f"{solved} / {instances} ({100 * solved // instances} %)"


def _quality_cells(row: Row) -> list[str]:
    """The plans' length over the best known, their ratio, and over how many of the solved instances."""
    quality = row.quality
    if quality is None or not quality.instances:
        return ["-", "-", f"0 of {row.solved}"]
    return [
        f"{quality.length} / {quality.best}",
        "-" if quality.ratio is None else f"{quality.ratio:.3f}",
        f"{quality.instances} of {row.solved} ({quality.optimal} optimal)",
    ]


def render_text(rows: Sequence[Row]) -> str:
    """Aligned plain text, fit for a terminal or a pipe."""
    return aligned_text(table_cells(rows), names=NAME_COLUMNS)


def aligned_text(cells: Sequence[Sequence[str]], names: int) -> str:
    """A header and rows as columns: the first ``names`` to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if i < names else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "".join(f"{line}\n" for line in lines)


def render_markdown(rows: Sequence[Row]) -> str:
    """A Markdown table."""
    return markdown_table(table_cells(rows), names=NAME_COLUMNS)


def markdown_table(cells: Sequence[Sequence[str]], names: int) -> str:
    """A header and rows as a Markdown table: the first ``names`` columns to the left, the others to the right."""
    head, *body = [[_escape(cell, MARKDOWN) for cell in line] for line in cells]
    rule = [":--" if i < names else "--:" for i in range(len(head))]
    return "".join(f"| {' | '.join(line)} |\n" for line in [head, rule, *body])


def render_latex(rows: Sequence[Row]) -> str:
    """A LaTeX tabular that needs no package."""
    head, *body = [" & ".join(_escape(cell, LATEX) for cell in line) + r" \\" for line in table_cells(rows)]
    columns = "l" * NAME_COLUMNS + "r" * (head.count(" & ") + 1 - NAME_COLUMNS)
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\hline", head, r"\hline", *body, r"\hline", r"\end{tabular}"]
    return "".join(f"{line}\n" for line in lines)


def render_json(rows: Sequence[Row]) -> str:
    """The rows as a JSON list, with numbers unrounded."""
    return json.dumps([asdict(row) for row in rows], indent=2) + "\n"


RENDERERS: dict[str, Callable[[Sequence[Row]], str]] = {
    "text": render_text,
    "markdown": render_markdown,
    "latex": render_latex,
    "json": render_json,
}

MARKDOWN = {character: f"\\{character}" for character in r"\|[]_*<>`"}
LATEX = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}


def _escape(cell: str, escapes: dict[str, str]) -> str:
    return "".join(escapes.get(character, character) for character in cell)

"""The page ``docs/results.md``: our records, the paper's rows and LAMA's first plans, side by side. `make results`.

    python experiments/results_page.py RESULTS... [--references FILE] [--notes FILE] > docs/results.md

RESULTS are folders with records as SET/DOMAIN.jsonl. The sets are ``public``, the public test files; ``suite``, the
test problems of the suite `paper`; and ``fresh-N``, problems of the suite's sizes from the generator seed N.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from published import OWN_FILES, PUBLISHED, SECONDS, SEEDS, Published
from trifold.domains import PAPER
from trifold.errors import TrifoldError
from trifold.evaluation.first_plan import PLANNER, POLICY
from trifold.evaluation.records import Record, file_sha256, read_records
from trifold.evaluation.references import Reference, best_of_each, read_references
from trifold.evaluation.tables import Row, markdown_table, summarise
from trifold.files import read_text
from trifold.outcomes import Outcome
from trifold.shipped import formerly, shipped_models

Results = Mapping[str, Mapping[str, Sequence[Record]]]
"""Records by set and domain."""

MAIN = "R-GNN[1]"
ARCHITECTURES = ("R-GNN", "R-GNN[0]", MAIN)
COMPARED = ("gripper", "grid", "logistics", "rovers", "vacuum", "visitall-xy", "navig-xy")
"""The domains in which the architectures are compared with each other."""

SIZES = {domain: PUBLISHED[domain, MAIN].instances for domain in PAPER}
"""How many test problems each domain has in the suite, which has as many as the paper."""
PUBLIC_SIZES = {domain: SIZES[domain] for domain in OWN_FILES} | {"visitall": 18, "grid": 20, "rovers": 4}

NOT_RUN = "not run"
UNKNOWN = "–"


@dataclass(frozen=True)
class Line:
    """What a model or planner did on the problems of a domain, as text."""

    domain: str
    model: str
    policy: str
    coverage: str = NOT_RUN
    total: str = UNKNOWN
    median: str = UNKNOWN
    mean: str = UNKNOWN
    quality: str = UNKNOWN
    proved: str = UNKNOWN
    seconds: str = UNKNOWN
    hardware: str = UNKNOWN
    seeds: str = UNKNOWN
    training_seconds: str = UNKNOWN
    in_the_paper: str = UNKNOWN


@dataclass(frozen=True)
class Summary:
    """A domain in short: the line of the test set that counts, those of fresh problems, and the paper's row."""

    domain: str
    main: Line
    fresh: Sequence[Line]
    published: Published

    @property
    def test_set(self) -> str:
        return "the paper's" if self.domain in OWN_FILES else "suite"


Item = TypeVar("Item")
Columns = Mapping[str, Callable[[Item], str]]
"""The heading of each column, and what it shows of an item."""

LINE_COLUMNS: Columns[Line] = {
    "Domain": lambda line: line.domain,
    "Model": lambda line: line.model,
    "Policy": lambda line: line.policy,
    "Coverage": lambda line: line.coverage,
    "Total": lambda line: line.total,
    "Median": lambda line: line.median,
    "Mean": lambda line: line.mean,
    "Length / best known": lambda line: line.quality,
    "Proved optimal": lambda line: line.proved,
    "Seconds a problem": lambda line: line.seconds,
    "Hardware": lambda line: line.hardware,
    "Seeds": lambda line: line.seeds,
    "Training seconds": lambda line: line.training_seconds,
}


@dataclass(frozen=True)
class Evaluated:
    """A model file: its domain, a record that tells of it, and whether it is one of those in the box."""

    domain: str
    record: Record
    is_boxed: bool


MODEL_COLUMNS: Columns[Evaluated] = {
    "Domain": lambda model: model.domain,
    "Model": lambda model: model.record["model"],
    "Command": lambda model: model.record.get("training_command") or UNKNOWN,
    "File": lambda model: model.record["model_sha256"][:8],
    "In the box": lambda model: "yes" if model.is_boxed else "no",
    "Data": lambda model: (model.record.get("training_data") or UNKNOWN)[:8],
    "Hardware": lambda model: model.record.get("training_hardware") or UNKNOWN,
    "Seeds": lambda model: number(model.record.get("training_seeds"), ""),
    "Kept": lambda model: number(model.record.get("training_seed"), ""),
    "Steps": lambda model: number(model.record.get("training_steps"), ","),
    "Loss": lambda model: number(model.record.get("training_validation_loss"), ".4f"),
    "Seconds": lambda model: number(model.record.get("training_seconds"), ",.0f"),
}

INTRODUCTION = """\
# Results

The policy alone, without search, for at most 1000 steps: ours, the paper's, and the first plan of LAMA (Fast Downward).
Total, median and mean are lengths of the plans of the instances that were solved; the paper truncates its means. Length
over best known is over the solved instances that have a reference, and a shorter plan in the records is the better
reference; "proved optimal" says how many of them are: where few are, 1.000 means that no shorter plan is known. Seconds
a problem are those of an attempt, reading the problem included; some attempts were made side by side. Training seconds
are those of all seeds together, without labelling. One model of them is kept: that with the least validation loss, or,
where its provenance (`trifold models NAME`) has a selection, that whose policy solved most of some larger problems.
What says "not run" was not run.

This page is made by `make results` from `experiments/`, where every record of a policy has the command, seeds, data,
hardware and versions that made it. `experiments/paper.sh` makes such records.
"""
SUMMARY = """\
## In short

R-GNN[1] with the paper's policy, on the paper's own test files where they are public, and on the suite elsewhere: there
the paper's coverage is that of other instances. Fresh problems are of the same sizes. Which rows are of the very files
in the box is told under [the models](#the-models).
"""

SECTIONS = {
    "public": """\
## The public test files

Those of [instances.md](instances.md). For Blocks-s, Blocks-m, Gripper, Miconic and Logistics they are the paper's own,
so its rows compare with ours; in the other domains its instances were others.
""",
    "suite": """\
## The test problems of the suite

Those of [domains.md](domains.md), as many as the paper has and of its numbers of objects. The paper's rows are about
its own instances, whose plans are shorter in some domains and longer in others.
""",
}
FRESH = """\
## Fresh problems: generator seed {seed}

Problems of the suite's test sizes from another seed (`experiments/paper.sh --fresh-seed {seed}`): nothing was trained
or selected on them, where nothing else is said. Gripper has one test problem of each size and Navig-xy two of the
paper's figures, whatever the seed.
"""
FRESH_NOTES = {
    "7": """\
Of seed 7, three Visitall problems are isomorphic to test problems: 004 (9 × 4 cells) and 006 (10 × 5) to those of the
same numbers of the suite, and 008 (8 × 8) to the public `visitall_x-8_y-8_r-100`. In Grid seed 7 is not unseen: that an
earlier model failed at five of these problems was known before the training problems of the one in the box were chosen.
Seed 8 was never used before: there Grid solves 19 of 20.
"""
}
"""What is to be known of the fresh problems of a seed."""
COMPARISON = """\
## Architectures

Plain R-GNN, R-GNN[0] and R-GNN[1] trained on the same data with the same settings, but for how many steps, seconds and
seeds is told under [the models](#the-models); on the public files where these are the paper's own, and on the suite
elsewhere.
"""
MODELS = """\
## The models

How each model came to be: how many seeds were trained and which was kept, the step that it is of and its validation
loss, and the seconds of all seeds to their ends. File and data are the first digits of their SHA-256; "in the box" says
whether the file is one of those that `trifold models` lists.
"""
NOTES = "## What was tried, what helped and what did not\n"


def read_results(folders: Sequence[Path]) -> Results:
    """The records of some folders, as SET/DOMAIN.jsonl; what is no set or no domain is refused."""
    results: dict[str, dict[str, list[Record]]] = {}
    for file in [file for folder in folders for file in sorted(folder.glob("*/*.jsonl"))]:
        name, domain = file.parent.name, file.stem
        if (name not in SECTIONS and not name.startswith("fresh-")) or domain not in PAPER:
            raise TrifoldError(
                "results are named public, suite or fresh-N, and then by their domain",
                place=str(file),
                remedy="name it as experiments/paper.sh does, such as suite/logistics.jsonl",
            )
        results.setdefault(name, {}).setdefault(domain, []).extend(read_records(file))
    if not results:
        places = ", ".join(map(str, folders))
        raise TrifoldError("there are no results", place=places, remedy="name folders with SET/DOMAIN.jsonl")
    return results


def results_page(results: Results, references: Mapping[str, Reference], notes: str) -> str:
    """Write the page; `references` are by the SHA-256 of the problem, as `best_of_each` has them."""
    references = _improve(references, _all_records(results))
    fresh = sorted(name for name in results if name.startswith("fresh-"))
    parts = [INTRODUCTION, SUMMARY, _summary(results, references, fresh)]
    for name in ("public", "suite", *fresh):
        seed = name.removeprefix("fresh-")
        parts.append(SECTIONS[name] if name in SECTIONS else FRESH.format(seed=seed))
        if name in fresh and seed in FRESH_NOTES:
            parts.append(FRESH_NOTES[seed])
        parts.append(_section(name, results.get(name, {}), references))
    if not fresh:
        parts.append("## Fresh problems\n\nNot run yet: `experiments/paper.sh --fresh-seed N`.\n")
    parts += [COMPARISON, _comparison(results, references), MODELS, _models(results), NOTES, notes]
    return "\n".join(parts)


def _all_records(results: Results) -> list[Record]:
    return [record for domains in results.values() for records in domains.values() for record in records]


def _improve(references: Mapping[str, Reference], records: Iterable[Record]) -> dict[str, Reference]:
    """The references, with the lengths of shorter plans where there are any; what is optimal stays."""
    best = dict(references)
    for record in records:
        length, known = record["plan_length"], best.get(record["problem_sha256"])
        if length is not None and known and known["kind"] != Outcome.OPTIMAL and known["length"] is not None:
            best[record["problem_sha256"]] = {**known, "length": min(length, known["length"])}
    return best


def _table(items: Iterable[Item], columns: Columns[Item], names: int) -> str:
    return markdown_table([[*columns], *([column(item) for column in columns.values()] for item in items)], names=names)


def _lines_table(lines: Sequence[Line], columns: Columns[Line] = LINE_COLUMNS) -> str:
    """A table in which the name of a domain stands in its first line alone."""
    before = ["", *(line.domain for line in lines)]
    named = [
        replace(line, domain="") if line.domain == last else line for last, line in zip(before, lines, strict=False)
    ]
    return _table(named, columns, names=3)


def _summary(results: Results, references: Mapping[str, Reference], fresh: Sequence[str]) -> str:
    """A line for each domain: its coverage and length on the test set that counts, and on fresh problems."""
    items = []
    for domain in PAPER:
        published = PUBLISHED[domain, MAIN]
        main, *others = (
            next(
                line
                for line in _ours(MAIN, domain, results.get(name, {}).get(domain, []), references, SIZES[domain])
                if line.policy == published.policy
            )
            for name in ("public" if domain in OWN_FILES else "suite", *fresh)
        )
        items.append(Summary(domain, main, others, published))
    columns: dict[str, Callable[[Summary], str]] = {
        "Domain": lambda item: item.domain,
        "Test set": lambda item: item.test_set,
        "Policy": lambda item: item.published.policy,
        "Coverage": lambda item: item.main.coverage,
        "Coverage in the paper": lambda item: _coverage(item.published),
        "Length / best known": lambda item: item.main.quality,
    }
    for index, name in enumerate(fresh):
        columns[f"Coverage, {name}"] = lambda item, index=index: item.fresh[index].coverage  # type: ignore[misc]
        columns[f"Length / best known, {name}"] = lambda item, index=index: item.fresh[index].quality  # type: ignore[misc]
    columns["Training seconds"] = lambda item: item.main.training_seconds
    return _table(items, columns, names=3)


def _section(name: str, domains: Mapping[str, Sequence[Record]], references: Mapping[str, Reference]) -> str:
    """The table of a set."""
    sizes = PUBLIC_SIZES if name == "public" else SIZES
    lines = []
    for domain in [domain for domain in PAPER if domain in sizes]:
        records = domains.get(domain, [])
        is_own = name == "public" and domain in OWN_FILES
        best = _sum_of_best(records, references, sizes[domain]) if is_own else None
        planner = [record for record in records if record["model"] == PLANNER]
        lines += _ours(MAIN, domain, records, references, sizes[domain])
        lines.append(_paper_line(PUBLISHED[domain, MAIN], is_own, best))
        lines += _lines(domain, planner, references, sizes[domain]) or [Line(domain, PLANNER, POLICY)]
    return _lines_table(lines)


def _comparison(results: Results, references: Mapping[str, Reference]) -> str:
    """All architectures in the domains where they are compared; those beyond the three are shown if they were run."""
    lines: list[Line] = []
    for domain in COMPARED:
        records = results.get("public" if domain in OWN_FILES else "suite", {}).get(domain, [])
        others = {record["model"] for record in records} - {*ARCHITECTURES, PLANNER}
        for model in (*ARCHITECTURES, *sorted(others)):
            published = PUBLISHED.get((domain, model))
            for line in _ours(model, domain, records, references, SIZES[domain]):
                if published and published.policy == line.policy:
                    line = replace(line, in_the_paper=_coverage(published))
                lines.append(line)
    return _lines_table(lines, {**LINE_COLUMNS, "Coverage in the paper": lambda line: line.in_the_paper})


def _ours(
    model: str, domain: str, records: Sequence[Record], references: Mapping[str, Reference], size: int
) -> list[Line]:
    """The lines of an architecture: one for each policy that is wanted, and for each model file."""
    lines = []
    for policy in ("values", "strict") if PUBLISHED[domain, MAIN].policy == "strict" else ("values",):
        own = [record for record in records if (record["model"], record["policy"]) == (model, policy)]
        lines += _lines(domain, own, references, size) or [Line(domain, model, policy)]
    return lines


def _lines(domain: str, records: Sequence[Record], references: Mapping[str, Reference], size: int) -> list[Line]:
    return [_line(domain, row, size) for row in summarise(records, references)]


def _line(domain: str, row: Row, size: int) -> Line:
    missing = f", {size - row.instances} {NOT_RUN}" if row.instances < size else ""
    return Line(
        domain,
        row.model,
        row.policy,
        coverage=_coverage(row) + missing,
        total=number(row.total, ","),
        median=number(row.median, "g"),
        mean=number(row.mean, ".1f"),
        quality=_quality(row),
        proved=_proved(row),
        seconds=f"{row.seconds / row.instances:.2f}",
        hardware=", ".join(row.hardware) or UNKNOWN,
        seeds=number(row.seeds, ""),
        training_seconds=number(row.training_seconds, ",.0f"),
    )


def _paper_line(row: Published, is_own: bool, best: int | None) -> Line:
    """The paper's row; its length over the best known can be told only where all was solved."""
    quality = UNKNOWN
    if best and row.total and row.solved == row.instances:
        quality = f"{row.total:,} / {best:,} = {row.total / best:.3f}"
    return Line(
        row.domain,
        f"{row.model} in the paper" + ("" if is_own else ", other instances"),
        row.policy,
        coverage=_coverage(row),
        total=number(row.total, ","),
        median=number(row.median, "g"),
        mean=number(row.mean, ""),
        quality=quality,
        seeds=str(SEEDS),
        training_seconds=f"{SECONDS:,}",
    )


def _coverage(row: Row | Published) -> str:
    return f"{row.solved} / {row.instances} ({100 * row.solved // row.instances} %)"


def _quality(row: Row) -> str:
    quality = row.quality
    if quality is None or quality.ratio is None:
        return UNKNOWN
    part = "" if quality.instances == row.solved else f" ({quality.instances} of {row.solved})"
    return f"{quality.length:,} / {quality.best:,} = {quality.ratio:.3f}{part}"


def _proved(row: Row) -> str:
    return f"{row.quality.optimal} of {row.quality.instances}" if row.quality and row.quality.instances else UNKNOWN


def number(value: float | None, form: str) -> str:
    return UNKNOWN if value is None else format(value, form)


def _sum_of_best(records: Sequence[Record], references: Mapping[str, Reference], size: int) -> int | None:
    """The best total known of a set, if it is known of each of its problems."""
    problems = {record["problem_sha256"] for record in records}
    best = [length for problem in problems if problem in references and (length := references[problem]["length"])]
    return sum(best) if len(best) == size else None


def _models(results: Results) -> str:
    """A line for each model file that the records are about."""
    boxed = {name for file in shipped_models().values() for name in (file_sha256(file), formerly(file))}
    models: dict[str, Evaluated] = {}
    for domain in PAPER:
        for record in [record for domains in results.values() for record in domains.get(domain, [])]:
            if record["model"] != PLANNER:
                file = record["model_sha256"]
                models[file] = Evaluated(domain, record, file in boxed)
    return _table(models.values(), MODEL_COLUMNS, names=7) if models else "No model was evaluated yet.\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path, help="folders of SET/DOMAIN.jsonl")
    parser.add_argument("--references", type=Path, action="append", default=[], help="what `trifold reference` wrote")
    parser.add_argument("--notes", type=Path, help="what was tried, in Markdown")
    arguments = parser.parse_args()
    try:
        best = best_of_each(one for file in arguments.references for one in read_references(file))
        notes = read_text(arguments.notes) if arguments.notes else ""
        sys.stdout.write(results_page(read_results(arguments.results), best, notes))
    except TrifoldError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()

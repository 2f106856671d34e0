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
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from published import OWN_FILES, PUBLISHED, SECONDS, SEEDS, Published
from trifold.domains import PAPER
from trifold.errors import TrifoldError
from trifold.evaluation.first_plan import PLANNER, POLICY
from trifold.evaluation.records import (
    INSTANCE_FIELDS,
    SETTING_FIELDS,
    Record,
    file_sha256,
    last_of_each,
    read_records,
)
from trifold.evaluation.references import Reference, best_of_each, read_references
from trifold.evaluation.tables import Row, markdown_table, summarise
from trifold.files import read_text
from trifold.outcomes import Outcome
from trifold.shipped import formerly, shipped_models
from trifold.tensor_file import open_tensors

Results = Mapping[str, Mapping[str, Sequence[Record]]]
"""Records by set and domain."""
Box = Mapping[str, Path]
"""The files of the models in the box, by their SHA-256, and by that which they had in an older format."""

MAIN = "R-GNN[1]"
ARCHITECTURES = ("R-GNN", "R-GNN[0]", MAIN)
COMPARED = ("gripper", "grid", "logistics", "rovers", "vacuum", "visitall-xy", "navig-xy")
"""The domains in which the architectures are compared with each other."""

SIZES = {domain: PUBLISHED[domain, MAIN].instances for domain in PAPER}
"""How many test problems each domain has in the suite, which has as many as the paper."""
PUBLIC_SIZES = {domain: SIZES[domain] for domain in OWN_FILES} | {"visitall": 18, "grid": 20, "rovers": 4}

NOT_RUN = "not run"
UNKNOWN = "–"

MARGIN = Fraction(3, 100)
"""By how much the length over the best known of the policy `actions` may exceed that of `values`."""


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
    """A domain by one policy: the line of the test set that counts, those of fresh problems, and the paper's row."""

    domain: str
    main: Line
    fresh: Sequence[Line]
    published: Published

    @property
    def test_set(self) -> str:
        return "the paper's" if self.domain in OWN_FILES else "suite"


@dataclass(frozen=True)
class Run:
    """What a model did by one policy on the problems of a set: its name, a row, and a length for each problem."""

    model: str
    row: Row
    lengths: Mapping[tuple[object, ...], int | None]  # None: not solved


@dataclass(frozen=True)
class Pair:
    """The two policies on one set of a domain, which has `size` problems. None: the policy was not run."""

    domain: str
    test_set: str
    size: int
    values: Run | None
    actions: Run | None

    @property
    def runs(self) -> tuple[Run, Run] | None:
        """Both, if they can be judged: if they are of the same problems."""
        if self.values and self.actions and self.values.lengths.keys() == self.actions.lengths.keys():
            return self.values, self.actions
        return None

    @property
    def has_coverage(self) -> bool | None:
        """Whether `actions` solves as many problems as `values`."""
        return self.runs and self.runs[1].row.solved >= self.runs[0].row.solved

    @property
    def excess(self) -> Fraction | None:
        """Length over the best known of `actions`, less that of `values`."""
        ratios = [Fraction(q.length, q.best) for run in self.runs or () if (q := run.row.quality) and q.best]
        return ratios[1] - ratios[0] if len(ratios) == 2 else None

    @property
    def has_length(self) -> bool | None:
        return None if self.excess is None else self.excess <= MARGIN


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

PAIR_COLUMNS: Columns[Pair] = {
    "Domain": lambda pair: pair.domain,
    "Test set": lambda pair: pair.test_set,
    "Model, values": lambda pair: pair.values.model if pair.values else UNKNOWN,
    "Model, actions": lambda pair: pair.actions.model if pair.actions else UNKNOWN,
    "Coverage, values": lambda pair: _coverage_of_run(pair.values, pair.size),
    "Coverage, actions": lambda pair: _coverage_of_run(pair.actions, pair.size),
    "Length, actions / values": lambda pair: _lengths(pair),
    "Length / best known, values": lambda pair: _quality(pair.values.row) if pair.values else UNKNOWN,
    "Length / best known, actions": lambda pair: _quality(pair.actions.row) if pair.actions else UNKNOWN,
    "Difference": lambda pair: UNKNOWN if pair.excess is None else f"{float(pair.excess):+.4f}",
    "Coverage holds": lambda pair: _answer(pair.has_coverage),
    "Length holds": lambda pair: _answer(pair.has_length),
}


@dataclass(frozen=True)
class Evaluated:
    """A model file: its domain, a record that tells of it, the policies of its rows, and where the box has it."""

    domain: str
    record: Record
    policies: str
    boxed: Path | None

    @property
    def in_the_box(self) -> str:
        if self.boxed is None:
            return "no"
        return "yes" if self.boxed.stem == self.domain else f"yes, as {self.boxed.stem}"


MODEL_COLUMNS: Columns[Evaluated] = {
    "Domain": lambda model: model.domain,
    "Model": lambda model: model.record["model"],
    "Command": lambda model: model.record.get("training_command") or UNKNOWN,
    "File": lambda model: model.record["model_sha256"][:8],
    "In the box": lambda model: model.in_the_box,
    "Data": lambda model: (model.record.get("training_data") or UNKNOWN)[:8],
    "Hardware": lambda model: model.record.get("training_hardware") or UNKNOWN,
    "Seeds": lambda model: number(model.record.get("training_seeds"), ""),
    "Kept": lambda model: number(model.record.get("training_seed"), ""),
    "Steps": lambda model: number(model.record.get("training_steps"), ","),
    "Loss": lambda model: number(model.record.get("training_validation_loss"), ".4f"),
    "Seconds": lambda model: number(model.record.get("training_seconds"), ",.0f"),
}
POLICY_COLUMNS: Columns[Evaluated] = {
    "Domain": MODEL_COLUMNS["Domain"],
    "Model": MODEL_COLUMNS["Model"],
    "Policies": lambda model: model.policies,
    "k, L": lambda model: _size(model.boxed) if model.boxed else UNKNOWN,
}
"""The first columns where there are two policies, and so perhaps two models of a domain."""

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
SUMMARY_OF_ACTIONS = """\
The second line of a domain is of the policy `actions`, perhaps by another model file: [two policies](#two-policies)
tells which. The paper's coverage, which is that of its own policy, stands in both.
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
TWO_POLICIES = """\
## Two policies

R-GNN[1] by the policy `values`, the paper's, which goes to the unvisited successor with the least V and evaluates all
successors for that, and by `actions`, which takes the best-scored action whose successor was not visited and evaluates
one state a step. The models are named as in the box, or else by the first digits of their files' SHA-256. Where several
have records of a policy, the one in the box is shown, and of several in the box the one that solves most problems of
all sets, or has the shorter plans. How long problems took is told in the tables above.

"Length, actions / values" is over the problems that both solved, length over best known over those that each of them
solved. Two bars are set for `actions`, and judged where both were run on the same problems:
"""
COMPARISON = """\
## Architectures

Plain R-GNN, R-GNN[0] and R-GNN[1] trained on the same data with the same settings, but for how many steps, seconds and
seeds is told under [the models](#the-models); on the public files where these are the paper's own, and on the suite
elsewhere.
"""
COMPARISON_OF_ACTIONS = """\
Rows of the policy `actions` may be of other model files than those of `values`, with other data and settings.
"""
MODELS = """\
## The models

How each model came to be: how many seeds were trained and which was kept, the step that it is of and its validation
loss, and the seconds of all seeds to their ends. File and data are the first digits of their SHA-256; "in the box" says
whether the file is one of those that `trifold models` lists.
"""
MODELS_OF_ACTIONS = """\
Rows above with these policies are of this file, and where test sets are named only those of these sets. k is the size
of embeddings and L the number of layers; of files that are not in the box they are not recorded.
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
    records = _all_records(results)
    references = _improve(references, records)
    box = _box()
    fresh = sorted((name for name in results if name.startswith("fresh-")), key=lambda name: (len(name), name))
    parts = [INTRODUCTION, SUMMARY, _summary(results, references, fresh, box)]
    for name in ("public", "suite", *fresh):
        seed = name.removeprefix("fresh-")
        parts.append(SECTIONS[name] if name in SECTIONS else FRESH.format(seed=seed))
        if name in fresh and seed in FRESH_NOTES:
            parts.append(FRESH_NOTES[seed])
        parts.append(_section(name, results.get(name, {}), references))
    if not fresh:
        parts.append("## Fresh problems\n\nNot run yet: `experiments/paper.sh --fresh-seed N`.\n")
    if _has_actions(records):
        pairs = _pairs(results, references, fresh, box)
        parts += [TWO_POLICIES, _bars(pairs), _grouped_table(pairs, PAIR_COLUMNS, names=4)]
    parts += [COMPARISON, _comparison(results, references), MODELS, _models(results, box), NOTES, notes]
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


def _box() -> Box:
    named = {name: file for file in shipped_models().values() for name in (file_sha256(file), formerly(file))}
    return {name: file for name, file in named.items() if name}


def _has_actions(records: Iterable[Record], model: str = MAIN) -> bool:
    return any((record["model"], record["policy"]) == (model, "actions") for record in records)


def _table(items: Iterable[Item], columns: Columns[Item], names: int) -> str:
    return markdown_table([[*columns], *([column(item) for column in columns.values()] for item in items)], names=names)


def _grouped_table(items: Iterable[Item], columns: Columns[Item], names: int) -> str:
    """A table in which the name of a domain, its first column, stands in its first line alone."""
    rows = [[column(item) for column in columns.values()] for item in items]
    before = ["", *(row[0] for row in rows)]
    rows = [["" if row[0] == last else row[0], *row[1:]] for last, row in zip(before, rows, strict=False)]
    return markdown_table([[*columns], *rows], names=names)


def _main_set(domain: str) -> str:
    """The test set that counts: the paper's own files, if they are public."""
    return "public" if domain in OWN_FILES else "suite"


def _summary(results: Results, references: Mapping[str, Reference], fresh: Sequence[str], box: Box) -> str:
    """A line for each domain and policy: coverage and length on the test set that counts, and on fresh problems."""
    shown = [(domain, name) for domain in PAPER for name in (_main_set(domain), *fresh)]
    has_actions = any(_has_actions(results.get(name, {}).get(domain, [])) for domain, name in shown)
    items = []
    for domain in PAPER:
        published = PUBLISHED[domain, MAIN]
        for policy in (published.policy, *(["actions"] if has_actions else [])):
            model = _choose_model(results, domain, policy, box)
            sets = [results.get(name, {}).get(domain, []) for name in (_main_set(domain), *fresh)]
            runs = [_attempts(records, policy, model, box) for records in sets]
            empty = Line(domain, MAIN, policy)
            main, *others = (next(iter(_lines(domain, run, references, SIZES[domain])), empty) for run in runs)
            items.append(Summary(domain, main, others, published))
    columns: dict[str, Callable[[Summary], str]] = {
        "Domain": lambda item: item.domain,
        "Test set": lambda item: item.test_set,
        "Policy": lambda item: item.main.policy,
        "Coverage": lambda item: item.main.coverage,
        "Coverage in the paper": lambda item: _coverage(item.published),
        "Length / best known": lambda item: item.main.quality,
    }
    if has_actions:
        columns |= {
            "Seconds a problem": lambda item: item.main.seconds,
            "Hardware": lambda item: item.main.hardware,
        }
    for index, name in enumerate(fresh):
        columns[f"Coverage, {name}"] = lambda item, index=index: item.fresh[index].coverage  # type: ignore[misc]
        columns[f"Length / best known, {name}"] = lambda item, index=index: item.fresh[index].quality  # type: ignore[misc]
    columns["Training seconds"] = lambda item: item.main.training_seconds
    return (f"{SUMMARY_OF_ACTIONS}\n" if has_actions else "") + _grouped_table(items, columns, names=3)


def _model_name(record: Record, box: Box) -> str:
    """What a model is called in the box, or else the first digits of its file's SHA-256."""
    file = record["model_sha256"]
    return box[file].stem if file in box else file[:8]


def _choose_model(results: Results, domain: str, policy: str, box: Box) -> str | None:
    """The model to show of those with records of a policy: in the box, then with the most and the shortest plans."""
    lengths: dict[str, dict[tuple[object, ...], int | None]] = {}
    for name, record in [(name, record) for name, domains in results.items() for record in domains.get(domain, [])]:
        if (record["model"], record["policy"]) == (MAIN, policy):
            lengths.setdefault(_model_name(record, box), {})[name, *_instance(record)] = record["plan_length"]
    boxed = {file.stem for file in box.values()}

    def rank(model: str) -> tuple[bool, int, int]:
        solved = [length for length in lengths[model].values() if length is not None]
        return model in boxed, len(solved), -sum(solved)

    return max(lengths, key=rank, default=None)


def _instance(record: Record) -> tuple[object, ...]:
    return tuple(record.get(field) for field in INSTANCE_FIELDS)


def _attempts(records: Iterable[Record], policy: str, model: str | None, box: Box) -> list[Record]:
    """The attempts of a model by a policy; if there are some with other settings, the most that have the same."""
    runs: dict[tuple[object, ...], list[Record]] = {}
    for record in last_of_each(records):
        if (record["model"], record["policy"], _model_name(record, box)) == (MAIN, policy, model):
            settings = (record["domain"], *(record.get(field) for field in SETTING_FIELDS))
            runs.setdefault(settings, []).append(record)
    return max(runs.values(), key=len, default=[])


def _section(name: str, domains: Mapping[str, Sequence[Record]], references: Mapping[str, Reference]) -> str:
    """The table of a set."""
    sizes = PUBLIC_SIZES if name == "public" else SIZES
    has_actions = _has_actions(record for records in domains.values() for record in records)
    lines = []
    for domain in [domain for domain in PAPER if domain in sizes]:
        records = domains.get(domain, [])
        is_own = name == "public" and domain in OWN_FILES
        best = _sum_of_best(records, references, sizes[domain]) if is_own else None
        planner = [record for record in records if record["model"] == PLANNER]
        lines += _ours(MAIN, domain, records, references, sizes[domain], has_actions)
        lines.append(_paper_line(PUBLISHED[domain, MAIN], is_own, best))
        lines += _lines(domain, planner, references, sizes[domain]) or [Line(domain, PLANNER, POLICY)]
    return _grouped_table(lines, LINE_COLUMNS, names=3)


def _pairs(results: Results, references: Mapping[str, Reference], fresh: Sequence[str], box: Box) -> list[Pair]:
    """The two policies on each set of each domain that has either, but for sets without any record of `actions`."""
    sets = [
        name
        for name in ("public", "suite", *fresh)
        if _has_actions(record for records in results.get(name, {}).values() for record in records)
    ]
    pairs = []
    for domain in PAPER:
        models = {policy: _choose_model(results, domain, policy, box) for policy in ("values", "actions")}
        for name in sets:
            records, size = results[name].get(domain, []), (PUBLIC_SIZES if name == "public" else SIZES).get(domain, 0)
            values, actions = (
                _run(_attempts(records, policy, model, box), references, box) for policy, model in models.items()
            )
            if values or actions:
                pairs.append(Pair(domain, name, size, values, actions))
    return pairs


def _run(attempts: Sequence[Record], references: Mapping[str, Reference], box: Box) -> Run | None:
    if not attempts:
        return None
    [row] = summarise(attempts, references)
    lengths = {_instance(record): record["plan_length"] for record in attempts}
    return Run(_model_name(attempts[0], box), row, lengths)


def _bars(pairs: Sequence[Pair]) -> str:
    """In how many of the pairs that can be judged each bar holds, and in which it does not."""
    bars: dict[str, Callable[[Pair], bool | None]] = {
        "Coverage of `actions` ≥ coverage of `values`": lambda pair: pair.has_coverage,
        f"Length over best known of `actions` at most {float(MARGIN)} above that of `values`": lambda pair: (
            pair.has_length
        ),
    }
    lines = []
    for bar, holds in bars.items():
        judged = [pair for pair in pairs if holds(pair) is not None]
        failed = [f"{pair.domain} ({pair.test_set})" for pair in judged if not holds(pair)]
        said = f"holds in {len(judged) - len(failed)} of {len(judged)} lines" if judged else "not judged yet"
        lines.append(f"- {bar}: {said}{', not in ' if failed else ''}{', '.join(failed)}.\n")
    return "".join(lines)


def _coverage_of_run(run: Run | None, size: int) -> str:
    return _coverage(run.row) + _missing(run.row, size) if run else NOT_RUN


def _lengths(pair: Pair) -> str:
    """Plan lengths of `actions` over those of `values`, on the problems that both solved."""
    if not pair.values or not pair.actions:
        return UNKNOWN
    theirs = pair.values.lengths
    both = [
        (length, other)
        for problem, length in pair.actions.lengths.items()
        if length is not None and (other := theirs.get(problem)) is not None
    ]
    ours, others = sum(length for length, _ in both), sum(other for _, other in both)
    problems = "1 problem" if len(both) == 1 else f"{len(both)} problems"
    return f"{ours:,} / {others:,} = {ours / others:.3f} ({problems})" if others else UNKNOWN


def _answer(holds: bool | None) -> str:
    return UNKNOWN if holds is None else "yes" if holds else "no"


def _comparison(results: Results, references: Mapping[str, Reference]) -> str:
    """All architectures in the domains where they are compared; those beyond the three are shown if they were run."""
    lines: list[Line] = []
    shown = {domain: results.get(_main_set(domain), {}).get(domain, []) for domain in COMPARED}
    for domain, records in shown.items():
        others = {record["model"] for record in records} - {*ARCHITECTURES, PLANNER}
        for model in (*ARCHITECTURES, *sorted(others)):
            published = PUBLISHED.get((domain, model))
            has_actions = any(_has_actions(records, model) for records in shown.values())
            for line in _ours(model, domain, records, references, SIZES[domain], has_actions):
                if published and published.policy == line.policy:
                    line = replace(line, in_the_paper=_coverage(published))
                lines.append(line)
    columns = {**LINE_COLUMNS, "Coverage in the paper": lambda line: line.in_the_paper}
    note = f"{COMPARISON_OF_ACTIONS}\n" if any(line.policy == "actions" for line in lines) else ""
    return note + _grouped_table(lines, columns, names=3)


def _ours(
    model: str,
    domain: str,
    records: Sequence[Record],
    references: Mapping[str, Reference],
    size: int,
    has_actions: bool,
) -> list[Line]:
    """The lines of an architecture: one for each policy that is wanted, and for each model file."""
    lines = []
    strict = ["strict"] if PUBLISHED[domain, MAIN].policy == "strict" else []
    for policy in ("values", *strict, *(["actions"] if has_actions else [])):
        own = [record for record in records if (record["model"], record["policy"]) == (model, policy)]
        lines += _lines(domain, own, references, size) or [Line(domain, model, policy)]
    return lines


def _lines(domain: str, records: Sequence[Record], references: Mapping[str, Reference], size: int) -> list[Line]:
    return [_line(domain, row, size) for row in summarise(records, references)]


def _line(domain: str, row: Row, size: int) -> Line:
    return Line(
        domain,
        row.model,
        row.policy,
        coverage=_coverage(row) + _missing(row, size),
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


def _missing(row: Row, size: int) -> str:
    return f", {size - row.instances} {NOT_RUN}" if row.instances < size else ""


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


def _models(results: Results, box: Box) -> str:
    """A line for each model file that the records are about; with two policies also which rows are of it."""
    models: dict[str, Evaluated] = {}
    sets: dict[tuple[str, str, str], dict[str, dict[str, None]]] = {}  # of a domain, model and policy, by file
    for domain in PAPER:
        for name, record in [(name, record) for name, domains in results.items() for record in domains.get(domain, [])]:
            if record["model"] != PLANNER:
                file = record["model_sha256"]
                models[file] = Evaluated(domain, record, "", box.get(file))
                rows = sets.setdefault((domain, record["model"], record["policy"]), {})
                rows.setdefault(file, {})[name] = None
    if not models:
        return "No model was evaluated yet.\n"
    evaluated = [replace(model, policies=_policies(file, sets)) for file, model in models.items()]
    if any(policy == "actions" for _, _, policy in sets):
        return f"{MODELS_OF_ACTIONS}\n" + _table(evaluated, {**POLICY_COLUMNS, **MODEL_COLUMNS}, names=9)
    return _table(evaluated, MODEL_COLUMNS, names=7)


def _policies(file: str, sets: Mapping[tuple[str, str, str], Mapping[str, Mapping[str, None]]]) -> str:
    """The policies that a file has rows of, and of which sets, if another file has the rows of others."""
    words = []
    for (_, _, policy), files in sets.items():
        if file in files:
            is_all = files[file].keys() == {name for names in files.values() for name in names}
            words.append(policy if is_all else f"{policy} ({', '.join(files[file])})")
    return ", ".join(words)


def _size(file: Path) -> str:
    with open_tensors(file) as opened:
        return f"{opened.header['config']['dim']}, {opened.header['config']['layers']}"


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

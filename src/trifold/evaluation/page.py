"""The page ``docs/results.md``: our records, the paper's rows and LAMA's first plans, side by side.

Records lie in a folder as SET/DOMAIN.jsonl. The sets are ``public``, the public test files; ``suite``, the test
problems of the suite `paper`; and ``fresh-N``, problems of the suite's sizes from the generator seed N.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from trifold.errors import TrifoldError
from trifold.evaluation.first_plan import PLANNER, POLICY
from trifold.evaluation.paper import DOMAINS, OWN_FILES, PUBLISHED, SECONDS, SEEDS, Published
from trifold.evaluation.records import Record, file_sha256, read_records
from trifold.evaluation.references import Reference
from trifold.evaluation.tables import Row, markdown_table, summarise
from trifold.outcomes import Outcome
from trifold.shipped import formerly, shipped_models

Results = Mapping[str, Mapping[str, Sequence[Record]]]
"""Records by set and domain."""

MAIN = "R-GNN[1]"
ARCHITECTURES = ("R-GNN", "R-GNN[0]", MAIN)
COMPARED = ("gripper", "grid", "logistics", "rovers", "vacuum", "visitall-xy", "navig-xy")
"""The domains in which the architectures are compared with each other."""

SIZES = {domain: PUBLISHED[domain, MAIN].instances for domain in DOMAINS}
"""How many test problems each domain has in the suite, which has as many as the paper."""
PUBLIC_SIZES = {domain: SIZES[domain] for domain in OWN_FILES} | {"visitall": 18, "grid": 20, "rovers": 4}

COLUMNS = ["Domain", "Model", "Policy", "Coverage", "Total", "Median", "Mean", "Length / best known", "Proved optimal"]
COLUMNS += ["Seconds a problem", "Hardware", "Seeds", "Training seconds"]
NOT_RUN = "not run"

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
        if (name not in SECTIONS and not name.startswith("fresh-")) or domain not in DOMAINS:
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


def _summary(results: Results, references: Mapping[str, Reference], fresh: Sequence[str]) -> str:
    """A line for each domain: its coverage and length on the test set that counts, and on fresh problems."""
    header = ["Domain", "Test set", "Policy", "Coverage", "Coverage in the paper", "Length / best known"]
    header += [f"{column}, {name}" for name in fresh for column in ("Coverage", "Length / best known")]
    lines = []
    for domain in DOMAINS:
        published, is_own = PUBLISHED[domain, MAIN], domain in OWN_FILES
        sets = []
        for name in ("public" if is_own else "suite", *fresh):
            shown = _ours(MAIN, domain, results.get(name, {}).get(domain, []), references, SIZES[domain])
            line = next(line for line in shown if line[1] == published.policy)
            sets.append(dict(zip(COLUMNS[1:], line, strict=True)))
        first, *others = [(cells["Coverage"], cells["Length / best known"]) for cells in sets]
        told = [first[0], _coverage(published), first[1], *(cell for pair in others for cell in pair)]
        place = "the paper's" if is_own else "suite"
        lines.append([domain, place, published.policy, *told, sets[0]["Training seconds"]])
    return markdown_table([[*header, "Training seconds"], *lines], names=3)


def _section(name: str, domains: Mapping[str, Sequence[Record]], references: Mapping[str, Reference]) -> str:
    """The table of a set."""
    sizes = PUBLIC_SIZES if name == "public" else SIZES
    lines = []
    for domain in [domain for domain in DOMAINS if domain in sizes]:
        records = domains.get(domain, [])
        is_own = name == "public" and domain in OWN_FILES
        ours = _ours(MAIN, domain, records, references, sizes[domain])
        planner = _lines([record for record in records if record["model"] == PLANNER], references, sizes[domain])
        best = _sum_of_best(records, references, sizes[domain]) if is_own else None
        lines += _under(
            domain, [*ours, _paper_line(PUBLISHED[domain, MAIN], is_own, best), *(planner or _not_run(PLANNER, POLICY))]
        )
    return markdown_table([COLUMNS, *lines], names=3)


def _comparison(results: Results, references: Mapping[str, Reference]) -> str:
    """All architectures in the domains where they are compared; those beyond the three are shown if they were run."""
    lines = []
    for domain in COMPARED:
        is_own = domain in OWN_FILES
        records = results.get("public" if is_own else "suite", {}).get(domain, [])
        others = {record["model"] for record in records} - {*ARCHITECTURES, PLANNER}
        for model in (*ARCHITECTURES, *sorted(others)):
            published = PUBLISHED.get((domain, model))
            shown = _ours(model, domain, records, references, SIZES[domain])
            for line in _under(domain if model == ARCHITECTURES[0] else "", shown):
                told = _coverage(published) if published and published.policy == line[2] else "–"
                lines.append([*line, told])
    return markdown_table([[*COLUMNS, "Coverage in the paper"], *lines], names=3)


def _ours(
    model: str, domain: str, records: Sequence[Record], references: Mapping[str, Reference], size: int
) -> list[list[str]]:
    """The lines of an architecture: one for each policy that is wanted, and for each model file."""
    lines = []
    for policy in ("unvisited", "strict") if PUBLISHED[domain, MAIN].policy == "strict" else ("unvisited",):
        own = [record for record in records if (record["model"], record["policy"]) == (model, policy)]
        lines += _lines(own, references, size) or _not_run(model, policy)
    return lines


def _lines(records: Sequence[Record], references: Mapping[str, Reference], size: int) -> list[list[str]]:
    return [_line(row, size) for row in summarise(records, references)]


def _line(row: Row, size: int) -> list[str]:
    """The cells of a row, without its domain."""
    missing = f", {size - row.instances} {NOT_RUN}" if row.instances < size else ""
    return [
        row.model,
        row.policy,
        _coverage(row) + missing,
        _number(row.total, ","),
        _number(row.median, "g"),
        _number(row.mean, ".1f"),
        _quality(row),
        _proved(row),
        f"{row.seconds / row.instances:.2f}",
        ", ".join(row.hardware) or "–",
        _number(row.seeds, ""),
        _number(row.training_seconds, ",.0f"),
    ]


def _paper_line(row: Published, is_own: bool, best: int | None) -> list[str]:
    """The paper's row; its length over the best known can be told only where all was solved."""
    quality = (
        f"{row.total:,} / {best:,} = {row.total / best:.3f}"
        if best and row.total and row.solved == row.instances
        else "–"
    )
    lengths = [_number(row.total, ","), _number(row.median, "g"), _number(row.mean, "")]
    name = f"{row.model} in the paper" + ("" if is_own else ", other instances")
    return [name, row.policy, _coverage(row), *lengths, quality, "–", "–", "–", str(SEEDS), f"{SECONDS:,}"]


def _not_run(model: str, policy: str) -> list[list[str]]:
    return [[model, policy, NOT_RUN, *["–"] * (len(COLUMNS) - 4)]]


def _under(domain: str, lines: Iterable[list[str]]) -> list[list[str]]:
    """The lines with the name of their domain in the first one."""
    return [[domain if number == 0 else "", *line] for number, line in enumerate(lines)]


def _coverage(row: Row | Published) -> str:
    return f"{row.solved} / {row.instances} ({100 * row.solved // row.instances} %)"


def _quality(row: Row) -> str:
    quality = row.quality
    if quality is None or quality.ratio is None:
        return "–"
    part = "" if quality.instances == row.solved else f" ({quality.instances} of {row.solved})"
    return f"{quality.length:,} / {quality.best:,} = {quality.ratio:.3f}{part}"


def _proved(row: Row) -> str:
    return f"{row.quality.optimal} of {row.quality.instances}" if row.quality and row.quality.instances else "–"


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)


def _sum_of_best(records: Sequence[Record], references: Mapping[str, Reference], size: int) -> int | None:
    """The best total known of a set, if it is known of each of its problems."""
    problems = {record["problem_sha256"] for record in records}
    best = [length for problem in problems if problem in references and (length := references[problem]["length"])]
    return sum(best) if len(best) == size else None


def _models(results: Results) -> str:
    """A line for each model file that the records are about."""
    header = ["Domain", "Model", "Command", "File", "In the box", "Data", "Hardware", "Seeds", "Kept", "Steps", "Loss"]
    boxed = {name for file in shipped_models().values() for name in (file_sha256(file), formerly(file))}
    lines: dict[str, list[str]] = {}
    for domain in DOMAINS:
        for record in [record for domains in results.values() for record in domains.get(domain, [])]:
            if record["model"] != PLANNER:
                lines[record["model_sha256"]] = [
                    domain,
                    record["model"],
                    record.get("training_command") or "–",
                    record["model_sha256"][:8],
                    "yes" if record["model_sha256"] in boxed else "no",
                    (record.get("training_data") or "–")[:8],
                    record.get("training_hardware") or "–",
                    _number(record.get("training_seeds"), ""),
                    _number(record.get("training_seed"), ""),
                    _number(record.get("training_steps"), ","),
                    _number(record.get("training_validation_loss"), ".4f"),
                    _number(record.get("training_seconds"), ",.0f"),
                ]
    if not lines:
        return "No model was evaluated yet.\n"
    return markdown_table([[*header, "Seconds"], *lines.values()], names=7)

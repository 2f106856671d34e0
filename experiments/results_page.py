"""The page ``docs/results.md``: our records, the paper's rows and LAMA's first plans, side by side. `make results`.

    python experiments/results_page.py RESULTS... [--references FILE] [--reading FILE] [--notes FILE] > docs/results.md

RESULTS are folders with records as SET/DOMAIN.jsonl. The sets are ``public``, the public test files; ``suite``, the
test problems of the suite `paper`; and ``fresh-N``, problems of the suite's sizes from the generator seed N. Beside
the sets, ``reasons.jsonl`` says why cells of the table of architectures have no number (``table.py``).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from architectures import Reasons, architectures
from attempts import (
    MAIN,
    PUBLIC_SIZES,
    SIZES,
    Box,
    Results,
    choose_attempts,
    choose_model,
    include_actions,
    main_set,
    open_box,
)
from cells import REASONS, read_reasons
from evaluated_models import evaluated_models
from page_tables import grouped_table
from trifold.domains import PAPER
from trifold.errors import TrifoldError
from trifold.evaluation.comparison import LINE_COLUMNS, Line, best_total, coverage, make_lines, paper_line
from trifold.evaluation.first_plan import FIRST_PLAN, PLANNER
from trifold.evaluation.published import OWN_FILES, PUBLISHED, Published
from trifold.evaluation.records import Record, read_records
from trifold.evaluation.references import Reference, best_of_each, read_references, shorten
from trifold.files import read_text
from two_policies import two_policies

COMPARISON = ("R-GNN", "R-GNN[0]", MAIN)
"""The architectures that have rows wherever some are compared."""
COMPARED = ("gripper", "grid", "logistics", "rovers", "vacuum", "visitall-xy", "navig-xy")
"""The domains in which architectures were compared first: they have rows for what was not run there."""


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
The second line of a domain is of the policy `actions` by the model in the box, mostly of another network:
[two policies](#two-policies) tells more. The paper's coverage, which is that of its own policy, stands in both.
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
COMPARISON_OF_ACTIONS = """\
Rows of the policy `actions` may be of other model files than those of `values`, with other data and settings.
"""
NOTES = "## What was tried, what helped and what did not\n"


def read_results(folders: Sequence[Path]) -> Results:
    """The records of some folders, as SET/DOMAIN.jsonl; what is no set, no domain or no policy alone is refused."""
    results: dict[str, dict[str, list[Record]]] = {}
    for file in [file for folder in folders for file in sorted(folder.glob("*/*.jsonl"))]:
        name, domain = file.parent.name, file.stem
        if (name not in SECTIONS and not name.startswith("fresh-")) or domain not in PAPER:
            raise TrifoldError(
                "results are named public, suite or fresh-N, and then by their domain",
                place=str(file),
                remedy="name it as experiments/paper.sh does, such as suite/logistics.jsonl",
            )
        records = read_records(file)
        if any(record.get("search") or record.get("improve") for record in records):
            raise TrifoldError(
                "the page is of policies alone, and here are plans of a search, or improved ones",
                place=str(file),
                remedy="keep them in another file: trifold table shows them",
            )
        results.setdefault(name, {}).setdefault(domain, []).extend(records)
    if not results:
        places = ", ".join(map(str, folders))
        raise TrifoldError("there are no results", place=places, remedy="name folders with SET/DOMAIN.jsonl")
    return results


def results_page(
    results: Results,
    references: Mapping[str, Reference],
    notes: str,
    reasons: Reasons | None = None,
    reading: str = "",
) -> str:
    """Write the page; `references` are by the SHA-256 of the problem, as `best_of_each` has them.

    notes    what was tried
    reasons  why cells of the table of architectures have no number
    reading  what that table says, with numbers as ``{DOMAIN MODEL}``
    """
    records = _all_records(results)
    references = shorten(references, records)
    box = open_box()
    fresh = sorted((name for name in results if name.startswith("fresh-")), key=lambda name: (len(name), name))
    parts = [INTRODUCTION, SUMMARY, _summary(results, references, fresh, box)]
    for name in ("public", "suite", *fresh):
        seed = name.removeprefix("fresh-")
        parts.append(SECTIONS[name] if name in SECTIONS else FRESH.format(seed=seed))
        if name in fresh and seed in FRESH_NOTES:
            parts.append(FRESH_NOTES[seed])
        parts.append(_section(name, results, references, box))
    if not fresh:
        parts.append("## Fresh problems\n\nNot run yet: `experiments/paper.sh --fresh-seed N`.\n")
    if include_actions(records):
        parts.append(two_policies(results, references, fresh, box))
    detailed = _comparison(results, references)
    parts += [architectures(results, reasons or {}, detailed, reading), evaluated_models(results, box), NOTES, notes]
    return "\n".join(parts)


def _all_records(results: Results) -> list[Record]:
    return [record for domains in results.values() for records in domains.values() for record in records]


def _summary(results: Results, references: Mapping[str, Reference], fresh: Sequence[str], box: Box) -> str:
    """A line for each domain and policy: coverage and length on the test set that counts, and on fresh problems."""
    shown = [(domain, name) for domain in PAPER for name in (main_set(domain), *fresh)]
    has_actions = any(include_actions(results.get(name, {}).get(domain, [])) for domain, name in shown)
    items = []
    for domain in PAPER:
        published = PUBLISHED[domain, MAIN]
        for policy in (published.policy, *(["actions"] if has_actions else [])):
            model = choose_model(results, domain, policy, box)
            sets = [results.get(name, {}).get(domain, []) for name in (main_set(domain), *fresh)]
            runs = [choose_attempts(records, policy, model, box) for records in sets]
            empty = Line(domain, MAIN, policy)
            main, *others = (next(iter(make_lines(domain, run, references, SIZES[domain])), empty) for run in runs)
            items.append(Summary(domain, main, others, published))
    columns: dict[str, Callable[[Summary], str]] = {
        "Domain": lambda item: item.domain,
        "Test set": lambda item: item.test_set,
        "Policy": lambda item: item.main.policy,
        "Coverage": lambda item: item.main.coverage,
        "Coverage in the paper": lambda item: coverage(item.published),
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
    columns |= {
        "Training seconds": lambda item: item.main.training_seconds,
        "Network": lambda item: item.main.model,
    }
    return (f"{SUMMARY_OF_ACTIONS}\n" if has_actions else "") + grouped_table(items, columns, names=3)


def _section(name: str, results: Results, references: Mapping[str, Reference], box: Box) -> str:
    """The table of a set."""
    sizes, domains = PUBLIC_SIZES if name == "public" else SIZES, results.get(name, {})
    has_actions = include_actions(record for records in domains.values() for record in records)
    lines = []
    for domain in [domain for domain in PAPER if domain in sizes]:
        records = domains.get(domain, [])
        is_own = name == "public" and domain in OWN_FILES
        problems = (record["problem_sha256"] for record in records)
        best = best_total(problems, references, sizes[domain]) if is_own else None
        planner = [record for record in records if record["model"] == PLANNER]
        lines += _ours(MAIN, domain, records, references, sizes[domain])
        if has_actions:
            attempts = choose_attempts(records, "actions", choose_model(results, domain, "actions", box), box)
            lines += make_lines(domain, attempts, references, sizes[domain]) or [Line(domain, MAIN, "actions")]
        lines.append(paper_line(domain, PUBLISHED[domain, MAIN], is_own, best))
        lines += make_lines(domain, planner, references, sizes[domain]) or [Line(domain, PLANNER, FIRST_PLAN)]
    return grouped_table(lines, LINE_COLUMNS, names=3)


def _comparison(results: Results, references: Mapping[str, Reference]) -> str:
    """All architectures in the domains where they are compared; those beyond the three are shown if they were run."""
    lines: list[Line] = []
    records_of = {domain: results.get(main_set(domain), {}).get(domain, []) for domain in PAPER}
    others_of = {
        domain: {record["model"] for record in records if record["policy"] != "actions"} - {MAIN, PLANNER}
        for domain, records in records_of.items()
    }
    shown = {domain: records_of[domain] for domain in PAPER if domain in COMPARED or others_of[domain]}
    for domain, records in shown.items():
        others = {record["model"] for record in records} - {*COMPARISON, PLANNER}
        for model in (*COMPARISON, *sorted(others)):
            published = PUBLISHED.get((domain, model))
            has_actions = any(include_actions(records, model) for records in shown.values())
            for line in _ours(model, domain, records, references, SIZES[domain], has_actions):
                if published and published.policy == line.policy:
                    line = replace(line, in_the_paper=coverage(published))
                lines.append(line)
    columns = {**LINE_COLUMNS, "Coverage in the paper": lambda line: line.in_the_paper}
    note = f"{COMPARISON_OF_ACTIONS}\n" if any(line.policy == "actions" for line in lines) else ""
    return note + grouped_table(lines, columns, names=3)


def _ours(
    model: str,
    domain: str,
    records: Sequence[Record],
    references: Mapping[str, Reference],
    size: int,
    has_actions: bool = False,
) -> list[Line]:
    """The lines of an architecture: one for each policy that is wanted, and for each model file."""
    lines = []
    strict = ["strict"] if PUBLISHED[domain, MAIN].policy == "strict" else []
    for policy in ("values", *strict, *(["actions"] if has_actions else [])):
        own = [record for record in records if (record["model"], record["policy"]) == (model, policy)]
        lines += make_lines(domain, own, references, size) or [Line(domain, model, policy)]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path, help="folders of SET/DOMAIN.jsonl")
    parser.add_argument("--references", type=Path, action="append", default=[], help="what `trifold reference` wrote")
    parser.add_argument("--reading", type=Path, help="what the table of architectures says, in Markdown")
    parser.add_argument("--notes", type=Path, help="what was tried, in Markdown")
    arguments = parser.parse_args()
    try:
        best = best_of_each(one for file in arguments.references for one in read_references(file))
        notes, reading = (read_text(file) if file else "" for file in (arguments.notes, arguments.reading))
        reasons = {key: told for folder in arguments.results for key, told in read_reasons(folder / REASONS).items()}
        sys.stdout.write(results_page(read_results(arguments.results), best, notes, reasons, reading))
    except TrifoldError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()

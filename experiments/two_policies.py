"""The section "Two policies" of the page of results: coverage and lengths of `values` and `actions`, and two bars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from attempts import (
    PUBLIC_SIZES,
    SIZES,
    Box,
    Results,
    choose_attempts,
    choose_model,
    include_actions,
    instance,
    model_name,
)
from page_tables import grouped_table
from trifold.domains import PAPER
from trifold.evaluation.comparison import NOT_RUN, UNKNOWN, Columns, coverage, missing, quality
from trifold.evaluation.records import Record
from trifold.evaluation.references import Reference
from trifold.evaluation.tables import Row, summarise

TWO_POLICIES = """\
## Two policies

R-GNN[1] by the policy `values`, the paper's, which goes to the unvisited successor with the least V and evaluates all
successors for that; and the model in the box by `actions`, which takes the best-scored action whose successor was not
visited and evaluates one state a step. Of the networks that score actions the box has the cheapest that is as good as
the best, mostly one without compositions. The models are named as in the box, or else by the first digits of their
files' SHA-256. Where several have records of a policy, the one in the box is shown, and of several in the box the one
that solves most problems of all sets, or has the shorter plans. How long problems took is told in the tables above.

"Length, actions / values" and "Difference", that of the lengths over the best known, are over the problems that both
solved; length over best known is over those that each of them solved. Two bars are set for `actions`, and judged where
both were run on the same problems:
"""

MARGIN = Fraction(3, 100)
"""By how much the length over the best known of the policy `actions` may exceed that of `values`."""


@dataclass(frozen=True)
class Run:
    """What a model did by one policy on the problems of a set: its name, a row, and a length for each problem."""

    model: str
    row: Row
    lengths: Mapping[tuple[object, ...], int | None]  # None: not solved


@dataclass(frozen=True)
class Pair:
    """The two policies on one set of a domain, which has `size` problems. None: the policy was not run.

    `best` are the best lengths known, by the SHA-256 of the problem.
    """

    domain: str
    test_set: str
    size: int
    values: Run | None
    actions: Run | None
    best: Mapping[str, int]

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
        """Length over the best known of `actions`, less that of `values`, on the problems that both solved.

        Over what each of them solved, the one that solves a hard problem by a long plan would have the worse length.
        """
        if self.runs is None:
            return None
        both = [
            (ours - theirs, best)
            for problem, theirs in self.runs[0].lengths.items()
            if theirs is not None
            and (ours := self.runs[1].lengths[problem]) is not None
            and (best := self.best.get(str(problem[1])))
        ]
        known = sum(best for _, best in both)
        return Fraction(sum(more for more, _ in both), known) if known else None

    @property
    def has_length(self) -> bool | None:
        return None if self.excess is None else self.excess <= MARGIN


PAIR_COLUMNS: Columns[Pair] = {
    "Domain": lambda pair: pair.domain,
    "Test set": lambda pair: pair.test_set,
    "Model, values": lambda pair: pair.values.model if pair.values else UNKNOWN,
    "Model, actions": lambda pair: pair.actions.model if pair.actions else UNKNOWN,
    "Coverage, values": lambda pair: _coverage_of_run(pair.values, pair.size),
    "Coverage, actions": lambda pair: _coverage_of_run(pair.actions, pair.size),
    "Length, actions / values": lambda pair: _lengths(pair),
    "Length / best known, values": lambda pair: quality(pair.values.row) if pair.values else UNKNOWN,
    "Length / best known, actions": lambda pair: quality(pair.actions.row) if pair.actions else UNKNOWN,
    "Difference": lambda pair: UNKNOWN if pair.excess is None else f"{float(pair.excess):+.4f}",
    "Coverage holds": lambda pair: _answer(pair.has_coverage),
    "Length holds": lambda pair: _answer(pair.has_length),
    "Network, actions": lambda pair: pair.actions.row.model if pair.actions else UNKNOWN,
}


def two_policies(results: Results, references: Mapping[str, Reference], fresh: Sequence[str], box: Box) -> str:
    """Write the section: what the policies are, whether the bars hold, and a line for each set of each domain."""
    pairs = _pairs(results, references, fresh, box)
    return "\n".join([TWO_POLICIES, _bars(pairs), grouped_table(pairs, PAIR_COLUMNS, names=4)])


def _pairs(results: Results, references: Mapping[str, Reference], fresh: Sequence[str], box: Box) -> list[Pair]:
    """The two policies on each set of each domain that has either, but for sets without any record of `actions`."""
    sets = [
        name
        for name in ("public", "suite", *fresh)
        if include_actions(record for records in results.get(name, {}).values() for record in records)
    ]
    best = {problem: length for problem, known in references.items() if (length := known["length"])}
    pairs = []
    for domain in PAPER:
        models = {policy: choose_model(results, domain, policy, box) for policy in ("values", "actions")}
        for name in sets:
            records, size = results[name].get(domain, []), (PUBLIC_SIZES if name == "public" else SIZES).get(domain, 0)
            values, actions = (
                _run(choose_attempts(records, policy, model, box), references, box) for policy, model in models.items()
            )
            if values or actions:
                pairs.append(Pair(domain, name, size, values, actions, best))
    return pairs


def _run(attempts: Sequence[Record], references: Mapping[str, Reference], box: Box) -> Run | None:
    if not attempts:
        return None
    [row] = summarise(attempts, references)
    lengths = {instance(record): record["plan_length"] for record in attempts}
    return Run(model_name(attempts[0], box), row, lengths)


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
    return coverage(run.row) + missing(run.row, size) if run else NOT_RUN


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

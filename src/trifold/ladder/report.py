"""What the rungs of a ladder did, side by side, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from shlex import quote

from trifold.evaluation import Record
from trifold.ladder.judge import Judge
from trifold.ladder.result import AS_GOOD, FAILED, KEPT, LONGER, NOT_TRIED, RULED_OUT, SOLVES_LESS, RungReport
from trifold.ladder.rungs import Rung
from trifold.ladder.standing import Standing, as_good_as_the_best, is_enough, keep, milliseconds
from trifold.outcomes import Outcome
from trifold.training import Advice, Coverage, TrainingResult
from trifold.words import counted


@dataclass(frozen=True)
class Found:
    """A rung that was trained and judged: by one record for each problem of the judge, in their order."""

    result: TrainingResult
    judge: Judge
    records: Sequence[Record]

    @property
    def ends(self) -> dict[str, Record]:
        """What came of each problem."""
        return dict(zip(self.judge.problems, self.records, strict=True))

    @property
    def held_out(self) -> Coverage:
        """What its policy did on held-out labelled problems."""
        return self.result.coverage or Coverage(0, 0, None)

    @property
    def standing(self) -> Standing:
        """What decides."""
        lengths = {
            file: record["plan_length"] if record["outcome"] == Outcome.SOLVED else None
            for file, record in self.ends.items()
        }
        seconds = {file: record["seconds_per_step"] for file, record in self.ends.items()}
        measured = {file: second for file, second in seconds.items() if second is not None}
        return Standing(lengths, self.held_out.solved, measured)

    @property
    def ratio(self) -> float | None:
        """Of plan lengths over V*: on held-out problems or on those of the judge, where it is more; None if unknown."""
        optima = self.judge.optima
        solved = self.standing.solved & optima.keys()
        optimum = sum(optima[file] for file in solved)
        judged = self.standing.length(solved) / optimum if optimum else None
        return max((ratio for ratio in (judged, self.held_out.length) if ratio is not None), default=None)

    @property
    def is_enough(self) -> bool:
        """Whether a dearer rung is not worth a training."""
        return is_enough(self.standing, self.held_out.problems, self.ratio)

    def judged(self, best: Mapping[str, int]) -> Coverage:
        """What its policy did on the problems of the judge, with lengths over the best known."""
        standing = self.standing
        known = sum(best[file] for file in standing.solved)
        failures = {file: self.ends[file]["outcome"] for file in standing.lengths if file not in standing.solved}
        length = standing.length(standing.solved) / known if known else None
        return Coverage(len(standing.solved), len(standing.lengths), length, failures)


def report_rungs(
    rungs: Sequence[Rung],
    found: Mapping[str, Found],
    ruled_out: Mapping[str, int],
    failed: Mapping[str, str],
) -> tuple[RungReport, ...]:
    """A row for each rung, by the names of those that were trained and judged, ruled out or failed."""
    standings = {name: one.standing for name, one in found.items()}
    verdicts: dict[str, str] = {}
    if standings:
        most = max(standing.coverage for standing in standings.values())
        verdicts = {name: LONGER if one.coverage == most else SOLVES_LESS for name, one in standings.items()}
        verdicts |= dict.fromkeys(as_good_as_the_best(standings), AS_GOOD) | {keep(standings): KEPT}
    best, costs = _best_known(found), milliseconds(standings)
    enough = next((name for name, one in found.items() if one.is_enough), None)
    why_not = "a cheaper rung solved all problems when its turn came"
    if enough is not None:
        one = found[enough]
        known = "" if one.judge.optima.keys() >= one.standing.lengths.keys() else " where that is known"
        why_not = (
            f"{enough} solves all problems, with plans {one.ratio:.2f} × V*{known}: dearer rungs need not be tried"
        )
    reports = []
    for rung in rungs:
        name = rung.name
        if name in found:
            one = found[name]
            reports.append(
                RungReport(
                    rung,
                    verdicts[name],
                    f"it failed when it was trained on: {failed[name]}" if name in failed else "",
                    steps=one.result.steps,
                    seconds=one.result.seconds,
                    held_out=one.result.coverage,
                    judged=one.judged(best),
                    milliseconds=costs.get(name),
                )
            )
        elif name in failed:
            reports.append(RungReport(rung, FAILED, failed[name]))
        elif name in ruled_out:
            reports.append(RungReport(rung, RULED_OUT, counted(ruled_out[name], "state") + " in conflict"))
        else:
            reports.append(RungReport(rung, NOT_TRIED, why_not))
    return tuple(reports)


def _best_known(found: Mapping[str, Found]) -> dict[str, int]:
    """V* of each problem that was solved, or else the length of the shortest plan that any rung found."""
    best: dict[str, int] = {}
    for one in found.values():
        standing = one.standing
        for file in standing.solved:
            length = one.judge.optima.get(file, standing.length([file]))
            best[file] = min(best.get(file, length), length)
    return best


def what_next(run: str, judge: Judge, reports: Sequence[RungReport], minutes: float | None) -> list[Advice]:
    """What to do after a climb."""
    place, advice = quote(run), list[Advice]()
    kept = next(report for report in reports if report.verdict == KEPT)
    failures = (kept.judged.failures if kept.judged else {}) | (kept.held_out.failures if kept.held_out else {})
    if failures:
        why = f"not solved: {len(failures)}; see what it does on the first"
        advice.append(Advice(why, f"trifold explain {place} {quote(next(iter(failures)))}"))
        if minutes:
            why = "train each rung twice as long"
            advice.append(Advice(why, f"trifold train --resume {place} --minutes {2 * minutes:g}"))
    if judge.fell_back:
        why = "nothing larger than the labelled problems was there to judge by"
        advice.append(Advice(why, f"trifold train --resume {place} --judge LARGER"))
    if any(report.verdict == NOT_TRIED for report in reports):
        why = "the rungs that were not tried, to be sure"
        advice.append(Advice(why, f"trifold train --resume {place} --architecture all"))
    why = "its policy on more problems"
    return [*advice, Advice(why, f"trifold evaluate {place} PROBLEMS --records records.jsonl")]

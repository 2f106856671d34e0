"""What to do after a training: judged by its curves and by what the policy did, each piece of advice with a command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any

from trifold.training.coverage import Coverage
from trifold.training.situations import Situation

FALLING = 0.9
"""A validation loss whose least of the last quarter is below this part of the least before is still falling."""

APART = 2.0
"""A validation loss of more than so many times the training loss says that what was learned does not carry over."""

HIGH = 0.3
"""A training loss above this says that what is to be learned is not learned."""

LONG = 1.05
"""Plans of more than so many times the optimum say that there is something to mend, though all is solved."""

UNDECIDED = {"timeout", "memory limit", "crash"}
"""Ends of attempts that say nothing of the policy."""


@dataclass(frozen=True)
class Evidence:
    """What is known at the end of a training.

    run, directory     where it is, and what it learned from
    lines              of the metrics of the seed that was kept
    heads              of the model
    steps, minutes     that it was to be trained for
    coverage, larger   of its policy, as ``TrainingResult`` has them
    situation          in which it is most off, if one stands out
    """

    run: str
    directory: str
    lines: Sequence[dict[str, Any]]
    heads: str
    steps: int
    minutes: float | None
    coverage: Coverage | None
    larger: Coverage | None
    situation: Situation | None = None


@dataclass(frozen=True)
class Advice:
    """What speaks for doing something, and the command that does it."""

    why: str
    command: str


def advise(evidence: Evidence) -> list[Advice]:
    """What to do next: use a policy that solves all there is, or else what may make it better, the likeliest first."""
    found = [part for part in (evidence.coverage, evidence.larger) if part is not None]
    ended = {path: end for part in found for path, end in part.failures.items()}
    failures = {path: end for path, end in ended.items() if end not in UNDECIDED}
    late = " ".join(quote(path) for path in ended if path not in failures)
    run, advice = quote(evidence.run), list[Advice]()
    if failures:
        why = f"not solved: {len(failures)}; see what it does on the smallest"
        advice.append(Advice(why, f"trifold explain {run} {quote(next(iter(failures)))}"))
        advice += _mend(evidence, list(failures.values()))
        advice.append(Advice("where its policy ends without a plan, solve searches", f"trifold solve {run} PROBLEM"))
    elif evidence.situation and is_wanting(evidence.coverage):
        advice.append(_describe(evidence.situation, quote(evidence.directory)))
    if late:
        command = f"trifold evaluate {run} {late} --timeout 600 --records records.jsonl"
        advice.append(Advice("what was not decided in its time", command))
    why = "its policy on more problems" if found else "there was no problem to try its policy on"
    return [*advice, Advice(why, f"trifold evaluate {run} PROBLEMS --records records.jsonl")]


def _mend(evidence: Evidence, ends: Sequence[str]) -> list[Advice]:
    """What may make a policy better."""
    run, directory, found = quote(evidence.run), quote(evidence.directory), list[Advice]()
    falling = is_falling([line["validation"] for line in evidence.lines])
    last = evidence.lines[-1] if evidence.lines else {"loss": 0.0, "validation": 0.0}
    if falling:
        longer = f" --minutes {2 * evidence.minutes:g}" if evidence.minutes else ""
        command = f"trifold train --resume {run} --steps {2 * evidence.steps}{longer}"
        found.append(Advice("the validation loss was still falling: more steps", command))
    elif last["loss"] > HIGH:
        why = f"the training loss stays at {last['loss']:.2f}: the architecture may not be able to represent V*"
        found.append(Advice(why, f"trifold expressivity {directory}"))
    if evidence.situation:
        found.append(_describe(evidence.situation, directory))
    if last["validation"] > APART * last["loss"]:
        why = f"the validation loss, {last['validation']:.2f}, is far above the training loss, {last['loss']:.2f}"
        found.append(Advice(f"{why}: more problems in {directory}", f"trifold train {directory} --run NEW"))
    elif (
        evidence.larger
        and set(evidence.larger.failures.values()) - UNDECIDED
        and not (evidence.coverage and evidence.coverage.failures)
    ):
        why = f"small problems are solved and larger ones not: larger ones in {directory}, and the best of three seeds"
        found.append(Advice(why, f"trifold train {directory} --seeds 3 --run NEW; trifold select NEW LARGER"))
    if "dead end" in ends:
        why = f"{ends.count('dead end')} ended in a dead end: more problems with dead ends, which are learned, too"
        found.append(Advice(why, f"trifold train {directory} --set dead_ends=keep --run NEW"))
    if evidence.heads == "values":
        why = "V alone decides by small differences: let it score actions, too"
        found.append(Advice(why, f"trifold train {directory} --set heads=both --run NEW"))
    return found or [Advice("another architecture may do it", f"trifold expressivity {directory}")]


def _describe(situation: Situation, directory: str) -> Advice:
    """What training lacks, and that it wants more of it."""
    more = f"draw more such problems in {directory}"
    return Advice(f"{situation}: {more}", f"trifold train {directory} --run NEW")


def is_wanting(*found: Coverage | None) -> bool:
    """Whether a policy has left something to mend: problems unsolved, or plans that are longer than they need be."""
    return any(part is not None and (part.failures or (part.length or 1.0) > LONG) for part in found)


def is_falling(losses: Sequence[float]) -> bool:
    """Whether the least loss of the last quarter is well below the least before.

    >>> is_falling([4.0, 2.0, 1.0, 0.5]), is_falling([4.0, 0.5, 0.52, 0.49])
    (True, False)
    """
    cut = len(losses) - max(len(losses) // 4, 1)
    return cut > 0 and min(losses[cut:]) < FALLING * min(losses[:cut])

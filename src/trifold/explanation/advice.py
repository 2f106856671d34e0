"""Advice: what to do about a way that was not optimal, from the evidence of its explanation alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean

from trifold.explanation.explanation import Explanation
from trifold.outcomes import Outcome

LARGE_ERROR = 1.0
"""A mean |V − V*| from which on neighbours in V* are confused: those of a state differ by one."""

LOST = 50
"""Steps without a lesser V after which a policy is taken to be lost, as `solve` takes it."""


@dataclass(frozen=True)
class Advice:
    """What is wrong, from which evidence, and what to try.

    kind     solved, situations, dead ends, power, steps, limit or search
    command  to try next
    """

    kind: str
    evidence: str
    command: str


def advise(explanation: Explanation) -> list[Advice]:
    """What to try next, the likeliest cause first; nothing where the way is optimal, or as short as V said it would be.

    The causes: **situations** that training never had, **dead ends**, the **power** of the architecture, too few
    **steps** of training, or a **limit** that ended the way. Where there is no plan, a **search** may find one.
    """
    is_solved = explanation.outcome is Outcome.SOLVED
    if is_solved and explanation.is_labelled and not explanation.departures:
        return []
    return [*_causes(explanation), *_remedies(explanation)]


def _causes(explanation: Explanation) -> Iterator[Advice]:
    training = explanation.training
    if explanation.unseen:
        names = ", ".join(explanation.unseen)
        yield Advice("situations", f"training had nothing of {names}", "trifold train DIR, with problems that have it")
    if explanation.dead_end is not None:
        step = explanation.dead_end
        had = {None: "", 0: "; training had no dead ends"}.get(training.dead_ends, "")
        yield Advice(
            "dead ends",
            f"step {step.number + 1} goes into a dead end{had}",
            "trifold train DIR --set dead_ends=keep, with problems that have dead ends",
        )
    blur = explanation.blur
    if blur is not None and blur.conflicting:
        yield Advice(
            "power",
            f"{blur.conflicting} of {blur.states:,} states on the way and beside it look to {explanation.model} like "
            f"others with another V*: no weights do better than a mean |V − V*| of {blur.least_error:.2f} on them",
            "trifold expressivity DIR",
        )
    if (hump := explanation.hump) is not None:
        where = "where the policy turned away" if hump.is_met else "where the policy did not get"
        yield Advice(
            "situations",
            f"a search found a plan of {hump.length} steps, along which V rises from {hump.before:.2f} to "
            f"{hump.after:.2f} at step {hump.number + 1}, {hump.action}, {where}",
            f"trifold train DIR, with more problems in which {hump.action[1:-1].split()[0]} is right in such states",
        )
    yield from _errors(explanation)


def _errors(explanation: Explanation) -> Iterator[Advice]:
    """Where V is wrong: beyond what training had, or within."""
    training, pairs = explanation.training, list(explanation.valued())
    first = explanation.steps[0]
    largest = math.inf if training.value is None else training.value
    within = [abs(value - distance) for value, distance in pairs if distance <= largest]
    beyond = [abs(value - distance) for value, distance in pairs if distance > largest]
    start = first.value if first.distance is None else first.distance
    is_larger = training.objects is not None and explanation.objects > training.objects
    if beyond and fmean(beyond) > max(LARGE_ERROR, fmean(within) if within else 0.0):
        inside = f", and {fmean(within):.2f} up to there" if within else ""
        evidence = f"mean |V − V*| is {fmean(beyond):.2f} beyond V* = {training.value}, the largest in training{inside}"
        yield Advice("situations", evidence, "trifold train DIR, with larger problems")
    elif within and fmean(within) > LARGE_ERROR:
        seen = "" if training.value is None else ", where training had such V*"
        doubled = "" if training.steps is None else f" --steps {2 * training.steps}"
        yield Advice("steps", f"mean |V − V*| is {fmean(within):.2f}{seen}", f"trifold train DIR{doubled}")
    elif not pairs and start is not None and start > largest and not _is_as_short_as_told(explanation, start):
        evidence = f"V is {start:.0f} at the start, and training had V* up to {training.value}"
        yield Advice("situations", evidence, "trifold train DIR, with larger problems")
    elif not pairs and is_larger and explanation.outcome is not Outcome.SOLVED:
        evidence = f"the problem has {explanation.objects} objects, and training had up to {training.objects}"
        yield Advice("situations", evidence, "trifold train DIR, with larger problems")


def _is_as_short_as_told(explanation: Explanation, start: float) -> bool:
    """Whether there is a plan, and V foresaw at its start that it would be no shorter: V is not off there."""
    return explanation.outcome is Outcome.SOLVED and len(explanation.actions) <= start + LARGE_ERROR


def _remedies(explanation: Explanation) -> Iterator[Advice]:
    """What gets a plan, or a shorter one, from the model as it is."""
    files = f"{explanation.model_file or 'MODEL'} {explanation.problem_file or 'PROBLEM'}"
    match explanation.outcome:
        case Outcome.SOLVED if explanation.departures:
            longer = sum(step.loss or 0 for step in explanation.departures)
            evidence = f"the plan is {longer:.0f} longer than it need be"
            yield Advice("solved", evidence, f"trifold solve {files} --improve 10")
            return
        case Outcome.SOLVED:
            return
        case Outcome.STEP_LIMIT if explanation.plateau <= min(LOST, explanation.max_steps / 4):
            evidence = f"V was still falling when the {explanation.max_steps} steps were over"
            yield Advice("limit", evidence, f"trifold explain {files} --max-steps {4 * max(explanation.max_steps, 1)}")
        case Outcome.TIMEOUT:
            yield Advice("limit", "the time was over", f"trifold explain {files}, with a larger --timeout")
    yield Advice("search", "a search can go on where the policy ends", f"trifold solve {files}")

"""An explanation as text: the verdict first, then the steps worth a look, then what to do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from trifold.explanation.advice import LOST, advise
from trifold.explanation.explanation import Choice, ExplainedStep, Explanation
from trifold.outcomes import Outcome
from trifold.words import counted

SHORT = 8
"""Ways of at most so many steps are shown whole."""

SHOWN = 12
"""Steps of a longer way that are shown at most."""


def explanation_text(explanation: Explanation, *, top: int = 3, everything: bool = False) -> str:
    """The verdict, the best `top` actions of the steps worth a look, or of all, what is new, and what to try."""
    steps = explanation.steps if everything else _interesting(explanation)
    by = f"{explanation.model_file or explanation.model} by {explanation.plan_file or explanation.policy}"
    first = f"{by} on {explanation.problem_file or explanation.problem}: "
    parts = [first + "\n".join(verdict(explanation)), _table(explanation, steps, top)]
    if len(steps) < len(explanation.steps):
        parts[-1] += f"\n{len(steps)} of {len(explanation.steps)} states are shown; all with --all."
    parts.append("\n".join(_compare_with_training(explanation)))
    if advice := advise(explanation):
        parts.append("\n".join(["What to try:", *(f"  {one.evidence}:\n    {one.command}" for one in advice)]))
    return "\n\n".join(filter(None, parts))


def verdict(explanation: Explanation) -> Iterator[str]:
    """How it ended, why, and where it first left the optimal way."""
    yield _ending(explanation)
    if not explanation.is_labelled:
        yield f"V* is not known: {explanation.labels.message or explanation.labels.outcome.value}."
        if explanation.rises:
            first = explanation.rises[0].number + 1
            yield f"V rises at {counted(len(explanation.rises), 'step')}, first at step {first}."
    elif explanation.steps[0].distance == math.inf:
        yield "There is no plan: the problem is unsolvable."
    elif explanation.departures:
        yield from _departure(explanation)
    elif explanation.outcome is not Outcome.SOLVED:
        yield f"All {len(explanation.actions)} actions are optimal as far as it went."
    if ties := explanation.ties:
        wrong = sum(step.is_departure for step in ties)
        told = f", {wrong} of them wrongly" if wrong else ""
        yield f"At {counted(len(ties), 'step')} the best actions were tied, and their text decided{told}."


def _ending(explanation: Explanation) -> str:
    taken, optimal = explanation.steps[-1].number, explanation.steps[0].distance
    best = "" if optimal is None or optimal == math.inf else f"; the shortest plan has {optimal:.0f}"
    match explanation.outcome:
        case Outcome.SOLVED:
            if optimal == taken:
                return f"solved in {counted(taken, 'step')}, which is optimal."
            return f"solved in {counted(taken, 'step')}{best}."
        case Outcome.STUCK:
            last = explanation.steps[-1].choices
            why = "all of its successors were visited before" if last else "no action is applicable there"
            why = f"stuck after {counted(taken, 'step')}, {why}"
        case Outcome.STEP_LIMIT:
            why = f"the limit of {counted(explanation.max_steps, 'step')} was reached"
        case Outcome.CYCLE:
            why = f"after {counted(taken, 'step')} it would go round in a cycle"
        case other:
            why = f"{other.value} after {counted(taken, 'step')}"
    if explanation.plateau >= LOST:
        why += f", the last {explanation.plateau} of them without a lesser V"
    return f"not solved, {why}{best}."


def _departure(explanation: Explanation) -> Iterator[str]:
    step = explanation.departures[0]
    chosen = step.chosen
    assert chosen is not None
    best = next((one for one in step.choices if step.is_optimal(one)), None)
    lost = "into a dead end" if step.loss == math.inf else f"which costs {counted(int(step.loss or 0), 'step')}"
    yield f"It leaves the optimal way at step {step.number + 1} by {_named(chosen)}, {lost}" + (
        f"; {_named(best)} is optimal." if best else "."
    )
    if explanation.dead_end is not None and explanation.dead_end is not step:
        yield f"It goes into a dead end at step {explanation.dead_end.number + 1}."
    if len(explanation.departures) > 1:
        yield f"{len(explanation.departures)} of its {len(explanation.actions)} actions are not optimal."


def _named(choice: Choice) -> str:
    if choice.score is not None:
        return f"{choice.action} (q {choice.score:.2f})"
    return choice.action if choice.value is None else f"{choice.action} (V {choice.value:.2f})"


def _interesting(explanation: Explanation) -> Sequence[ExplainedStep]:
    """All steps of a short way; of others start, end, and where the optimal way is left or, if unknown, V rises."""
    steps = explanation.steps
    if len(steps) <= SHORT + 1:
        return steps
    worth = explanation.departures if explanation.is_labelled else explanation.rises
    numbers = {0, steps[-1].number, *(step.number for step in worth[: SHOWN - 2])}
    return [step for step in steps if step.number in numbers]


def _table(explanation: Explanation, steps: Iterable[ExplainedStep], top: int) -> str:
    """A row for each of the best actions of each state, the chosen one marked."""
    by_scores = any(choice.score is not None for step in explanation.steps for choice in step.choices)
    rows = [["Step", "V", "V*", "", "Action", "q" if by_scores else "V then", "V* then", ""]]
    for step in steps:
        head = [f"{step.number + 1}", _number(step.value, ".2f"), _number(step.distance, ".0f")]
        shown = [one for i, one in enumerate(step.choices) if i < top or one.is_chosen]
        if step.chosen is None and explanation.outcome is Outcome.SOLVED:
            rows.append(["end", *head[1:], "", "the goal is reached", "", "", ""])
            continue
        for cells in [_cells(step, one) for one in shown] or [["", "no action is applicable", "", "", ""]]:
            rows.append([*head, *cells])
            head = ["", "", ""]
    return _align(rows, "rrr<<rr<")


def _cells(step: ExplainedStep, choice: Choice) -> list[str]:
    words = []
    if step.is_optimal(choice):
        words.append("optimal")
    elif choice.is_chosen and step.loss:
        words.append("dead end" if step.loss == math.inf else f"costs {step.loss:.0f}")
    if choice.is_visited:
        words.append("visited")
    if choice.is_chosen and step.is_tie:
        words.append("tie")
    told = choice.value if choice.score is None else choice.score
    numbers = [_number(told, ".2f"), _number(choice.distance, ".0f")]
    return [">" if choice.is_chosen else "", choice.action, *numbers, ", ".join(words)]


def _compare_with_training(explanation: Explanation) -> Iterator[str]:
    """What the problem has that training never had, and what is not known of it."""
    training, first = explanation.training, explanation.steps[0]
    for name in explanation.unseen:
        what = f"an action {name[1:-1]}" if name.startswith("(") else f"an atom of {name}"
        yield f"Training had no state with {what}: the model is blind to it."
    if training.objects is None:
        yield f"The problem has {explanation.objects} objects; how many training had, the model does not say."
    elif explanation.objects > training.objects:
        yield f"The problem has {explanation.objects} objects, training had up to {training.objects}."
    start, name = (first.value, "V") if first.distance is None else (first.distance, "V*")
    if training.value is None:
        yield "How large V* was in training, the model does not say."
    elif start is not None and training.value < start < math.inf:
        yield f"{name} is {start:.0f} at the start, training had V* up to {training.value}."


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else "∞" if value == math.inf else format(value, form)


def _align(rows: Sequence[Sequence[str]], sides: str) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    form = {"<": str.ljust, "r": str.rjust}
    lines = ["  ".join(form[s](cell, w) for s, cell, w in zip(sides, row, widths, strict=True)) for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(line.rstrip() for line in lines)

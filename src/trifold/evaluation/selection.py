"""Which of several models is best, by what their policies do: loss on small problems alone does not decide coverage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trifold.evaluation.records import Record
from trifold.planning import Outcome


@dataclass(frozen=True)
class Score:
    """What one model did on the problems of a selection.

    solved   how many problems
    length   of its plans for the problems that all models solved, summed
    """

    solved: int
    length: int


def score_each(records: Mapping[str, Sequence[Record]]) -> dict[str, Score]:
    """The score of each model, from its records of the same problems.

    >>> ours = [{"problem_sha256": "a", "outcome": "solved", "steps": 5}]
    >>> score_each({"first": ours, "second": [ours[0] | {"outcome": "stuck"}]})
    {'first': Score(solved=1, length=0), 'second': Score(solved=0, length=0)}
    """
    solved = {
        name: {record["problem_sha256"]: record["steps"] for record in found if record["outcome"] == Outcome.SOLVED}
        for name, found in records.items()
    }
    shared = set.intersection(*map(set, solved.values())) if solved else set()
    return {name: Score(len(steps), sum(steps[problem] for problem in shared)) for name, steps in solved.items()}


def best_of(scores: Mapping[str, Score], losses: Mapping[str, float]) -> str:
    """Most problems solved; of equals the shortest plans, then the least validation loss.

    >>> best_of({"a": Score(2, 30), "b": Score(2, 28), "c": Score(1, 20)}, {"a": 0.1, "b": 0.2, "c": 0.0})
    'b'
    """
    return min(scores, key=lambda name: (-scores[name].solved, scores[name].length, losses[name]))

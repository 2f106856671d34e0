"""Choosing among the seeds of a run: the best, as the recipe's ``keep_by`` has it, becomes the run's model."""

from __future__ import annotations

from collections.abc import Sequence

from trifold.model import Model
from trifold.training.run import RunFolder
from trifold.training.together import Ending


def best_seed(endings: dict[int, Ending], keep_by: str) -> tuple[int, float]:
    """The best seed of those that did not fail, and its validation loss; raises if all failed."""
    ranks = {
        seed: ending.state.rank(keep_by)
        for seed, ending in endings.items()
        if not ending.error and ending.state.best is not None
    }
    for ending in endings.values():
        if ending.error and not ranks:
            raise ending.error
    chosen = min(ranks, key=ranks.__getitem__)
    return chosen, ranks[chosen][-1]


def keep_best(folder: RunFolder, endings: dict[int, Ending], seeds: Sequence[int], keep_by: str) -> bool:
    """Make the best model of the seeds the run's, with what all of them cost: those that are not kept cost as much.

    Seeds that have not ended count with what was saved of them, and the model then says that the training is not
    finished. Where none has gone on since a model was kept, that one stays: it may have been selected. Returns whether
    there is a model: all may have failed so far, or have no validation yet.
    """
    is_finished = endings.keys() >= set(seeds)
    saved = {seed: folder.seed(seed).saved_state() for seed in seeds if seed not in endings}
    endings = endings | {seed: Ending(state) for seed, state in saved.items() if state}
    if all(ending.error or ending.state.best is None for ending in endings.values()):
        return False
    steps = {seed: ending.state.step for seed, ending in endings.items()}
    if folder.model.exists():
        before = folder.training()
        was = dict(zip(before["seeds"], before["steps"], strict=True))
        if was == steps and before.get("is_finished", True) == is_finished:
            return True
    kept = Model.load(folder.seed(best_seed(endings, keep_by)[0]).best)
    kept.provenance["training"] = {
        "seeds": list(steps),
        "steps": list(steps.values()),
        "seconds": [ending.state.seconds for ending in endings.values()],
        **({} if is_finished else {"is_finished": False}),
    }
    kept.save(folder.model)
    return True

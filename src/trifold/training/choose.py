"""Choosing among the seeds of a run: the least validation loss becomes the run's model."""

from __future__ import annotations

from collections.abc import Sequence

from trifold.model import Model
from trifold.training.run import RunFolder
from trifold.training.together import Ending


def best_seed(endings: dict[int, Ending]) -> tuple[int, float]:
    """The seed with the least validation loss of those that did not fail, and that loss; raises if all failed."""
    losses = {
        seed: ending.state.best
        for seed, ending in endings.items()
        if not ending.error and ending.state.best is not None
    }
    for ending in endings.values():
        if ending.error and not losses:
            raise ending.error
    chosen = min(losses, key=losses.__getitem__)
    return chosen, losses[chosen]


def keep_best(folder: RunFolder, endings: dict[int, Ending], seeds: Sequence[int]) -> None:
    """Make the best model of the seeds the run's, with what all of them cost: those that are not kept cost as much.

    Seeds that have not ended count with what an earlier process saved of them. Where none has gone on since a model was
    kept, that one stays: it may have been selected.
    """
    saved = {seed: folder.seed(seed).saved_state() for seed in seeds if seed not in endings}
    endings = endings | {seed: Ending(state) for seed, state in saved.items() if state}
    steps = {seed: ending.state.step for seed, ending in endings.items()}
    if folder.model.exists():
        before = folder.training()
        if dict(zip(before["seeds"], before["steps"], strict=True)) == steps:
            return
    kept = Model.load(folder.seed(best_seed(endings)[0]).best)
    kept.provenance["training"] = {
        "seeds": list(steps),
        "steps": list(steps.values()),
        "seconds": [ending.state.seconds for ending in endings.values()],
    }
    kept.save(folder.model)

"""A stretch of a training: the states that its next steps draw, encoded, where there is no room for those of all.

Where an architecture embeds all pairs, a state of 20 objects has some 16,000 messages a layer, and a few hundred
thousand of such states no card has room for. But a captured step, many times as fast as the reference, reads encoded
states where they lie. So those of some hundred steps are encoded at a time, hardly more work than to encode batch by
batch, and the batches are the same.
"""

from __future__ import annotations

import torch
from torch import Tensor

from trifold.data import Dataset, room
from trifold.memory import STRETCH_GIB
from trifold.training.sampler import BalancedSampler, TaughtSampler

LEAST_STEPS, MOST_STEPS = 16, 2_000
"""Of a stretch. Where fewer fit, a batch is so large that its step would not."""


class Stretch:
    """Some steps of a training, from a first one on: a sampler of these alone, with the data that it draws from.

    data    the states that these steps draw, and the one after them, encoded; each once
    shares  (states,) of all these draws
    """

    def __init__(self, data: Dataset, sampler: BalancedSampler | TaughtSampler, first: int) -> None:
        torch.cuda.empty_cache()  # what the stretch before has left counts as free
        batch = data.encoded(torch.unique(sampler.draw(first))).structures
        fitting = int(min(room(data.targets.device), STRETCH_GIB) * 2**30 / max(batch.nbytes, 1))
        self.steps = range(first, first + min(max(fitting, LEAST_STEPS), MOST_STEPS))
        draws = torch.stack([sampler.draw(number) for number in range(first, self.steps.stop + 1)])
        states, self.places = torch.unique(draws, return_inverse=True)
        self.batch, self.data = sampler.batch, data.encoded(states)
        self.shares = torch.bincount(self.places.reshape(-1)).double() / self.places.numel()

    def __contains__(self, number: int) -> bool:
        return number in self.steps

    def draw(self, number: int) -> Tensor:
        """(batch,) the places of the states of this step among the data."""
        batch: Tensor = self.places[number - self.steps.start]
        return batch

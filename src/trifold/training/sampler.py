"""Balanced mini-batches: as many distinct V* as possible in each; and some that are taught, where there are such."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor


class BalancedSampler:
    """Draws the states of each training step, by the paper's rule: a batch holds as many distinct V* as it can.

    With at least ``batch`` distinct values in the data, each batch has ``batch`` different ones, drawn at random; with
    fewer, it has all of them equally often, up to one. Within a value, a state is drawn by its weight: uniformly, if
    none is given.

    Where a few states of large V* would fill half of every batch, ``balance`` below 1 goes beyond the paper: values are
    drawn in proportion to n^(1 − balance) for n states, down to 0, where all states are equal.

    The batch of a step depends on the seed and the step alone, so that a resumed run needs no generator's state.

    >>> sampler = BalancedSampler(torch.tensor([0.0, 1.0, 1.0, 1.0, 2.0]), batch=3, seed=0)
    >>> sorted(sampler.targets[sampler.draw(7)].tolist())
    [0.0, 1.0, 2.0]
    """

    def __init__(
        self, targets: Tensor, batch: int, seed: int, weights: Tensor | None = None, balance: float = 1.0
    ) -> None:
        self.targets = targets.cpu()
        self.batch, self.seed, self.balance = batch, seed, balance
        self.order = torch.argsort(self.targets, stable=True)
        weights = torch.ones_like(self.order) if weights is None else weights.cpu()[self.order]
        self.ends = torch.cumsum(
            weights, 0
        )  # of each state, where states lie end to end by value, as long as they weigh
        _, value = torch.unique_consecutive(self.targets[self.order], return_inverse=True)
        self.counts = torch.zeros(int(value[-1]) + 1, dtype=torch.int64).index_add_(0, value, weights)
        self.starts = torch.cumsum(self.counts, 0) - self.counts
        chances = self.counts.double() ** (1 - balance)
        chances /= chances.sum()
        self.bounds = np.cumsum(chances.numpy())[:-1]  # between the values, where chances lie end to end
        share = chances[value] * weights / self.counts[value]
        self.shares = torch.empty_like(share).index_copy_(0, self.order, share)  # (states,) of all draws, in the mean

    def draw(self, step: int) -> Tensor:
        """(batch,) the states of this step."""
        # Not torch's generator: it would keep 32 bits of a seed, and seeds would repeat each other's batches.
        generator = np.random.default_rng((self.seed, step))
        chosen = torch.from_numpy(self._draw_values(generator))
        shares = torch.from_numpy(generator.random(self.batch))
        within = (shares * self.counts[chosen]).to(torch.int64)
        return self.order[torch.searchsorted(self.ends, self.starts[chosen] + within, right=True)]

    def _draw_values(self, generator: np.random.Generator) -> np.ndarray:
        """(batch,) which values are drawn: each as often as its chance says, up to one."""
        values = len(self.counts)
        if self.balance == 1:
            rounds = -(-self.batch // values)
            return np.concatenate([generator.permutation(values) for _ in range(rounds)])[: self.batch]
        places = (np.arange(self.batch) + generator.random()) / self.batch
        return np.searchsorted(self.bounds, places, side="right")


class TaughtSampler:
    """Draws a part of each batch from states that were taught, all equally often, and the rest as labelled ones are.

    Those that were taught lie behind the labelled ones. A batch depends on the seed, the step, and how many these are.

    >>> labelled = BalancedSampler(torch.tensor([0.0, 1.0, 2.0]), batch=2, seed=0)
    >>> [index >= 3 for index in TaughtSampler(labelled, taught=5, part=2).draw(7).tolist()]
    [False, False, True, True]
    """

    def __init__(self, labelled: BalancedSampler, taught: int, part: int) -> None:
        self.labelled, self.taught, self.part = labelled, taught, part
        self.batch = labelled.batch + part
        shares = [labelled.shares * labelled.batch, torch.full((taught,), part / taught, dtype=torch.float64)]
        self.shares = torch.cat(shares) / self.batch  # (states,) of all draws, in the mean

    def draw(self, step: int) -> Tensor:
        """(batch,) the states of this step."""
        # Other numbers than those that the labelled ones are drawn by.
        generator = np.random.default_rng((self.labelled.seed, step, self.taught))
        chosen = len(self.labelled.targets) + generator.integers(self.taught, size=self.part)
        return torch.cat([self.labelled.draw(step), torch.from_numpy(chosen)])

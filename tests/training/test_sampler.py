"""Batches hold as many distinct V* as possible, and depend on seed and step alone."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from trifold.training import BalancedSampler

targets = st.lists(st.integers(0, 12), min_size=1, max_size=60).map(lambda v: torch.tensor(v, dtype=torch.float32))


@given(targets, st.integers(1, 20), st.integers(0, 1000), st.integers(0, 10**6))
def test_as_many_distinct_values_as_possible(values, batch, seed, step):
    drawn = values[BalancedSampler(values, batch, seed).draw(step)]
    assert len(drawn) == batch
    found, counts = torch.unique(drawn, return_counts=True)
    assert len(found) == min(batch, len(torch.unique(values)))
    assert int(counts.max() - counts.min()) <= 1


@given(targets, st.integers(1, 20), st.integers(0, 1000), st.integers(0, 10**6))
def test_the_same_seed_and_step_draw_the_same_batch(values, batch, seed, step):
    first, second = (BalancedSampler(values, batch, seed) for _ in range(2))
    first.draw(step + 1)
    assert torch.equal(first.draw(step), second.draw(step))


def test_seeds_and_steps_draw_different_batches():
    values = torch.arange(1000) % 50.0
    batches = {tuple(BalancedSampler(values, 16, seed).draw(step).tolist()) for seed in range(5) for step in range(20)}
    assert len(batches) == 100


def test_every_state_is_drawn_and_values_are_even():
    values = torch.cat([torch.zeros(1), torch.ones(9)])
    sampler = BalancedSampler(values, batch=4, seed=0)
    drawn = torch.cat([sampler.draw(step) for step in range(200)])
    assert set(drawn.tolist()) == set(range(10))
    assert int((values[drawn] == 0).sum()) == 400

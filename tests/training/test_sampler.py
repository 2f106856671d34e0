"""Batches hold as many distinct V* as possible, and depend on seed and step alone."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from trifold.training import BalancedSampler

targets = st.lists(st.integers(0, 12), min_size=1, max_size=60).map(lambda v: torch.tensor(v, dtype=torch.float32))


@given(targets, st.integers(1, 20), st.integers(0, 1000), st.integers(0, 10**6))
def test_as_many_distinct_values_as_possible(values: torch.Tensor, batch: int, seed: int, step: int) -> None:
    drawn = values[BalancedSampler(values, batch, seed).draw(step)]
    assert len(drawn) == batch
    found, counts = torch.unique(drawn, return_counts=True)
    assert len(found) == min(batch, len(torch.unique(values)))
    assert int(counts.max() - counts.min()) <= 1


@given(targets, st.integers(1, 20), st.integers(0, 1000), st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 0.9]))
def test_less_balance_draws_values_as_often_as_their_states_say(
    values: torch.Tensor, batch: int, seed: int, step: int, balance: float
) -> None:
    """Up to one in each batch: n^(1 − balance) for n states."""
    drawn = values[BalancedSampler(values, batch, seed, balance=balance).draw(step)]
    found, counts = torch.unique(values, return_counts=True)
    chances = counts ** (1 - balance)
    expected = batch * chances / chances.sum()
    assert len(drawn) == batch
    assert all(abs(int((drawn == value).sum()) - share) < 1.001 for value, share in zip(found, expected, strict=True))


@pytest.mark.parametrize("balance", [0.0, 0.4, 1.0])
def test_shares_are_those_of_what_is_drawn(balance: float) -> None:
    values, weights = torch.tensor([0.0, 2.0, 2.0, 5.0, 2.0]), torch.tensor([1, 1, 5, 3, 2])
    sampler = BalancedSampler(values, 4, 0, weights, balance)
    drawn = torch.cat([sampler.draw(step) for step in range(5_000)])
    torch.testing.assert_close(torch.bincount(drawn) / len(drawn), sampler.shares.float(), rtol=0, atol=0.01)
    if balance == 0:
        torch.testing.assert_close(sampler.shares, weights.double() / 12)


@given(targets, st.integers(1, 20), st.integers(0, 1000), st.integers(0, 10**6), st.sampled_from([0.5, 1.0]))
def test_the_same_seed_and_step_draw_the_same_batch(
    values: torch.Tensor, batch: int, seed: int, step: int, balance: float
) -> None:
    first, second = (BalancedSampler(values, batch, seed, balance=balance) for _ in range(2))
    first.draw(step + 1)
    assert torch.equal(first.draw(step), second.draw(step))


def test_seeds_and_steps_draw_different_batches() -> None:
    values = torch.arange(1000) % 50.0
    batches = {tuple(BalancedSampler(values, 16, seed).draw(step).tolist()) for seed in range(5) for step in range(20)}
    assert len(batches) == 100


def test_every_state_is_drawn_and_values_are_even() -> None:
    values = torch.cat([torch.zeros(1), torch.ones(9)])
    sampler = BalancedSampler(values, batch=4, seed=0)
    drawn = torch.cat([sampler.draw(step) for step in range(200)])
    assert set(drawn.tolist()) == set(range(10))
    assert int((values[drawn] == 0).sum()) == 400

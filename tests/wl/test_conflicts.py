"""Conflicts are what their definition says, class by class."""

from __future__ import annotations

import statistics
from collections import defaultdict

import torch
from hypothesis import given
from hypothesis import strategies as st

from trifold.wl import find_conflicts


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), min_size=1, max_size=30))
def test_equals_the_definition(states: list[tuple[int, int]]) -> None:
    colours, targets = (torch.tensor(column) for column in zip(*states, strict=True))
    found = find_conflicts(colours, targets, max_witnesses=2)
    classes = defaultdict(list)
    for colour, target in states:
        classes[colour].append(target)
    conflicting = [values for values in classes.values() if len(set(values)) > 1]
    errors = [abs(value - statistics.median(values)) for values in classes.values() for value in values]
    assert (found.states, found.classes) == (len(states), len(classes))
    assert found.conflicting == sum(len(values) for values in conflicting)
    assert abs(found.least_error - sum(errors) / len(states)) < 1e-12
    assert len(found.witnesses) == min(2, len(conflicting))
    gaps = sorted((max(values) - min(values) for values in conflicting), reverse=True)
    for (low, high), gap in zip(found.witnesses, gaps, strict=False):
        assert colours[low] == colours[high] and targets[high] - targets[low] == gap


def test_nothing_conflicts_where_there_is_nothing() -> None:
    nothing = torch.empty(0, dtype=torch.int64)
    assert find_conflicts(nothing, nothing).witnesses == []

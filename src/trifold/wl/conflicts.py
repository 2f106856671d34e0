"""Conflicts: states of one class whose V* differ, so that no network of that architecture and depth has both right."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from trifold.structures import segment_starts


@dataclass(frozen=True)
class Conflicts:
    """What a colouring of states says about V*.

    states       how many there are
    classes      how many classes of states
    conflicting  how many states are in a class with different V*
    least_error  the least mean |V* − V| over the states of any V that is constant on classes: each class's median
    witnesses    pairs of states of one class with the least and the greatest V* in it: one pair per conflicting class,
                 the greatest difference first
    """

    states: int
    classes: int
    conflicting: int
    least_error: float
    witnesses: list[tuple[int, int]]


def find_conflicts(colours: Tensor, targets: Tensor, max_witnesses: int = 10) -> Conflicts:
    """Compare the classes of states with their V*. Shapes: (states,), (states,).

    Dead ends take part with whatever number their target is.

    >>> find_conflicts(torch.tensor([0, 0, 0, 1, 1]), torch.tensor([2, 3, 7, 4, 4]))
    Conflicts(states=5, classes=2, conflicting=3, least_error=1.0, witnesses=[(0, 2)])
    """
    order = torch.argsort(targets, stable=True)
    order = order[torch.argsort(colours[order], stable=True)]  # by class, then by V*
    values = targets[order].to(torch.float64)
    _, sizes = torch.unique_consecutive(colours[order], return_counts=True)
    starts = segment_starts(sizes)
    least, greatest = starts, starts + sizes - 1
    median = values[starts + (sizes - 1) // 2]
    gaps = values[greatest] - values[least]
    errors = (values - torch.repeat_interleave(median, sizes)).abs()
    worst = torch.argsort(gaps, descending=True, stable=True)
    worst = worst[gaps[worst] > 0][:max_witnesses]
    return Conflicts(
        states=len(targets),
        classes=len(sizes),
        conflicting=int(sizes[gaps > 0].sum()),
        least_error=float(errors.mean()) if len(targets) else 0.0,
        witnesses=list(zip(order[least[worst]].tolist(), order[greatest[worst]].tolist(), strict=True)),
    )

"""Which element each argument of each atom is: gathers and reductions for all layers, sorted once."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from trifold.native import SHARPNESS


class Incidence:
    """The rows of a layer, one per argument of an atom, and the element that each row reads and writes.

    Rows are sorted by element once and reduced by segments from then on. Segment reductions use all threads and add in
    a fixed order, where the scatters behind ``f[rows]`` and ``index_add`` use one thread or an order that varies.

    Shapes: receivers (rows,), f and results (elements, dim), gathered rows and messages (rows, dim).
    """

    def __init__(self, receivers: Tensor, elements: int) -> None:
        self.receivers = receivers
        self.order = torch.argsort(receivers, stable=True)
        self.place = torch.empty_like(self.order).index_copy_(
            0, self.order, torch.arange(len(receivers), device=receivers.device)
        )
        self.sorted = receivers[self.order]
        self.counts = torch.bincount(receivers, minlength=elements)

    def gather(self, f: Tensor) -> Tensor:
        """f[receivers]: the embedding that each row reads."""
        return _Gather.apply(f, self)

    def smooth_max(self, messages: Tensor, sharpness: float = SHARPNESS) -> Tensor:
        """The smooth maximum of the messages to each element; 0 where there are none."""
        return _SmoothMax.apply(messages, self, sharpness)

    def sum_sorted(self, rows: Tensor) -> Tensor:
        """The sum of the rows of each element, where rows are sorted by element."""
        return torch.segment_reduce(rows, "sum", lengths=self.counts, unsafe=True)


class _Gather(Function):
    @staticmethod
    def forward(context: Any, f: Tensor, incidence: Incidence) -> Tensor:
        context.incidence = incidence
        return f.index_select(0, incidence.receivers)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None]:
        incidence: Incidence = context.incidence
        return incidence.sum_sorted(gradient.index_select(0, incidence.order)), None


class _SmoothMax(Function):
    """d smax / d m = exp(α m) / Σ exp(α m'): the backward pass needs no more than the forward pass has at hand."""

    @staticmethod
    def forward(context: Any, messages: Tensor, incidence: Incidence, sharpness: float) -> Tensor:
        rows = messages.index_select(0, incidence.order)
        highest = torch.segment_reduce(rows, "max", lengths=incidence.counts, unsafe=True)
        powers = rows.sub_(highest.index_select(0, incidence.sorted)).mul_(sharpness).exp_()
        sums = incidence.sum_sorted(powers)
        context.save_for_backward(powers, sums)
        context.incidence = incidence
        return torch.where(incidence.counts[:, None] > 0, highest + torch.log(sums) / sharpness, 0)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        powers, sums = context.saved_tensors
        incidence: Incidence = context.incidence
        rows = (gradient / sums).index_select(0, incidence.sorted) * powers
        return rows.index_select(0, incidence.place), None, None

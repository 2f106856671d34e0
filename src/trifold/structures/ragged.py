"""Arithmetic of segments: rows of different length laid end to end, without a loop."""

from __future__ import annotations

import torch
from torch import Tensor


def segment_starts(lengths: Tensor) -> Tensor:
    """Where each segment starts when segments of these lengths lie end to end.

    >>> segment_starts(torch.tensor([2, 0, 3]))
    tensor([0, 2, 2])
    """
    return torch.cumsum(lengths, 0, dtype=torch.int64) - lengths


def expand_segments(starts: Tensor, lengths: Tensor) -> Tensor:
    """The positions start, start + 1, …, start + length − 1 of every segment, end to end.

    >>> expand_segments(torch.tensor([10, 30, 20]), torch.tensor([2, 0, 3]))
    tensor([10, 11, 20, 21, 22])
    """
    lengths = lengths.to(torch.int64)
    shifts = torch.repeat_interleave(starts - segment_starts(lengths), lengths)
    return shifts + torch.arange(shifts.shape[0], device=shifts.device)

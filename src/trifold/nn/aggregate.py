"""The smooth maximum of the messages that each element receives."""

from __future__ import annotations

import torch
from torch import Tensor

from trifold.native import SHARPNESS


def smooth_max(messages: Tensor, receivers: Tensor, elements: int, sharpness: float = SHARPNESS) -> Tensor:
    """smax(M) = 1/α · log Σ_{m ∈ M} exp(α m), component by component, over the messages M of each element.

    The readable reference of ``Incidence.smooth_max``. It is computed stably, with the maximum taken out, and an
    element without messages gets 0 (the paper is silent; the log of an empty sum would be −∞).

    Shapes: messages (rows, dim), receivers (rows,) → (elements, dim).
    """
    index = receivers[:, None].expand_as(messages)
    highest = messages.new_zeros((elements, messages.shape[1]))
    highest = highest.scatter_reduce(0, index, messages.detach(), "amax", include_self=False)
    powers = torch.exp(sharpness * (messages - highest[receivers]))
    reached = torch.zeros(elements, dtype=torch.bool, device=messages.device).index_fill(0, receivers, True)[:, None]
    sums = torch.zeros_like(highest).index_add(0, receivers, powers)
    return torch.where(reached, highest + torch.log(torch.where(reached, sums, 1)) / sharpness, 0)

"""The step that training repeats: by the reference, or by kernels where they can run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from trifold.data import Dataset
from trifold.errors import TrifoldError
from trifold.model import Model
from trifold.model.graphed import capture_step
from trifold.model.inference import attended_values, why_not_fused
from trifold.training.sampler import BalancedSampler

KERNELS = ("auto", "reference", "fused")
"""auto is fused where it can run, on CUDA, and the reference elsewhere. Of an Edge Transformer the attention is."""


def is_fused(model: Model, data: Dataset, kernels: str) -> bool:
    """Whether a training runs by kernels; raises if they are asked for and cannot run."""
    reason = why_not_fused(model.config, model.device)
    if reason is None and model.config.network == "rgnn" and data.encoder is not None:
        reason = "the encoded states do not fit on the device"
    if kernels == "fused" and reason:
        raise TrifoldError(f"the fused kernels cannot train this: {reason}", remedy="use --kernels reference")
    return kernels != "reference" and reason is None


def build_optimizer(network: torch.nn.Module, rate: float, *, fused: bool) -> torch.optim.Optimizer:
    """Adam; a captured step reads the rate where it lies, in a tensor."""
    parameters = list(network.parameters())
    if not fused:
        return torch.optim.Adam(parameters, lr=rate)
    return torch.optim.Adam(parameters, lr=torch.tensor(rate, device=parameters[0].device), capturable=True, fused=True)


def build_step(
    model: Model,
    optimizer: torch.optim.Optimizer,
    data: Dataset,
    sampler: BalancedSampler,
    *,
    fused: bool,
    clip: float | None = None,
) -> Callable[[Tensor, Tensor], Tensor]:
    """Indices of a batch, and of the next → the loss of the first, after the optimizer has stepped on it.

    The sampler is that which draws them. The loss is the mean of |V* − V|; ``clip`` is the largest norm that its
    gradient may have. With kernels the step of an R-GNN is captured, and the next batch is prepared meanwhile; an Edge
    Transformer's is the reference's but for the attention.
    """
    attends = fused and model.config.network == "edge-transformer"
    values = partial(attended_values, model.network) if attends else model.network

    def reference(indices: Tensor, following: Tensor) -> Tensor:
        structures, targets = data.take(indices)
        loss = (values(structures) - targets).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(model.network.parameters(), clip)
        optimizer.step()
        return loss.detach()

    if attends or not fused:
        return reference
    captured = capture_step(model, optimizer, data.structures, data.targets, sampler.shares, sampler.batch, clip=clip)

    def step(indices: Tensor, following: Tensor) -> Tensor:
        loss = captured(indices, following)
        return reference(indices, following) if loss is None else loss

    return step

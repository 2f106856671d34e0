"""The step that training repeats: a batch, its loss, and what the optimizer makes of the gradient."""

from __future__ import annotations

import torch
from torch import Tensor

from trifold.data import Dataset
from trifold.errors import TrifoldError
from trifold.model import Model
from trifold.nn import REFERENCE, Backend, choose_backend
from trifold.training.captured import CapturedStep
from trifold.training.loss import are_asked, batch_loss, share_of_means
from trifold.training.parallel import ALONE, GradientSum, Ranks
from trifold.training.sampler import BalancedSampler, TaughtSampler


def training_backend(model: Model, data: Dataset, kernels: str) -> Backend:
    """Who computes the network in a training; raises if kernels are asked for and cannot run.

    Where the encoded states do not fit on the device, no step is captured: one without gradients of its own is then
    left to the reference.
    """
    backend = choose_backend(model.network.embed, model.device, kernels)
    if backend.gradients or not backend.captured or data.encoder is None:
        return backend
    if kernels == "fused":
        raise TrifoldError("the encoded states do not fit on the device", remedy="use --kernels reference")
    return REFERENCE


def captures(backend: Backend, data: Dataset) -> bool:
    """Whether training steps are captured: such a step reads the encoded states where they lie."""
    return backend.captured and data.encoder is None


def training_name(backend: Backend) -> str:
    """Who trains where this backend was chosen: one without gradients validates, and the reference trains."""
    return backend.name if backend.gradients or backend.captured else REFERENCE.name


def build_optimizer(network: torch.nn.Module, rate: float, backend: Backend) -> torch.optim.Optimizer:
    """Adam; by kernels it reads the rate where it lies, in a tensor, as a captured step must."""
    parameters = list(network.parameters())
    if backend.name != "cuda":
        return torch.optim.Adam(parameters, lr=rate)
    return torch.optim.Adam(parameters, lr=torch.tensor(rate, device=parameters[0].device), capturable=True, fused=True)


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Set the learning rate, in place if it is a tensor."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


class TrainingStep:
    """Indices of a batch, and of the next → the loss of the first, after the optimizer has stepped on it.

    The sampler is that which draws them. The loss is that of ``joint_loss``; ``clip`` is the largest norm that its
    gradient may have. By the backend ``cuda`` the step is captured, and the next batch is laid out meanwhile;
    ``beyond`` counts the batches that were too large for it, whose steps are taken without a graph: by the reference,
    if the backend has no gradients but in a graph.

    Of several processes each takes its share of the batch. Their gradients are added up before they are clipped, and
    each lets its own optimizer step: so all have the same weights, and the loss is that of the whole batch.
    """

    def __init__(
        self,
        model: Model,
        optimizer: torch.optim.Optimizer,
        data: Dataset,
        sampler: BalancedSampler | TaughtSampler,
        clip: float | None = None,
        ranks: Ranks = ALONE,
    ) -> None:
        self.network, self.optimizer, self.data, self.clip = model.network, optimizer, data, clip
        self.backend = model.backend if model.backend.gradients else REFERENCE
        self.beyond = 0
        self.ranks, self.whole = ranks, None if ranks.is_alone else GradientSum(list(model.network.parameters()), ranks)
        if self.whole is not None:
            self.config, self.asked = model.config, are_asked(data.structures)
        self.captured: CapturedStep | None = None
        if captures(model.backend, data):
            self.captured = CapturedStep(
                model.network,
                model.backend,
                optimizer,
                data.structures,
                data.targets,
                sampler.shares,
                len(ranks.share(torch.arange(sampler.batch))),
                clip=clip,
                whole=self.whole,
            )

    def __call__(self, indices: Tensor, following: Tensor) -> Tensor:
        own, shares = indices, None
        if self.whole is not None:
            own, following = self.ranks.share(indices), self.ranks.share(following)
            shares = share_of_means(self.config, own, indices, self.asked)
        if self.captured is None:
            return self._step(own, shares)
        loss = self.captured(own, following, shares)
        if loss is None:
            self.beyond += 1
            loss = self._step(own, shares)
        return loss

    def _step(self, indices: Tensor, shares: Tensor | None) -> Tensor:
        """The step as one writes it in PyTorch."""
        structures, targets = self.data.take(indices)
        shares = None if shares is None else shares.to(targets.device)
        loss = batch_loss(self.network, structures, targets, self.backend, shares)
        self.optimizer.zero_grad()
        loss.backward()
        if self.whole is not None:
            self.whole.put([parameter.grad for parameter in self.whole.parameters], loss)
            if self.captured is not None:
                return self.captured.finish(self.whole)
            loss = self.whole.add_up()
            self.whole.give()
        if self.clip is not None:
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.clip)
        self.optimizer.step()
        return loss.detach()


def forget(optimizer: torch.optim.Optimizer) -> None:
    """Set all that the optimizer remembers to zero: in place, as a captured step reads it there."""
    for entries in optimizer.state.values():
        for value in entries.values():
            value.zero_()

"""The step that training repeats: a batch, its loss, and what the optimizer makes of the gradient."""

from __future__ import annotations

import torch
from torch import Tensor

from trifold.data import Dataset
from trifold.model import Model
from trifold.nn import REFERENCE, Backend
from trifold.training.captured import CapturedStep
from trifold.training.loss import are_asked, batch_loss, share_of_means
from trifold.training.parallel import ALONE, GradientSum, Ranks
from trifold.training.sampler import BalancedSampler, TaughtSampler
from trifold.training.stretch import Stretch


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
    """The number of a step → its loss, after the optimizer has stepped on the batch that the sampler draws for it.

    The loss is that of ``joint_loss``; ``clip`` is the largest norm that its gradient may have. By the backend ``cuda``
    the step is captured, and the next batch is laid out meanwhile; ``beyond`` counts the batches that were too large
    for it, whose steps are taken without a graph: by the reference, if the backend has no gradients but in a graph. A
    captured step reads encoded states where they lie: where those of all do not fit on the device, they are those of a
    ``Stretch`` of steps, and the step is captured anew for each.

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
        self.model, self.optimizer, self.data, self.sampler, self.clip = model, optimizer, data, sampler, clip
        self.network = model.network
        self.backend = model.backend if model.backend.gradients else REFERENCE
        self.beyond = 0
        self.ranks, self.whole = ranks, None if ranks.is_alone else GradientSum(list(model.network.parameters()), ranks)
        self.drawn: tuple[int, Tensor] | None = None  # the next step, and its batch
        self.stretch: Stretch | None = None
        self.captured: CapturedStep | None = None
        self.held = data  # that is drawn from now, by the source
        self.source: BalancedSampler | TaughtSampler | Stretch = sampler
        self.stretches = model.backend.captured and data.encoder is not None
        if not self.stretches:
            self._hold(data, sampler)

    def __call__(self, number: int) -> Tensor:
        if self.stretches and (self.stretch is None or number not in self.stretch):
            self.captured = self.stretch = self.drawn = None  # their memory first
            self.held, self.source = self.data, self.sampler
            self.stretch = Stretch(self.data, self.sampler, number)
            self._hold(self.stretch.data, self.stretch)
        indices = self.drawn[1] if self.drawn and self.drawn[0] == number else self.source.draw(number)
        following = self.source.draw(number + 1)
        self.drawn = number + 1, following
        own, shares = indices, None
        if self.whole is not None:
            own, following = self.ranks.share(indices), self.ranks.share(following)
            shares = share_of_means(self.model.config, own, indices, self.asked)
        if self.captured is None:
            return self._step(own, shares)
        loss = self.captured(own, following, shares)
        if loss is None:
            self.beyond += 1
            loss = self._step(own, shares)
        return loss

    def _hold(self, data: Dataset, source: BalancedSampler | TaughtSampler | Stretch) -> None:
        """Take the batches that the source draws from these data, by a captured step if the backend has one."""
        self.held, self.source = data, source
        if self.whole is not None:
            self.asked = are_asked(data.structures)
        if self.model.backend.captured:
            self.captured = CapturedStep(
                self.network,
                self.model.backend,
                self.optimizer,
                data.structures,
                data.targets,
                source.shares,
                len(self.ranks.share(torch.arange(source.batch))),
                clip=self.clip,
                whole=self.whole,
            )

    def _step(self, indices: Tensor, shares: Tensor | None) -> Tensor:
        """The step as one writes it in PyTorch."""
        structures, targets = self.held.take(indices)
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

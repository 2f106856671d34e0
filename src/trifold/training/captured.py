"""The training step of the backend ``cuda``: from batch to optimizer, one captured CUDA graph."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import torch
from torch import Tensor

from trifold.memory import OutOfMemory
from trifold.model import HeadedNetwork, LaidOutNetwork
from trifold.nn import Backend, Found, Layout
from trifold.structures import Structures
from trifold.training.loss import joint_loss
from trifold.training.parallel import GradientSum

SPREAD = 8
"""A batch may hold this many standard deviations more than the mean; one beyond takes the reference's step."""


def likely_sizes(sizes: Tensor, shares: Tensor, batch: int) -> list[int]:
    """How much batches hold of each thing, but for a few in a million: an upper bound.

    Given the share of each state in what is drawn. Large V* belong to large states, and where every V* is drawn equally
    often, a mean over all states would be far too small.

    Shapes: sizes (things, states), shares (states,) → (things,).
    """
    mean = sizes @ shares
    deviation = ((sizes - mean[:, None]) ** 2 @ shares).sqrt()
    most = mean * batch + SPREAD * deviation * batch**0.5 + SPREAD
    found: list[int] = torch.minimum(most, sizes.max(1).values * batch).ceil().long().tolist()
    return found


def check_room(kept: int, device: torch.device, batch: int) -> None:
    """Raise if a step keeps more than the whole card has: then nothing else on it is to blame."""
    there = torch.cuda.mem_get_info(device)[1] if device.type == "cuda" else math.inf
    if kept > there:
        smaller = max(1, int(batch * there / kept) // 2)
        raise OutOfMemory(
            f"a step of {batch} states takes {kept / 2**30:,.0f} GiB at least, and the card has {there / 2**30:,.0f}",
            remedy=f"--set batch={smaller}, a smaller dim or fewer layers, or smaller problems",
        )


class CapturedStep:
    """The step on resident encoded structures: indices of a batch → its loss, after the optimizer has stepped.

    It is given the indices of the next batch, too, which is laid out on a side stream while this one trains. All that
    the graph reads and writes are attributes, so that they live as long as it does:

    chosen, upcoming  (batch,) the states of this batch and of the next
    layout, found     the chosen batch, laid out for the kernels; it is overwritten in place
    loss              of the last replay

    Where several processes share a batch, ``whole`` adds their gradients up, and the step is two graphs: what makes the
    gradient of this part, and what the optimizer makes of the sum. ``shares`` is then that of ``joint_loss``.
    """

    def __init__(
        self,
        network: HeadedNetwork,
        backend: Backend,
        optimizer: torch.optim.Optimizer,
        structures: Structures,
        targets: Tensor,
        shares: Tensor,
        batch: int,
        *,
        precision: str = "mixed",
        clip: float | None = None,
        whole: GradientSum | None = None,
    ) -> None:
        self.optimizer, self.targets, self.clip, self.whole = optimizer, targets, clip, whole
        self.parameters = list(network.parameters())
        shares = shares.to(structures.device)
        measure = partial(likely_sizes, shares=shares, batch=batch)  # room for all but a few batches in a million
        self.laid_out = LaidOutNetwork(network, backend, structures, measure, precision)
        self.batcher = self.laid_out.batcher
        check_room(self.laid_out.fixed.kept_bytes, structures.device, batch)
        self.chosen = torch.zeros(batch, dtype=torch.int64, device=structures.device)
        self.upcoming = torch.zeros_like(self.chosen)
        self.layout, self.found = self.batcher(self.chosen)
        self.held: Tensor | None = None  # the indices whose batch lies in layout and found
        self.shares: Tensor | None = None
        if whole is not None:
            heads = (network.readout is not None) + (network.scores is not None)
            self.shares = torch.ones(heads, device=structures.device)
        self.side = torch.cuda.Stream(structures.device)
        # Of its own: graphs that run at once must not share the workspace of cuBLAS.
        self.stream = torch.cuda.Stream(structures.device)
        self._prepare()
        self._capture()

    def _prepare(self) -> None:
        """Compile the kernels and make the optimizer's state, by two steps that are then taken back."""
        weights = [parameter.detach().clone() for parameter in self.parameters]
        state = self.optimizer.state
        moments = {p: {name: value.clone() for name, value in entries.items()} for p, entries in state.items()}
        current = torch.cuda.current_stream(self.chosen.device)
        self.stream.wait_stream(current)
        with torch.cuda.stream(self.stream):
            for _ in range(2):
                self._step()
                if self.whole is not None:
                    self._update(self.whole)
        current.wait_stream(self.stream)
        with torch.no_grad():
            for parameter, weight in zip(self.parameters, weights, strict=True):
                parameter.copy_(weight)
                for name, value in state[parameter].items():
                    value.copy_(moments[parameter][name]) if parameter in moments else value.zero_()

    def _capture(self) -> None:
        self.graph = torch.cuda.CUDAGraph()
        # With several processes a thread of NCCL's may look at its own events meanwhile, which is no harm.
        mode = "global" if self.whole is None else "thread_local"
        with torch.cuda.graph(self.graph, stream=self.stream, capture_error_mode=mode):
            self.loss = self._step()
        if self.whole is not None:
            self.update = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.update, stream=self.stream, capture_error_mode=mode):
                self._update(self.whole)

    def __call__(self, indices: Tensor, following: Tensor, shares: Tensor | None = None) -> Tensor | None:
        """Replay the step on a batch; None, with nothing done, if the batch is beyond the capacity."""
        if not self.batcher.fits(indices):
            return None
        if self.held is None or not torch.equal(self.held, indices):
            self.chosen.copy_(indices)
            self._hold(*self.batcher(self.chosen))
        self.upcoming.copy_(following.pin_memory(), non_blocking=True)
        if self.shares is not None and shares is not None:
            self.shares.copy_(shares.pin_memory(), non_blocking=True)
        self.graph.replay()
        self.held = following
        return self.loss.clone() if self.whole is None else self.finish(self.whole)

    def finish(self, whole: GradientSum) -> Tensor:
        """Add the gradients of all processes up, and let the optimizer step; returns the loss of the whole batch.

        The sum is outside of the graphs: a process whose part is beyond its capacity takes part in it as the others do.
        """
        loss = whole.add_up()
        self.update.replay()
        return loss

    def _step(self) -> Tensor:
        """The step on the chosen batch, with the upcoming one laid out meanwhile."""
        stream = torch.cuda.current_stream()
        self.side.wait_stream(stream)
        with torch.cuda.stream(self.side):
            following = self.batcher(self.upcoming)
        read = self.laid_out.read(self.layout, self.found, len(self.chosen))
        loss = joint_loss(*read, self.targets[self.chosen], self.shares)
        gradients = torch.autograd.grad(loss, self.parameters)
        if self.whole is None:
            for parameter, gradient in zip(self.parameters, gradients, strict=True):
                parameter.grad = gradient
            self._optimize(self.optimizer)
        else:
            self.whole.put(gradients, loss)
        stream.wait_stream(self.side)
        self._hold(*following)
        self.chosen.copy_(self.upcoming)
        return loss.detach()

    def _update(self, whole: GradientSum) -> None:
        """What follows where all gradients have been added up."""
        for parameter, part in zip(self.parameters, whole.parts, strict=True):
            parameter.grad = part
        self._optimize(self.optimizer)

    def _optimize(self, optimizer: Any) -> None:
        """Clip the gradient and let Adam step, but not where the gradient is not finite."""
        norm = torch.nn.utils.get_total_norm([p.grad for p in self.parameters if p.grad is not None])
        if self.clip is not None:
            torch.nn.utils.clip_grads_with_norm_(self.parameters, self.clip, norm)
        optimizer.found_inf = (~norm.isfinite()).float()
        optimizer.step()
        del optimizer.found_inf

    def _hold(self, layout: Layout, found: Found) -> None:
        """Make this the chosen batch, in place."""
        self.layout.become(layout)
        for name, pair in self.found.items():
            for old, new in zip(pair, found[name], strict=True):
                old.copy_(new)

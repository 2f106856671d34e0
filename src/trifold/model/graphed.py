"""The training step by kernels: batch, forward, loss, backward and optimizer as one captured CUDA graph."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from trifold.model.model import Model
from trifold.nn import RGNN
from trifold.nn.fused import FusedRGNN
from trifold.nn.layout import Batcher, Capacity, Layout
from trifold.structures import READOUT, Structures

SPREAD = 8
"""So many standard deviations above its mean a batch may hold; a batch beyond takes the reference's step."""


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


def capture_step(
    model: Model,
    optimizer: torch.optim.Optimizer,
    structures: Structures,
    targets: Tensor,
    shares: Tensor,
    batch: int,
    precision: str = "mixed",
    clip: float | None = None,
) -> Callable[[Tensor, Tensor], Tensor | None]:
    """Capture the step on resident encoded structures: indices of a batch → its loss, after the optimizer has stepped.

    Given also the indices of the batch that comes next, which is laid out while this one trains. ``shares`` says how
    much of what is drawn each state is. A batch beyond the capacity, which a few in a million are, is not stepped: the
    result is None.
    """
    network, embed = model.network, model.network.embed
    assert isinstance(embed, RGNN)
    relations = embed.relations
    marks = [name for name, _ in embed.initial.marks]
    names = [*(name for name, _ in relations), READOUT, *marks]
    counts = structures.atom_counts[[structures.signature.index(name) for name in names]].double()
    sizes = torch.cat([counts, structures.element_counts.double()[None]])
    *atoms, elements = likely_sizes(sizes, shares.to(sizes.device), batch)
    capacity = Capacity.of(relations, atoms[: len(relations)], elements)
    aside = dict(zip([READOUT, *marks], atoms[len(relations) :], strict=True))
    batcher = Batcher(structures, capacity, aside)
    fused = FusedRGNN(embed, capacity, precision)
    parameters = list(network.parameters())
    chosen = torch.zeros(batch, dtype=torch.int64, device=structures.device)
    upcoming = torch.zeros_like(chosen)
    layout, found = batcher(chosen)  # of the chosen batch, in place
    side = torch.cuda.Stream()

    def hold(new_layout: Layout, new_found: dict[str, tuple[Tensor, Tensor]]) -> None:
        layout.become(new_layout)
        for name, pair in found.items():
            for old, new in zip(pair, new_found[name], strict=True):
                old.copy_(new)

    def step() -> Tensor:
        stream = torch.cuda.current_stream()
        side.wait_stream(stream)
        with torch.cuda.stream(side):
            following = batcher(upcoming)
        initial = None
        if marks:
            brackets = torch.zeros((capacity.elements, len(marks)), device=structures.device)
            for p, name in enumerate(marks):
                brackets[:, p].index_fill_(0, found[name][0], 1.0)
            initial = brackets @ torch.stack(list(embed.initial.vectors))
        f = fused(layout, initial)
        readout, owners = found[READOUT]
        sums = f.new_zeros((batch + 1, f.shape[1])).index_add(0, owners, f[readout])[:batch]
        loss = (network.readout.mlp(sums).squeeze(1) - targets[chosen]).abs().mean()
        for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
            parameter.grad = gradient
        norm = torch.nn.utils.get_total_norm([parameter.grad for parameter in parameters if parameter.grad is not None])
        if clip is not None:
            torch.nn.utils.clip_grads_with_norm_(parameters, clip, norm)
        optimizer.found_inf = (~norm.isfinite()).float()  # type: ignore[attr-defined]  # such a step is not taken
        optimizer.step()
        del optimizer.found_inf  # type: ignore[attr-defined]
        stream.wait_stream(side)
        hold(*following)
        chosen.copy_(upcoming)
        return loss.detach()

    # Kernels are compiled and the optimizer's state is made before the capture; then all is as it was.
    before = [parameter.detach().clone() for parameter in parameters]
    moments = {p: {name: value.clone() for name, value in state.items()} for p, state in optimizer.state.items()}
    warm = torch.cuda.Stream()
    warm.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(warm):
        for _ in range(2):
            step()
    torch.cuda.current_stream().wait_stream(warm)
    with torch.no_grad():
        for parameter, weight in zip(parameters, before, strict=True):
            parameter.copy_(weight)
            for name, value in optimizer.state[parameter].items():
                value.copy_(moments[parameter][name]) if parameter in moments else value.zero_()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=warm):  # of its own: graphs that run at once must not share cuBLAS's workspace
        result = step()

    prepared: Tensor | None = None

    def replay(indices: Tensor, following: Tensor, kept: object = step) -> Tensor | None:  # the graph reads its tensors
        nonlocal prepared
        if not batcher.fits(indices):
            return None
        if prepared is None or not torch.equal(prepared, indices):
            chosen.copy_(indices)
            hold(*batcher(chosen))
        upcoming.copy_(following.pin_memory(), non_blocking=True)
        graph.replay()
        prepared = following
        return result.clone()

    return replay

"""What a training minimises: the error of V, the error of the scores of actions, or both."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from trifold.data import Dataset
from trifold.memory import MESSAGES_TO_VALIDATE
from trifold.model import HeadedNetwork, Model, ModelConfig
from trifold.nn import Backend, Scored, action_loss, best_are_optimal
from trifold.structures import OPTIMAL, Structures


def batch_loss(
    network: HeadedNetwork, structures: Structures, targets: Tensor, backend: Backend, shares: Tensor | None = None
) -> Tensor:
    """The loss of a batch of encoded structures, with gradients."""
    return joint_loss(*network.read(structures.disjoint_union(), backend), targets, shares)


def joint_loss(values: Tensor | None, scored: Scored | None, targets: Tensor, shares: Tensor | None = None) -> Tensor:
    """The mean of |V* − V|, and the loss of the scores (``action_loss``), of what there is; the sum of both.

    Of a part of a batch it is what that part adds to the loss of the batch: each mean is over other states, and
    ``shares`` says which part of those of the batch are here (``share_of_means``).

    Shapes: values and targets (structures,), shares (heads,) → ().
    """
    losses = [] if values is None else [(values - targets).abs().mean()]
    if scored is not None:
        losses.append(action_loss(scored, len(targets)))
    found = torch.stack(losses)
    return (found if shares is None else found * shares).sum()


def are_asked(structures: Structures) -> Tensor:
    """(structures,) whether each has an optimal action: the loss of the scores is a mean over those that have."""
    rows = [row for row, name in enumerate(structures.signature.names) if name.endswith(OPTIMAL)]
    return structures.atom_counts[rows].sum(0).cpu() > 0


def share_of_means(config: ModelConfig, own: Tensor, batch: Tensor, asked: Tensor) -> Tensor:
    """(heads,) which part of the states is here that the loss of each head is a mean over."""
    shares = [len(own) / len(batch)] if config.has_values else []
    if config.has_actions:
        shares.append(int(asked[own].sum()) / max(int(asked[batch].sum()), 1))
    return torch.tensor(shares)


@dataclass(frozen=True)
class Validation:
    """What a look at the validation states finds.

    loss     the loss that a training minimises, over all of them
    error    the mean of |V* − V|; None without values
    optimal  the share of states whose best-scored action is optimal, of those that have one; None without actions
    """

    loss: float
    error: float | None
    optimal: float | None


@torch.no_grad()
def validate(model: Model, validation: Dataset) -> Validation:
    """Look at the validation states."""
    device = validation.targets.device
    error, loss = torch.zeros((2,), dtype=torch.float64, device=device)
    best = asked = 0
    for structures, targets in validation.batches(MESSAGES_TO_VALIDATE):
        values, scored = model.read(structures)
        if values is not None:
            error += (values - targets).abs().sum()
        if scored is not None:
            optimal, counted = best_are_optimal(scored, len(structures))
            loss += action_loss(scored, len(structures)) * counted
            best, asked = best + optimal, asked + counted
    config = model.config
    mean = float(error) / len(validation) if config.has_values else None
    scores = float(loss) / max(asked, 1) if config.has_actions else 0.0
    return Validation((mean or 0.0) + scores, mean, best / max(asked, 1) if config.has_actions else None)

"""Training on classes: states of one colour are the same input to a network, so one of them stands for all."""

from __future__ import annotations

import torch
from torch import Tensor

from trifold.data import Dataset
from trifold.model import ModelConfig
from trifold.wl import FOLKLORE, add_compositions, digest, number_classes

PIECE = 512
"""So many states are coloured at a time."""


def merge_states(data: Dataset, config: ModelConfig) -> Dataset:
    """Keep one state for each colour and V*, weighted by how many there are.

    Colours are those of the model's own architecture after its L layers. So for any weights of the network the loss
    Σ w |V* − V| over what is kept is the sum of |V* − V| over all states. States of one colour whose V* differ stay
    apart: together they are the multiset of the V* of their class. Where actions are scored, states of one colour have
    the same tuples of colours for their optimal actions, and for the others: so their loss is the same, too.
    """
    classes = number_classes(
        torch.cat([_colours(data, piece, config) for piece in torch.arange(len(data)).split(PIECE)])
    )
    values, value = torch.unique(data.targets.cpu(), return_inverse=True)
    _, kind, counts = torch.unique(classes * len(values) + value, return_inverse=True, return_counts=True)
    first = torch.argsort(kind, stable=True)[torch.cumsum(counts, 0) - counts]  # of each kind
    weights = torch.zeros_like(counts).index_add_(0, kind, data.weights.cpu())
    order = torch.argsort(first)
    return data.keep(first[order], weights[order])


def _colours(data: Dataset, indices: Tensor, config: ModelConfig) -> Tensor:
    structures, _ = data.take(indices)
    if config.build_network([]).folklore:
        return digest(add_compositions(structures.to("cpu")), config.layers, receivers=FOLKLORE)
    return digest(structures, config.layers)

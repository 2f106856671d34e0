"""The same network in plain PyTorch, by unsorted scatters: what ``Incidence`` is measured against."""

from __future__ import annotations

import torch
from torch import Tensor

from trifold.model import HeadedNetwork
from trifold.nn import MLP, RGNN, mish, smooth_max
from trifold.structures import Structures


def rgnn_of(network: HeadedNetwork) -> RGNN | None:
    """The R-GNN of a network; None if it is another one, which sends no messages to scatter."""
    return network.embed if isinstance(network.embed, RGNN) else None


def scattered_values(network: HeadedNetwork, structures: Structures) -> Tensor:
    """V of encoded structures by Algorithm 1, line by line: rows in the order of the atoms, scattered to receivers.

    Shapes: encoded structures → (structures,).
    """
    embed, union = rgnn_of(network), structures.disjoint_union()
    if embed is None:
        raise ValueError("an Edge Transformer sends no messages: there is nothing to scatter")
    senders = [(mlp, union.atoms(name)) for mlp, (name, _) in zip(embed.messages, embed.relations, strict=True)]
    receivers = torch.cat([union.arguments.new_empty(0), *(atoms.reshape(-1) for _, atoms in senders if len(atoms))])
    f = embed.initial(union)
    for _ in range(embed.layers):
        messages = [_apply(mlp, f[atoms].flatten(1)).view(-1, embed.dim) for mlp, atoms in senders if len(atoms)]
        received = smooth_max(torch.cat([f[:0], *messages]), receivers, union.elements, embed.sharpness)
        f = f + _apply(embed.update, torch.cat([f, received], dim=1))
    assert network.readout is not None
    return network.readout(f, union)


def _apply(mlp: torch.nn.Module, x: Tensor) -> Tensor:
    assert isinstance(mlp, MLP)
    return mlp.outer(mish(mlp.inner(x)))

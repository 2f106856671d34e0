"""Values by kernels, where they can run: one policy step, or a validation, on CUDA."""

from __future__ import annotations

from importlib.util import find_spec

import torch
from torch import Tensor

from trifold.model.config import ModelConfig
from trifold.model.network import ValueNetwork
from trifold.nn import RGNN, EdgeTransformer
from trifold.nn.fused import DIMENSIONS, FusedRGNN, reaches
from trifold.nn.layout import Capacity, Layout
from trifold.structures import Structures


def why_not_fused(config: ModelConfig, device: torch.device) -> str | None:
    """Why the kernels cannot run a model on a device, or None if they can: an R-GNN whole, of ET the attention."""
    if device.type != "cuda":
        return f"they run on CUDA, not on {device.type}"
    if find_spec("triton") is None:
        return "Triton is not installed"
    if config.network == "rgnn" and config.dim not in DIMENSIONS:
        return f"they need a dimension of {', '.join(map(str, DIMENSIONS))}, not {config.dim}"
    return None


@torch.no_grad()
def fused_values(network: ValueNetwork, structures: Structures) -> Tensor:
    """V of encoded structures by kernels: of an R-GNN in three products of float16 for one, as exact as float32.

    Numbers beyond 65,504 are cut to that.

    Structures beyond the reach of the kernels' indices are left to the reference. Shapes: → (structures,).
    """
    embed = network.embed
    if not isinstance(embed, RGNN):
        return attended_values(network, structures)
    union = structures.disjoint_union()
    atoms = [len(union.atoms(name)) for name, _ in embed.relations]
    capacity = Capacity.of(embed.relations, atoms, union.elements)
    if not reaches(capacity, embed.dim):
        return network(structures)
    initial = torch.zeros((capacity.elements, embed.dim), device=union.arguments.device)
    initial[: union.elements] = embed.initial(union)
    embeddings = FusedRGNN(embed, capacity, "split")(Layout.of(union, capacity), initial)
    return network.readout(embeddings, union)


def attended_values(network: ValueNetwork, structures: Structures) -> Tensor:
    """V of encoded structures by an Edge Transformer whose attention is a kernel, with gradients. → (structures,)."""
    embed, union = network.embed, structures.disjoint_union()
    assert isinstance(embed, EdgeTransformer)
    return network.readout(embed(union, fused=True), union)

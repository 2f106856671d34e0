"""Values by kernels, where they can run: one policy step, or a validation, on CUDA."""

from __future__ import annotations

from importlib.util import find_spec

import torch
from torch import Tensor

from trifold.model.config import ModelConfig
from trifold.model.network import ValueNetwork
from trifold.nn import RGNN
from trifold.nn.fused import DIMENSIONS, FusedRGNN, reaches
from trifold.nn.layout import Capacity, Layout
from trifold.structures import Structures


def why_not_fused(config: ModelConfig, device: torch.device) -> str | None:
    """Why the kernels cannot run a model on a device, or None if they can."""
    if device.type != "cuda":
        return f"they run on CUDA, not on {device.type}"
    if find_spec("triton") is None:
        return "Triton is not installed"
    if config.network != "rgnn":
        return f"there are none for {config.label}"
    if config.dim not in DIMENSIONS:
        return f"they need a dimension of {', '.join(map(str, DIMENSIONS))}, not {config.dim}"
    return None


@torch.no_grad()
def fused_values(network: ValueNetwork, structures: Structures) -> Tensor:
    """V of encoded structures by kernels, in three TF32 products for one: as exact as float32.

    Structures beyond the reach of the kernels' indices are left to the reference. Shapes: → (structures,).
    """
    embed, union = network.embed, structures.disjoint_union()
    assert isinstance(embed, RGNN)
    atoms = [len(union.atoms(name)) for name, _ in embed.relations]
    capacity = Capacity.of(embed.relations, atoms, union.elements)
    if not reaches(capacity, embed.dim):
        return network(structures)
    initial = torch.zeros((capacity.elements, embed.dim), device=union.arguments.device)
    initial[: union.elements] = embed.initial(union)
    embeddings = FusedRGNN(embed, capacity, "split")(Layout.of(union, capacity), initial)
    return network.readout(embeddings, union)

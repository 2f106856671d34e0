"""The backend ``cuda``: embeddings by Triton kernels."""

from __future__ import annotations

from importlib.util import find_spec

import torch
from torch import Tensor

from trifold.nn.edge_transformer import EdgeTransformer, Grids
from trifold.nn.fused import DIMENSIONS, FusedRGNN, reaches
from trifold.nn.fused_transformer import run_layers
from trifold.nn.layout import Capacity, Layout
from trifold.nn.rgnn import RGNN
from trifold.structures import DisjointUnion


def lacks_kernels(device: torch.device) -> str | None:
    """Why no kernel can run on a device, or None if kernels can."""
    if device.type != "cuda":
        return f"kernels run on CUDA, not on {device.type}"
    return "Triton is not installed" if find_spec("triton") is None else None


def lacks_message_kernels(network: RGNN, device: torch.device) -> str | None:
    """Why the kernels of ``fused`` cannot run an R-GNN, or None if they can."""
    if network.dim not in DIMENSIONS:
        return f"kernels need a dimension of {', '.join(map(str, DIMENSIONS))}, not {network.dim}"
    return lacks_kernels(device)


def is_within_reach(network: RGNN, union: DisjointUnion) -> bool:
    """Whether the kernels' indices reach every number of a layer."""
    return reaches(_capacity(network, union), network.dim)


@torch.no_grad()
def embed_by_kernels(network: RGNN, union: DisjointUnion) -> Tensor:
    """The embeddings of Algorithm 1, in three products of float16 for one, as exact as float32.

    Numbers beyond 65,504 are cut to that. Shapes: → (capacity ≥ elements, dim): what is beyond the elements is unused.
    """
    capacity = _capacity(network, union)
    initial = torch.zeros((capacity.elements, network.dim), device=union.arguments.device)
    initial[: union.elements] = network.initial(union)
    embeddings: Tensor = FusedRGNN(network, capacity, "split")(Layout.of(union, capacity), initial)
    return embeddings


def attend_by_kernels(network: EdgeTransformer, union: DisjointUnion) -> Tensor:
    """The embeddings of an Edge Transformer, with gradients, for which no triple of objects is stored."""
    return run_layers(network, network.initial(union), Grids.of(union.structures.element_counts).pairs)


def _capacity(network: RGNN, union: DisjointUnion) -> Capacity:
    atoms = [len(union.atoms(name)) for name, _ in network.relations]
    return Capacity.of(network.relations, atoms, union.elements)

"""The backend ``native``: Algorithm 1 without gradients, by the compiled library for CPUs."""

from __future__ import annotations

import weakref

import torch
from torch import Tensor

from trifold.native import MlpWeights, NativeNetwork, NetworkWeights, obstacle
from trifold.nn.mlp import MLP
from trifold.nn.rgnn import RGNN
from trifold.structures import DisjointUnion

_compiled: weakref.WeakKeyDictionary[RGNN, tuple[tuple[tuple[int, int], ...], NativeNetwork]] = (
    weakref.WeakKeyDictionary()
)
"""The network that each network became, and which weights it had then: torch counts how often each was written to."""


@torch.no_grad()
def embed_natively(network: RGNN, union: DisjointUnion) -> Tensor:
    """The embeddings that Algorithm 1 computes, to rounding: all layers in one call.

    Elements that the network cannot tell apart are merged, as by ``embed_on_cpu``. Shapes: → (elements, dim).
    """
    atoms = [union.atoms(name).to(torch.int32).numpy() for name, _ in network.relations]
    return torch.from_numpy(compile_network(network).embed(network.initial(union).numpy(), atoms))


def compile_network(network: RGNN) -> NativeNetwork:
    """The network with the weights that it has now; what was made of the same weights before is used again."""
    weights = tuple((weight.data_ptr(), weight._version) for weight in network.parameters())
    found = _compiled.get(network)
    if found is None or found[0] != weights:
        found = _compiled[network] = weights, NativeNetwork(_weights(network))
    return found[1]


def lacks_library(network: RGNN, device: torch.device) -> str | None:
    """Why the compiled library cannot run this network on a device; None if it can."""
    if device.type != "cpu":
        return f"it runs on a CPU, not on {device.type}"
    if next(network.parameters()).dtype != torch.float32:
        return "its weights are no float32"
    return obstacle()


def _weights(network: RGNN) -> NetworkWeights:
    return NetworkWeights(
        network.dim,
        network.layers,
        network.sharpness,
        tuple(arity for _, arity in network.relations),
        tuple(_mlp(mlp) for mlp in network.messages),
        _mlp(network.update),
    )


def _mlp(mlp: torch.nn.Module) -> MlpWeights:
    assert isinstance(mlp, MLP)
    layers = (mlp.inner.weight, mlp.inner.bias, mlp.outer.weight, mlp.outer.bias)
    return MlpWeights(*(weight.detach().numpy() for weight in layers))

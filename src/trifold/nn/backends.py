"""Backends: who computes a network. Each has a name and one signature, and is chosen once, here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from trifold.errors import TrifoldError
from trifold.memory import MESSAGES_TO_VALUE, MESSAGES_TO_VALUE_ON_A_CARD
from trifold.nn.compiled import embed_natively, lacks_library
from trifold.nn.cpu import embed_on_cpu
from trifold.nn.cuda import attend_by_kernels, embed_by_kernels, is_within_reach, lacks_kernels, lacks_message_kernels
from trifold.nn.edge_transformer import EdgeTransformer
from trifold.nn.fused import FusedRGNN
from trifold.nn.fused_transformer import FusedTransformer
from trifold.nn.layout import Capacity, Layout
from trifold.nn.network import Network
from trifold.nn.rgnn import RGNN
from trifold.structures import DisjointUnion

KERNELS = ("auto", "reference", "fused")
"""What a user may ask for: the best backend that a device has, the reference anywhere, or kernels and nothing else."""


class FixedNetwork(Protocol):
    """A network on batches in arrays of fixed size."""

    @property
    def kept_bytes(self) -> int:
        """What a step with gradients keeps of all layers: it takes more than that."""

    def __call__(self, layout: Layout, initial: Tensor | None) -> Tensor:
        """From initial embeddings, or None for 0, to those of the batch, and of what is not in use."""


@dataclass(frozen=True)
class Backend:
    """One way to compute a network of one kind.

    name       "reference", "cpu", "native" or "cuda"
    embed      (network, union) → the embeddings of its elements
    obstacle   (network, device) → why it cannot run this network there, or None if it can
    reaches    (network, union) → whether the union is within its limits; where it is not, the reference must do
    gradients  whether ``embed`` has gradients
    fixed      (network, capacity, precision) → the same for batches in arrays of fixed size, with gradients and without
               a look at any number: what can be captured; None if nothing can
    halves     whether its products are of float16 factors: of one pair in a training step, of three without gradients
    max_rows   messages that one layer may send at once
    """

    name: str
    embed: Callable[[Any, DisjointUnion], Tensor]
    obstacle: Callable[[Any, torch.device], str | None]
    reaches: Callable[[Any, DisjointUnion], bool] = lambda network, union: True
    gradients: bool = False
    fixed: Callable[[Any, Capacity, str], FixedNetwork] | None = None
    halves: bool = False
    max_rows: int = MESSAGES_TO_VALUE

    @property
    def captured(self) -> bool:
        """Whether a training step by it is captured as a CUDA graph, and a look as another."""
        return self.fixed is not None


def _off_the_cpu(network: Network, device: torch.device) -> str | None:
    return None if device.type == "cpu" else f"it runs on a CPU, not on {device.type}"


REFERENCE = Backend("reference", lambda network, union: network(union), lambda network, device: None, gradients=True)
"""A network as its paper writes it, in plain PyTorch, on any device: what every other backend must equal."""

BACKENDS: dict[type[Network], tuple[Backend, ...]] = {
    RGNN: (
        Backend(
            "cuda",
            embed_by_kernels,
            lacks_message_kernels,
            is_within_reach,
            fixed=FusedRGNN,
            halves=True,
            max_rows=MESSAGES_TO_VALUE_ON_A_CARD,
        ),
        Backend("native", embed_natively, lacks_library),
        Backend("cpu", embed_on_cpu, _off_the_cpu),
    ),
    EdgeTransformer: (
        Backend(
            "cuda",
            attend_by_kernels,
            lambda network, device: lacks_kernels(device),
            gradients=True,
            fixed=FusedTransformer,
            max_rows=MESSAGES_TO_VALUE_ON_A_CARD,
        ),
    ),
}
"""What each kind of network has beside the reference, best first; any other network has the reference alone."""


def choose_backend(network: Network, device: torch.device, kernels: str = "auto") -> Backend:
    """The backend for a network on a device; raises if kernels are asked for and cannot run."""
    if kernels not in KERNELS:
        raise TrifoldError(f"kernels are {', '.join(KERNELS)}, not {kernels!r}")
    if kernels == "reference":
        return REFERENCE
    obstacles = {backend: backend.obstacle(network, device) for backend in BACKENDS.get(type(network), ())}
    able = [backend for backend, obstacle in obstacles.items() if obstacle is None]
    if kernels == "fused" and "cuda" not in [backend.name for backend in able]:
        reason = next((why for backend, why in obstacles.items() if backend.name == "cuda"), "it has none")
        raise TrifoldError(f"the kernels cannot run this network: {reason}", remedy="use --kernels reference")
    return able[0] if able else REFERENCE

"""Which architecture a model has: a choice of encoder, which settles the network, and sizes, kept with the weights.

Torch is imported where something is built, and not before: a model can be read and used without it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from trifold.errors import TrifoldError, did_you_mean
from trifold.native import SHARPNESS
from trifold.sealed import Damaged, fill
from trifold.structures import Relation

if TYPE_CHECKING:
    from trifold.encoders import Encoder
    from trifold.nn import Network

HEADS = ("values", "actions", "both")
"""What a model can answer: V of a state, a score for each of its actions, or both from the same embeddings."""

MAX_DIM, MAX_LAYERS, MAX_T = 8_192, 10_000, 1_000
"""More than any network that could be trained, so that a header which asks for more is refused before it is built."""


@dataclass(frozen=True)
class ModelConfig:
    """The architecture; its defaults are the paper's R-GNN[1].

    encoder    "plain" for R-GNN, "pairs" for R-GNN[t], "compositions" for R-GNN₂, "oblivious" for the 2-GNN,
               "marks" for the Edge Transformer, the one that is no R-GNN
    t          0, 1, 2, … or inf, for "pairs"
    dim        k, the width of an embedding; the Edge Transformer's 8 heads share it
    layers     L
    sharpness  of the smooth maximum
    heads      "values", "actions" or "both"

    >>> ModelConfig(t=2).label, ModelConfig(encoder="plain").label, ModelConfig(encoder="marks").label
    ('R-GNN[2]', 'R-GNN', 'ET')
    """

    encoder: str = "pairs"
    t: float = 1
    dim: int = 64
    layers: int = 30
    sharpness: float = SHARPNESS
    heads: str = "values"

    def __post_init__(self) -> None:
        if self.heads not in HEADS:
            raise TrifoldError(f"heads are {', '.join(HEADS)}, not {self.heads!r}")
        if not (1 <= self.dim <= MAX_DIM and 0 <= self.layers <= MAX_LAYERS):
            raise TrifoldError(
                f"dim {self.dim} and layers {self.layers} make no network",
                remedy=f"use positive sizes, dim up to {MAX_DIM:,} and layers up to {MAX_LAYERS:,}",
            )
        if MAX_T < self.t < math.inf:
            raise TrifoldError(f"t {self.t:g} is too large", remedy="use inf: from some t on all are the same")
        if not 0 < self.sharpness < math.inf:
            raise TrifoldError(f"sharpness {self.sharpness:g} makes no maximum", remedy="use a positive number")
        if not self.is_plain_rgnn:
            self._try_to_build()

    @property
    def is_plain_rgnn(self) -> bool:
        """Whether it is an R-GNN over objects or an R-GNN[t]: any sizes fit together, so torch need not be asked."""
        whole = self.t == math.inf or (self.t >= 0 and float(self.t).is_integer())
        return self.encoder == "plain" or (self.encoder == "pairs" and whole)

    def _try_to_build(self) -> None:
        """Raise if there is no such encoder, or its network cannot have these sizes."""
        import torch

        from trifold.encoders import ENCODERS

        if self.encoder not in ENCODERS:
            known = f"one of {', '.join(ENCODERS)}; one of your own must be in a plugin that TRIFOLD_PLUGINS names"
            raise TrifoldError(
                f"there is no encoder {self.encoder!r}", remedy=did_you_mean(self.encoder, ENCODERS, known)
            )
        self.build_encoder()
        with torch.device("meta"):  # which takes no memory: that the sizes fit together is all that is asked
            self.build_network([])

    def build_encoder(self) -> Encoder:
        """The encoder, which maps states to what the network reads."""
        from trifold.encoders import ENCODERS

        return ENCODERS[self.encoder](self.t)

    def build_network(self, relations: Sequence[Relation]) -> Network:
        """The network that reads what the encoder makes, with parameters for the given relations."""
        return NETWORKS.get(self.encoder, _build_rgnn)(relations, self)

    @property
    def has_values(self) -> bool:
        """Whether the model gives V of a state."""
        return self.heads != "actions"

    @property
    def has_actions(self) -> bool:
        """Whether the model scores the actions of a state."""
        return self.heads != "values"

    @property
    def label(self) -> str:
        """The architecture's name in the paper."""
        if self.is_plain_rgnn:  # without torch
            return "R-GNN" if self.encoder == "plain" else f"R-GNN[{'∞' if self.t == math.inf else int(self.t)}]"
        return self.build_encoder().label

    def to_json(self) -> dict[str, Any]:
        """The config as JSON."""
        return asdict(self) | {"t": "inf" if self.t == math.inf else int(self.t)}

    @classmethod
    def from_json(cls, values: object) -> ModelConfig:
        """The config from JSON; what this version does not know is refused."""
        if not isinstance(values, dict):
            raise Damaged("its header has no config")
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(values) - known):
            raise TrifoldError(
                f"the model uses options that this version does not know: {', '.join(unknown)}",
                remedy="install a newer trifold",
            )
        t = values.get("t", 1)
        return fill(cls, values | {"t": math.inf if t == "inf" else t})


def _build_rgnn(relations: Sequence[Relation], config: ModelConfig) -> Network:
    from trifold.nn import RGNN

    return RGNN(relations, config.dim, config.layers, config.sharpness)


def _build_edge_transformer(relations: Sequence[Relation], config: ModelConfig) -> Network:
    from trifold.nn import EdgeTransformer

    return EdgeTransformer(relations, config.dim, config.layers)


NETWORKS: dict[str, Callable[[Sequence[Relation], ModelConfig], Network]] = {"marks": _build_edge_transformer}
"""By encoder, the network that reads it, where that is no R-GNN: marks alone send no messages."""

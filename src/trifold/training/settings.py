"""How a model is trained: the paper's settings, faster ones, and small ones for two CPU cores."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

from trifold.errors import TrifoldError
from trifold.model import ModelConfig
from trifold.nn import KERNELS
from trifold.sealed import fill
from trifold.training.schedule import SCHEDULES


@dataclass(frozen=True)
class Settings:
    """The settings of one training run; the defaults are the paper's.

    steps              of the optimizer. The paper trains for 12 hours of an A10, which we read as 200,000
    minutes            stop earlier, after so many minutes of training; the schedule ends by then
    batch              states in a mini-batch
    balance            1: every V* is drawn equally often; 0: every state; in between, see ``sampler``
    learning_rate      of Adam
    schedule           "constant", or "cosine": the rate rises for 2 % of the steps and falls to zero
    clip               the largest norm that a step's gradient may have; a larger one is scaled down to it
    recover            where the loss blows up, go back to the best weights and go on at half the learning rate
    validate_every     steps between two looks at the validation loss
    validation_states  at most so many states are looked at then: a fixed sample, drawn with the seed
    dead_ends          "keep": with a target one above the largest V* of the data; "drop": leave them out
    merge              keep one state for each colour and V*, with its weight: see ``merge``; the loss is the same
    kernels            "auto", "reference" or "fused": see ``step``; the same function, another speed
    seed               of the first model; further models count up from it
    seeds              how many models are trained; the one with the least validation loss is kept
    """

    steps: int = 200_000
    minutes: float | None = None
    batch: int = 16
    balance: float = 1.0
    learning_rate: float = 2e-4
    schedule: str = "constant"
    clip: float | None = None
    recover: bool = False
    validate_every: int = 1_000
    validation_states: int = 2_000
    dead_ends: str = "keep"
    merge: bool = False
    kernels: str = "auto"
    seed: int = 0
    seeds: int = 1

    def __post_init__(self) -> None:
        for name in ("steps", "batch", "learning_rate", "validate_every", "validation_states", "seeds"):
            if not 0 < getattr(self, name) < math.inf:
                raise TrifoldError(f"{name} must be positive, not {getattr(self, name)}")
        if self.kernels not in KERNELS:
            raise TrifoldError(f"kernels are {', '.join(KERNELS)}, not {self.kernels!r}")
        if self.schedule not in SCHEDULES:
            raise TrifoldError(f"schedules are {', '.join(SCHEDULES)}, not {self.schedule!r}")
        for name in ("minutes", "clip"):
            if getattr(self, name) is not None and not 0 < getattr(self, name) < math.inf:
                raise TrifoldError(f"{name} must be positive, not {getattr(self, name)}", remedy="or leave it out")
        if not 0 <= self.balance <= 1:
            raise TrifoldError(f"balance lies between 0 and 1, not at {self.balance:g}")
        if not 0 <= self.seed < 2**32:
            raise TrifoldError(f"a seed lies between 0 and 2³² − 1, not at {self.seed}")

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: object) -> Settings:
        return fill(cls, values)


@dataclass(frozen=True)
class Preset:
    """A named choice of architecture sizes and settings.

    model     fields of ``ModelConfig``
    settings  fields of ``Settings``
    encoders  fields of ``ModelConfig`` that differ for an encoder
    """

    summary: str
    model: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    encoders: dict[str, dict[str, Any]] = field(default_factory=dict)

    def build(self, model: dict[str, Any], settings: dict[str, Any]) -> tuple[ModelConfig, Settings]:
        """The preset with the choices that were made explicitly (those that are not None)."""
        chosen = {name: value for name, value in model.items() if value is not None}
        wanted = {name: value for name, value in settings.items() if value is not None}
        sizes = self.model | self.encoders.get(chosen.get("encoder", ""), {})
        return ModelConfig(**sizes | chosen), Settings(**self.settings | wanted)


PRESETS = {
    "paper": Preset(
        "the paper's settings: k = 64 (32 for R-GNN₂), L = 30, batch 16, learning rate 2e-4, 200,000 steps",
        encoders={"compositions": {"dim": 32}},
    ),
    "fast": Preset(
        "the paper's network in minutes of one GPU: batch 64, a cosine schedule from 1e-3, 25,000 steps, recovers",
        settings={"steps": 25_000, "batch": 64, "learning_rate": 1e-3, "schedule": "cosine", "recover": True},
        encoders={"compositions": {"dim": 32}},
    ),
    "small": Preset(
        "learns easy domains on two CPU cores in minutes: k = 32, L = 12, batch 32, learning rate 1e-3, 800 steps",
        {"dim": 32, "layers": 12},
        {"steps": 800, "batch": 32, "learning_rate": 1e-3, "validate_every": 50, "validation_states": 300},
    ),
}

"""How a model is trained; recipes choose."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from trifold.data import DEAD_ENDS
from trifold.errors import TrifoldError
from trifold.nn import KERNELS
from trifold.sealed import fill
from trifold.training.schedule import SCHEDULES

KEEP_BY = ("loss", "policy")
"""What decides which weights are kept."""


@dataclass(frozen=True)
class Settings:
    """The settings of one training run; the defaults are the paper's.

    steps              of the optimizer. The paper trains for 12 hours of an A10, which we read as 200,000
    minutes            stop earlier, after this long; the schedule ends by then
    batch              states in a mini-batch
    balance            1: every V* is drawn equally often; 0: every state; in between, see ``sampler``
    learning_rate      of Adam
    schedule           "constant", or "cosine": the rate rises for 2 % of the steps and falls to zero
    clip               the largest norm that a step's gradient may have; a larger one is scaled down to it
    recover            where the loss blows up, go back to the best weights and go on at half the learning rate
    validate_every     steps between two looks at the validation loss
    validation_states  how many states are looked at then, at most: a fixed sample, drawn with the seed
    dead_ends          "keep": with a target one above the largest V* of the data; "drop": leave them out
    merge              keep one state for each colour and V*, with its weight: see ``merge``; the loss is the same
    kernels            "auto", "reference" or "fused": see ``step``; the same function, another speed
    seed               of the first model; further models count up from it
    seeds              how many models are trained; the best is kept
    keep_by            which weights are the best, within a seed and among seeds. "loss", the paper's: those of the
                       least validation loss. "policy": those whose policy solves most held-out problems; of equals
                       those with the shortest plans, then with the least validation loss
    begin              a model of the same encoder and k, by name or file, whose weights it begins with, not random
                       ones: to go on with more problems, say; see ``beginning``
    alone              the share of a training without the teacher, if there is one: see ``lessons``
    rounds             how often it practises, evenly over the rest
    ways               practice problems in a round
    taught             the share of each batch, from the first round on, that are states it was taught
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
    keep_by: str = "loss"
    begin: str | None = None
    alone: float = 0.4
    rounds: int = 8
    ways: int = 4
    taught: float = 0.5

    @property
    def part(self) -> int:
        """How many states of a batch are such that were taught, where there are any."""
        return int(self.taught * self.batch)

    def __post_init__(self) -> None:
        positive = ("steps", "batch", "learning_rate", "validate_every", "validation_states", "seeds", "rounds", "ways")
        for name in positive:
            if not 0 < getattr(self, name) < math.inf:
                raise TrifoldError(f"{name} must be positive, not {getattr(self, name)}")
        choices = {"kernels": KERNELS, "schedule": SCHEDULES, "dead_ends": DEAD_ENDS, "keep_by": KEEP_BY}
        for name, words in choices.items():
            if getattr(self, name) not in words:
                raise TrifoldError(f"{name} is one of {', '.join(words)}, not {getattr(self, name)!r}")
        for name in ("minutes", "clip"):
            if getattr(self, name) is not None and not 0 < getattr(self, name) < math.inf:
                raise TrifoldError(f"{name} must be positive, not {getattr(self, name)}", remedy="or leave it out")
        if not 0 <= self.balance <= 1:
            raise TrifoldError(f"balance lies between 0 and 1, not at {self.balance:g}")
        for name in ("alone", "taught"):
            if not 0 <= getattr(self, name) < 1:
                raise TrifoldError(f"{name} is a share from 0 to less than 1, not {getattr(self, name):g}")
        if not 0 <= self.seed < 2**32:
            raise TrifoldError(f"a seed lies between 0 and 2³² − 1, not at {self.seed}")

    def to_json(self) -> dict[str, Any]:
        """Its fields, as ``from_json`` reads them."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: object) -> Settings:
        """Read and check the fields that a config.json or a model holds."""
        return fill(cls, values)

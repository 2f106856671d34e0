"""Floors: the seconds that a machine cannot do some work in less than, at its measured rates."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from trifold.bench.machine import Machine
from trifold.bench.work import Work

PASSES = 3
"""A training step's products: one forward, and backward one for the inputs and one for the weights."""


@dataclass(frozen=True)
class Floor:
    """Seconds of the arithmetic, products and Mish, and of the traffic with memory; the flops of the products.

    >>> floor = Floor(products=3.0, mish=1.0, memory=2.0, flops=6e9)
    >>> floor.seconds, floor.bound
    (4.0, 'arithmetic')
    """

    products: float
    mish: float
    memory: float
    flops: float

    @property
    def seconds(self) -> float:
        """The least time that it can take."""
        return max(self.products + self.mish, self.memory)

    @property
    def bound(self) -> str:
        """What bounds it: arithmetic, or the bandwidth of memory."""
        return "arithmetic" if self.products + self.mish > self.memory else "bandwidth"

    def to_json(self) -> dict[str, Any]:
        """The floor as JSON."""
        return {"seconds": self.seconds, "bound": self.bound} | asdict(self)


def floor_of_work(work: Work, machine: Machine, *, training: bool, precision: str = "ieee") -> Floor:
    """The floor of a forward pass, or of a training step.

    Mish counts on a CPU. A card does it on other units than its products, while these run.
    """
    passes = PASSES if training else 1
    products = sum(
        passes * 2 * inputs * outputs * rows / machine.product(inputs, outputs, precision)
        for (inputs, outputs), rows in work.products.items()
    )
    mish = work.mish / machine.mish(training=training) if machine.device.type == "cpu" else 0.0
    return Floor(products, mish, work.bytes(training=training) / machine.copy(), passes * work.flops)


def floor_of_bytes(count: float, machine: Machine) -> Floor:
    """The floor of what only reads and writes so many bytes."""
    return Floor(0.0, 0.0, count / machine.copy(), 0.0)

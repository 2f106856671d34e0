"""What this machine can do, measured: products of given shapes, Mish, copies, gathers and sums of segments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn import functional

from trifold.bench.timing import repeat
from trifold.nn import mish

SIZES = {"cpu": (2**8, 2**10, 2**12, 2**14), "cuda": (2**14, 2**16, 2**18)}
"""Rows of the products, and of what else is measured."""

QUIET_SECONDS = 0.002
"""So short are the groups of calls of which the best counts: on a busy machine a longer one is always disturbed."""

COPY_BYTES = {"cpu": 2**26, "cuda": 2**30}

PRECISIONS = {"ieee": torch.float32, "fp16": torch.float16}
"""The products of the kernels by name → the numbers that torch multiplies; ieee is what the reference does."""


class Machine:
    """Rates of a device, each measured when it is first asked for: the best of repeated calls and of several sizes."""

    def __init__(self, device: torch.device | str, seconds: float) -> None:
        self.device, self.seconds = torch.device(device), seconds
        self.sizes = SIZES["cuda" if self.device.type == "cuda" else "cpu"]
        self._known: dict[str, float] = {}

    def product(self, inputs: int, outputs: int, precision: str = "ieee") -> float:
        """FLOP/s of products with a weight matrix of this shape."""
        if precision.endswith("x3"):
            return self.product(inputs, outputs, precision.removesuffix("x3")) / 3
        dtype = PRECISIONS[precision]

        def measure(rows: int) -> float:
            x, weight, out = (
                self._numbers(*shape).to(dtype) for shape in ((rows, inputs), (outputs, inputs), (rows, outputs))
            )
            return 2 * rows * inputs * outputs / self._time(lambda: torch.mm(x, weight.t(), out=out))

        with _full_precision():
            return self._best(f"product {inputs} → {outputs}, {precision}, FLOP/s", measure)

    def mish(self, *, training: bool) -> float:
        """Numbers a second that Mish is applied to, with its backward pass if training; the faster of two forms."""

        def measure(rows: int) -> float:
            x = self._numbers(rows, 64).requires_grad_(training)
            ones = torch.ones_like(x)
            forms: list[Callable[[Any], Any]] = [mish, functional.mish]
            calls = [
                (lambda f=f: torch.autograd.grad(f(x), x, ones)) if training else (lambda f=f: f(x)) for f in forms
            ]
            return x.numel() / min(self._time(call) for call in calls)

        return self._best(f"Mish{', forward and backward' if training else ''}, numbers/s", measure)

    def copy(self) -> float:
        """Bytes a second that memory reads and writes together, in a copy larger than the caches."""

        def measure(count: int) -> float:
            source = torch.ones(count, dtype=torch.uint8, device=self.device)
            target = torch.empty_like(source)
            return 2 * count / self._time(lambda: target.copy_(source))

        size = COPY_BYTES["cuda" if self.device.type == "cuda" else "cpu"]
        return self._best("copy, bytes/s", measure, (size,))

    def gather(self, dim: int) -> float:
        """Rows of so many numbers a second that are gathered at random."""

        def measure(rows: int) -> float:
            f = self._numbers(max(rows // 8, 1), dim)
            index = torch.randint(0, len(f), (rows,), device=self.device)
            return rows / self._time(lambda: f.index_select(0, index))

        return self._best(f"gather, rows of {dim}/s", measure)

    def segment_sum(self, dim: int) -> float:
        """Rows of so many numbers a second that are summed by segments of eight."""

        def measure(rows: int) -> float:
            messages = self._numbers(rows, dim)
            lengths = torch.full((rows // 8,), 8, device=self.device)
            return rows / self._time(lambda: torch.segment_reduce(messages, "sum", lengths=lengths, unsafe=True))

        return self._best(f"segment sum, rows of {dim}/s", measure)

    def to_json(self) -> dict[str, float]:
        """The rates that have been measured."""
        return dict(self._known)

    def _best(self, name: str, measure: Callable[[int], float], sizes: tuple[int, ...] | None = None) -> float:
        if name not in self._known:
            self._known[name] = max(measure(size) for size in sizes or self.sizes)
        return self._known[name]

    def _time(self, function: Callable[[], object]) -> float:
        return repeat(function, self.seconds, device=self.device, group_seconds=QUIET_SECONDS).least

    def _numbers(self, *shape: int) -> torch.Tensor:
        return torch.randn(*shape, device=self.device)


@contextmanager
def _full_precision() -> Iterator[None]:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)

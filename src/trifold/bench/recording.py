"""The arithmetic that a call in fact does: less than is counted, where a network takes short cuts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from trifold.bench.work import Work

ATEN = torch.ops.aten
PRODUCTS = {ATEN.mm: 0, ATEN.addmm: 1, ATEN.addmm_: 1}
"""Products of matrices → the place of the first one among their arguments."""

MISH = (ATEN.mish, ATEN.mish_, ATEN.sigmoid)
"""What Mish is computed with, once for each number: torch's own, or the sigmoid of ``nn.mish``."""


def record_work(function: Callable[[], object]) -> Work:
    """The products and Mish of a call without gradients; what kernels of our own do is not seen."""
    with torch.no_grad(), _Recorder() as recorder:
        function()
    return Work(dict(recorder.products), recorder.mish, embeddings=0, rows=0, parameters=0)


class _Recorder(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch declares no types here
        self.products: Counter[tuple[int, int]] = Counter()
        self.mish = 0

    def __torch_dispatch__(self, operator: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        packet = operator.overloadpacket
        if packet in PRODUCTS:
            left, right = args[PRODUCTS[packet] :][:2]
            if left.shape[1]:
                self.products[left.shape[1], right.shape[1]] += left.shape[0]
        elif packet in MISH:
            self.mish += args[0].numel()
        return operator(*args, **kwargs or {})

"""The one kind of MLP in the paper."""

from __future__ import annotations

from torch import Tensor, nn

from trifold.nn.mish import mish


class MLP(nn.Module):
    """MLP(x) = W₂ mish(W₁ x + b₁) + b₂.

    The hidden layer is as wide as the input: the authors' code does so, the paper is silent.

    Shapes: (rows, inputs) → (rows, outputs).
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.inner = nn.Linear(inputs, inputs)
        self.outer = nn.Linear(inputs, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """The MLP of each row."""
        return self.outer(mish(self.inner(x)))

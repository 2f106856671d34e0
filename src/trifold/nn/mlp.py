"""The one kind of MLP in the paper."""

from __future__ import annotations

from torch import Tensor, nn

from trifold.nn.mish import mish


class MLP(nn.Module):
    """MLP(x) = W₂ mish(W₁ x + b₁) + b₂.

    The hidden layer is as wide as the input, unless another width is given: the authors' code does so, the paper is
    silent.

    Shapes: (rows, inputs) → (rows, outputs).
    """

    def __init__(self, inputs: int, outputs: int, hidden: int | None = None) -> None:
        super().__init__()
        self.inner = nn.Linear(inputs, hidden or inputs)
        self.outer = nn.Linear(hidden or inputs, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """The MLP of each row."""
        return self.outer(mish(self.inner(x)))

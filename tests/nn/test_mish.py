"""Mish with one exponential is Mish."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from trifold.nn.mish import SMALL, _Mish, mish


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_equals_torch_in_value_and_gradient(dtype: torch.dtype) -> None:
    x = torch.cat(
        [torch.linspace(-90, 90, SMALL, dtype=dtype), torch.tensor([0.0, -1e4, 1e4, 1e30, -1e30], dtype=dtype)]
    )
    ours, theirs = x.clone().requires_grad_(), x.clone().requires_grad_()
    mish(ours).sum().backward()
    functional.mish(theirs).sum().backward()
    precision = 40 * torch.finfo(dtype).eps  # 1 − τ² cancels, times x where that still counts
    torch.testing.assert_close(mish(ours), functional.mish(theirs), rtol=precision, atol=precision)
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=precision, atol=precision)


def test_passes_gradcheck() -> None:
    x = torch.linspace(-25, 25, 60, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(_Mish.apply, x)
    assert torch.equal(mish(x), functional.mish(x)), "few elements are torch's"

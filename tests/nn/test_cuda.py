"""Values by kernels are the network's; without a GPU, Triton's interpreter runs them."""

from __future__ import annotations

import pytest
import torch

from oracles import Naive, from_naive
from trifold.model import HeadedNetwork, ModelConfig
from trifold.nn import BACKENDS, RGNN
from trifold.structures import Signature

pytest.importorskip("triton")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, of lanes that are masked out
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
STAR = (5, {("edge", (0, o)) for o in range(5)})


@pytest.mark.parametrize("hoist", [0, float("inf")])
@pytest.mark.parametrize("encoder", ["plain", "pairs", "oblivious"])
def test_values_by_kernels_are_the_networks(encoder: str, hoist: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a structure without objects, and of none at all."""
    monkeypatch.setattr("trifold.nn.layout.HOIST", hoist)
    config = ModelConfig(encoder=encoder, dim=16, layers=2)
    naive: list[Naive] = [STAR, (2, {("edge", (1, 0)), ("red", (1,))}), (0, set())]
    structures = config.build_encoder()(from_naive(naive, Signature.of([("edge", 2), ("red", 1)]))).to(DEVICE)
    torch.manual_seed(0)
    network = HeadedNetwork(list(structures.signature), config).to(DEVICE)
    for chosen in ([2, 0, 1], []):
        part = structures.take(torch.tensor(chosen, dtype=torch.int64, device=DEVICE))
        by_kernels = network(part, BACKENDS[RGNN][0])
        torch.testing.assert_close(by_kernels, network(part), rtol=1e-5, atol=1e-5)

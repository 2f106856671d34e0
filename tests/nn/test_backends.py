"""Who computes a network is chosen once, by name, and what is beyond a backend is counted and said."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from oracles import SIGNATURE, from_naive, random_structures
from trifold.encoders import Plain
from trifold.errors import TrifoldError
from trifold.model import BeyondBackend, Model, ModelConfig
from trifold.native import obstacle
from trifold.nn import BACKENDS, REFERENCE, RGNN, EdgeTransformer, Network, choose_backend

CPU, CUDA = torch.device("cpu"), torch.device("cuda")
BEST = "cpu" if obstacle() else "native"


class Mine(Network):
    """A network from elsewhere."""


def name(network: Network, device: torch.device, kernels: str = "auto") -> str:
    return choose_backend(network, device, kernels).name


def test_each_network_has_the_best_backend_of_its_device() -> None:
    pytest.importorskip("triton")
    networks = RGNN([], 32, 1), RGNN([], 24, 1), EdgeTransformer([], 24, 1), Mine()
    assert [name(network, CPU) for network in networks] == [BEST, BEST, "reference", "reference"]
    assert [name(network, CUDA) for network in networks] == ["cuda", "reference", "cuda", "reference"]


@pytest.mark.parametrize("device", [CPU, CUDA])
def test_the_reference_can_be_forced_anywhere(device: torch.device) -> None:
    assert all(name(network, device, "reference") == "reference" for network in (RGNN([], 32, 1), Mine()))


@pytest.mark.parametrize(
    ("network", "device", "reason"),
    [
        (RGNN([], 32, 1), CPU, "kernels run on CUDA, not on cpu"),
        (RGNN([], 24, 1), CUDA, "need a dimension of 16, 32, 64, 128, not 24"),
        (EdgeTransformer([], 24, 1), CPU, "kernels run on CUDA, not on cpu"),
        (Mine(), CUDA, "it has none"),
    ],
)
def test_kernels_that_cannot_run_are_refused_with_the_reason(
    network: Network, device: torch.device, reason: str
) -> None:
    with pytest.raises(TrifoldError, match=f"{reason}(.|\n)*--kernels reference"):
        choose_backend(network, device, "fused")


def test_kernels_have_three_names() -> None:
    with pytest.raises(TrifoldError, match="kernels are auto, reference, fused, not 'magic'"):
        choose_backend(Mine(), CPU, "magic")


def test_a_model_says_by_what_it_is_computed_and_can_be_told() -> None:
    model = fresh()
    assert model.backend.name == BEST
    assert model.to("cpu", "reference").backend is REFERENCE
    structures = from_naive(random_structures(4, objects=5, atoms=8, seed=1))
    reference = model.structure_values(structures)
    torch.testing.assert_close(model.to("cpu").structure_values(structures), reference, rtol=1e-5, atol=1e-5)


def test_what_is_beyond_a_backend_is_left_to_the_reference_counted_and_said() -> None:
    model = fresh()
    structures = from_naive(random_structures(4, objects=5, atoms=8, seed=1))
    expected = model.to("cpu", "reference").structure_values(structures)
    model.backend = replace(BACKENDS[RGNN][-1], reaches=lambda network, union: union.elements <= 5)
    with pytest.warns(BeyondBackend, match="beyond the limits of the backend cpu"):
        found = model.structure_values(structures)
    assert torch.equal(found, expected) and model.beyond == 1
    model.structure_values(structures.take(torch.tensor([0])))
    assert model.beyond == 1


def fresh() -> Model:
    """A small model of plain structures, in which every relation has been seen."""
    atoms = {relation.name: 1 for relation in Plain().signature(SIGNATURE)}
    return Model.fresh(ModelConfig(encoder="plain", dim=8, layers=2), SIGNATURE, "", atoms, 0)

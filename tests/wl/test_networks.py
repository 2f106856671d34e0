"""The bound: no network separates what the colouring of its input merges, and random ones separate the rest."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import pytest
import torch

from trifold.domains import DOMAINS, domain_text
from trifold.encoders import Plain
from trifold.model import HeadedNetwork, ModelConfig
from trifold.pddl import expand
from trifold.structures import READOUT, Structures
from trifold.wl import refine
from trifold.wl.folklore import FOLKLORE, add_compositions

CONFIGS = {
    "R-GNN": ModelConfig(encoder="plain"),
    "R-GNN[0]": ModelConfig(t=0),
    "R-GNN[1]": ModelConfig(t=1),
    "R-GNN[2]": ModelConfig(t=2),
    "R-GNN[∞]": ModelConfig(t=math.inf),
    "R-GNN₂": ModelConfig(encoder="compositions"),
    "2-GNN": ModelConfig(encoder="oblivious"),
    "ET": ModelConfig(encoder="marks"),
}
SIZES = {"gripper": 3, "blocks-m": 4, "logistics": 2, "visitall": 3, "miconic": 3}
TOLERANCE = 1e-10
"""Relative to the largest number of the network's output."""


@pytest.fixture(scope="module", params=SIZES)
def states(request: pytest.FixtureRequest) -> Structures:
    problem = DOMAINS[request.param].problem(random.Random(7), SIZES[request.param])
    structures = expand(domain_text(request.param), problem, 50_000).structures()
    chosen = random.Random(1).sample(range(len(structures)), min(120, len(structures)))
    return structures.take(torch.tensor(chosen))


def spread(numbers: torch.Tensor, classes: torch.Tensor) -> Any:
    """(classes, …) the least and the greatest number of each class."""
    numbers = numbers.reshape(len(classes), -1)
    index = classes[:, None].expand_as(numbers)
    empty = numbers.new_zeros((int(classes.max()) + 1, numbers.shape[1]))
    return (empty.scatter_reduce(0, index, numbers, way, include_self=False) for way in ("amin", "amax"))


def assert_merged(numbers: torch.Tensor, classes: torch.Tensor) -> None:
    low, high = spread(numbers, classes)
    assert (high - low).max() <= TOLERANCE * numbers.abs().max()


@pytest.mark.parametrize("layers", [1, 2, 4])
@pytest.mark.parametrize("name", CONFIGS)
def test_a_network_separates_what_the_colouring_does(states: Structures, name: str, layers: int) -> None:
    """With gradients: without them a CPU merges equal elements by a colouring of its own."""
    config = replace(CONFIGS[name], dim=8, layers=layers)
    encoded = config.build_encoder()(states)
    relations = [relation for relation in encoded.signature if relation.name != READOUT]
    if name == "ET":
        colouring = refine(add_compositions(encoded), layers, receivers=FOLKLORE)
    else:
        colouring = refine(encoded, layers)
    network = HeadedNetwork.seeded(relations, config, 1).double()
    values = network(encoded).detach()
    assert_merged(network.embed(encoded.disjoint_union()).detach(), colouring.elements)
    assert_merged(values, colouring.structures)

    representatives, _ = spread(values, colouring.structures)
    gaps = (representatives - representatives.T).abs() > TOLERANCE * values.abs().max()
    pairs = len(gaps) * (len(gaps) - 1)
    assert gaps.sum() >= 0.99 * pairs


def test_a_network_of_some_relations_sees_no_others() -> None:
    structures = expand(domain_text("gripper"), DOMAINS["gripper"].problem(random.Random(0), 2), 1000).structures()
    encoded = Plain()(structures)
    relations = [encoded.signature["carry"]]
    colouring = refine(encoded, 2, relations=["carry"])
    network = HeadedNetwork.seeded(relations, ModelConfig(dim=8, layers=2), 1).double()
    assert_merged(network(encoded).detach(), colouring.structures)
    assert 1 < colouring.classes[-1] < refine(encoded, 2).classes[-1]

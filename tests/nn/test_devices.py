"""On a GPU everything is computed where the data lives, and equals what the CPU computes."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import pytest
import torch

from oracles import SIGNATURE, from_naive, random_structures, to_naive
from trifold.data import Dataset
from trifold.domains import DOMAINS, domain_text
from trifold.encoders import encode_all
from trifold.model import HeadedNetwork, Model, ModelConfig
from trifold.pddl import expand, load_problem
from trifold.structures import READOUT, Signature

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
CONFIGS = [
    ModelConfig(encoder="plain"),
    *(ModelConfig(t=t) for t in (0, 1, 2, math.inf)),
    *(ModelConfig(encoder=name) for name in ("compositions", "oblivious", "marks")),
]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.label)
def test_encoders_and_networks_agree_with_the_cpu(config: Any) -> None:
    encoder, config = config.build_encoder(), replace(config, dim=8, layers=4)
    arity = 2 if config.encoder in ("oblivious", "marks") else 3  # the most that they take
    signature = Signature.of(relation for relation in SIGNATURE if relation.arity <= arity)
    structures = from_naive(random_structures(6, objects=9, atoms=12, seed=1), signature)
    here, there = encode_all(encoder, structures, 500), encode_all(encoder, structures.to("cuda"), 500)
    assert there.arguments.is_cuda and to_naive(here) == to_naive(there.to("cpu"))
    relations = [relation for relation in here.signature if relation.name != READOUT]
    network = HeadedNetwork.seeded(relations, config, 0).double()
    value = network(here)
    expected = torch.autograd.grad(value.sum(), list(network.parameters()))
    network = network.to("cuda")
    found = network(there.take(torch.arange(6)))
    torch.testing.assert_close(found.cpu(), value)
    for left, right in zip(torch.autograd.grad(found.sum(), list(network.parameters())), expected, strict=True):
        torch.testing.assert_close(left.cpu(), right)


def test_data_sets_and_models_agree_with_the_cpu() -> None:
    domain, text = domain_text("gripper"), DOMAINS["gripper"].problem(random.Random(0), 3)
    space = expand(domain, text, 1000)
    config = ModelConfig(dim=8, layers=4)
    indices = torch.tensor([3, 0, 7])
    sets = [
        Dataset.build([space], config.build_encoder(), dead_end_target=9, device=device, max_gib=size)
        for device, size in (("cpu", 1), ("cuda", 1), ("cuda", 1e-6))
    ]
    model = Model.fresh(config, space.table.signature, domain, sets[0].atom_counts, 0)
    problem = load_problem(model.domain, text)
    states = [problem.initial_state, *(state for _, state in problem.successors(problem.initial_state))]
    values = model.values(states)
    batch, targets = sets[0].take(indices)
    expected = model.network(batch)
    model.to("cuda")
    torch.testing.assert_close(model.values(states), values)
    for data in sets[1:]:
        batch, there = data.take(indices)
        assert batch.arguments.is_cuda and torch.equal(there.cpu(), targets)
        torch.testing.assert_close(model.network(batch).cpu(), expected)

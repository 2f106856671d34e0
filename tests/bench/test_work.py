"""Work is counted as it is done: against torch's own count, and by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from torch.utils.flop_counter import FlopCounterMode

from oracles import SIGNATURE, Naive, batches, from_naive
from trifold.bench.floors import PASSES, floor_of_bytes, floor_of_work
from trifold.bench.machine import Machine
from trifold.bench.recording import record_work
from trifold.bench.scatter import scattered_values
from trifold.bench.work import count_work
from trifold.encoders import Encoder, Marks, Oblivious, Pairs, Plain, Queried
from trifold.model import HeadedNetwork, ModelConfig
from trifold.nn import REFERENCE
from trifold.structures import READOUT, Signature, Structures, query_relations

DIM, LAYERS = 8, 3
BINARY = Signature.of([("edge", 2), ("red", 1)])
TRIANGLE = Structures.build(BINARY, [3], {"edge": [[[0, 1], [1, 2], [0, 2]]], "red": [[[1]]]})


def network_for(encoder: Encoder, signature: Signature, encoder_name: str = "pairs") -> HeadedNetwork:
    relations = [relation for relation in encoder.signature(signature) if relation.name != READOUT]
    return HeadedNetwork.seeded(relations, ModelConfig(encoder_name, dim=DIM, layers=LAYERS), 0).double()


def counted_flops(function: Callable[..., Any]) -> int:
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        function()
    return counter.get_total_flops()


@pytest.mark.parametrize("encoder", [Plain(), Pairs(0), Pairs(1)])
@given(naive=batches)
def test_flops_are_those_that_torch_counts_and_the_scattered_network_is_the_network(
    encoder: Encoder, naive: list[Naive]
) -> None:
    structures, network = encoder(from_naive(naive)), network_for(encoder, SIGNATURE)
    work = count_work(network, structures)
    assert work.flops == counted_flops(lambda: scattered_values(network, structures))
    recorded = record_work(lambda: scattered_values(network, structures))
    assert (recorded.products, recorded.mish) == (work.products, work.mish)
    assert work.rows == LAYERS * int(structures.message_rows().sum())
    least = count_work(network, structures, hoisted=True)
    assert least.flops <= work.flops and least.mish == work.mish
    torch.testing.assert_close(scattered_values(network, structures), network(structures), rtol=1e-9, atol=1e-9)


def test_what_is_not_computed_is_not_recorded() -> None:
    """Copies of one structure: a network may compute one of them, and its recording then says so."""
    copies = Plain()(TRIANGLE).take(torch.zeros(2000, dtype=torch.int64))
    network = network_for(Plain(), BINARY)
    all_of_it = count_work(network, copies)
    scattered = record_work(lambda: scattered_values(network, copies))  # so many that Mish takes its other form
    assert (scattered.products, scattered.mish) == (all_of_it.products, all_of_it.mish)
    recorded = record_work(lambda: network(copies))
    assert 0 < recorded.flops <= all_of_it.flops and 0 < recorded.mish <= all_of_it.mish


def test_marks_are_a_product_too() -> None:
    structures, network = Oblivious()(TRIANGLE), network_for(Oblivious(), BINARY, "oblivious")
    found = counted_flops(lambda: scattered_values(network, structures))
    assert count_work(network, structures).flops == found


@pytest.mark.parametrize("encoder", [Plain(), Pairs(1)])
def test_scores_of_actions_are_products_too(encoder: Encoder) -> None:
    queries = query_relations([("go", 2), ("wait", 0)])
    asked = {"go@applicable": [[[0, 1], [2, 0]]], "go@optimal": [[[1, 2]]], "wait()@applicable": [[[0]]]}
    structures = Structures.build(
        Signature((*BINARY, *queries)), [3], {"edge": [[[0, 1], [1, 2]]], "red": [[[1]]], **asked}
    )
    encoded = Queried(encoder)(structures)
    relations = [relation for relation in encoded.signature if relation.name != READOUT]
    config = ModelConfig("plain" if isinstance(encoder, Plain) else "pairs", dim=DIM, layers=LAYERS, heads="both")
    network = HeadedNetwork.seeded(relations, config, 0).double()
    found = counted_flops(lambda: network.read(encoded.disjoint_union(), REFERENCE))
    assert count_work(network, encoded).flops == found


def test_an_edge_transformer_counts_its_triples() -> None:
    structures, network = Marks()(TRIANGLE), network_for(Marks(), BINARY, "marks")
    found = counted_flops(lambda: network(structures))
    assert count_work(network, structures).flops == pytest.approx(found, rel=0.05)  # triples are counted in rows of k
    with pytest.raises(ValueError, match="nothing to scatter"):
        scattered_values(network, structures)


def test_a_hand_count() -> None:
    """Three binary atoms and a unary one over three objects; edges have 2 + 2 different elements by position."""
    network = network_for(Plain(), BINARY)
    work = count_work(network, Plain()(TRIANGLE))
    update = {(2 * DIM, 2 * DIM): 3 * LAYERS, (2 * DIM, DIM): 3 * LAYERS}
    messages = {(2 * DIM, 2 * DIM): 3 * 2 * LAYERS, (DIM, DIM): 1 * 2 * LAYERS}
    readout = {(DIM, DIM): 1, (DIM, 1): 1}
    total = {shape: sum(part.get(shape, 0) for part in (update, messages, readout)) for shape in work.products}
    assert work.products == total
    assert work.mish == LAYERS * DIM * (3 * 2 + 1 + 3 * 2) + DIM
    hoisted = count_work(network, Plain()(TRIANGLE), hoisted=True)
    assert hoisted.products[DIM, 2 * DIM] == 4 * LAYERS
    assert hoisted.products[2 * DIM, 2 * DIM] == (3 + 3) * LAYERS
    assert work.embeddings == LAYERS * 3 * DIM and work.rows == LAYERS * 7
    assert work.bytes(training=False) == 2 * 4 * work.embeddings + 4 * work.rows
    assert work.bytes(training=True) == 5 * 4 * work.embeddings + 8 * work.rows + 28 * work.parameters
    assert work.share(2).flops == work.flops / 2 and work.share(2).parameters == work.parameters


class Steady(Machine):
    """A machine with known rates."""

    def product(self, inputs: int, outputs: int, precision: str = "ieee") -> float:
        return 1e6

    def mish(self, *, training: bool) -> float:
        return 1e3 if training else 2e3

    def copy(self) -> float:
        return 1e9


def test_floors_are_work_over_rates() -> None:
    work, machine = count_work(network_for(Plain(), BINARY), Plain()(TRIANGLE)), Steady("cpu", seconds=0.0)
    forward = floor_of_work(work, machine, training=False)
    step = floor_of_work(work, machine, training=True)
    assert forward.products == pytest.approx(work.flops / 1e6) and forward.mish == pytest.approx(work.mish / 2e3)
    assert forward.bound == "arithmetic" and forward.seconds == forward.products + forward.mish
    assert step.products == pytest.approx(PASSES * forward.products) and step.mish == pytest.approx(2 * forward.mish)
    assert step.flops == PASSES * work.flops
    moved = floor_of_bytes(2e9, machine)
    assert (moved.seconds, moved.bound, moved.flops) == (2.0, "bandwidth", 0.0)


def test_rates_are_measured_once() -> None:
    machine = Machine("cpu", seconds=0.0)
    rates = [
        machine.product(4, 8),
        machine.product(4, 8, "fp16"),
        machine.mish(training=False),
        machine.mish(training=True),
        machine.gather(4),
        machine.segment_sum(4),
    ]
    assert all(rate > 0 for rate in rates) and len(set(rates)) == len(machine.to_json()) == 6
    assert machine.product(4, 8) == rates[0]
    assert torch.get_float32_matmul_precision() == "highest"

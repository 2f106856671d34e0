"""The stages on the way from PDDL to a trained network, timed: labelling, encoding, batching, training step."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, cycle
from pathlib import Path

import torch
from torch import Tensor

from trifold.bench.floors import floor_of_bytes, floor_of_work
from trifold.bench.machine import Machine
from trifold.bench.report import Measurement
from trifold.bench.timing import Timing, repeat
from trifold.bench.work import count_work
from trifold.data import Dataset
from trifold.encoders import Encoder, encode_all
from trifold.model import Model
from trifold.nn import PRECISIONS, choose_backend
from trifold.pddl import ARRAYS, StateSpace, expand, expand_with_pymimir
from trifold.structures import Structures
from trifold.training import BalancedSampler, Settings, TrainingStep, build_optimizer

BATCHES = 16
"""So many batches are drawn, and taken in turns; a training draws on."""


@dataclass(frozen=True)
class Bench:
    """What all stages share: the machine, and for about how many seconds each thing is measured."""

    machine: Machine
    seconds: float

    def time(self, function: Callable[[], object], *, warm_up: bool = True) -> Timing:
        """Time a function, again and again for the seconds of a measurement."""
        gc.collect()  # so that no call pays for what came before it
        return repeat(function, self.seconds, device=self.machine.device, warm_up=warm_up)


def time_labelling(
    bench: Bench, domain: Path, problems: Sequence[Path], spaces: Sequence[StateSpace], max_states: int
) -> list[Measurement]:
    """Expand and label whole problems, against pymimir's search."""
    floor = floor_of_bytes(sum(getattr(space, name).nbytes for space in spaces for name in ARRAYS), bench.machine)
    row = partial(Measurement, "labelling", states=sum(map(len, spaces)), floor=floor)
    ours = bench.time(lambda: [expand(domain, path, max_states) for path in problems])
    theirs = bench.time(lambda: [expand_with_pymimir(domain, path, max_states) for path in problems], warm_up=False)
    engines = " and ".join(sorted({space.engine for space in spaces}))
    return [
        row(what=f"trifold, {engines} search", timing=ours, against=("pymimir", theirs)),
        row(what="pymimir's search", timing=theirs),
    ]


def time_encoding(bench: Bench, encoder: Encoder, plain: Structures) -> Measurement:
    """Encode structures over objects for a network."""
    floor = floor_of_bytes(plain.nbytes + encode_all(encoder, plain).nbytes, bench.machine)
    return Measurement("encoding", encoder.label, bench.time(lambda: encode_all(encoder, plain)), len(plain), floor)


def time_batching(bench: Bench, data: Dataset, batch: int, seed: int) -> Measurement:
    """Gather the encoded structures of a batch."""
    batches = draw_batches(BalancedSampler(data.targets, batch, seed))
    moved = 2 * sum(data.take(indices)[0].nbytes for indices in batches) / len(batches)
    turn = cycle(batches)
    timing = bench.time(lambda: data.take(next(turn)))
    return Measurement("batching", f"batch {batch}", timing, batch, floor_of_bytes(moved, bench.machine))


def time_training(bench: Bench, model: Model, data: Dataset, batch: int, seed: int) -> list[Measurement]:
    """Whole training steps, batching and optimizer included: by kernels where they run, and by the reference."""
    sampler = BalancedSampler(data.targets, batch, seed)
    batches = draw_batches(sampler)
    structures, _ = data.take(torch.cat(batches))
    as_written, hoisted = (
        count_work(model.network, structures, hoisted=hoisted).share(len(batches)) for hoisted in (False, True)
    )

    def measure(kernels: str) -> Measurement:
        fresh = Model.fresh(model.config, model.signature, model.domain_text, model.training_atoms, seed)
        fresh.to(bench.machine.device, kernels).network.train()
        optimizer = build_optimizer(fresh.network, Settings().learning_rate, fresh.backend)
        step, numbers = TrainingStep(fresh, optimizer, data, sampler), count()
        timing = bench.time(lambda: step(next(numbers)))
        precision = PRECISIONS["mixed"] if fresh.backend.halves else "ieee"
        floor = partial(floor_of_work, machine=bench.machine, training=True, precision=precision)
        return Measurement(
            "training step", f"batch {batch}, {kernels}", timing, batch, floor(as_written), floor(hoisted)
        )

    reference = measure("reference")
    if choose_backend(model.network.embed, model.device).name != "cuda":
        return [reference]
    assert reference.timing
    return [replace(measure("fused"), against=("reference", reference.timing)), reference]


def draw_batches(sampler: BalancedSampler) -> list[Tensor]:
    """The states of the first batches, drawn as training draws them."""
    return [sampler.draw(step) for step in range(BATCHES)]

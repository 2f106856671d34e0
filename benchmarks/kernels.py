"""What the fused kernels cost in accuracy and learning, and how much of the wall time they are: needs CUDA.

    python benchmarks/kernels.py DIR [--keep N] [--reference RUN ...] [--json]

DIR is a folder as `trifold train` takes it. R-GNN[1], k = 64, L = 30.

1. The gradient of Σ cᵢVᵢ for fixed random c against the float64 reference, global relative error, at initialisation
   and after training, in both precisions.
2. The wall time of 1,000 steps of training over the summed time of their kernels.
3. The mean loss of steps 1,500 to 2,000 of three seeds, and of the reference's runs that are given: folders that
   `trifold.train` made of DIR with the same batch, validating every 500 steps.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from trifold.bench.timing import conditions
from trifold.data import Dataset, LabelLimits, default_cache, label, read_folder, split
from trifold.files import read_text
from trifold.model import Model, ModelConfig
from trifold.nn import RGNN
from trifold.nn.fused import FusedRGNN
from trifold.nn.layout import Capacity, Layout
from trifold.training import Settings
from trifold.training.loop import SeedTraining, train_seed
from trifold.training.run import SeedFolder
from trifold.training.sampler import BalancedSampler
from trifold.training.step import TrainingStep, build_optimizer

STEPS = 2_000
EVERY = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--keep", type=int, default=10_000, help="of a larger space, so many states (default: 10000)")
    parser.add_argument("--batch", type=int, default=16, help="states in a batch (default: 16)")
    parser.add_argument("--seeds", type=int, default=3, help="models to train (default: 3)")
    parser.add_argument("--reference", type=Path, nargs="*", default=[], help="run folders of the reference")
    parser.add_argument("--json", action="store_true", help="write the result to standard output as JSON")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("the kernels need CUDA")

    config = ModelConfig()
    files = read_folder(arguments.directory)
    labelled = label(
        files.domain,
        [*files.training, *files.validation],
        limits=LabelLimits(keep=arguments.keep),
        cache=default_cache(),
    )
    domain = read_text(files.domain)
    parts = split(labelled, len(files.training), 0)
    spaces = [[i.space for i in part if i.space is not None] for part in (parts.training, parts.validation)]
    encoder = config.build_encoder()
    data = Dataset.build(spaces[0], encoder, dead_end_target=None, device="cuda")
    held_out = Dataset.build(spaces[1], encoder, dead_end_target=None, device="cuda", max_gib=0)
    settings = Settings(steps=STEPS, batch=arguments.batch, validate_every=EVERY, validation_states=500)

    found: dict[str, Any] = {"batch": arguments.batch, "states": len(data), "losses": {}, "errors": {}}
    with tempfile.TemporaryDirectory() as scratch:
        for seed in range(arguments.seeds):
            model = Model.fresh(config, spaces[0][0].table.signature, domain, data.atom_counts, seed).to("cuda")
            if seed == 0:
                found["errors"]["at initialisation"] = gradient_errors(model, data, arguments.batch)
            folder = SeedFolder(Path(scratch) / str(seed))
            train_seed(SeedTraining(model, data, held_out, settings, seed, folder), lambda progress: None)
            found["losses"][f"fused, seed {seed}"] = last_loss(folder)
            if seed == 0:
                found["errors"][f"after {STEPS:,} steps"] = gradient_errors(model, data, arguments.batch)
                found["milliseconds a step"] = wall_over_kernels(model, data, settings)
    for run in arguments.reference:
        for place in sorted(run.glob("seed-*")):
            found["losses"][f"reference, {run.name}, {place.name}"] = last_loss(SeedFolder(place))
    found |= conditions("cuda")
    if arguments.json:
        print(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        entries = value.items() if isinstance(value, dict) else [("", value)]
        print("\n".join(f"{name}{' ' * bool(key)}{key}: {entry}" for key, entry in entries))


def gradient_errors(model: Model, data: Dataset, batch: int) -> dict[str, float]:
    """The global relative error of the gradient of Σ cᵢVᵢ on one batch, for each precision and the reference."""
    network, embed = model.network, model.network.embed
    assert isinstance(embed, RGNN)
    structures, _ = data.take(BalancedSampler(data.targets, batch, 0).draw(0))
    union = structures.disjoint_union()
    capacity = Capacity.of(embed.relations, [len(union.atoms(name)) for name, _ in embed.relations], union.elements)
    layout = Layout.of(union, capacity)
    weights = torch.randn(batch, device="cuda", generator=torch.Generator("cuda").manual_seed(0))

    exact = copy.deepcopy(network).double()
    truth = torch.autograd.grad((exact(structures) * weights.double()).sum(), list(exact.parameters()))
    size = sum((gradient**2).sum() for gradient in truth) ** 0.5

    def error(values: Tensor) -> float:
        gradients = torch.autograd.grad((values * weights).sum(), list(network.parameters()))
        difference = sum(((a.double() - b) ** 2).sum() for a, b in zip(gradients, truth, strict=True))
        return float(difference**0.5 / size)

    readout = network.readout
    assert readout is not None
    return {
        name: error(readout(FusedRGNN(embed, capacity, name)(layout)[: union.elements], union))
        for name in ("mixed", "float32")
    } | {"reference in float32": error(network(structures))}


def wall_over_kernels(model: Model, data: Dataset, settings: Settings) -> dict[str, float]:
    """Milliseconds of wall time and of kernels a step, over 1,000 steps as ``training.loop`` takes them."""
    optimizer = build_optimizer(model.network, settings.learning_rate, model.backend)
    sampler = BalancedSampler(data.targets, settings.batch, 0, data.weights, settings.balance)
    step = TrainingStep(model, optimizer, data, sampler)
    total = torch.zeros((), dtype=torch.float64, device="cuda")

    def train(first: int, steps: int) -> None:
        nonlocal total
        for number in range(first, first + steps):
            total += step(number)
        torch.cuda.synchronize()

    train(0, 50)
    start = time.perf_counter()
    train(50, 1_000)
    wall = time.perf_counter() - start
    with profile(activities=[ProfilerActivity.CUDA]) as recorder:
        train(1_050, 50)
    kernels = sum(event.device_time_total for event in recorder.key_averages()) / 50_000
    return {"wall": wall, "kernels": kernels, "ratio": wall / kernels}


def last_loss(folder: SeedFolder) -> float:
    """The mean loss of the last 500 steps of a run."""
    return next(float(line["loss"]) for line in folder.metrics() if line["step"] == STEPS)


if __name__ == "__main__":
    main()

"""Reading back a large labelled file, and drawing mini-batches of its encoded states.

    python benchmarks/reading.py [--blocks 9] [--states 1000000] [--json]

Expands a Blocks problem, keeps about so many of its states, writes them as `trifold label` does, and times what a
training does with the file: load, build structures, encode for R-GNN[1], draw a batch of 64.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from pathlib import Path

import torch

from trifold.domains import DOMAINS, domain_text
from trifold.encoders import Pairs, encode_all
from trifold.pddl import StateSpace, expand
from trifold.pddl.sampling import sample_states


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=9)
    parser.add_argument("--states", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found: dict[str, float] = {}

    problem = DOMAINS["blocks-m"].problem(random.Random(0), options.blocks)
    start = time.perf_counter()
    space = expand(domain_text("blocks-m"), problem, 20_000_000)
    found["states of the problem"] = len(space)
    found["expand and label, s"] = time.perf_counter() - start
    keep, sample = options.states, space
    while len(sample) > 1.05 * options.states or sample is space:  # successors come on top of what is sampled
        sample = sample_states(space, keep)
        if sample is space:
            break
        keep = int(keep * options.states / len(sample))
    del space
    found["states of the file"] = len(sample)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "space.safetensors"
        sample.save(path)
        found["file, MiB"] = path.stat().st_size / 2**20
        del sample
        start = time.perf_counter()
        loaded = StateSpace.load(path)
        found["load, s"] = time.perf_counter() - start
        start = time.perf_counter()
        structures = loaded.structures()
        found["structures, s"] = time.perf_counter() - start
    start = time.perf_counter()
    encoded = encode_all(Pairs(1), structures)
    found["encode for R-GNN[1], s"] = time.perf_counter() - start
    found["encoded, MiB"] = encoded.nbytes / 2**20

    encoded.take(torch.arange(64))
    seconds = []
    for number in range(200):
        indices = torch.randint(0, len(encoded), (64,), generator=torch.Generator().manual_seed(number))
        start = time.perf_counter()
        encoded.take(indices)
        seconds.append(time.perf_counter() - start)
    found["a batch of 64, ms (median of 200)"] = 1000 * statistics.median(seconds)
    if options.json:
        print(json.dumps(found))
    else:
        print("\n".join(f"{name:34} {value:14,.2f}" for name, value in found.items()))


if __name__ == "__main__":
    main()

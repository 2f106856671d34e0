"""One training step, against pymimir-rgnn in its own environment, on the same states, plain and over pairs.

    python benchmarks/training_step.py --peer-python PATH [--problem P --domain D] [--pairs-runs N] [--json]

A step is: assemble the batch, forward, mean |V* − V|, backward, Adam. One thread on each side, and the sides take
turns: one waits while the other computes. README.md beside this file says how to make the peer's environment.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from instance import add_instance_options, note, read_instance
from peer import PEER_ENCODERS, Comparison, check_peer, compare_with_peer
from trifold.bench.report import duration, facts_text
from trifold.bench.timing import conditions, use_threads
from trifold.evaluation import aligned_text
from trifold.model import ModelConfig
from trifold.pddl import expand

MAX_STATES = 1_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_instance_options(parser, "gripper", 5)
    parser.add_argument("--peer-python", type=Path, required=True, help="the Python of the peer's environment")
    parser.add_argument("--plain-runs", type=int, default=20, help="measured steps of R-GNN; 0 leaves it out")
    parser.add_argument("--pairs-runs", type=int, default=3, help="measured steps of R-GNN[1]; 0 leaves it out")
    parser.add_argument("--dim", type=int, default=64, help="k (default: 64)")
    parser.add_argument("--layers", type=int, default=30, help="L (default: 30)")
    parser.add_argument("--batch", type=int, default=16, help="states in a batch (default: 16)")
    parser.add_argument("--seed", type=int, default=0, help="which states are drawn (default: 0)")
    parser.add_argument("--json", action="store_true", help="write the result to standard output as JSON")
    arguments = parser.parse_args()
    check_peer(arguments.peer_python)
    use_threads(1)
    instance = read_instance(arguments)
    space = expand(instance.domain, instance.problem, MAX_STATES)

    results: dict[ModelConfig, Comparison] = {}
    for encoder, runs in (("plain", arguments.plain_runs), ("pairs", arguments.pairs_runs)):
        if runs:
            config = ModelConfig(encoder=encoder, dim=arguments.dim, layers=arguments.layers)
            results[config] = compare_with_peer(
                arguments.peer_python,
                instance.domain,
                instance.problem,
                space,
                config,
                batch=arguments.batch,
                steps=runs,
                seed=arguments.seed,
                say=note,
            )

    about: dict[str, Any] = {"problem": instance.name, "objects": len(space.objects), "states": len(space)}
    about |= {"k": arguments.dim, "L": arguments.layers, "batch": arguments.batch} | conditions()
    for result in results.values():
        about["peer"] = result.peer_versions
    if arguments.json:
        comparisons = [to_json(config, result) for config, result in results.items()]
        print(json.dumps({"benchmark": "training_step", "about": about, "comparisons": comparisons}, indent=2))
        return
    header = ["a step of", "steps", "median", "min", "max", "assembly", "messages", "peer / trifold"]
    table = [row for config, result in results.items() for row in rows(config, result)]
    print(facts_text(about))
    print(aligned_text([header, *table], names=1), end="")


def rows(config: ModelConfig, found: Comparison) -> list[list[str]]:
    """Trifold's line of the table and the peer's."""
    return [
        [
            name,
            str(len(timing.seconds)),
            *map(duration, (timing.median, timing.least, timing.most, assembly.median)),
            f"{messages:,}",
            ratio,
        ]
        for name, timing, assembly, messages, ratio in (
            (f"trifold, {config.label}", found.ours, found.our_assembly, found.our_messages, ""),
            (
                f"pymimir-rgnn, {PEER_ENCODERS[config.encoder]}",
                found.theirs,
                found.their_assembly,
                found.their_messages,
                f"{found.ratio:.2f}",
            ),
        )
    ]


def to_json(config: ModelConfig, found: Comparison) -> dict[str, Any]:
    return {
        "trifold": config.label,
        "peer": PEER_ENCODERS[config.encoder],
        "ratio": found.ratio,
        "trifold_step": found.ours.to_json(),
        "peer_step": found.theirs.to_json(),
        "trifold_assembly": found.our_assembly.to_json(),
        "peer_assembly": found.their_assembly.to_json(),
        "trifold_messages": found.our_messages,
        "peer_messages": found.their_messages,
    }


if __name__ == "__main__":
    main()
